"""What a stored step was made of: elements, prompt, reply; found on the tape, written for reading.

Pure but for the bytes it is given. Invariant: foreign text is cleaned; what is not in the form we
write is shown as it is, cut.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from agent.protocol import Event, ObservationRecorded, StepCompleted, StepStarted, ToolCallRequested
from agent.records import Observation
from agent.text import clean, one_line
from widgets.base.rows import Parts

MOST_CHARS = 24_000
TREE_HANG = 14
"""Characters before an element's label: its number and kind."""


class Part(StrEnum):
    """What of a step is shown."""

    TREE = "tree"
    PROMPT = "prompt"
    REPLY = "reply"

    @property
    def hang(self) -> int:
        """Characters before the text of each of its lines."""
        return TREE_HANG if self is Part.TREE else 0


class StepRecord(NamedTuple):
    """One step as it was stored."""

    step: int
    observation: Observation | None
    prompt_digest: str
    reply_digest: str
    is_whole: bool  # Whether the step had ended at this place of the tape.

    def digest_of(self, part: Part) -> str:
        """Name the stored text of a part; empty when there is none."""
        digests = {Part.PROMPT: self.prompt_digest, Part.REPLY: self.reply_digest}
        return digests.get(part, "")


def record_at(events: Sequence[Event], position: int) -> StepRecord:
    """Find the step that is under way, or has just ended, after so many events."""
    step, prompt, reply, whole = 0, "", "", False
    seen: Observation | None = None
    for at in range(min(position, len(events)) - 1, -1, -1):
        match events[at].msg:
            case StepCompleted() if not step:
                whole = True
            case ToolCallRequested(prompt_digest=asked, reply_digest=answered):
                prompt, reply = prompt or asked, reply or answered
            case ObservationRecorded(observation=observation):
                seen = seen or observation
            case StepStarted(step=step):
                break
            case _:
                pass
    return StepRecord(step, seen, prompt, reply, whole)


def tree_parts(record: StepRecord) -> Parts:
    """Write the screen of a step as its model saw it."""
    seen = record.observation
    if seen is None:
        return (("No screen was seen up to here.", "$faint"),)
    parts: list[tuple[str, str]] = [
        (one_line(seen.foreground.package, 120), "bold $foreground"),
        (f"  {len(seen.elements)} elements\n", "$muted"),
    ]
    if seen.tree_note:
        parts.append((f"{one_line(seen.tree_note, 300)}\n", "$warn"))
    for element in seen.elements:
        parts += [
            (f"{element.number:>3} ", "$ask"),
            (f"{element.kind[:9]:<10}", "$muted"),
            (one_line(element.label, 160), "$foreground"),
        ]
        if element.resource_id:
            parts.append((f"  #{one_line(element.resource_id.rpartition('/')[2], 60)}", "$faint"))
        parts.append(("\n", ""))
    return tuple(parts)


def blob_parts(data: bytes, most_chars: int = MOST_CHARS) -> Parts:
    """Write a stored prompt or reply so that it can be read.

    Args:
        data: what was stored.
        most_chars: how much of its end is written; what is left out is counted.
    """
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return ((clean(data.decode("utf-8", "replace"), most_chars), "$foreground"),)
    messages = value if isinstance(value, list) else [value]
    parts: list[tuple[str, str]] = []
    for message in messages:
        known = message if isinstance(message, dict) else {"text": str(message)}
        parts += _message(known, most_chars)
    whole = sum(len(text) for text, _ in parts)
    if whole <= most_chars:
        return tuple(parts)
    # The end of a conversation is what the step is about.
    kept: list[tuple[str, str]] = []
    room = most_chars
    for text, style in reversed(parts):
        kept.append((text[-room:], style))
        room -= len(text)
        if room <= 0:
            break
    return ((f"… {whole - most_chars:,} characters before\n", "$faint"), *reversed(kept))


def _message(message: dict[str, Any], most_chars: int) -> list[tuple[str, str]]:
    role = one_line(str(message.get("role", "")), 20)
    kind = one_line(str(message.get("kind", "")), 20)
    head = " · ".join(filter(None, (role, kind if kind != role else "")))
    parts: list[tuple[str, str]] = [(f"{head}\n", "bold $primary")] if head else []
    text = message.get("text") or ""
    if text:
        parts.append((f"{clean(str(text), most_chars)}\n", "$foreground"))
    calls = message.get("tool_calls") or ()
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name, given = call.get("name", ""), call.get("arguments", "")
            parts.append((f"→ {one_line(str(name), 60)} ", "$good"))
            parts.append((f"{clean(str(given), 4_000)}\n", "$foreground"))
    left = {
        key: value
        for key, value in message.items()
        if key not in {"role", "kind", "text", "tool_calls", "call_id", "image_type"} and value
    }
    if left and not (text or calls):
        parts.append((f"{clean(msgspec.json.encode(left).decode(), 4_000)}\n", "$muted"))
    parts.append(("\n", ""))
    return parts
