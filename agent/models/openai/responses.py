"""OpenAI's responses wire: what a request looks like, and how its stream is read.

Not the client. Stateless: nothing is left with the provider (`store=false`), the whole conversation
goes out each time. Invariant: the same conversation and answer as over the chat wire.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.errors import ModelError
from agent.models.model import (
    FinishReason,
    ImageDetail,
    Message,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
)
from agent.models.openai.chat import data_url
from agent.models.openai.dialect import Dialect
from agent.models.wires.bodies import EVENT_STREAM, media_type, read_object
from agent.models.wires.call_ids import with_accepted_ids
from agent.models.wires.failures import Failures
from agent.models.wires.foreign import argument_text, listed, name_text, usage_of, words
from agent.models.wires.gathering import Gathering
from agent.models.wires.parts import parts_of
from agent.models.wires.strict import strict
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
        if dialect.required and request.tool_choice is ToolChoice.REQUIRED:
            options["tool_choice"] = ToolChoice.REQUIRED.value
    options["input"] = [
        item
        for message in with_accepted_ids(request.messages, dialect.call_ids)
        for item in items_of(
            message,
            vision and dialect.pictures,
            request.image_detail,
            with_reasoning=dialect.reasoning,
        )
    ]
    if dialect.limit and request.max_output_tokens:
        options["max_output_tokens"] = request.max_output_tokens
    if dialect.cache_key and request.cache_key:
        options["prompt_cache_key"] = request.cache_key
    options["store"] = False
    if dialect.reasoning:
        # Nothing is left with the provider, so what it thought is given out and comes back sealed.
        options["include"] = ["reasoning.encrypted_content"]
    create: Any = client.responses.create
    # The body's own, as in `agent.models.openai.chat`.
    stream = await create(model=name, stream=True, extra_body=options)
    async with stream:
        gathering = Gathering(failures, on_text)
        answer = await read_object(stream.response, failures)
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
    return _reply(gathering, _usage(response), response)


def _reply(gathering: Gathering, usage: Usage, response: Any) -> ModelReply:
    text, calls = gathering.finish()
    return ModelReply(
        text=text,
        tool_calls=calls,
        usage=usage,
        finish=_finish_of(response, has_calls=bool(calls)),
        reasoning=gathering.reasoning,
    )


def _finish_of(response: Any, *, has_calls: bool) -> FinishReason:
    why = getattr(getattr(response, "incomplete_details", None), "reason", None)
    match getattr(response, "status", None), why:
        case "incomplete", "max_output_tokens":
            return FinishReason.LENGTH
        case "incomplete", "content_filter":
            return FinishReason.FILTERED
        case "completed", _:
            return FinishReason.TOOL_CALLS if has_calls else FinishReason.STOP
        case _:
            return FinishReason.UNKNOWN


async def _gather(stream: AsyncStream[Any], gathering: Gathering, failures: Failures) -> ModelReply:
    usage, response = Usage(calls=1), None
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
                elif not gathering.reasoning:
                    for item in listed(getattr(response, "output", None)):
                        _take_reasoning(gathering, item)
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
    return _reply(gathering, usage, response)


def _take(gathering: Gathering, event: Any, kind: str) -> None:
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
            _take_reasoning(gathering, event.item)
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
    for at, item in enumerate(listed(getattr(response, "output", None))):
        for part in listed(getattr(item, "content", None)):
            gathering.text(words(getattr(part, "text", None)))
            gathering.text(words(getattr(part, "refusal", None)))
        _take_call(gathering, item, at, with_arguments=True)
        _take_reasoning(gathering, item)


def _take_reasoning(gathering: Gathering, item: Any) -> None:
    """Take in an item of reasoning that can be sent back: one that came with its sealed content."""
    sealed = words(getattr(item, "encrypted_content", None))
    if getattr(item, "type", None) != "reasoning" or not sealed:
        return
    summary = [
        {"type": "summary_text", "text": words(getattr(part, "text", None))}
        for part in listed(getattr(item, "summary", None))
    ]
    kept: dict[str, Any] = {"type": "reasoning", "summary": summary, "encrypted_content": sealed}
    item_id = name_text(getattr(item, "id", None))
    gathering.reason(kept | ({"id": item_id} if item_id else {}))


def _usage(response: Any) -> Usage:
    used = getattr(response, "usage", None)
    return usage_of(used, "input_tokens", "output_tokens", "input_tokens_details")


def _failed(failures: Failures, error: Any) -> ModelError:
    said = one_line(words(getattr(error, "message", None)) or "it gave no reason", 300)
    return failures.reported(said, getattr(error, "code", None))


def items_of(
    message: Message,
    vision: bool,
    detail: ImageDetail = ImageDetail.AUTO,
    *,
    with_reasoning: bool = True,
) -> list[dict[str, Any]]:
    """Return a message as this wire has it: one item, or several for a call beside words."""
    match message.role:
        case Role.TOOL:
            return [
                {"type": "function_call_output", "call_id": message.call_id, "output": message.text}
            ]
        case Role.ASSISTANT:
            thoughts = message.reasoning if with_reasoning else ()
            items: list[dict[str, Any]] = [
                thought for thought in thoughts if thought.get("type") == "reasoning"
            ]
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
                    {"type": "input_image", "image_url": data_url(message), "detail": detail.value}
                )
            return [{"role": message.role.value, "content": content}]
