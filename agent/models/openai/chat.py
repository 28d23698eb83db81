"""OpenAI's chat completions wire: what a request looks like, and how its stream is read.

Not the client. Invariant: messages go out in the order they came, unchanged, so that an endpoint
finds the beginning of the conversation in its cache.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from agent.models.model import Message, ModelReply, ModelRequest, Role
from agent.models.openai.dialect import Dialect
from agent.models.openai.failures import Failures
from agent.models.openai.gathering import Gathering
from agent.models.openai.strict import strict
from agent.records import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

EVENT_STREAM = "text/event-stream"


async def complete_chat(
    client: AsyncOpenAI,
    request: ModelRequest,
    dialect: Dialect,
    on_text: Callable[[str], None] | None,
    *,
    name: str,
    vision: bool,
    failures: Failures,
) -> ModelReply:
    """Ask once. Raises what the SDK raises, and ModelError for an answer that is none."""
    options: dict[str, Any] = {}
    if dialect.stream_usage:
        options["stream_options"] = {"include_usage": True}
    limit = "max_completion_tokens" if dialect.completion_tokens else "max_tokens"
    options[limit] = request.max_output_tokens
    if dialect.effort:
        options["reasoning_effort"] = dialect.effort
    if request.tools:
        options["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    **(
                        {"parameters": strict(tool.parameters), "strict": True}
                        if dialect.strict
                        else {"parameters": tool.parameters}
                    ),
                },
            }
            for tool in request.tools
        ]
        if dialect.one_call:
            options["parallel_tool_calls"] = False
    # The SDK types one overload for each shape of request; a request built from data fits none.
    create: Any = client.chat.completions.create
    stream: AsyncStream[ChatCompletionChunk] = await create(
        model=name,
        messages=[message_of(message, vision) for message in request.messages],
        stream=True,
        **options,
    )
    async with stream:
        kind = str(stream.response.headers.get("content-type", "")).partition(";")[0].strip()
        return await _gather(stream, Gathering(failures, on_text), failures, kind)


async def _gather(
    stream: AsyncIterator[ChatCompletionChunk],
    gathering: Gathering,
    failures: Failures,
    media_type: str,
) -> ModelReply:
    usage = Usage(calls=1)
    finished = ""
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
            raise failures.not_the_wire(media_type) from error
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
                gathering.text(delta.content)
            for part in delta.tool_calls or ():
                _join(gathering, part)
    if not wired and media_type.lower() != EVENT_STREAM:
        raise failures.not_the_wire(media_type)
    if not finished:
        raise failures.broken_off()
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def _join(gathering: Gathering, part: Any) -> None:
    """Take in one part of a tool call."""
    index = part.index if isinstance(part.index, int) else max(len(gathering.pieces) - 1, 0)
    piece = gathering.piece(index)
    piece.call_id = piece.call_id or part.id or ""
    if part.function is None:
        return
    if part.function.name:
        # Some endpoints repeat the whole name in every part, none splits it.
        piece.name = piece.name or part.function.name
    if part.function.arguments:
        gathering.arguments(piece, part.function.arguments)


def message_of(message: Message, vision: bool) -> dict[str, Any]:
    """Give a message as this wire has it."""
    match message.role:
        case Role.TOOL:
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
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
            if message.image is None or not vision:
                return {"role": message.role.value, "content": message.text}
            return {
                "role": message.role.value,
                "content": [
                    {"type": "text", "text": message.text},
                    {"type": "image_url", "image_url": {"url": data_url(message)}},
                ],
            }


def data_url(message: Message) -> str:
    """Give a message's picture as a data URL."""
    assert message.image is not None
    return f"data:{message.image_type};base64,{base64.b64encode(message.image).decode()}"
