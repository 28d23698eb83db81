"""Make one ModelError of whatever a call to an endpoint failed with.

Judged by type and status, never by searching words. Invariant: the key is in no message.
"""

from __future__ import annotations

import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from agent.errors import ModelError
from agent.text import one_line, sentence

_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_TAGS = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<[^>]*>")


class Failures:
    """The failures of one endpoint.

    Args:
        name: the model, as the endpoint calls it.
        where: the endpoint, for people.
        timeout_s: how long it may be silent.
    """

    def __init__(self, name: str, where: str, timeout_s: float) -> None:
        self._name = name
        self._where = where
        self._timeout_s = timeout_s

    def of(self, error: Exception, key: str) -> ModelError:
        """Make the error of what the SDK raised.

        Args:
            key: what must not be repeated.
        """
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self.silent()
        if isinstance(error, openai.APIStatusError):
            return self._status(error, key)
        if isinstance(error, openai.APIConnectionError):
            return ModelError(
                f"{self._where} cannot be reached.",
                "Check the network and model.base_url.",
                retryable=True,
            )
        if isinstance(error, openai.APIError) and error.code in _QUOTA_CODES:
            return ModelError(
                sentence(
                    f"The model endpoint says that the quota is used up: {_words(error, key)}"
                ),
                "Check plan and billing of the account.",
                retryable=False,
            )
        # An error event inside the stream, or an answer that is no completion.
        return ModelError(sentence(f"{self._name} failed: {_words(error, key)}"), retryable=True)

    def silent(self) -> ModelError:
        """Say that nothing came for too long."""
        return ModelError(
            f"{self._name} gave no answer within {self._timeout_s:g} s.", retryable=True
        )

    def slow(self, limit_s: float) -> ModelError:
        """Say that the whole answer took too long."""
        return ModelError(
            f"{self._name} did not finish its answer in {limit_s:g} s.", retryable=True
        )

    def broken_off(self, error: Exception | None = None) -> ModelError:
        """Say that an answer ended in its middle."""
        why = f": {type(error).__name__}" if error is not None else ""
        return ModelError(f"The answer of {self._name} broke off{why}.", retryable=True)

    def endless(self, limit: int) -> ModelError:
        """Say that an answer was cut off because it did not end."""
        return ModelError(
            f"{self._name} answered without end; it was cut off at {limit:,} characters.",
            retryable=True,
        )

    def not_the_wire(self, media_type: str) -> ModelError:
        """Say that something answered which is no endpoint: asking again would not help."""
        return ModelError(
            f"What answers at {self._where} is no OpenAI-compatible endpoint: it sent "
            f"{one_line(media_type, 60) or 'something'} and no chat completion.",
            "The base URL is probably wrong: check model.base_url; it often ends in /v1.",
            retryable=False,
        )

    def _status(self, error: Any, key: str) -> ModelError:
        status = int(error.status_code)
        match status:
            case 401 | 403:
                message, retryable = "refused the key", False
                remedy = "Check the key and what it may use."
            case 404:
                message, retryable = f"does not know the model {self._name}", False
                remedy = "Check model.name and model.base_url."
            case 429 if error.code in _QUOTA_CODES or error.type in _QUOTA_CODES:
                message, retryable = "says that the quota is used up", False
                remedy = "Check plan and billing of the account."
            case 402:
                message, retryable = "wants to be paid", False
                remedy = "Check plan and billing of the account."
            case 429:
                message, retryable, remedy = "is being asked too often", True, ""
            case 400 | 405 | 410 | 413 | 415 | 422:
                message, retryable, remedy = "refused the request", False, ""
            case _:
                message, retryable, remedy = "failed", True, ""
        return ModelError(
            sentence(f"The model endpoint {message} (HTTP {status}): {_words(error, key)}"),
            remedy,
            retryable=retryable,
            status=status,
            retry_after_s=retry_after_s(error.response.headers),
        )


def retry_after_s(headers: Any) -> float | None:
    """Read how long an endpoint asks to wait: seconds or a date (RFC 9110), or milliseconds."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            seconds = float(said) / unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(said).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        return max(seconds, 0.0) if math.isfinite(seconds) and seconds < 1e9 else None
    return None


def _words(error: Exception, key: str) -> str:
    """Give an error's own words without the key, which endpoints like to repeat."""
    body = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, dict) else None
    if not isinstance(said, str) or not said.strip():
        # A gateway's page instead of the endpoint's own words: what it says without its markup.
        said = _TAGS.sub(" ", str(error))
    if key:
        said = said.replace(key, "[KEY]")
    return one_line(said, 300)
