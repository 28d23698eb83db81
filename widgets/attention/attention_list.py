"""The attention queue: what waits for the operator, answered in place.

A row list whose rows may be questions with options. Invariant: a number answers only the question
the operator has put the cursor on: not one that took its place less than half a second before the
number was pressed, nor one that took the place of what the operator has just answered.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.events import Click, Leave, MouseMove
from textual.geometry import Offset
from textual.message import Message

from agent.state.reducer import Attention, State
from widgets.attention.alike import Alike, grouped
from widgets.attention.attention_rows import OPTION, attention_rows
from widgets.base import causality
from widgets.base.row_list import GUTTER, RowList
from widgets.base.rows import Line, Row
from widgets.questions.question_card import GRACE_S


class AttentionList(RowList):
    """What waits, the most urgent first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(n), f"choose({n})", f"Option {n}", show=False) for n in range(1, 10)
    ]

    KEEPS_CURSOR = False

    class Chosen(Message):
        """The operator pressed an option's key, or the option with the mouse."""

        def __init__(self, waiting: Attention, answer: str, *, by_mouse: bool = False) -> None:
            super().__init__()
            self.waiting = waiting
            self.answer = answer
            self.by_mouse = by_mouse

    def __init__(
        self, *, id: str | None = None, empty: str = "", clock_s: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(id=id, empty=empty, clock_s=clock_s)
        self.waiting: dict[str, Attention] = {}
        """All that waits, by its key, also what stands in a row with others."""
        self._groups: dict[str, Alike] = {}
        self._came_s = 0.0
        self._known_s: dict[str, float] = {}
        """Since when each row is here, by the clock."""
        self._is_placed = True
        """Whether the cursor was not moved here by the operator's own answer."""
        self._pointer: Offset | None = None

    def show_waiting(self, waiting: Sequence[Attention], state: State, *, now_ms: int) -> None:
        before = self.cursor_key
        self.waiting = {one.key: one for one in waiting}
        self._groups = {one.key: one for one in grouped(waiting, state) if isinstance(one, Alike)}
        self.show_rows(
            attention_rows(
                waiting,
                state,
                now_ms=now_ms,
                width=self.text_width if self.size.width else 0,
                most=self.screen.size.height // 4 if self.is_attached else 0,
                open_key=self.cursor_key,
            )
        )
        now_s = self.clock_s()
        self._known_s = {key: self._known_s.get(key, now_s) for key in self.waiting}
        if self.cursor_key != before:
            self._is_placed = causality.current() is None
            # What a key brings was on the screen to be read; what comes by itself was not.
            self._came_s = now_s if self._is_placed else self._known_s.get(self.cursor_key, now_s)

    def _step(self, by: int) -> None:
        self._is_placed = True
        super()._step(by)

    def on_focus(self) -> None:
        self._is_placed = True
        super().on_focus()

    @property
    def under_cursor(self) -> Attention | None:
        return self.waiting.get(self.cursor_key)

    @property
    def group_under_cursor(self) -> Alike | None:
        """Return the group whose row the cursor is on."""
        return self._groups.get(self.cursor_key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take only the digits that name an option; the others are keys of the screen."""
        if action != "choose":
            return True
        one = self.under_cursor
        options = one.question.options if one is not None and one.question is not None else ()
        return parameters[0] in range(1, len(options) + 1)

    def on_mouse_move(self, event: MouseMove) -> None:
        super().on_mouse_move(event)
        before, self._pointer = self._pointer, event.get_content_offset_capture(self)
        number = _option_at(self, self._pointer)
        if number or (before is not None and _option_at(self, before)):
            self.refresh()
        self.styles.pointer = "pointer" if number else "default"

    def on_leave(self, event: Leave) -> None:
        super().on_leave(event)
        self._pointer = None

    def drawn(self, row: Row, line: int, y: int) -> Line:
        """Underline the option under the pointer, as what a press chooses."""
        pointer = self._pointer
        number = _option_at(self, pointer) if pointer is not None and pointer.y == y else 0
        return _underlined(row.lines[line], number) if number else row.lines[line]

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset_capture(self)
        number = _option_at(self, offset)
        if number and self.meant_at(offset.y) == self.cursor_key:
            # The base would open the row at the second press.
            event.prevent_default()
            self.action_choose(number, by_mouse=True)
            # The row that came up under the pointer is meant from the next press on.
            self._is_placed = True

    def action_choose(self, number: int, by_mouse: bool = False) -> None:
        """Answer the question under the cursor with one of its options."""
        one = self.under_cursor
        if one is None or one.question is None or not self._is_placed:
            return
        if self.clock_s() - causality.lag_s() - self._came_s < GRACE_S:
            return
        if number <= len(one.question.options):
            answer = one.question.options[number - 1].label
            self.post_message(self.Chosen(one, answer, by_mouse=by_mouse))


def option_at(row: Row, line: int, column: int) -> int:
    """Return the number of the option that stands at a place of one of `attention_rows`; 0 where
    none does.
    """
    end = number = 0
    for text, style in row.lines[line].left if line else ():
        end += cell_len(text)
        is_option = style == OPTION and text[:1].isdecimal()
        number += is_option
        if column < end:
            return number if is_option else 0
    return 0


def _underlined(line: Line, number: int) -> Line:
    parts = (
        (text, f"{style} underline" if style == OPTION and text.startswith(f"{number} ") else style)
        for text, style in line.left
    )
    return line._replace(left=tuple(parts))


def _option_at(rows: AttentionList, offset: Offset) -> int:
    """Return the number of the option that a press at a position chooses; 0 for none."""
    found = rows._places.line(offset.y + rows.scroll_offset.y)
    if found is None or found[0].key != rows.cursor_key:
        return 0
    return option_at(*found, offset.x - GUTTER)
