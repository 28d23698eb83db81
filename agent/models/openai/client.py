"""The client of one endpoint: one model, one wire, one key.

It streams. Invariants: retries are `agent.models.retry`'s; every failure
is a ModelError; nothing is taken from the environment behind the settings' back.
"""

from collections.abc import Callable
from dataclasses import replace as replace_fields
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent.errors import ModelError
from agent.models.endpoint import OPENAI_URL, Endpoint, Provider
from agent.models.endpoint_model import EndpointModel
from agent.models.model import FinishReason, ImageDetail, ModelReply, ModelRequest, ToolChoice
from agent.models.openai.chat import complete_chat
from agent.models.openai.dialect import LEARNT, Dialect, plainer, simpler
from agent.models.openai.responses import complete_response
from agent.models.openai.sdk import load
from agent.models.prices import Price, metered
from agent.models.windows import learn_window
from agent.models.wires.calls import CONNECT_TIMEOUT_S, NO_KEY, Calls, Key
from agent.models.wires.constrained import OUTPUT_TOKENS as CALL_TOKENS
from agent.models.wires.constrained import CallForm
from agent.models.wires.failures import Failures
from agent.models.wires.listing import named_in
from agent.models.wires.offers import OFFERS, Offer, offers_in, rows_in
from agent.models.wires.server_facts import facts_in, page_of
from agent.models.wires.traits import Notes, Source, Trait, no_notes
from agent.models.wires.transport import guarded
from agent.settings import ConstrainedCalls, Wire

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_OFFER_TIMEOUT_S = 5.0
_UNREAD = 2
"""Answers in a row without a call that could be read, after which a server near by is made to write
one: a large model far away may well have something to say, a small one has lost the form."""


