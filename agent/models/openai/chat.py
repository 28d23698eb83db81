"""OpenAI's chat completions wire: what a request looks like, and how its stream is read.

Not the client. Invariant: messages go out in the order they came, unchanged, so that an endpoint
finds the beginning of the conversation in its cache.
"""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent.models.model import (
    FinishReason,
    ImageDetail,
    Message,
    ModelReply,
    ModelRequest,
    Role,
    ToolChoice,
)
from agent.models.openai.dialect import Dialect
from agent.models.wires.bodies import EVENT_STREAM, media_type, read_object
from agent.models.wires.call_ids import with_accepted_ids
from agent.models.wires.constrained import CallForm, call_schema, in_words, read_call
from agent.models.wires.failures import Failures
from agent.models.wires.foreign import argument_text, listed, name_text, usage_of, words
from agent.models.wires.gathering import Gathering
from agent.models.wires.parts import parts_of
from agent.models.wires.strict import strict
from agent.models.wires.traits import Notes, Source, Trait, no_notes
from agent.models.wires.transport import says_done
from agent.records import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

_FINISHED = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}
EXTRA = "extra_content"
"""Where Google's endpoint has what belongs to a call, and wants it back there: the signature of the
thought before it. https://ai.google.dev/gemini-api/docs/thought-signatures"""
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Stands, by that page, for the signature of a call that was made elsewhere."""
REASONING = "reasoning_content"
"""Where this wire has the reasoning of an answer; DeepSeek and GLM want it back there."""


async def complete_chat(
    client: "AsyncOpenAI",
    request: ModelRequest,
    dialect: Dialect,
    on_text: Callable[[str], None] | None,
    *,
    name: str,
    vision: bool,
    failures: Failures,
    notes: Notes = no_notes,
) -> ModelReply:
    """Ask once. Raises what the SDK raises, and ModelError for an answer that is none."""
    # Where calls are told in words, what streams is no speech, but the call.
    told = bool(request.tools) and dialect.calls is not CallForm.OFFERED
    messages = in_words(request.messages, request.tools) if told else request.messages
    options: dict[str, Any] = {
        "messages": [
            message_of(message, vision and dialect.pictures, request.image_detail, dialect)
            for message in with_accepted_ids(messages, dialect.call_ids)
        ]
    }
    if dialect.stream_usage:
        options["stream_options"] = {"include_usage": True}
    if dialect.limit and request.max_output_tokens:
        limit = "max_completion_tokens" if dialect.completion_tokens else "max_tokens"
        options[limit] = request.max_output_tokens
    if dialect.cache_key and request.cache_key:
        options["prompt_cache_key"] = request.cache_key
    if dialect.effort:
        options["reasoning_effort"] = dialect.effort
    if told and dialect.calls is CallForm.CONSTRAINED:
        schema = {"name": "call", "strict": True, "schema": call_schema(request.tools)}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.tools and not told:
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
        if dialect.required and request.tool_choice is ToolChoice.REQUIRED:
            options["tool_choice"] = ToolChoice.REQUIRED.value
    # The SDK types one overload for each shape of request; a request built from data fits none.
    create: Any = client.chat.completions.create
    # As the body's own: what is given by name the SDK walks through by its types, again at every
    # call, which for a long conversation takes longer than all the rest of a step.
    stream: AsyncStream[ChatCompletionChunk] = await create(
        model=name, messages=(), stream=True, extra_body=options
    )
    async with stream:
        answer = await read_object(stream.response, failures)
        gathering = Gathering(failures, None if told else on_text)
        if answer is not None:
            reply = _whole_reply(answer, gathering, failures)
        else:
            reply = await _gather(stream, gathering, failures)
    notes(Trait.STREAMING, answer is None, Source.ANSWER)
    if told and not reply.tool_calls and (call := read_call(reply.text, request.tools)) is not None:
        return replace(reply, text="", tool_calls=(call,))
    return reply


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
    return _reply(gathering, _usage(chunk))


def _reply(gathering: Gathering, usage: Usage) -> ModelReply:
    text, calls = gathering.finish()
    if gathering.reasoning_text:
        gathering.reason({REASONING: gathering.reasoning_text})
    for at, extra in gathering.extras:
        gathering.reason({EXTRA: extra, "call": at})
    return ModelReply(
        text=text,
        tool_calls=calls,
        usage=usage,
        finish=_FINISHED.get(gathering.finish_reason, FinishReason.UNKNOWN),
        reasoning=gathering.reasoning,
    )


async def _gather(
    stream: "AsyncStream[ChatCompletionChunk]", gathering: Gathering, failures: Failures
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
    return _reply(gathering, usage)


def _take(gathering: Gathering, chunk: Any) -> bool:
    """Take in what one chunk brings; returns whether it says that the answer is over."""
    finished = False
    for choice in listed(getattr(chunk, "choices", None)):
        if getattr(choice, "index", 0):
            # One answer was asked for; the first is it.
            continue
        ended = getattr(choice, "finish_reason", None)
        if ended:
            finished, gathering.finish_reason = True, words(ended)
        delta = getattr(choice, "delta", None)
        gathering.think(
            words(getattr(delta, "reasoning_content", None))
            or words(getattr(delta, "reasoning", None))
        )
        gathering.text(words(getattr(delta, "content", None)))
        gathering.text(words(getattr(delta, "refusal", None)))
        parts = listed(getattr(delta, "tool_calls", None))
        for part in parts:
            function = getattr(part, "function", None)
            piece = gathering.call(
                getattr(part, "index", None),
                call_id=name_text(getattr(part, "id", None)),
                name=name_text(getattr(function, "name", None)),
                arguments=argument_text(getattr(function, "arguments", None)),
            )
            extra = getattr(part, EXTRA, None)
            piece.extra = extra if isinstance(extra, dict) and extra else piece.extra
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


def message_of(
    message: Message,
    vision: bool,
    detail: ImageDetail = ImageDetail.AUTO,
    dialect: Dialect | None = None,
) -> dict[str, Any]:
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
                        **_extra_of(message, at, dialect),
                    }
                    for at, call in enumerate(message.tool_calls)
                ]
                if dialect is None or dialect.reasoning:
                    said |= _thought_of(message)
            return said
        case Role.SYSTEM | Role.USER:
            if message.image is None or not vision:
                return {"role": message.role.value, "content": message.text}
            return {
                "role": message.role.value,
                "content": [
                    {"type": "text", "text": message.text},
                    {"type": "image_url", "image_url": _picture(message, detail)},
                ],
            }


def _extra_of(message: Message, at: int, dialect: Dialect | None) -> dict[str, Any]:
    """Return what goes back beside a call, which this wire's endpoint gave with it."""
    for item in message.reasoning:
        if item.get("call") == at and isinstance(item.get(EXTRA), dict):
            return {EXTRA: item[EXTRA]}
    return {EXTRA: _UNSIGNED} if dialect is not None and dialect.signed_calls else {}


def _thought_of(message: Message) -> dict[str, Any]:
    """Return what goes beside an assistant's calls: its reasoning, if this wire made it."""
    for item in message.reasoning:
        if isinstance(item.get(REASONING), str):
            return {REASONING: item[REASONING]}
    return {}


def _picture(message: Message, detail: ImageDetail) -> dict[str, str]:
    """Return a picture; how finely it is looked at is said only where it was chosen."""
    said = {"url": data_url(message)}
    return said if detail is ImageDetail.AUTO else {**said, "detail": detail.value}


def data_url(message: Message) -> str:
    """Return a message's picture as a data URL."""
    assert message.image is not None
    return f"data:{message.image_type};base64,{base64.b64encode(message.image).decode()}"
