"""Make one ModelError of whatever a call to an endpoint failed with.

Judged by type and status, never by searching words. Invariant: the key is in no message.
"""

import math
import re
import time
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from agent.errors import ModelError
from agent.text import one_line, sentence

_QUOTA_CODES = frozenset(
    {
        *("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"),
        *("billing_error", "contract_spend_limit_reached", "enforced_spend_limit_reached"),
    }
)
"""As OpenAI and Anthropic say that an account may spend no more."""
_TOO_LONG_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
)
"""As OpenAI, llama.cpp and Anthropic say that a conversation does not fit."""
_FINAL_CODES = frozenset(
    {
        *("invalid_prompt", "image_content_policy_violation", "model_not_found"),
        *("invalid_request_error", "authentication_error", "permission_error", "not_found_error"),
    }
)
_SHORTEN = (
    "Shorten what the model remembers (switchboard sessions compact SESSION) and resume, or choose "
    "a model with more room."
)
_TOKENS = r"(\d[\d,]{2,11})"
_WINDOWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # OpenAI, DeepSeek, OpenRouter, vLLM; SGLang; vLLM's engine.
        rf"maximum (?:context|model) length (?:is|of) {_TOKENS}",
        rf"context length \({_TOKENS} tokens?\)",
        # Mistral.
        rf"model with {_TOKENS} maximum context length",
        # Anthropic.
        rf"prompt is too long: [\d,]+ tokens > {_TOKENS} maximum",
        # Google.
        rf"exceeds the maximum number of tokens allowed \({_TOKENS}\)",
        # llama.cpp and LM Studio.
        rf"(?:context size|n_ctx)\s*[:(=]\s*{_TOKENS}",
    )
)
"""How servers name a model's context window in a refusal; the first group is the number."""
_SPLIT = re.compile(rf"\({_TOKENS} (?:in|of) the (?:messages|input|prompt)[^)]*completion", re.I)
_ROOT_ERRORS = {"openai": "OpenAIError", "anthropic": "AnthropicError"}
_TAGS = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<[^>]*>")


