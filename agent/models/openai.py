"""A language model behind OpenAI's chat completions protocol, at any base URL.

The only module that knows the openai SDK. It streams, and puts tool calls together by their index.
Invariants: one call is one attempt, retries are `agent.models.retry`'s; every failure is a
ModelError judged by type and status, never by searching its words; the key is in no message.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.errors import ModelError
from agent.models.model import Message, ModelReply, ModelRequest, Role, ToolCall
from agent.records import Usage
from agent.text import one_line, sentence

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

CONNECT_TIMEOUT_S = 15.0
MAX_REPLY_CHARS = 400_000
"""A stream that does not end is cut off here."""
MAX_TOOL_CALLS = 32
_SHOWN_SHARE = 50
"""A text that is still growing is shown again once it has grown by this part of itself."""
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NO_KEY = "none"
_EVENT_STREAM = "text/event-stream"
_TAGS = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<[^>]*>")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What an endpoint understands; learnt from what it refuses."""

    stream_usage: bool = True
    completion_tokens: bool = True
    """`max_completion_tokens`; else the older `max_tokens`."""


@dataclass(slots=True)
class _Piece:
    """A tool call while its parts arrive."""

    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class OpenAIModel:
    """Implements the Model protocol over the openai SDK.

    Args:
        name: the model, as the endpoint calls it.
        base_url: the endpoint; empty for OpenAI's own.
        api_key: empty for endpoints that want none.
        timeout_s: the most that one call may stay silent; a whole call may take four times that.
        vision: whether pictures are sent.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str = "",
        timeout_s: float = 45.0,
        vision: bool = False,
    ) -> None:
        self._name = name
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._vision = vision
        self._client: AsyncOpenAI | None = None
        self._dialect = _Dialect()

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._vision

    def __repr__(self) -> str:
        return f"OpenAIModel({self._name!r}, base_url={self._base_url!r})"

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        """Call the endpoint once.

        Raises:
            ModelError: the call failed; `retryable` says whether another may succeed.
        """
        import openai

        while True:
            dialect = self._dialect
            try:
                async with asyncio.timeout(self._timeout_s * 4):
                    return await self._stream(request, dialect, on_text)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                simpler = _simpler(dialect, error)
                if simpler is None:
                    raise self._failure(error) from error
                self._dialect = simpler
            except TimeoutError as error:
                raise self._error(
                    f"{self._name} did not finish its answer in {self._timeout_s * 4:g} s.",
                    retryable=True,
                ) from error
            except openai.OpenAIError as error:
                raise self._failure(error) from error
            except ModelError:
                raise
            except Exception as error:
                # The SDK lets a stream that breaks in the middle raise whatever its HTTP library or
                # JSON decoder did.
                raise self._error(
                    f"The answer of {self._name} broke off: {type(error).__name__}.",
                    retryable=True,
                ) from error

    async def close(self) -> None:
        """Close connections; the model can be used again afterwards."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    # --- one call ----------

    def _open(self) -> AsyncOpenAI:
        if self._client is None:
            import openai

            self._client = openai.AsyncOpenAI(
                api_key=self._api_key or _NO_KEY,
                base_url=self._base_url or None,
                timeout=openai.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
                max_retries=0,
            )
        return self._client

    async def _stream(
        self, request: ModelRequest, dialect: _Dialect, on_text: Callable[[str], None] | None
    ) -> ModelReply:
        options: dict[str, Any] = {}
        if dialect.stream_usage:
            options["stream_options"] = {"include_usage": True}
        limit = "max_completion_tokens" if dialect.completion_tokens else "max_tokens"
        options[limit] = request.max_output_tokens
        if request.tools:
            options["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in request.tools
            ]
        # The SDK types one overload for each shape of request; a request built from data fits none.
        create: Any = self._open().chat.completions.create
        stream: AsyncStream[ChatCompletionChunk] = await create(
            model=self._name,
            messages=[self._message(message) for message in request.messages],
            stream=True,
            **options,
        )
        async with stream:
            kind = str(stream.response.headers.get("content-type", "")).partition(";")[0].strip()
            return await self._gather(stream, on_text, kind)

    async def _gather(
        self,
        stream: AsyncIterator[ChatCompletionChunk],
        on_text: Callable[[str], None] | None,
        media_type: str,
    ) -> ModelReply:
        text: list[str] = []
        pieces: dict[int, _Piece] = {}
        usage = Usage(calls=1)
        finished = ""
        length = 0
        said = shown = 0
        wired = False
        chunks = aiter(stream)
        while True:
            try:
                chunk = await anext(chunks)
                wired = wired or bool(chunk.choices) or chunk.usage is not None
            except StopAsyncIteration:
                break
            except (ValueError, AttributeError, TypeError) as error:
                if wired:
                    raise
                raise self._not_the_wire(media_type) from error
            if chunk.usage is not None:
                details = chunk.usage.prompt_tokens_details
                usage = Usage(
                    calls=1,
                    input_tokens=chunk.usage.prompt_tokens or 0,
                    output_tokens=chunk.usage.completion_tokens or 0,
                    cached_input_tokens=(details.cached_tokens or 0) if details else 0,
                )
            for choice in chunk.choices or ():
                finished = choice.finish_reason or finished
                delta = choice.delta
                if delta.content:
                    text.append(delta.content)
                    length += len(delta.content)
                    said += len(delta.content)
                    # The whole text each time: shown at every word of a long answer, it would cost
                    # the square of its length.
                    if on_text is not None and said - shown >= said // _SHOWN_SHARE:
                        on_text("".join(text))
                        shown = said
                for part in delta.tool_calls or ():
                    length += _join(pieces, part)
            if length > MAX_REPLY_CHARS or len(pieces) > MAX_TOOL_CALLS:
                raise self._error(
                    f"{self._name} answered without end; it was cut off at "
                    f"{MAX_REPLY_CHARS:,} characters.",
                    retryable=True,
                )
        if on_text is not None and shown < said:
            on_text("".join(text))
        if not wired and media_type.lower() != _EVENT_STREAM:
            raise self._not_the_wire(media_type)
        if not finished:
            raise self._error(f"The answer of {self._name} broke off.", retryable=True)
        calls = tuple(
            ToolCall(
                call_id=piece.call_id or f"call_{index}",
                name=piece.name,
                arguments="".join(piece.arguments),
            )
            for index, piece in sorted(pieces.items())
            if piece.name
        )
        return ModelReply(text="".join(text), tool_calls=calls, usage=usage)

    def _message(self, message: Message) -> dict[str, Any]:
        match message.role:
            case Role.TOOL:
                return {
                    "role": "tool",
                    "tool_call_id": message.call_id,
                    "content": message.text,
                }
            case Role.ASSISTANT:
                said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
                if message.tool_calls:
                    said["tool_calls"] = [
                        {
                            "id": call.call_id,
                            "type": "function",
                            "function": {"name": call.name, "arguments": call.arguments},
                        }
                        for call in message.tool_calls
                    ]
                return said
            case Role.SYSTEM | Role.USER:
                if message.image is None or not self._vision:
                    return {"role": message.role.value, "content": message.text}
                picture = base64.b64encode(message.image).decode()
                url = f"data:{message.image_type};base64,{picture}"
                return {
                    "role": message.role.value,
                    "content": [
                        {"type": "text", "text": message.text},
                        {"type": "image_url", "image_url": {"url": url}},
                    ],
                }

    # --- failures ----------

    def _failure(self, error: Exception) -> ModelError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self._error(
                f"{self._name} gave no answer within {self._timeout_s:g} s.", retryable=True
            )
        if isinstance(error, openai.APIStatusError):
            return self._status_failure(error)
        if isinstance(error, openai.APIConnectionError):
            where = self._base_url or "OpenAI"
            return self._error(
                f"{where} cannot be reached.",
                "Check the network and model.base_url.",
                retryable=True,
            )
        # An error event inside the stream, or an answer that is no completion.
        return self._error(sentence(f"{self._name} failed: {self._words(error)}"), retryable=True)

    def _status_failure(self, error: Any) -> ModelError:
        status = int(error.status_code)
        said = self._words(error)
        variable = "Check the key and what it may use."
        match status:
            case 401 | 403:
                message, remedy, retryable = "refused the key", variable, False
            case 404:
                message, remedy, retryable = (
                    f"does not know the model {self._name}",
                    "Check model.name and model.base_url.",
                    False,
                )
            case 429 if _quota(error):
                message, remedy, retryable = (
                    "says that the quota is used up",
                    "Check plan and billing of the account.",
                    False,
                )
            case 429:
                message, remedy, retryable = "is being asked too often", "", True
            case 400 | 402 | 405 | 410 | 413 | 415 | 422:
                message, remedy, retryable = "refused the request", "", False
            case _:
                message, remedy, retryable = "failed", "", True
        return ModelError(
            sentence(f"The model endpoint {message} (HTTP {status}): {said}"),
            remedy,
            retryable=retryable,
            status=status,
            retry_after_s=_retry_after_s(error),
        )

    def _not_the_wire(self, media_type: str) -> ModelError:
        """Say that something answered which is no endpoint: asking again would not help."""
        where = self._base_url or "OpenAI"
        return self._error(
            f"What answers at {where} is no OpenAI-compatible endpoint: it sent "
            f"{one_line(media_type, 60) or 'something'} and no chat completion.",
            "The base URL is probably wrong: check model.base_url; it often ends in /v1.",
            retryable=False,
        )

    def _error(self, message: str, remedy: str = "", *, retryable: bool) -> ModelError:
        return ModelError(message, remedy, retryable=retryable)

    def _words(self, error: Exception) -> str:
        """Give an error's own words without the key, which endpoints like to repeat."""
        body = getattr(error, "body", None)
        said = body.get("message") if isinstance(body, dict) else None
        if not isinstance(said, str) or not said.strip():
            # A gateway's page instead of the endpoint's own words: what it says without its markup.
            said = _TAGS.sub(" ", str(error))
        if self._api_key:
            said = said.replace(self._api_key, "[KEY]")
        return one_line(said, 300)