class OpenAIModel(EndpointModel):
    """Implements the Model protocol over the openai SDK; see `EndpointModel`.

    Args:
        base_url: the endpoint; empty for OpenAI's own.
        endpoint: what is known of the endpoint; made of `base_url` when left out.
        image_detail: how finely pictures are looked at, where a request does not say it.
        effort: how long it may reason, in OpenAI's words; empty says nothing of it.
        constrained_calls: whether calls are written by a schema; the chat wire alone can do that.
        notes: keeps what calls teach about the endpoint.
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
        constrained_calls: ConstrainedCalls = ConstrainedCalls.AUTO,
        notes: Notes = no_notes,
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
        self._notes = notes
        self._may_constrain = (
            self._endpoint.wire is Wire.CHAT and constrained_calls is not ConstrainedCalls.OFF
        )
        self._failures = Failures(name, self._endpoint.base_url, timeout_s)
        dialect = Dialect(
            strict=self._endpoint.strict,
            cache_key=self._endpoint.caches_by_key,
            effort=effort,
            call_ids=self._endpoint.call_ids,
            signed_calls=self._endpoint.signs_calls,
            may_constrain=self._may_constrain,
        )
        if self._may_constrain and constrained_calls is ConstrainedCalls.ON:
            dialect = replace_fields(dialect, calls=CallForm.CONSTRAINED)
        self._calls = Calls(
            name,
            failures=self._failures,
            timeout_s=timeout_s,
            dialect=plainer(dialect, self._endpoint.without),
            learnt=LEARNT,
            endpoint=(
                *(self._endpoint.base_url, self._endpoint.wire.value, name, effort),
                constrained_calls.value,
            ),
            secret=self._secret,
            notes=notes,
        )

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the endpoint once.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        await self.learn()
        if request.tools and request.unread >= _UNREAD and self._endpoint.is_near:
            why = f"{request.unread} answers in a row had no call that could be read"
            self._tell_tools(why, by_schema=True)

        async def ask(dialect: Dialect) -> ModelReply:
            return await self._ask(request, dialect, on_text)

        has_pictures = self._vision and any(m.image is not None for m in request.messages)
        after = partial(simpler, has_pictures=has_pictures, has_tools=bool(request.tools))
        try:
            reply = await self._calls.answer(ask, after)
        except ModelError as error:
            if error.retryable and not error.status:
                # What answers next there may be another server, or the same with another model.
                OFFERS.forget(self._endpoint.base_url)
            raise
        self._note_answer(request, reply, has_pictures=has_pictures and self._takes_pictures())
        return metered(request, reply, self._price)

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

    # --- what the endpoint can do ----------

    async def learn(self) -> None:
        """Ask once what the endpoint says of the model, where nothing is known of it before."""
        await load()
        facts = self._endpoint.facts
        known = facts.window and (facts.vision is not None or not self._vision)
        if known or self._endpoint.provider is not Provider.COMPATIBLE:
            return
        offer = await self.offer()
        if offer is None:
            return
        if not facts.window:
            learn_window(self._name, offer.window)
        if offer.pictures is False and self._vision and self._calls.dialect.pictures:
            text_only = replace_fields(self._calls.dialect, pictures=False)
            why = f"its {offer.said_in['pictures']} says that it reads text only"
            self._calls.speak(text_only, self._failures.takes_no_pictures(why))
        if offer.tools is False:
            why = f"its {offer.said_in['tools']} says so"
            self._tell_tools(why, by_schema=offer.schema is not False)

    async def offer(self) -> Offer | None:
        """Return what the endpoint says of the model; None where it cannot be asked."""
        await load()
        return await OFFERS.of(self._endpoint.base_url, self._name, self._read_offers)

    async def _read_offers(self) -> dict[str, Offer] | None:
        client = self._open()
        try:
            response = await client.models.with_raw_response.list(timeout=_OFFER_TIMEOUT_S)
        except self._failures.root_error:
            # The call that follows meets the same trouble, and says it.
            return None
        offers, rows = offers_in(response.content), rows_in(response.content)
        offer = offers.get(self._name, Offer())
        if not self._endpoint.is_near:
            return offers
        if len(offers) == 1:
            # A server of one model answers by whatever name it is asked.
            offer = next(iter(offers.values()))
        found = page_of(rows, self._endpoint.preset, self._name)
        if found is not None:
            kind, page = found
            said = await self._read_page(page.path, page.body)
            offer = offer.and_then(facts_in(kind, page, said, self._name))
        return {**offers, self._name: offer}

    async def _read_page(self, path: str, posted: dict[str, str] | None) -> object:
        """Read one more page of the server, which is JSON; None where it has none."""
        client = self._open()
        options: Any = {"timeout": _OFFER_TIMEOUT_S}
        url = f"{self._endpoint.origin}{path}"
        try:
            if posted is None:
                return await client.get(url, cast_to=object, options=options)
            return await client.post(url, cast_to=object, body=posted, options=options)
        except (self._failures.root_error, ModelError, ValueError, RecursionError):
            return None

    def _tell_tools(self, why: str, *, by_schema: bool) -> None:
        """Tell of tools in words from now on, where that may be done and was not refused."""
        dialect = self._calls.dialect
        if self._may_constrain and dialect.calls is CallForm.OFFERED:
            form = CallForm.CONSTRAINED if by_schema else CallForm.WRITTEN
            told = self._failures.calls_in_words(why, by_schema=by_schema)
            self._calls.speak(replace_fields(dialect, calls=form), told)

    def _note_answer(self, request: ModelRequest, reply: ModelReply, *, has_pictures: bool) -> None:
        """Keep what an answer shows of the endpoint."""
        dialect, calls = self._calls.dialect, len(reply.tool_calls)
        if has_pictures:
            self._notes(Trait.VISION, True, Source.ANSWER)
        if not request.tools or reply.finish is FinishReason.LENGTH:
            return
        if dialect.calls is CallForm.CONSTRAINED:
            self._notes(Trait.SCHEMA, bool(calls), Source.ANSWER)
        elif dialect.calls is CallForm.OFFERED:
            if calls:
                self._notes(Trait.TOOLS, True, Source.ANSWER)
            if calls > 1:
                self._notes(Trait.PARALLEL, True, Source.ANSWER)
            if dialect.required and request.tool_choice is ToolChoice.REQUIRED:
                self._notes(Trait.REQUIRED, bool(calls), Source.ANSWER)

    # --- one call ----------

    async def _ask(
        self, request: ModelRequest, dialect: Dialect, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        limit = request.max_output_tokens or self._max_output_tokens
        if (
            request.tools
            and not request.max_output_tokens
            and dialect.calls is not CallForm.OFFERED
        ):
            limit = min(limit, CALL_TOKENS)
        detail = request.image_detail
        if detail is ImageDetail.AUTO:
            detail = self._detail
        request = replace(request, max_output_tokens=limit, image_detail=detail)
        asked = partial(
            complete_response
            if self._endpoint.wire is Wire.RESPONSES
            else partial(complete_chat, notes=self._notes),
            self._open(),
            request,
            dialect,
            on_text,
        )
        reply = await asked(name=self._name, vision=self._vision, failures=self._failures)
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
