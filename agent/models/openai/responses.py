"""OpenAI's responses wire: what a request looks like, and how its stream is read.

Not the client. Stateless: nothing is left with the provider (`store=false`), the whole conversation
goes out each time. Invariant: the same conversation and answer as over the chat wire.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from agent.errors import ModelError
from agent.models.model import Message, ModelReply, ModelRequest, Role
from agent.models.openai.chat import EVENT_STREAM, data_url
from agent.models.openai.dialect import Dialect
from agent.models.openai.failures import Failures
from agent.models.openai.gathering import Gathering
from agent.models.openai.strict import strict
from agent.records import Usage
from agent.text import one_line, sentence

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_TERMINAL_CODES = frozenset(
    {"insufficient_quota", "invalid_prompt", "image_content_policy_violation"}
)


async def complete_response(
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
    if dialect.effort:
        options["reasoning"] = {"effort": dialect.effort}
    if request.tools:
        options["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": strict(tool.parameters) if dialect.strict else tool.parameters,
                "strict": dialect.strict,
            }
            for tool in request.tools
        ]
        if dialect.one_call:
            options["parallel_tool_calls"] = False
    create: Any = client.responses.create
    stream = await create(
        model=name,
        input=[item for message in request.messages for item in items_of(message, vision)],
        max_output_tokens=request.max_output_tokens,
        store=False,
        stream=True,
        **options,
    )
    async with stream:
        kind = str(stream.response.headers.get("content-type", "")).partition(";")[0].strip()
        return await _gather(stream, Gathering(failures, on_text), failures, kind, name)


async def _gather(
    stream: AsyncIterator[Any],
    gathering: Gathering,
    failures: Failures,
    media_type: str,
    name: str,
) -> ModelReply:
    usage: Usage | None = None
    wired = False
    async for event in stream:
        kind = str(getattr(event, "type", ""))
        wired = wired or kind.startswith("response.")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                gathering.text(event.delta)
            case "response.output_item.added" if event.item.type == "function_call":
                piece = gathering.piece(event.output_index)
                piece.call_id, piece.name = event.item.call_id or "", event.item.name or ""
            case "response.function_call_arguments.delta":
                gathering.arguments(gathering.piece(event.output_index), event.delta)
            case "response.output_item.done" if event.item.type == "function_call":
                # Some endpoints send a call only when it is whole.
                piece = gathering.piece(event.output_index)
                piece.call_id = piece.call_id or event.item.call_id or ""
                piece.name = piece.name or event.item.name or ""
                if not piece.arguments and event.item.arguments:
                    gathering.arguments(piece, event.item.arguments)
            case "response.completed" | "response.incomplete":
                usage = _usage(event.response)
            case "response.failed":
                raise _failed(name, getattr(event.response, "error", None))
            case "error":
                raise _failed(name, event)
            case _:
                pass
    if not wired and media_type.lower() != EVENT_STREAM:
        raise failures.not_the_wire(media_type)
    if usage is None:
        raise failures.broken_off()
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def _usage(response: Any) -> Usage:
    used = getattr(response, "usage", None)
    if used is None:
        return Usage(calls=1)
    details = getattr(used, "input_tokens_details", None)
    return Usage(
        calls=1,
        input_tokens=used.input_tokens or 0,
        output_tokens=used.output_tokens or 0,
        cached_input_tokens=(getattr(details, "cached_tokens", 0) or 0) if details else 0,
    )


def _failed(name: str, error: Any) -> ModelError:
    said = one_line(str(getattr(error, "message", "") or "it gave no reason"), 300)
    code = str(getattr(error, "code", "") or "")
    return ModelError(sentence(f"{name} failed: {said}"), retryable=code not in _TERMINAL_CODES)


def items_of(message: Message, vision: bool) -> list[dict[str, Any]]:
    """Give a message as this wire has it: one item, or several for a call beside words."""
    match message.role:
        case Role.TOOL:
            return [
                {
                    "type": "function_call_output",
                    "call_id": message.call_id,
                    "output": message.text,
                }
            ]
        case Role.ASSISTANT:
            items: list[dict[str, Any]] = []
            if message.text:
                items.append({"role": "assistant", "content": message.text})
            items += [
                {
                    "type": "function_call",
                    "call_id": call.call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                }
                for call in message.tool_calls
            ]
            return items
        case Role.SYSTEM | Role.USER:
            content: list[dict[str, Any]] = [{"type": "input_text", "text": message.text}]
            if message.image is not None and vision:
                content.append(
                    {"type": "input_image", "image_url": data_url(message), "detail": "auto"}
                )
            return [{"role": message.role.value, "content": content}]
