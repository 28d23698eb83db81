"""The client of one endpoint: one model, one wire, one key.

It streams. Invariants: retries are `agent.models.retry`'s; every failure
is a ModelError; nothing is taken from the environment behind the settings' back.
"""

from collections.abc import Callable
from dataclasses import replace as replace_fields
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.models.endpoint import OPENAI_URL, Endpoint, Provider
from agent.models.endpoint_model import EndpointModel
from agent.models.model import ImageDetail, ModelReply, ModelRequest
from agent.models.openai.chat import complete_chat
from agent.models.openai.dialect import LEARNT, Dialect, plainer, simpler
from agent.models.openai.responses import complete_response
from agent.models.openai.sdk import load
from agent.models.prices import Price, metered
from agent.models.windows import learn_window
from agent.models.wires.calls import CONNECT_TIMEOUT_S, NO_KEY, Calls, Key
from agent.models.wires.failures import Failures
from agent.models.wires.listing import named_in
from agent.models.wires.offers import OFFERS, Offer, offers_in
from agent.models.wires.transport import guarded
from agent.settings import Wire

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_OFFER_TIMEOUT_S = 5.0
_READS_TEXT_ONLY = "its list of models says that it reads text only"


class OpenAIModel(EndpointModel):
    """Implements the Model protocol over the openai SDK; see `EndpointModel`.

    Args:
        base_url: the endpoint; empty for OpenAI's own.
        endpoint: what is known of the endpoint; made of `base_url` when left out.
        image_detail: how finely pictures are looked at, where a request does not say it.
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
        image_detail: ImageDetail = ImageDetail.AUTO,
    ) -> None:
        super().__init__(
            name,
            endpoint or Endpoint(base_url=base_url or OPENAI_URL),
            api_key=api_key,
            timeout_s=timeout_s,
            vision=vision,
            price=price,
            notice=notice,
            max_output_tokens=max_output_tokens,
        )
        self._detail = image_detail
        self._failures = Failures(name, self._endpoint.base_url, timeout_s)
        dialect = Dialect(
            strict=self._endpoint.strict,
            cache_key=self._endpoint.caches_by_key,
            effort=effort,
            call_ids=self._endpoint.call_ids,
        )
        self._calls = Calls(
            name,
            failures=self._failures,
            timeout_s=timeout_s,
            dialect=plainer(dialect, self._endpoint.without),
            learnt=LEARNT,
            endpoint=(self._endpoint.base_url, self._endpoint.wire.value, name, effort),
            secret=self._secret,
        )

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the endpoint once.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        await load()
        await self._learn_offer()

        async def ask(dialect: Dialect) -> ModelReply:
            return await self._ask(request, dialect, on_text)

        has_pictures = self._vision and any(m.image is not None for m in request.messages)
        after = partial(simpler, has_pictures=has_pictures)
        return metered(request, await self._calls.answer(ask, after), self._price)

    async def known_models(self) -> tuple[str, ...]:
        """List what the endpoint offers, sorted. Raises ModelError."""
        await load()
        async with self._calls.bounded(self._timeout_s):
            # Unread by the SDK, which takes for granted that a list is one.
            response = await self._open().models.with_raw_response.list()
            kind = str(response.headers.get("content-type", ""))
            return named_in(response.content, kind, self._failures)

    def _takes_pictures(self) -> bool:
        return self._calls.dialect.pictures

    async def _learn_offer(self) -> None:
        """Ask once what the endpoint says of the model, where nothing is known of it before."""
        facts = self._endpoint.facts
        known = facts.window and (facts.vision is not None or not self._vision)
        if known or self._endpoint.provider is not Provider.COMPATIBLE:
            return
        offer = await OFFERS.of(self._endpoint.base_url, self._name, self._read_offers)
        if not facts.window:
            learn_window(self._name, offer.window)
        if offer.pictures is False and self._vision and self._calls.dialect.pictures:
            text_only = replace_fields(self._calls.dialect, pictures=False)
            self._calls.speak(text_only, self._failures.takes_no_pictures(_READS_TEXT_ONLY))

    async def _read_offers(self) -> dict[str, Offer] | None:
        try:
            response = await self._open().models.with_raw_response.list(timeout=_OFFER_TIMEOUT_S)
        except self._failures.root_error:
            # The call that follows meets the same trouble, and says it.
            return None
        return offers_in(response.content)

    # --- one call ----------

    async def _ask(
        self, request: ModelRequest, dialect: Dialect, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        limit = request.max_output_tokens or self._max_output_tokens
        detail = request.image_detail
        if detail is ImageDetail.AUTO:
            detail = self._detail
        request = replace(request, max_output_tokens=limit, image_detail=detail)
        complete = complete_response if self._endpoint.wire is Wire.RESPONSES else complete_chat
        reply = await complete(
            self._open(),
            request,
            dialect,
            on_text,
            name=self._name,
            vision=self._vision,
            failures=self._failures,
        )
        return replace(reply, output_limit=limit if dialect.limit else 0)

    def _open(self) -> "AsyncOpenAI":
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
                api_key=self._api_key or NO_KEY,
                # Said outright: left out, the SDK would take OPENAI_BASE_URL.
                base_url=self._endpoint.base_url,
                timeout=openai.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
                max_retries=0,
                default_headers=headers,  # type: ignore[arg-type]
                http_client=guarded(self._endpoint.base_url, self._failures),
            )
        client: AsyncOpenAI = self._client
        return client

    def _secret(self) -> str:
        """Return the key that was sent, so that no message repeats it."""
        if isinstance(self._api_key, str):
            return self._api_key
        return str(self._client.api_key) if self._client is not None else ""
