"""OpenAI's chat completions wire: what a request looks like, and how its stream is read.

Not the client. Invariant: messages go out in the order they came, unchanged, so that an endpoint
finds the beginning of the conversation in its cache.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.models.model import Message, ModelReply, ModelRequest, Role
from agent.models.openai.dialect import Dialect
from agent.models.openai.failures import Failures
from agent.models.openai.foreign import argument_text, listed, name_text, usage_of, words
from agent.models.openai.gathering import Gathering
from agent.models.openai.parts import parts_of
from agent.models.openai.strict import strict
from agent.models.openai.transport import says_done
from agent.records import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

EVENT_STREAM = "text/event-stream"
_EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


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
    options: dict[str, Any] = {
        "messages": [message_of(message, vision) for message in request.messages]
    }
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
    # As the body's own: what is given by name the SDK walks through by its types, again at every
    # call, which for a long conversation takes longer than all the rest of a step.
    stream: AsyncStream[ChatCompletionChunk] = await create(
        model=name, messages=(), stream=True, extra_body=options
    )
    async with stream:
        answer = await whole(stream.response, failures)
        gathering = Gathering(failures, on_text)
        if answer is not None:
            return _whole_reply(answer, gathering, failures)
        return await _gather(stream, gathering, failures)


async def whole(response: Any, failures: Failures) -> dict[str, Any] | None:
    """Read an answer that is one JSON object though a stream was asked for; None of a stream.

    Raises:
        ModelError: something answered that is no endpoint.
        openai.APIError: the object says what went wrong.
    """
    kind = media_type(response)
    if kind == EVENT_STREAM:
        return None
    # Some servers name no type, or a wrong one: what it is, it shows.
    body = (await response.aread()).lstrip()
    if not body.startswith(b"{"):
        if body.startswith(_EVENT_FIELDS):
            return None
        raise failures.not_the_wire(kind)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise failures.broken_off(error) from error
    assert isinstance(answer, dict), "it begins with a brace"
    if answer.get("error"):
        raise _said_error(answer["error"], response)
    return answer


def _said_error(error: object, response: Any) -> Exception:
    import openai

    said = error.get("message") if isinstance(error, dict) else error
    return openai.APIError(words(said) or "it gave no reason", response.request, body=error)


def _whole_reply(answer: dict[str, Any], gathering: Gathering, failures: Failures) -> ModelReply:
    from openai.types.chat import ChatCompletionChunk

    choices = answer.get("choices")
    if not isinstance(choices, list):
        raise failures.not_the_wire("JSON")
    # What a stream gives in parts is here in one: the same fields, called otherwise.
    parts = [{**one, "delta": one.get("message")} for one in choices if isinstance(one, dict)]
    if not parts:
        raise failures.broken_off()
    chunk = ChatCompletionChunk.construct(**{**answer, "choices": parts})
    _take(gathering, chunk)
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=_usage(chunk))


async def _gather(
    stream: AsyncStream[ChatCompletionChunk], gathering: Gathering, failures: Failures
) -> ModelReply:
    usage = Usage(calls=1)
    finished = wired = strange = False

    def is_whole() -> bool:
        # Some endpoints never say why they ended, only that they did.
        return finished or (not gathering.is_empty and says_done(stream.response))

    try:
        async for chunk in parts_of(stream, failures, is_whole):
            choices, used = getattr(chunk, "choices", None), getattr(chunk, "usage", None)
            wired = wired or bool(choices) or used is not None
            strange = strange or (choices is None and used is None)
            if used is not None:
                usage = _usage(chunk)
            finished = _take(gathering, chunk) or finished
    except (ValueError, AttributeError, TypeError) as error:
        if wired:
            raise
        raise failures.not_the_wire(media_type(stream.response)) from error
    if not wired and (strange or media_type(stream.response) != EVENT_STREAM):
        raise failures.not_the_wire(media_type(stream.response))
    if not is_whole():
        raise failures.broken_off()
    text, calls = gathering.finish()
    return ModelReply(text=text, tool_calls=calls, usage=usage)


def _take(gathering: Gathering, chunk: Any) -> bool:
    """Take in what one chunk brings; tells whether it says that the answer is over."""
    finished = False
    for choice in listed(getattr(chunk, "choices", None)):
        if getattr(choice, "index", 0):
            # One answer was asked for; the first is it.
            continue
        finished = finished or bool(getattr(choice, "finish_reason", None))
        delta = getattr(choice, "delta", None)
        gathering.text(words(getattr(delta, "content", None)))
        gathering.text(words(getattr(delta, "refusal", None)))
        parts = listed(getattr(delta, "tool_calls", None))
        for part in parts:
            function = getattr(part, "function", None)
            gathering.call(
                getattr(part, "index", None),
                call_id=name_text(getattr(part, "id", None)),
                name=name_text(getattr(function, "name", None)),
                arguments=argument_text(getattr(function, "arguments", None)),
            )
        if not parts and not any(piece.call_id for piece in gathering.pieces):
            _take_elder(gathering, getattr(delta, "function_call", None))
    return finished


def _take_elder(gathering: Gathering, function: object) -> None:
    """Take in a part of the one call, without an id, that the wire knew before `tool_calls`.

    Some endpoints know no other, and some say each call both ways.
    """
    name = name_text(getattr(function, "name", None))
    arguments = argument_text(getattr(function, "arguments", None))
    if name or arguments:
        gathering.call(None, name=name, arguments=arguments)


def _usage(chunk: Any) -> Usage:
    return usage_of(chunk.usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details")


def media_type(response: Any) -> str:
    """Say what an answer claims to be."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


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