def _join(pieces: dict[int, _Piece], part: Any) -> int:
    """Take in one part of a tool call; gives how many characters it brought."""
    index = part.index if isinstance(part.index, int) else max(len(pieces) - 1, 0)
    piece = pieces.setdefault(index, _Piece())
    piece.call_id = piece.call_id or part.id or ""
    if part.function is None:
        return 0
    if part.function.name:
        # Some endpoints repeat the whole name in every part, none splits it.
        piece.name = piece.name or part.function.name
    if part.function.arguments:
        piece.arguments.append(part.function.arguments)
        return len(part.function.arguments)
    return 0


def _simpler(dialect: _Dialect, error: Any) -> _Dialect | None:
    """Give the next plainer dialect after a refusal; None when there is nothing left to leave."""
    parameter = error.param if isinstance(error.param, str) else ""
    if dialect.completion_tokens and parameter == "max_completion_tokens":
        return replace(dialect, completion_tokens=False)
    if dialect.stream_usage and parameter.startswith("stream_options"):
        return replace(dialect, stream_usage=False)
    if parameter:
        return None
    # An endpoint that does not say which parameter it refused gets fewer of them.
    if dialect.stream_usage:
        return replace(dialect, stream_usage=False)
    if dialect.completion_tokens:
        return replace(dialect, completion_tokens=False)
    return None


def _quota(error: Any) -> bool:
    return error.code in _QUOTA_CODES or error.type in _QUOTA_CODES


def _retry_after_s(error: Any) -> float | None:
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < 1e9 else None
    return None