class Failures:
    """The failures of one endpoint.

    Args:
        name: the model, as the endpoint calls it.
        where: the endpoint, for people.
        timeout_s: how long it may be silent.
        sdk: the package that raises them; all that are used here name their errors alike.
        protocol: what the endpoint should speak, for people.
    """

    def __init__(
        self,
        name: str,
        where: str,
        timeout_s: float,
        *,
        sdk: str = "openai",
        protocol: str = "OpenAI-compatible",
    ) -> None:
        self._name = name
        self._where = where
        self._timeout_s = timeout_s
        self._sdk = sdk
        self._protocol = protocol

    @property
    def sdk(self) -> Any:
        """The package that raises them, imported."""
        return import_module(self._sdk)

    @property
    def root_error(self) -> type[Exception]:
        """The class that all errors of the SDK share."""
        return getattr(self.sdk, _ROOT_ERRORS[self._sdk])  # type: ignore[no-any-return]

    def of(self, error: Exception, key: str) -> ModelError:
        """Make the error of what the SDK raised.

        Args:
            key: what must not be repeated.
        """
        sdk = self.sdk
        if isinstance(error.__cause__, ModelError):
            # What the client below an SDK raised, some SDKs hand on as a lost connection.
            return error.__cause__
        if isinstance(error, sdk.APITimeoutError):
            return self.silent()
        if isinstance(error, sdk.APIStatusError) and error.status_code >= 300:
            return self._status(error, key)
        if isinstance(error, sdk.APIConnectionError):
            return self._unreached(error)
        # An error event inside the stream, or an answer that is no completion.
        return self.reported(_words(error, key), *_codes(error))

    def reported(self, words: str, *codes: object) -> ModelError:
        """Make the error of what an endpoint said in an answer that had begun well.

        Args:
            words: what it said, fit to be shown.
            codes: its names for it.
        """
        if _is_one_of(_QUOTA_CODES, *codes):
            return ModelError(
                sentence(f"The model endpoint says that the quota is used up: {words}"),
                "Check the account's plan and billing.",
                retryable=False,
            )
        window = stated_window(words)
        if window or _is_one_of(_TOO_LONG_CODES, *codes):
            return ModelError(
                sentence(f"The conversation is too long for {self._name}: {words}"),
                _SHORTEN,
                retryable=False,
                too_long=True,
                window=window,
            )
        retryable = not _is_one_of(_FINAL_CODES, *codes)
        return ModelError(sentence(f"{self._name} failed: {words}"), retryable=retryable)

    def _unreached(self, error: Exception) -> ModelError:
        """Judge what the HTTP library raised by its kind."""
        match type(error.__cause__).__name__:
            case "TooManyRedirects":
                return ModelError(
                    f"{self._where} redirects calls in a loop.",
                    "The base URL is probably wrong: check model.base_url.",
                    retryable=False,
                )
            case "DecodingError":
                return ModelError(
                    f"The answer of {self._where} cannot be decompressed.",
                    "Check the proxies between this computer and the endpoint.",
                    retryable=True,
                )
            case _:
                return ModelError(
                    f"{self._where} cannot be reached.",
                    "Check the network and model.base_url.",
                    retryable=True,
                )

    def redirected(self, url: str) -> ModelError:
        """Return the error for an endpoint that redirects calls to another host: not followed."""
        parts = urlsplit(url)
        return ModelError(
            f"{self._where} redirects calls to {one_line(parts.hostname or 'another place', 100)}; "
            "no conversation goes there.",
            "If that is the endpoint that you mean, set model.base_url to it.",
            retryable=False,
        )

    def no_way_through(self, error: Exception) -> ModelError:
        """Return the error for a proxy in the environment by which nothing can be reached."""
        return ModelError(
            f"{self._where} cannot be reached through the proxy set in the environment: "
            f"{one_line(str(error), 200)}",
            "Set HTTPS_PROXY to an HTTP proxy, and unset ALL_PROXY.",
            retryable=False,
        )

    def silent(self) -> ModelError:
        """Return the error for an answer in which nothing came for too long."""
        return ModelError(
            f"{self._name} gave no answer within {self._timeout_s:g} s.", retryable=True
        )

    def slow(self, limit_s: float) -> ModelError:
        """Return the error for an answer that took too long as a whole."""
        return ModelError(
            f"{self._name} did not finish its answer in {limit_s:g} s.", retryable=True
        )

    def broken_off(self, error: Exception | None = None) -> ModelError:
        """Return the error for an answer that ended in its middle."""
        why = f": {type(error).__name__}" if error is not None else ""
        message = f"The answer of {self._name} broke off{why}."
        return ModelError(message, retryable=True, broke_off=True)

    def words(self, error: Exception, key: str) -> str:
        """Return what an endpoint said, fit to be shown.

        Args:
            key: what must not be repeated.
        """
        return _words(error, key)

    def takes_no_pictures(self, said: str) -> str:
        """Return the sentence for an endpoint that takes no pictures.

        Args:
            said: how it said so, fit to be shown.
        """
        return (
            f"{self._name} takes no pictures ({said.rstrip('.')}); it is asked without them from "
            "now on. Set model.vision = false, or choose a model that takes pictures."
        )

    def calls_in_words(self, why: str, *, by_schema: bool) -> str:
        """Return the sentence for an endpoint that reads no calls of this model.

        Args:
            why: how that is known, fit to be shown.
            by_schema: whether the endpoint enforces their form.
        """
        how = "writes each call by a JSON schema" if by_schema else "writes its calls as text"
        return (
            f"{self._name} does not call tools by itself ({why.rstrip('.')}); it is told of them "
            f"in words and {how} from now on."
        )

    def takes_no_tools(self, said: str, status: int) -> ModelError:
        """Return the error for an endpoint that refuses tools, where nothing stands for them.

        Args:
            said: how it said so, fit to be shown.
        """
        return ModelError(
            sentence(f"{self._name} takes no tools (HTTP {status}): {said}"),
            "Choose a model that calls tools, or set model.constrained_calls to auto.",
            retryable=False,
            status=status,
        )

    def refused(self, why: str) -> ModelError:
        return ModelError(
            sentence(f"{self._name} refused to answer: {why or 'it gave no reason'}"),
            "Word the goal differently, or choose another model.",
            retryable=False,
        )

    def endless(self, limit: str) -> ModelError:
        """Return the error for an answer that was cut off because it did not end."""
        return ModelError(
            f"{self._name} did not stop answering; it was cut off at {limit}.", retryable=True
        )

    def not_the_wire(self, media_type: str, wanted: str = "chat completion") -> ModelError:
        """Return the error for what answered and is no endpoint: asking again would not help."""
        return ModelError(
            f"What answers at {self._where} is not an {self._protocol} endpoint: it sent "
            f"{one_line(media_type, 60) or 'something'} and no {wanted}.",
            "Check model.base_url, which often ends in /v1, and model.wire.",
            retryable=False,
        )

    def _status(self, error: Any, key: str) -> ModelError:
        status = int(error.status_code)
        window = stated_window(said_of(error)) if status in {400, 413, 422, 500} else 0
        too_long = bool(window) or status == 413 or is_too_long(error)
        too_long = too_long and status in {400, 413, 422, 500}
        match status:
            case 400 | 413 | 422 | 500 if too_long:
                message, retryable = "cannot take so long a conversation", False
                remedy = _SHORTEN
            case 301 | 302 | 303 | 307 | 308:
                message, retryable = "sends calls on, but not where to", False
                remedy = "Check model.base_url."
            case 401 | 403:
                message, retryable = "refused the key", False
                remedy = "Check the key and what it may use."
            case 404:
                message, retryable = f"does not know the model {self._name}", False
                remedy = "Check model.name and model.base_url."
            case 429 if _is_one_of(_QUOTA_CODES, *_codes(error)):
                message, retryable = "says that the quota is used up", False
                remedy = "Check the account's plan and billing."
            case 402:
                message, retryable = "wants to be paid", False
                remedy = "Check the account's plan and billing."
            case 429:
                message, retryable, remedy = "is being asked too often", True, ""
            case 400 | 405 | 410 | 415 | 422:
                message, retryable, remedy = "refused the request", False, ""
            case _:
                message, retryable, remedy = "failed", True, ""
        return ModelError(
            sentence(f"The model endpoint {message} (HTTP {status}): {_words(error, key)}"),
            remedy,
            retryable=retryable,
            status=status,
            retry_after_s=retry_after_s(error.response.headers),
            too_long=too_long,
            window=window,
        )


