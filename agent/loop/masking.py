"""Shorten what a conversation remembers: old screens become one line (CONTRACTS 5.2).

By message kind, never by counting messages: hints in between change nothing. Invariants: only
observations are shortened; the last four stay word for word; masking twice changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from agent.models.model import Message, MessageKind

KEEP_TURNS = 4
TOKEN_BUDGET = 12_000
"""Above this estimate only the last two screens stay whole."""
_TIGHT_KEEP = 2
_MASK = "[Screen:"
_ELEMENT = re.compile(r"^ *(?:>>> )?\[\d+\] ([\w-]+):", re.MULTILINE)
_PHASE = re.compile(r"^Phase: \w+", re.MULTILINE)
_TURN = re.compile(r"^Turn: \d+ / \d+$", re.MULTILINE)


def mask(messages: Sequence[Message], *, keep: int = KEEP_TURNS) -> list[Message]:
    """Give the conversation with every observation but the last `keep` in one line each.

    Pictures stay with the newest observation only.
    """
    masked = list(messages)
    screens = [at for at, m in enumerate(masked) if m.kind is MessageKind.OBSERVATION]
    for at in screens[: max(len(screens) - keep, 0)]:
        if not masked[at].text.startswith(_MASK):
            masked[at] = replace(masked[at], text=summarize(masked[at].text), image=None)
    for at in screens[:-1]:
        if masked[at].image is not None:
            masked[at] = replace(masked[at], image=None)
    return masked


def fit(messages: Sequence[Message]) -> list[Message]:
    """Mask, and mask harder when the conversation is still longer than its token budget."""
    masked = mask(messages)
    if estimate_tokens(masked) > TOKEN_BUDGET:
        return mask(masked, keep=_TIGHT_KEEP)
    return masked


def newest_only(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give what stands for itself: all but calls, their results and earlier screens."""
    screens = [at for at, m in enumerate(messages) if m.kind is MessageKind.OBSERVATION]
    left = {MessageKind.REPLY, MessageKind.RESULT}
    return tuple(
        m for at, m in enumerate(messages) if m.kind not in left and at not in screens[:-1]
    )


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Estimate tokens as a quarter of the characters."""
    chars = 0
    for message in messages:
        chars += len(message.text)
        for call in message.tool_calls:
            chars += len(call.arguments)
    return chars // 4


def summarize(text: str) -> str:
    """Give the one line that stands for an observation."""
    package = _line(text, "Package: ") or "unknown"
    activity = _line(text, "Screen: ")
    kinds = _ELEMENT.findall(text)
    usable = sum(kind != "text" for kind in kinds)
    phase, turn = _PHASE.search(text), _TURN.search(text)
    tail = (f", {phase.group()}" if phase else "") + (f", {turn.group()}" if turn else "")
    place = f"{package}/{activity}" if activity else package
    return f"{_MASK} {place}, {len(kinds)} elements ({usable} interactive){tail}]"


def _line(text: str, start: str) -> str:
    for line in text.splitlines():
        if line.startswith(start):
            return line[len(start) :]
    return ""
