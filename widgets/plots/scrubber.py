"""The scrubber of a replay: where on the tape we are, with marks; the mouse presses and drags it.

What it moves is the console's business. Invariant: the line is as wide as it is asked to be.
"""

from collections.abc import Sequence

from textual.events import Leave, MouseDown, MouseMove, MouseUp
from textual.message import Message

from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts

Signs = Sequence[tuple[int, str]]

_MARKS = {
    "app": ("╵", "$model"),
    "question": ("?", "$ask"),
    "error": ("×", "$bad"),
    "message": ("▾", "$primary"),
    "result": ("✓", "$good"),
}


def scrubber(position: int, length: int, signs: Signs, width: int) -> Parts:
    """Draw the tape.

    Args:
        position: events played.
        length: events there are.
        signs: (position, kind) of what is worth a mark.
        width: cells.
    """
    if width <= 0:
        return ()
    here = _cell(position, length, width)
    cells: list[tuple[str, str]] = [
        ("━", "$primary") if at <= here else ("─", "$faint") for at in range(width)
    ]
    for at, kind in signs:
        cells[_cell(at, length, width)] = _MARKS[kind]
    cells[here] = ("●", "bold $primary")
    merged: list[tuple[str, str]] = []
    for text, style in cells:
        if merged and merged[-1][1] == style:
            merged[-1] = (merged[-1][0] + text, style)
        else:
            merged.append((text, style))
    return tuple(merged)


def _cell(position: int, length: int, width: int) -> int:
    return min(width - 1, position * (width - 1) // max(1, length))


def position_at(column: int, length: int, signs: Signs, width: int) -> int:
    """Return the position that a cell of the line stands for: that of its mark, if it has one.

    Args:
        column: the cell, from 0; those outside the line count as its ends.
        length: events there are.
        signs: see `scrubber`.
        width: cells of the line.
    """
    column = max(0, min(column, width - 1))
    for at, _ in reversed(signs):
        if _cell(at, length, width) == column:
            return at
    # The first position that is drawn in this cell.
    return -(-column * length // max(1, width - 1))


class Scrubber(PartsLine):
    """The line, over what is said below it."""

    class Moved(Message):
        """A place on the line was pressed, or drawn to."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._length = 0
        self._signs: Signs = ()
        self._is_dragged = False

    def show_tape(self, position: int, length: int, signs: Signs) -> Parts:
        """Return the line for a place on a tape, as wide as there is room."""
        self._length, self._signs = length, signs
        return scrubber(position, length, signs, self._width)

    @property
    def _width(self) -> int:
        return max(10, self.content_size.width)

    def on_mouse_down(self, event: MouseDown) -> None:
        offset = event.get_content_offset(self)
        if event.button == 1 and offset is not None and offset.y == 0:
            self._is_dragged = True
            self.capture_mouse()
            event.stop()
            self._tell(event)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._is_dragged:
            self._tell(event)

    def on_mouse_up(self, event: MouseUp) -> None:
        if self._is_dragged:
            # Also where the pointer was moved so fast that no move was told.
            self._tell(event)
        self._let_go()

    def on_leave(self, _event: Leave) -> None:
        if not self.app.mouse_captured:
            self._let_go()

    def _let_go(self) -> None:
        self._is_dragged = False
        self.release_mouse()

    def _tell(self, event: MouseDown | MouseMove | MouseUp) -> None:
        column = event.get_content_offset_capture(self).x
        self.post_message(self.Moved(position_at(column, self._length, self._signs, self._width)))
