"""What a request of Anthropic's Messages API looks like, and which parts of it are to be cached.

Not the client. Stateless: the whole conversation goes out each time, in the order it came.
Invariants: turns alternate and begin with the user's; a tool's result is the first block after its
call; at most four blocks carry a cache mark, all of them on what the next request repeats.

https://platform.claude.com/docs/en/api/messages
https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall, ToolChoice
from agent.models.wires.call_ids import CallIds, with_accepted_ids
from agent.models.wires.strict import strict

Block = dict[str, Any]
Turn = dict[str, Any]

THINKING = ("thinking", "redacted_thinking")
"""Kinds of blocks that a model reasons in; they go back as they came."""
_LOOKBACK = 18  # The API looks for a cached prefix at most 20 blocks before a mark.
_MARK = {"type": "ephemeral"}
_NOT_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME_CHARS = 128


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent beside the conversation, learnt from what an endpoint refuses."""

    effort: str = ""
    """How much the model may spend on an answer; empty says nothing of it, `none` turns thinking
    off."""
    reasoning: bool = True
    """Thinking blocks go back with the replies they came with."""
    strict: bool = False
    """Schemas that the endpoint enforces."""
    required: bool = True
    """`tool_choice: any`, where the request asks for a call; manual thinking does not bear it."""
    pictures: bool = True
    """Pictures are sent, where the request has any."""
    caching: bool = True
    """Cache marks, which some compatible endpoints do not know."""


def body_of(request: ModelRequest, name: str, dialect: Dialect, *, vision: bool) -> dict[str, Any]:
    """Return a request's JSON body.

    Args:
        name: the model, as the endpoint calls it.
        vision: whether pictures are sent.
    """
    messages = with_accepted_ids(request.messages, CallIds.USUAL)
    system, turns = conversation_of(
        messages, vision=vision and dialect.pictures, reasoning=dialect.reasoning
    )
    if dialect.caching:
        of_this_call = bool(messages) and messages[-1].kind is MessageKind.EFFECTS
        _mark(system, turns, leaves_out_last=of_this_call)
    body: dict[str, Any] = {
        "model": name,
        "max_tokens": request.max_output_tokens,
        "messages": turns,
        "stream": True,
    }
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                **(
                    {"input_schema": strict(tool.parameters), "strict": True}
                    if dialect.strict
                    else {"input_schema": tool.parameters}
                ),
            }
            for tool in request.tools
        ]
        if dialect.required and request.tool_choice is ToolChoice.REQUIRED:
            body["tool_choice"] = {"type": "any"}
    if dialect.effort == "none":
        body["thinking"] = {"type": "disabled"}
    elif dialect.effort:
        # The API's scale begins at low.
        effort = "low" if dialect.effort == "minimal" else dialect.effort
        body["output_config"] = {"effort": effort}
    return body


def conversation_of(
    messages: Sequence[Message], *, vision: bool, reasoning: bool
) -> tuple[list[Block], list[Turn]]:
    """Return the instructions, and the turns: consecutive messages of one side are one turn."""
    instructions = 0
    while instructions < len(messages) and messages[instructions].role is Role.SYSTEM:
        instructions += 1
    system = [_text(message.text) for message in messages[:instructions] if message.text.strip()]
    turns: list[Turn] = []
    for message in messages[instructions:]:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        blocks = list(_blocks(message, vision=vision, reasoning=reasoning))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return system, turns


def _blocks(message: Message, *, vision: bool, reasoning: bool) -> Iterator[Block]:
    match message.role:
        case Role.TOOL:
            yield {
                "type": "tool_result",
                "tool_use_id": message.call_id,
                "content": message.text or "(nothing)",
            }
        case Role.ASSISTANT:
            if reasoning:
                yield from (dict(b) for b in message.reasoning if b.get("type") in THINKING)
            if message.text.strip():
                yield _text(message.text)
            for call in message.tool_calls:
                yield {
                    "type": "tool_use",
                    "id": call.call_id,
                    "name": _NOT_A_NAME.sub("_", call.name)[:_MAX_NAME_CHARS] or "_",
                    "input": _input(call),
                }
        case Role.SYSTEM | Role.USER:
            # The API refuses a text block without text.
            if message.text.strip():
                yield _text(message.text)
            if message.image is not None and vision:
                yield {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": message.image_type,
                        "data": base64.b64encode(message.image).decode(),
                    },
                }


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _input(call: ToolCall) -> dict[str, Any]:
    """Return a call's arguments as the object that this wire wants, whatever the model wrote."""
    try:
        said = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        said = None
    return said if isinstance(said, dict) else {"unreadable": call.arguments}


def _mark(system: list[Block], turns: Sequence[Turn], *, leaves_out_last: bool) -> None:
    """Mark what the next request begins with: instructions and tools, the goal, and the past.

    The newest picture is not part of it: it is sent once, and the next request has another.

    Args:
        leaves_out_last: whether the last block is of this request alone.
    """
    if system:
        # Tools come before the system prompt in the cached prefix, so this covers both.
        system[-1]["cache_control"] = _MARK
    blocks = [block for turn in turns for block in turn["content"]]
    if leaves_out_last:
        blocks.pop()
    stable = [block for block in blocks if block["type"] not in (*THINKING, "image")]
    if blocks and blocks[-1]["type"] == "image":
        blocks.pop()
    marked = {id(block): block for block in (*stable[:1], *stable[-1:])}
    if len(blocks) > _LOOKBACK:
        # Where old screens were shortened since, the longest prefix may lie further back than the
        # API looks from the last mark.
        earlier = [b for b in blocks[:-_LOOKBACK] if b["type"] not in (*THINKING, "image")]
        marked.update((id(block), block) for block in earlier[-1:])
    for block in marked.values():
        block["cache_control"] = _MARK
