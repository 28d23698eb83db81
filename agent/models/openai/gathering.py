"""Put a streamed answer together: text that grows, tool calls that come in parts, and their bounds.

Shared by both wires. Invariant: an answer that does not end is cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.models.model import ToolCall
from agent.models.openai.failures import Failures

MAX_REPLY_CHARS = 400_000
"""A stream that does not end is cut off here."""
MAX_TOOL_CALLS = 32
_SHOWN_SHARE = 50
"""A text that is still growing is shown again once it has grown by this part of itself."""


@dataclass(slots=True)
class Piece:
    """A tool call while its parts arrive."""

    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Gathering:
    """One answer while it arrives."""

    failures: Failures
    on_text: Callable[[str], None] | None
    pieces: dict[int, Piece] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _said: int = 0
    _shown: int = 0

    def text(self, part: str) -> None:
        """Take in a part of the text."""
        self._text.append(part)
        self._said += len(part)
        # The whole text each time: shown at every word of a long answer, it would cost the square
        # of its length.
        if self.on_text is not None and self._said - self._shown >= self._said // _SHOWN_SHARE:
            self.on_text("".join(self._text))
            self._shown = self._said
        self._grow(len(part))

    def piece(self, index: int) -> Piece:
        """Give the tool call with an index, a new one the first time."""
        found = self.pieces.setdefault(index, Piece())
        self._grow(0)
        return found

    def arguments(self, piece: Piece, part: str) -> None:
        """Take in a part of a call's arguments."""
        piece.arguments.append(part)
        self._grow(len(part))

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """Give the whole text and the calls in their order."""
        text = "".join(self._text)
        if self.on_text is not None and self._shown < self._said:
            self.on_text(text)
        calls = tuple(
            ToolCall(
                call_id=piece.call_id or f"call_{index}",
                name=piece.name,
                arguments="".join(piece.arguments),
            )
            for index, piece in sorted(self.pieces.items())
            if piece.name
        )
        return text, calls

    def _grow(self, length: int) -> None:
        self._length += length
        if self._length > MAX_REPLY_CHARS or len(self.pieces) > MAX_TOOL_CALLS:
            raise self.failures.endless(MAX_REPLY_CHARS)
