"""OpenAI's responses wire: what a request looks like, and how its stream is read.

Not the client. Stateless: nothing is left with the provider (`store=false`), the whole conversation
goes out each time. Invariant: the same conversation and answer as over the chat wire.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.errors import ModelError
from agent.models.model import Message, ModelReply, ModelRequest, Role
from agent.models.openai.chat import EVENT_STREAM, data_url, media_type, whole
from agent.models.openai.dialect import Dialect
from agent.models.openai.failures import Failures
from agent.models.openai.foreign import argument_text, listed, name_text, usage_of, words
from agent.models.openai.gathering import Gathering
from agent.models.openai.parts import parts_of
from agent.models.openai.strict import strict
from agent.records import Usage
from agent.text import one_line

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream


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
    options["input"] = [item for message in request.messages for item in items_of(message, vision)]
    options["max_output_tokens"] = request.max_output_tokens
    options["store"] = False
    create: Any = client.responses.create
    # The body's own, as in `agent.models.openai.chat`.
    stream = await create(model=name, stream=True, extra_body=options)
    async with stream:
        gathering = Gathering(failures, on_text)
        answer = await whole(stream.response, failures)
        if answer is not None:
            return _whole_reply(answer, gathering, failures)
        return await _gather(stream, gathering, failures)


def _whole_reply(answer: dict[str, Any], gathering: Gathering, failures: Failures) -> ModelReply:
    from openai.types.responses import Response

    if not isinstance(answer.get("output"), list):
        raise failures.not_the_wire("JSON")
    response = Response.construct(**answer)
    if response.status == "failed":
        raise _failed(failures, response.error)
    _take_output(gathering, response)
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=_usage(response))


async def _gather(stream: AsyncStream[Any], gathering: Gathering, failures: Failures) -> ModelReply:
    usage = Usage(calls=1)
    wired = strange = over = False

    def is_over() -> bool:
        return over

    async for event in parts_of(stream, failures, is_over):
        kind = str(getattr(event, "type", ""))
        wired = wired or kind.startswith("response.")
        strange = strange or not wired
        match kind:
            case "response.completed" | "response.incomplete":
                response = getattr(event, "response", None)
                usage, over = _usage(response), True
                if gathering.is_empty:
                    # Some endpoints tell of an answer only when it is whole.
                    _take_output(gathering, response)
            case "response.failed":
                raise _failed(failures, getattr(event.response, "error", None))
            case "error":
                raise _failed(failures, event)
            case _:
                _take(gathering, event, kind)
    if not wired and (strange or media_type(stream.response) != EVENT_STREAM):
        raise failures.not_the_wire(media_type(stream.response))
    if not over:
        raise failures.broken_off()
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def _take(gathering: Gathering, event: Any, kind: str) -> None:
    """Take in what one event brings."""
    at = getattr(event, "output_index", None)
    match kind:
        case "response.output_text.delta" | "response.refusal.delta":
            gathering.text(words(event.delta))
        case "response.output_text.done" if gathering.is_empty:
            gathering.text(words(event.text))
        case "response.output_item.added":
            _take_call(gathering, event.item, at, with_arguments=False)
        case "response.function_call_arguments.delta":
            gathering.call(at, arguments=argument_text(event.delta))
        case "response.function_call_arguments.done":
            if not gathering.call(at).arguments:
                gathering.call(at, arguments=argument_text(event.arguments))
        case "response.output_item.done":
            _take_call(gathering, event.item, at, with_arguments=True)
        case _:
            pass


def _take_call(gathering: Gathering, item: Any, at: object, *, with_arguments: bool) -> None:
    """Take in an item that is a call: its name first, its arguments where they did not come yet."""
    if getattr(item, "type", None) != "function_call":
        return
    piece = gathering.call(at, call_id=name_text(item.call_id), name=name_text(item.name))
    if with_arguments and not piece.arguments:
        gathering.call(at, arguments=argument_text(item.arguments))


def _take_output(gathering: Gathering, response: Any) -> None:
    """Take in an answer that came in one."""
    for at, item in enumerate(listed(getattr(response, "output", None))):
        for part in listed(getattr(item, "content", None)):
            gathering.text(words(getattr(part, "text", None)))
            gathering.text(words(getattr(part, "refusal", None)))
        _take_call(gathering, item, at, with_arguments=True)


def _usage(response: Any) -> Usage:
    used = getattr(response, "usage", None)
    return usage_of(used, "input_tokens", "output_tokens", "input_tokens_details")


def _failed(failures: Failures, error: Any) -> ModelError:
    said = one_line(words(getattr(error, "message", None)) or "it gave no reason", 300)
    return failures.told(said, getattr(error, "code", None))


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