def is_time_out(error: BaseException | None) -> bool:
    """Return whether silence is at the root of an error that the HTTP library raised."""
    while error is not None:
        if "Timeout" in type(error).__name__:
            return True
        error = error.__cause__
    return False


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
            except (ValueError, TypeError, OverflowError, OSError):
                continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    return None


def is_too_long(error: Any) -> bool:
    """Return whether a refusal is about the conversation's length, and about nothing else."""
    return _is_one_of(_TOO_LONG_CODES, *_codes(error)) or bool(stated_window(said_of(error)))


def limits_answer(error: Any) -> bool:
    """Return whether a refusal is about the size asked for the answer, as vLLM's may be."""
    said = said_of(error)
    split = _SPLIT.search(said)
    window = stated_window(said)
    return bool(split and window) and _number(split[1] if split else "0") < window


def said_of(error: Any) -> str:
    """Return what an endpoint's refusal says, bounded."""
    return one_line(_message_in(getattr(error, "body", None)) or str(error), 1000)


def stated_window(said: str) -> int:
    """Return the context window in tokens that a refusal names; 0 when it names none.

    vLLM, SGLang, OpenRouter, Mistral and others have no code of their own for a conversation that
    is too long: the number in the sentence is all there is.
    """
    for pattern in _WINDOWS:
        found = pattern.search(said)
        if found:
            return min(_number(found[1]), 100_000_000)
    return 0


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _codes(error: Any) -> tuple[object, ...]:
    """Return an SDK's names for an error: OpenAI's code and type, Anthropic's type and code."""
    body = getattr(error, "body", None)
    inside = body.get("error", body) if isinstance(body, dict) else None
    named = (getattr(error, name, None) for name in ("code", "type", "error_code"))
    return (*named, *(inside.get(n) for n in ("code", "type") if isinstance(inside, dict)))


def _is_one_of(known: frozenset[str], *codes: object) -> bool:
    return any(isinstance(code, str) and code in known for code in codes)


def _words(error: Exception, key: str) -> str:
    """Return an error's own words without the key, which endpoints like to repeat."""
    body = getattr(error, "body", None)
    said = _message_in(body)
    if not said.strip() and isinstance(body, str):
        # A gateway's page instead of the endpoint's own words: what it says without its markup.
        said = _TAGS.sub(" ", body)
    if not said.strip():
        said = _TAGS.sub(" ", str(error))
    if key:
        said = said.replace(key, "[KEY]")
    return one_line(said, 300)


def _message_in(body: object) -> str:
    """Find the words in what an endpoint answered, by the names that servers give them."""
    if isinstance(body, str):
        return body if not body.lstrip().startswith("<") else ""
    if isinstance(body, list) and body:
        # Google's endpoint puts its error into a list.
        return _message_in(body[0])
    if isinstance(body, dict):
        for name in ("message", "detail", "error"):
            said = _message_in(body.get(name))
            if said.strip():
                return said
    return ""
