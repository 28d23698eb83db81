"""Put a streamed answer together: text that grows, tool calls that come in parts, and their bounds.

Shared by both wires. Invariants: an answer that does not end is cut off; two calls are never taken
for one, however an endpoint numbers them.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.models.model import ToolCall
from agent.models.wires.failures import Failures
from agent.models.wires.foreign import is_whole, number_of
from agent.text import one_line

MAX_REPLY_CHARS = 400_000
"""A stream that does not end is cut off here."""
MAX_TOOL_CALLS = 32
MAX_NAME_CHARS = 200
MAX_REASONING_ITEMS = 64
_SHOWN_SHARE = 50
"""A text that is still growing is shown again once it has grown by this part of itself."""


@dataclass(slots=True)
class Piece:
    """A tool call while its parts arrive."""

    index: int
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: dict[str, Any] | None = None  # What its endpoint wants back beside it, unread.


@dataclass(slots=True)
class Gathering:
    """One answer while it arrives."""

    failures: Failures
    on_text: Callable[[str], None] | None
    pieces: list[Piece] = field(default_factory=list)
    finish_reason: str = ""  # Why the answer ended, in the endpoint's word.
    _reasoning: list[dict[str, Any]] = field(default_factory=list)
    _thought: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _said: int = 0
    _shown: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been said or called yet."""
        return not self._text and not self.pieces

    def text(self, part: str) -> None:
        if not part:
            return
        self._text.append(part)
        self._said += len(part)
        # The whole text each time: shown at every word of a long answer, it would cost the square
        # of its length.
        if self.on_text is not None and self._said - self._shown >= self._said // _SHOWN_SHARE:
            self.on_text("".join(self._text))
            self._shown = self._said
        self.grow(len(part))

    def think(self, part: str) -> None:
        """Take in a part of reasoning that arrives as text."""
        if part:
            self._thought.append(part)
            self.grow(len(part))

    def reason(self, item: dict[str, Any]) -> None:
        """Take in one whole item of reasoning, as its wire wants it back."""
        if len(self._reasoning) < MAX_REASONING_ITEMS:
            self._reasoning.append(item)
        self.grow(len(json.dumps(item)))

    @property
    def reasoning_text(self) -> str:
        """The reasoning that arrived as text."""
        return "".join(self._thought)

    @property
    def reasoning(self) -> tuple[dict[str, Any], ...]:
        """The items of reasoning, in their order."""
        return tuple(self._reasoning)

    def call(
        self, index: object, *, call_id: str = "", name: str = "", arguments: str = ""
    ) -> Piece:
        """Take in a part of a tool call.

        Args:
            index: which call it is a part of, where the endpoint says so.
            name: the whole of it or a part; repeated by some endpoints with every part.
        """
        piece = self._piece(index, call_id, name, arguments)
        piece.call_id = piece.call_id or call_id
        piece.name = _joined(piece.name, name)[:MAX_NAME_CHARS]
        if arguments:
            piece.arguments.append(arguments)
        self.grow(len(arguments))
        return piece

    @property
    def extras(self) -> list[tuple[int, dict[str, Any]]]:
        """What comes beside calls, with their places in the answer."""
        pieces = enumerate(self._distinct())
        return [(at, piece.extra) for at, piece in pieces if piece.extra is not None]

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """Return the whole text and the calls in their order."""
        text = "".join(self._text)
        if self.on_text is not None and self._shown < self._said:
            self.on_text(text)
        calls = (
            ToolCall(
                call_id=one_line(piece.call_id, MAX_NAME_CHARS) or f"call_{at}",
                name=one_line(piece.name, MAX_NAME_CHARS),
                arguments="".join(piece.arguments),
            )
            for at, piece in enumerate(self._distinct())
        )
        return text, tuple(calls)

    def _distinct(self) -> list[Piece]:
        """Return the calls in their order; one that was sent twice, once."""
        distinct: list[Piece] = []
        for piece in sorted(self.pieces, key=lambda piece: piece.index):
            said = (piece.call_id, piece.name, "".join(piece.arguments))
            if piece.name and said not in (
                (other.call_id, other.name, "".join(other.arguments)) for other in distinct
            ):
                distinct.append(piece)
        return distinct

    def _piece(self, index: object, call_id: str, name: str, arguments: str) -> Piece:
        """Find the call that a part belongs to, or begin it."""
        number = number_of(index)
        # Some endpoints give several calls one number, or none.
        if number is None:
            known = [p for p in self.pieces if call_id and p.call_id == call_id] or self.pieces
        else:
            known = [p for p in self.pieces if p.index == number]
        if known and not _begins_another(known[-1], call_id, name, arguments):
            return known[-1]
        piece = Piece(len(self.pieces) if number is None else number)
        self.pieces.append(piece)
        return piece

    def grow(self, length: int) -> None:
        """Count what was taken in. Raises ModelError when the answer does not end."""
        self._length += length
        if self._length > MAX_REPLY_CHARS:
            raise self.failures.endless(f"{MAX_REPLY_CHARS:,} characters")
        if len(self.pieces) > MAX_TOOL_CALLS:
            raise self.failures.endless(f"{MAX_TOOL_CALLS} tool calls")


def _begins_another(last: Piece, call_id: str, name: str, arguments: str) -> bool:
    """Return whether a part is of another call than the last one with its number."""
    if not name:
        return False
    if call_id and last.call_id and call_id != last.call_id:
        return True
    same = not call_id or call_id == last.call_id
    return same and bool(arguments) and is_whole("".join(last.arguments))


def _joined(name: str, part: str) -> str:
    """Add a part to a name: the next part of it, or the whole of it once more."""
    if part == name or not part:
        return name
    return part if part.startswith(name) else name + part
