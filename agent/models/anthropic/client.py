"""The client of one endpoint that speaks Anthropic's Messages API: one model, one key.

It streams. Invariant: nothing is taken from the environment behind the settings' back.
"""

from collections.abc import Callable
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent.models.anthropic.answer import PAUSED, read_answer
from agent.models.anthropic.request import Dialect, body_of
from agent.models.anthropic.sdk import load
from agent.models.endpoint import Endpoint
from agent.models.endpoint_model import EndpointModel
from agent.models.model import (
    ImageDetail,
    Message,
    MessageKind,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
)
from agent.models.prices import Price, metered
from agent.models.wires.calls import CONNECT_TIMEOUT_S, NO_KEY, Calls, Key
from agent.models.wires.failures import Failures, is_too_long
from agent.models.wires.features import Feature, refused_feature
from agent.models.wires.known_dialects import KnownDialects
from agent.models.wires.listing import named_in
from agent.models.wires.offers import Offer
from agent.models.wires.traits import Notes, no_notes
from agent.models.wires.transport import guarded
from agent.settings import ConstrainedCalls

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_PATH = "/v1/messages"
_REFUSALS = frozenset({400, 422})
_MAX_PAUSES = 4
LEARNT: KnownDialects[Dialect] = KnownDialects()


class AnthropicModel(EndpointModel):
    """Implements the Model protocol over the anthropic SDK; see `EndpointModel`.

    Args:
        endpoint: where it is asked; a path that ends in `/v1` may be given with or without it.
        image_detail, constrained_calls: have no counterpart in this API.
        notes: keeps what calls teach about the endpoint.
        effort: how much it may spend on an answer; empty says nothing of it.
    """

    def __init__(
        self,
        name: str,
        *,
        endpoint: Endpoint,
        api_key: Key = "",
        timeout_s: float = 45.0,
        vision: bool = False,
        price: Price | None = None,
        notice: str = "",
        max_output_tokens: int = 0,
        effort: str = "",
        image_detail: ImageDetail = ImageDetail.AUTO,
        constrained_calls: ConstrainedCalls = ConstrainedCalls.AUTO,
        notes: Notes = no_notes,
    ) -> None:
        super().__init__(
            name,
            endpoint,
            api_key=api_key,
            timeout_s=timeout_s,
            vision=vision,
            price=price,
            notice=notice,
            max_output_tokens=max_output_tokens,
        )
        self._base_url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        self._secret = api_key if isinstance(api_key, str) else ""
        self._failures = Failures(
            name, endpoint.base_url, timeout_s, sdk="anthropic", protocol="Anthropic-compatible"
        )
        self._calls = Calls(
            name,
            failures=self._failures,
            timeout_s=timeout_s,
            dialect=Dialect(strict=endpoint.strict, effort=effort),
            learnt=LEARNT,
            endpoint=(self._base_url, name, effort),
            secret=lambda: self._secret,
            notes=notes,
        )

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the endpoint once.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        await load()
        limit = request.max_output_tokens or self._max_output_tokens
        request = replace(request, max_output_tokens=limit)

        async def ask(dialect: Dialect) -> ModelReply:
            return await self._ask(request, dialect, on_text)

        def plainer(dialect: Dialect, error: Any) -> Dialect | None:
            return simpler(dialect, request, error, vision=self._vision)

        reply = await self._calls.answer(ask, plainer)
        return metered(request, replace(reply, output_limit=limit), self._price)

    async def offer(self) -> Offer:
        """Return nothing: this API's list of models says no more than their names."""
        return Offer()

    async def known_models(self) -> tuple[str, ...]:
        """List what the endpoint offers, sorted. Raises ModelError."""
        await load()
        async with self._calls.bounded(self._timeout_s):
            response = await self._open().models.with_raw_response.list(
                limit=1000, extra_headers=await self._headers()
            )
            body = await response.http_response.aread()
            kind = str(response.headers.get("content-type", ""))
            return named_in(body, kind, self._failures)

    def _takes_pictures(self) -> bool:
        return self._calls.dialect.pictures

    # --- one call ----------

    async def _ask(
        self, request: ModelRequest, dialect: Dialect, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        reply, stop_reason = await self._stream(request, dialect, on_text)
        spent = reply.usage
        for _ in range(_MAX_PAUSES):
            if stop_reason != PAUSED or reply.tool_calls:
                break
            # It goes on from what it said so far, which goes back as it came.
            said = Message(
                role=Role.ASSISTANT,
                kind=MessageKind.REPLY,
                text=reply.text,
                reasoning=reply.reasoning,
            )
            request = replace(request, messages=(*request.messages, said))
            reply, stop_reason = await self._stream(request, dialect, on_text)
            spent = spent.plus(reply.usage)
        return replace(reply, usage=spent)

    async def _stream(
        self, request: ModelRequest, dialect: Dialect, on_text: Callable[[str], None] | None
    ) -> tuple[ModelReply, str]:
        sdk = self._failures.sdk
        # As a plain request: `messages.create` walks the whole conversation by its types at every
        # call, and warns on stderr, which is the console's screen, of names that are going away.
        post: Any = self._open().post
        stream = await post(
            _PATH,
            cast_to=object,
            body=body_of(request, self._name, dialect, vision=self._vision),
            options={"headers": await self._headers()},
            stream=True,
            stream_cls=sdk.AsyncStream[object],
        )
        async with stream:
            answer = await read_answer(stream, self._failures, on_text)
        return answer.finish(self._failures), answer.stop_reason

    async def _headers(self) -> dict[str, str]:
        """Return the headers of one call: a login's token may be another one by now."""
        if isinstance(self._api_key, str):
            return {}
        self._secret = await self._api_key()
        return {"Authorization": f"Bearer {self._secret}"}

    def _open(self) -> "AsyncAnthropic":
        if self._client is None:
            sdk = self._failures.sdk
            self._client = sdk.AsyncAnthropic(
                api_key=self._secret or NO_KEY,
                # Said outright: left out, the SDK would take ANTHROPIC_BASE_URL.
                base_url=self._base_url,
                timeout=sdk.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
                max_retries=0,
                http_client=guarded(self._endpoint.base_url, self._failures),
                # Given at all, so that no variable of the environment turns tracing on.
                open_telemetry={"traces": False, "propagation": False},
            )
            # ANTHROPIC_CUSTOM_HEADERS may name any header, and this console never heard of it.
            self._client._custom_headers = {}
        client: AsyncAnthropic = self._client
        return client


def simpler(
    dialect: Dialect, request: ModelRequest, error: Any, *, vision: bool = False
) -> Dialect | None:
    """Return the next plainer dialect after a refusal; None when nothing is left to leave out.

    The API names no parameter in a refusal, so what may be at fault goes one by one.

    Args:
        vision: whether pictures of the request were sent.
    """
    sent = vision and dialect.pictures and any(m.image is not None for m in request.messages)
    if refused_feature(error, has_pictures=sent) is Feature.PICTURES:
        return changed(dialect, pictures=False)
    if getattr(error, "status_code", 0) not in _REFUSALS or is_too_long(error):
        return None
    if dialect.reasoning and any(message.reasoning for message in request.messages):
        return changed(dialect, reasoning=False)
    if dialect.effort:
        return changed(dialect, effort="")
    if dialect.required and request.tool_choice is ToolChoice.REQUIRED:
        return changed(dialect, required=False)
    if dialect.strict:
        return changed(dialect, strict=False)
    if dialect.caching:
        return changed(dialect, caching=False)
    return None
