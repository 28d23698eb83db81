"""A list of rows with a cursor: the base of the session tree, the attention queue and the jobs.

Draws by lines, so thousands of rows cost as much as the visible ones. Knows nothing of what a row
means. Invariants: the cursor stays on its row (by key) when rows come, go or move; a row that has
not changed is not drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from widgets.empty_sentence import EmptySentence
from widgets.parts import Parts, to_content
from widgets.sturdy import Sturdy


class Line(NamedTuple):
    """One line of a row: the left part gives way to the right one."""

    left: Parts
    right: Parts = ()


class Row(NamedTuple):
    """One row; equal rows look equal."""

    key: str
    lines: tuple[Line, ...]


_GUTTER = 2
_MARGIN = 1


class RowList(Sturdy, ScrollView, can_focus=True):
    """Rows under a cursor."""

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

    class Highlighted(Message):
        """The cursor is on another row; by_operator tells a key or click from a change of rows."""

        def __init__(self, rows: RowList, key: str, by_operator: bool) -> None:
            super().__init__()
            self.rows = rows
            self.key = key
            self.by_operator = by_operator

        @property
        def control(self) -> RowList:
            return self.rows

    class Opened(Message):
        """The operator pressed enter, or clicked twice, on a row."""

        def __init__(self, rows: RowList, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> RowList:
            return self.rows

    KEEPS_CURSOR: ClassVar[bool] = True
    """Whether the cursor is seen without the focus: it is a selection then."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self._nothing = EmptySentence(indent=_GUTTER)
        self.cursor_key = ""
        self._rows: tuple[Row, ...] = ()
        self._index: dict[str, int] = {}
        self._lines: list[tuple[int, int]] = []
        self._tops: list[int] = []
        self._strips: dict[tuple[Row, int, bool, bool], list[Strip]] = {}

    # --- rows ----------

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows as they are."""
        return self._rows

    @property
    def text_width(self) -> int:
        """Columns that a row's text may take."""
        return max(1, self.scrollable_content_region.width - _GUTTER - _MARGIN)

    def say_when_empty(self, sentence: str) -> None:
        """Set what stands here while there are no rows."""
        if sentence != self.empty:
            self.empty = sentence
            self.refresh()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor keeps its row, or takes the one that moved up to it."""
        fresh = tuple(rows)
        if fresh == self._rows:
            return
        old_at = self._index.get(self.cursor_key, 0)
        old_lines = len(self._lines)
        self._rows = fresh
        self._index = {row.key: at for at, row in enumerate(fresh)}
        self._lines = [(at, line) for at, row in enumerate(fresh) for line in range(len(row.lines))]
        self._tops = []
        top = 0
        for row in fresh:
            self._tops.append(top)
            top += len(row.lines)
        if len(self._lines) != old_lines:
            self.virtual_size = Size(0, len(self._lines))
        self._strips = {key: strip for key, strip in self._strips.items() if key[0] in fresh}
        if self.cursor_key not in self._index:
            key = fresh[min(old_at, len(fresh) - 1)].key if fresh else ""
            self._set_cursor(key, by_operator=False)
        self.refresh()

    def move_to(self, key: str) -> None:
        """Put the cursor on a row, as a program does it."""
        if key in self._index and key != self.cursor_key:
            self._set_cursor(key, by_operator=False)

    def _set_cursor(self, key: str, *, by_operator: bool) -> None:
        self.cursor_key = key
        self.refresh()
        self._reveal()
        self.post_message(self.Highlighted(self, key, by_operator))

    def _reveal(self) -> None:
        at = self._index.get(self.cursor_key)
        if at is None or not self.is_mounted:
            return
        region = Region(0, self._tops[at], 1, len(self._rows[at].lines))
        self.scroll_to_region(region, animate=False, force=True)

    # --- keys and mouse ----------

    def _step(self, by: int) -> None:
        if not self._rows:
            return
        at = self._index.get(self.cursor_key, 0)
        to = max(0, min(len(self._rows) - 1, at + by))
        if to != at or self.cursor_key not in self._index:
            self._set_cursor(self._rows[to].key, by_operator=True)

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self._step(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half of what is visible."""
        each = max(1, len(self._lines) // max(1, len(self._rows)))
        self._step(direction * max(1, self.size.height // (2 * each)))

    def action_go(self, where: str) -> None:
        """Move the cursor to the first or last row."""
        self._step(len(self._rows) if where == "last" else -len(self._rows))

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.cursor_key:
            self.post_message(self.Opened(self, self.cursor_key))

    def on_click(self, event: Click) -> None:
        line = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= line < len(self._lines):
            key = self._rows[self._lines[line][0]].key
            if key != self.cursor_key:
                self._set_cursor(key, by_operator=True)
            elif event.chain > 1:
                self.action_open()

    # --- drawing ----------

    def on_resize(self, _event: Resize) -> None:
        self._strips.clear()
        self._reveal()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self._rows:
            return self._nothing.line(self, self.empty, y, width)
        y += self.scroll_offset.y
        if y >= len(self._lines):
            return Strip.blank(width, self.visual_style.rich_style)
        at, line = self._lines[y]
        row = self._rows[at]
        here = row.key == self.cursor_key and (self.has_focus or self.KEEPS_CURSOR)
        key = (row, line, here, here and self.has_focus)
        strips = self._strips.get(key)
        if strips is None:
            strips = self._strips[key] = [self._draw(row.lines[line], width, *key[2:])]
        return strips[0]

    def _draw(self, line: Line, width: int, here: bool, focused: bool) -> Strip:
        bar = Content.styled("▌ ", "$primary" if focused else "$faint") if here else Content("  ")
        right = to_content(line.right)
        width -= _MARGIN
        room = max(0, width - _GUTTER - right.cell_length - (1 if line.right else 0))
        left = to_content(line.left).truncate(room, ellipsis=True)
        gap = width - _GUTTER - left.cell_length - right.cell_length
        whole = Content.assemble(bar, left, " " * max(0, gap), right)
        style = self.visual_style
        if here:
            style += self._cursor_style(focused)
        [strip, *_] = Visual.to_strips(self, whole, width, 1, style) or [Strip.blank(width)]
        return strip.adjust_cell_length(width + _MARGIN, style.rich_style)

    def _cursor_style(self, focused: bool) -> Style:
        return self.app.stylesheet.parse_style("on $cursor" if focused else "on $cursor-blurred")
