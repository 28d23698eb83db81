"""The client of one endpoint: one model, one wire, one key.

It streams. Invariants: one call is one attempt, retries are `agent.models.retry`'s; every failure
is a ModelError; nothing is taken from the environment behind the settings' back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.errors import ModelError
from agent.models.endpoint import OPENAI_URL, Endpoint, Provider, Wire
from agent.models.model import ModelReply, ModelRequest
from agent.models.openai.chat import complete_chat
from agent.models.openai.dialect import Dialect, simpler
from agent.models.openai.failures import Failures
from agent.models.openai.listing import offered
from agent.models.openai.responses import complete_response
from agent.models.openai.sdk import load
from agent.models.openai.transport import guarded
from agent.models.prices import Price, cost_usd, estimate_tokens

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_TIMEOUT_S = 15.0
_WHOLE_ANSWER = 4
"""A whole call may take so many times the silence that is allowed."""
_NO_KEY = "none"
THINKING_TOKENS = 8192
"""For models whose hidden thinking counts as output: less would leave them nothing to say."""
_THINKS_FIRST = ("gpt-5", "o1", "o3", "o4")

Key = str | Callable[[], Awaitable[str]]
"""A key, or what gives one that is still good, as a login does."""


class OpenAIModel:
    """Implements the Model protocol over the openai SDK.

    Args:
        name: the model, as the endpoint calls it.
        base_url: the endpoint; empty for OpenAI's own.
        api_key: empty for endpoints that want none.
        timeout_s: the most that one call may stay silent; a whole call may take four times that.
        vision: whether pictures are sent.
        endpoint: what is known of the endpoint; made of `base_url` when left out.
        price: what its tokens cost; None when nobody knows.
        notice: what the operator should know about the choice of this model.
        max_output_tokens: of one answer; 0 for what suits the model.
        effort: how long it may reason, in OpenAI's words; empty says nothing of it.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: Key = "",
        timeout_s: float = 45.0,
        vision: bool = False,
        endpoint: Endpoint | None = None,
        price: Price | None = None,
        notice: str = "",
        max_output_tokens: int = 0,
        effort: str = "",
    ) -> None:
        self._name = name
        self._endpoint = endpoint or Endpoint(base_url=base_url or OPENAI_URL)
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._vision = vision
        self._price = price
        self._notice = notice
        self._max_output_tokens = max_output_tokens or (
            THINKING_TOKENS if effort or name.startswith(_THINKS_FIRST) else 0
        )
        self._client: AsyncOpenAI | None = None
        self._failures = Failures(name, self._endpoint.base_url, timeout_s)
        self._dialect = Dialect(strict=self._endpoint.strict, effort=effort)

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._vision

    @property
    def notice(self) -> str:
        return self._notice

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r}, base_url={self._endpoint.base_url!r})"

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the endpoint once.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        await load()
        import openai

        limit_s = self._timeout_s * _WHOLE_ANSWER
        while True:
            dialect = self._dialect
            try:
                async with asyncio.timeout(limit_s):
                    reply = await self._ask(request, dialect, on_text)
                return self._priced(_counted(request, reply))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                plainer = simpler(dialect, error)
                if plainer is None:
                    raise self._failures.of(error, self._secret()) from error
                self._dialect = plainer
            except TimeoutError as error:
                raise self._failures.slow(limit_s) from error
            except openai.OpenAIError as error:
                raise self._failures.of(error, self._secret()) from error
            except ModelError:
                raise
            except Exception as error:
                # The SDK lets a stream that breaks in the middle raise whatever its HTTP library or
                # JSON decoder did.
                if _is_time_out(error):
                    raise self._failures.silent() from error
                raise self._failures.broken_off(error) from error

    async def close(self) -> None:
        """Close connections; the model can be used again afterwards."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def known_models(self) -> tuple[str, ...]:
        """List what the endpoint offers, sorted. Raises ModelError."""
        await load()
        import openai

        try:
            async with asyncio.timeout(self._timeout_s):
                return await offered(self._open(), self._failures)
        except TimeoutError as error:
            raise self._failures.slow(self._timeout_s) from error
        except openai.OpenAIError as error:
            raise self._failures.of(error, self._secret()) from error

    # --- one call ----------

    async def _ask(
        self, request: ModelRequest, dialect: Dialect, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        if self._max_output_tokens:
            request = replace(request, max_output_tokens=self._max_output_tokens)
        complete = complete_response if self._endpoint.wire is Wire.RESPONSES else complete_chat
        return await complete(
            self._open(),
            request,
            dialect,
            on_text,
            name=self._name,
            vision=self._vision,
            failures=self._failures,
        )

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            import openai

            headers: dict[str, object] = {}
            if self._endpoint.provider is Provider.AZURE and isinstance(self._api_key, str):
                # Azure's keys go into a header of their own; its v1 surface takes either.
                headers["api-key"] = self._api_key
            if self._endpoint.provider is not Provider.OPENAI:
                # Whose organization it is, is nobody else's business.
                headers["OpenAI-Organization"] = openai.Omit()
                headers["OpenAI-Project"] = openai.Omit()
            self._client = openai.AsyncOpenAI(
                api_key=self._api_key or _NO_KEY,
                # Said outright: left out, the SDK would take OPENAI_BASE_URL.
                base_url=self._endpoint.base_url,
                timeout=openai.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
                max_retries=0,
                default_headers=headers,  # type: ignore[arg-type]
                http_client=guarded(self._endpoint.base_url, self._failures),
            )
        return self._client

    def _secret(self) -> str:
        """Give the key that was sent, so that no message repeats it."""
        if isinstance(self._api_key, str):
            return self._api_key
        return self._client.api_key if self._client is not None else ""

    def _priced(self, reply: ModelReply) -> ModelReply:
        if self._price is None:
            return reply
        usage = replace(reply.usage, cost_usd=cost_usd(reply.usage, self._price))
        return replace(reply, usage=usage)


def _counted(request: ModelRequest, reply: ModelReply) -> ModelReply:
    """Estimate what a call used where its endpoint does not say, so that budgets hold it too."""
    used = reply.usage
    if used.input_tokens and used.output_tokens:
        return reply
    # Nothing is asked for nothing, and what was said has a length.
    usage = replace(
        used,
        input_tokens=used.input_tokens or estimate_tokens(request),
        output_tokens=used.output_tokens or estimate_tokens(reply),
    )
    return replace(reply, usage=usage)


def _is_time_out(error: BaseException | None) -> bool:
    """Tell whether silence is at the root of an error that the HTTP library raised."""
    while error is not None:
        if "Timeout" in type(error).__name__:
            return True
        error = error.__cause__
    return False
