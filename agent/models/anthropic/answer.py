"""Read an answer of Anthropic's Messages API: a stream of named events, or one JSON object.

Not the client. Invariants: an answer counts only when it says that it is over; whatever an endpoint
writes is read as text, calls, reasoning and counts, or is a ModelError.

https://platform.claude.com/docs/en/build-with-claude/streaming
https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from agent.models.anthropic.request import THINKING
from agent.models.model import FinishReason, ModelReply
from agent.models.wires.bodies import EVENT_STREAM, media_type, read_object
from agent.models.wires.failures import Failures
from agent.models.wires.foreign import count_of, listed, name_text, words
from agent.models.wires.gathering import Gathering
from agent.models.wires.parts import parts_of
from agent.models.wires.transport import says_done
from agent.records import Usage
from agent.text import one_line

_FINISHED = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
}
_MAX_BLOCKS = 64  # Of reasoning in one answer.
_KINDS = ("message_", "content_block_")
PAUSED = "pause_turn"  # The model continues in another call.


@dataclass(slots=True)
class Answer:
    """One answer while it arrives."""

    gathering: Gathering
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    reasoning: dict[int, dict[str, Any]] = field(default_factory=dict)
    stop_reason: str = ""
    refusal: str = ""
    is_over: bool = False

    def take(self, kind: object, event: object) -> None:
        """Take in one event of a stream; kinds that are not known say nothing."""
        at = _get(event, "index")
        match kind:
            case "message_start":
                self._count(_get(_get(event, "message"), "usage"))
            case "content_block_start":
                self.open_block(at, _get(event, "content_block"))
            case "content_block_delta":
                self.extend_block(at, _get(event, "delta"))
            case "message_delta":
                self.end(_get(event, "delta"), _get(event, "usage"))
            case "message_stop":
                self.is_over = True
            case _:
                return

    def open_block(self, at: object, block: object) -> None:
        """Take in the beginning of a content block, or the whole of it."""
        match _get(block, "type"):
            case "text":
                self.gathering.text(words(_get(block, "text")))
            case "tool_use":
                said = _get(block, "input")
                self.gathering.call(
                    at,
                    call_id=name_text(_get(block, "id")),
                    name=name_text(_get(block, "name")),
                    # Empty in a stream, where the parts follow; whole where nothing is streamed.
                    arguments=json.dumps(said) if isinstance(said, dict) and said else "",
                )
            case kind if kind in THINKING and isinstance(at, int):
                made = {"type": kind}
                for name in ("thinking", "signature", "data"):
                    said = _get(block, name)
                    if isinstance(said, str):
                        made[name] = said
                        self.gathering.grow(len(said))
                if at in self.reasoning or len(self.reasoning) < _MAX_BLOCKS:
                    self.reasoning[at] = made
            case _:
                # Blocks of tools that run at the provider: none were offered.
                return

    def extend_block(self, at: object, delta: object) -> None:
        """Take in a part of a content block."""
        match _get(delta, "type"):
            case "text_delta":
                self.gathering.text(words(_get(delta, "text")))
            case "input_json_delta":
                part = _get(delta, "partial_json")
                if isinstance(part, str) and part:
                    self.gathering.call(at, arguments=part)
            case "thinking_delta":
                self._reason(at, "thinking", _get(delta, "thinking"))
            case "signature_delta":
                self._reason(at, "signature", _get(delta, "signature"))
            case _:
                return

    def end(self, said: object, usage: object) -> None:
        """Take in how a message ended: its reason, and what the answer used."""
        self.stop_reason = name_text(_get(said, "stop_reason")) or self.stop_reason
        self.refusal = words(_get(_get(said, "stop_details"), "explanation")) or self.refusal
        self._count(usage)
        self.is_over = self.is_over or bool(self.stop_reason)

    def finish(self, failures: Failures) -> ModelReply:
        """Return the whole answer.

        Raises:
            ModelError: the model refused, or the conversation filled its window.
        """
        text, calls = self.gathering.finish()
        if self.stop_reason == "refusal":
            raise failures.refused(one_line(self.refusal or text, 300))
        if self.stop_reason == "model_context_window_exceeded" and not calls:
            raise failures.reported("the window is full", "context_length_exceeded")
        blocks = (block for _, block in sorted(self.reasoning.items()))
        reasoning = tuple(block for block in blocks if "signature" in block or "data" in block)
        return ModelReply(
            text=text,
            tool_calls=calls,
            usage=self.usage,
            finish=_FINISHED.get(self.stop_reason, FinishReason.UNKNOWN),
            reasoning=reasoning,
        )

    def _reason(self, at: object, name: str, part: object) -> None:
        if not isinstance(part, str) or not isinstance(at, int):
            return
        if at not in self.reasoning and len(self.reasoning) >= _MAX_BLOCKS:
            return
        block = self.reasoning.setdefault(at, {"type": THINKING[0]})
        block[name] = f"{block.get(name, '')}{part}"
        self.gathering.grow(len(part))

    def _count(self, used: object) -> None:
        """Take in counts; those that come later are of the whole call, and may leave some out."""
        if not isinstance(used, dict):
            return
        read = count_of(used.get("cache_read_input_tokens"))
        written = count_of(used.get("cache_creation_input_tokens"))
        new = count_of(used.get("input_tokens"))
        if new or read or written:
            # The API counts what came from the cache and went into it apart.
            self.usage = replace(
                self.usage,
                input_tokens=new + read + written,
                cached_input_tokens=read,
                cache_write_tokens=written,
            )
        output = count_of(used.get("output_tokens"))
        if output:
            self.usage = replace(self.usage, output_tokens=output)


async def read_answer(
    stream: Any, failures: Failures, on_text: Callable[[str], None] | None
) -> Answer:
    """Read one answer to its end.

    Args:
        stream: the SDK's stream, whose events are plain JSON values.

    Raises:
        ModelError: it broke off, did not end, or is no answer of this API.
        anthropic.APIError: the endpoint said what went wrong, or was silent.
    """
    answer = Answer(Gathering(failures, on_text))
    message = await read_object(stream.response, failures)
    if message is not None:
        if not isinstance(message.get("content"), list):
            raise failures.not_the_wire("JSON", "message")
        for at, block in enumerate(listed(message["content"])):
            answer.open_block(at, block)
        answer.end(message, message.get("usage"))
        return answer

    wired = strange = False
    async for event in parts_of(stream, failures, lambda: answer.is_over):
        kind = _get(event, "type")
        wired = wired or (isinstance(kind, str) and kind.startswith(_KINDS))
        strange = strange or not wired
        answer.take(kind, event)
    if not wired and (
        strange or says_done(stream.response) or media_type(stream.response) != EVENT_STREAM
    ):
        # The SDK passes over events without a name, as the chat wire has them.
        raise failures.not_the_wire(media_type(stream.response), "message")
    if not answer.is_over:
        raise failures.broken_off()
    return answer


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
