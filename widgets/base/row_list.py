"""A list of rows with a cursor: the base of the session tree, the attention queue and the jobs.

Draws line by line, so the cost depends only on the visible rows. Invariants: the cursor stays on
its row (by key) when rows are added, removed or moved; an unchanged row is not redrawn; a press
applies to the row that was visible there, not to one that moved there on its own a moment before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Leave, MouseMove
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from widgets.base import causality
from widgets.base.empty_sentence import EmptySentence
from widgets.base.fault_isolation import FaultIsolated
from widgets.base.rich_parts import to_content
from widgets.base.row_places import MovedRows, RowPlaces
from widgets.base.rows import Line, Row

GUTTER = 2
_MARGIN = 1


class RowList(FaultIsolated, ScrollView, can_focus=True):
    """Rows with a cursor."""

    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False, id="view.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="view.up"),
        Binding("g,home", "go('first')", "First", show=False, id="view.first"),
        Binding("G,end", "go('last')", "Last", show=False, id="view.last"),
        Binding("ctrl+d,pagedown", "page(1)", "Half a page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "Half a page up", show=False, id="view.page_up"),
        Binding("enter", "open", "Open", show=False),
    ]
    ALLOW_SELECT = False

    class Highlighted(Message):
        """The cursor is on another row; by_operator distinguishes a key or click from changed
        rows.
        """

        def __init__(self, rows: RowList, key: str, by_operator: bool) -> None:
            super().__init__()
            self.rows = rows
            self.key = key
            self.by_operator = by_operator

        @property
        def control(self) -> RowList:
            return self.rows

    class Opened(Message):
        """The operator pressed enter on a row, or double-clicked it."""

        def __init__(self, rows: RowList, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> RowList:
            return self.rows

    KEEPS_CURSOR: ClassVar[bool] = True
    """Whether the cursor is seen without the focus: it is a selection then."""

    def __init__(
        self, *, id: str | None = None, empty: str = "", clock_s: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(id=id)
        self.empty = empty
        self.clock_s = clock_s
        self._nothing = EmptySentence(indent=GUTTER)
        self.cursor_key = ""
        self._places = RowPlaces()
        self._strips: dict[tuple[Row, Line, bool, bool, bool], list[Strip]] = {}
        self._hovered = ""
        self._moved = MovedRows()
        self._scrolled_y = 0
        """Where the operator scrolled to; sizes in between do not change it."""

    # --- rows ----------

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._places.rows

    @property
    def has_nothing(self) -> bool:
        return not self._places.rows

    @property
    def text_width(self) -> int:
        """Return the columns available for a row's text."""
        return max(1, self.scrollable_content_region.width - GUTTER - _MARGIN)

    def say_when_empty(self, sentence: str) -> None:
        """Set the text of the empty list."""
        if sentence != self.empty:
            self.empty = sentence
            self.refresh()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor keeps its row, or takes the one that moved up."""
        fresh = tuple(rows)
        if fresh == self._places.rows:
            return
        seen, before = self._visible_rows(), self._places
        self._places = places = RowPlaces(fresh)
        if places.height != before.height:
            with self._keep_scroll():
                self.virtual_size = Size(0, places.height)
        self._strips = {key: strip for key, strip in self._strips.items() if places.has(key[0])}
        if self.cursor_key not in places:
            at = before.index(self.cursor_key) or 0
            to = places.nearest(min(at, len(fresh) - 1), -1 if at >= len(fresh) else 1)
            self._set_cursor(fresh[to].key if to is not None else "", by_operator=False)
        self._has_moved(seen)
        self.refresh()

    def move_to(self, key: str) -> None:
        """Move the cursor to a row programmatically."""
        if key in self._places and key != self.cursor_key:
            self._set_cursor(key, by_operator=False)

    def _set_cursor(self, key: str, *, by_operator: bool) -> None:
        self.cursor_key = key
        self.refresh()
        self._reveal()
        if by_operator:
            self._scrolled_y = self.scroll_offset.y
        self.post_message(self.Highlighted(self, key, by_operator))

    def _visible_rows(self) -> tuple[str, ...]:
        return tuple(self.row_at(y) for y in range(self.size.height))

    def _has_moved(self, before: tuple[str, ...]) -> None:
        if causality.current() is not None:
            # What the operator's own key or press moves is where the next one finds it.
            self._moved.forget()
        elif self._visible_rows() != before:
            self._moved.note(before, self.clock_s())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if causality.current() is not None:
            self._moved.forget()
            self._scrolled_y = round(new_value)

    def _reveal(self) -> None:
        """Scroll to the row under the cursor, from the operator's scroll position.

        Not from the current position: the list may have had other sizes since, and how many were
        drawn depends on how fast keys came.
        """
        at = self._places.index(self.cursor_key)
        if at is None or not self.is_mounted or not self.size.height:
            return
        y = self._places.scroll_to_show(at, self.size.height, self._scrolled_y)
        # At once: a picture in between would have the rows elsewhere for a moment.
        with self._keep_scroll():
            self.scroll_to(y=y, animate=False, force=True, immediate=True)

    @contextmanager
    def _keep_scroll(self) -> Iterator[None]:
        """Keep the operator's scroll position while the list scrolls on its own."""
        kept = self._scrolled_y
        try:
            yield
        finally:
            self._scrolled_y = kept

    # --- keys and mouse ----------

    def _step(self, by: int) -> None:
        places, here = self._places, self._places.index(self.cursor_key)
        at, last = here or 0, len(places.rows) - 1
        to = places.nearest(max(0, min(last, at + by)), -1 if by < 0 else 1)
        if to is not None and to != here:
            self._set_cursor(places.rows[to].key, by_operator=True)

    def action_move(self, by: int) -> None:
        self._step(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half a page."""
        self._step(direction * max(1, self.size.height // (2 * self._places.lines_each)))

    def action_go(self, where: str) -> None:
        """Move the cursor to the first or last row."""
        count = len(self._places.rows)
        self._step(count if where == "last" else -count)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.cursor_key:
            self.post_message(self.Opened(self, self.cursor_key))

    def row_at(self, y: int) -> str:
        """Return the row drawn at a line; empty if none there can be selected."""
        return self._places.key_at(y + self.scroll_offset.y)

    def meant_at(self, y: int) -> str:
        """Return the row visible at a line when it was pressed; empty if it is gone."""
        stood = self._moved.stood_at(y, self.clock_s() - causality.lag_s())
        if stood is None:
            return self.row_at(y)
        return stood if stood in self._places else ""

    def on_click(self, event: Click) -> None:
        key = self.meant_at(event.get_content_offset_capture(self).y)
        # What is pressed is seen: the list stays as it is under the pointer.
        self._scrolled_y = self.scroll_offset.y
        if key and key != self.cursor_key:
            self._set_cursor(key, by_operator=True)
        elif key and event.chain > 1:
            self.action_open()

    def on_mouse_move(self, event: MouseMove) -> None:
        self._hover(self.row_at(event.get_content_offset_capture(self).y))

    def on_leave(self, _event: Leave) -> None:
        self._hover("")

    def _hover(self, key: str) -> None:
        if key != self._hovered:
            self._hovered = key
            self.refresh()

    # --- drawing ----------

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        # Textual tells of a new size once it has drawn with it: the rows would be seen to jump.
        before, seen = self._size, self._visible_rows()
        with self._keep_scroll():
            is_to_be_told = super()._size_updated(size, virtual_size, container_size, layout)
        if self._size != before:
            self._strips.clear()
            self._reveal()
            self._has_moved(seen)
        return is_to_be_told

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def drawn(self, row: Row, line: int, y: int) -> Line:
        return row.lines[line]

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if self.has_nothing:
            return self._nothing.line(self, self.empty, y, width)
        found = self._places.line(y + self.scroll_offset.y)
        if found is None:
            return Strip.blank(width, self.visual_style.rich_style)
        row, line = found[0], self.drawn(*found, y)
        here = row.key == self.cursor_key and (self.has_focus or self.KEEPS_CURSOR)
        key = (row, line, here, here and self.has_focus, row.key == self._hovered)
        strips = self._strips.get(key)
        if strips is None:
            strips = self._strips[key] = [_draw(self, line, width, *key[2:])]
        return strips[0]


def _draw(
    widget: RowList, line: Line, width: int, here: bool, focused: bool, hovered: bool
) -> Strip:
    bar = Content.styled("▌ ", "$primary" if focused else "$faint") if here else Content("  ")
    right = to_content(line.right)
    width -= _MARGIN
    room = max(0, width - GUTTER - right.cell_length - (1 if line.right else 0))
    left = to_content(line.left).truncate(room, ellipsis=True)
    if left.plain.endswith("……"):
        # A part that was cut short before ends where the line is cut.
        left = left[:-1]
    gap = width - GUTTER - left.cell_length - right.cell_length
    whole = Content.assemble(bar, left, " " * max(0, gap), right)
    style, parse = widget.visual_style, widget.app.stylesheet.parse_style
    if here:
        style += parse("on $cursor" if focused else "on $cursor-blurred")
    elif hovered:
        style += parse("on $boost")
    [strip, *_] = Visual.to_strips(widget, whole, width, 1, style) or [Strip.blank(width)]
    return strip.adjust_cell_length(width + _MARGIN, style.rich_style)
