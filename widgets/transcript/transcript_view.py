"""The transcript of one session: items by lines, a cursor, follow-tail that never fights a reader.

Draws what it is given. Invariants: only a window of items is laid out, older ones when the reader
reaches the top; an item that has not changed is not laid out again; the line at the top stays
where it is when the size changes or items come, unless the reader follows the tail.
"""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from agent.state.reducer import Item, StepItem
from widgets.base.empty_sentence import EmptySentence
from widgets.base.fault_isolation import FaultIsolated
from widgets.transcript.expansion import Depth, Expansion
from widgets.transcript.item_layout import ItemLayout
from widgets.transcript.paragraph_strips import DrawnLine, with_cursor
from widgets.transcript.selected_text import selectable, selected
from widgets.transcript.streaming_text import StreamingText
from widgets.transcript.transcript_lines import Paragraph, first_holding

WINDOW = 120  # Items laid out at first, and each time the reader reaches the top.
_LINES_A_KEY = 3  # How far a key goes in an item that is taller than the view.


class TranscriptView(FaultIsolated, ScrollView, can_focus=True):
    """A session's items."""

    DEFAULT_CSS = """
    TranscriptView { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False, id="view.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="view.up"),
        Binding("g,home", "oldest", "Oldest", show=False, id="view.first"),
        Binding("G,end", "newest", "Newest", show=False, id="view.last"),
        Binding("ctrl+d,pagedown", "page(1)", "Half a page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "Half a page up", show=False, id="view.page_up"),
        Binding("space,enter", "expand", "Expand", show=False),
    ]

    class NewItems(Message):
        """So many items have come below what the reader sees."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    class Wants(Message):
        """A step is open to its record, which was not read since the step changed."""

        def __init__(self, view: "TranscriptView", session_id: str, step: StepItem) -> None:
            super().__init__()
            self.view = view
            self.session_id = session_id
            self.step = step

    class Pointed(Message):
        """The cursor went to another item, or away."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
        super().__init__(id=id)
        self.empty = empty
        self._nothing = EmptySentence(above=1, margin=2)
        self.session_id = ""
        self.cursor_key = ""
        self._items: tuple[Item, ...] = ()
        self._first = 0
        self._open = Expansion()
        self._lines = ItemLayout(self, self._open)
        self._following = True
        self._seen = 0
        self._behind = 0
        self._saying = StreamingText(self)
        self._placing = False

    # --- what to show ----------

    @property
    def items(self) -> tuple[Item, ...]:
        return self._items

    @property
    def is_following(self) -> bool:
        """Whether the newest item stays in view."""
        return self._following

    def say_when_empty(self, sentence: str) -> None:
        """Set what stands here while there are no items."""
        if sentence != self.empty:
            self.empty = sentence
            self.refresh()

    def name_phones(self, names: Mapping[str, str]) -> None:
        """Say what phones are called, by serial."""
        if self._lines.name_phones(names) and self._items:
            self._lay_out()

    def show_items(self, session_id: str, items: tuple[Item, ...]) -> None:
        """Show a session's items; another session starts at its newest item."""
        if session_id != self.session_id:
            self.session_id = session_id
            self._items, self._first = (), max(0, len(items) - WINDOW)
            self._lines.forget()
            self._following = True
            self.cursor_key = ""
            self._saying.take("", self._width)
        elif items is self._items:
            return
        if self._following:
            self._first = max(self._first, len(items) - 2 * WINDOW)
            self._seen = len(items)
        self._items = items
        self._first = min(self._first, max(0, len(items) - 1))
        self._lay_out()

    def show_saying(self, text: str) -> None:
        """Show what the model is saying, below the items; empty takes it away."""
        if self._saying.take(text, self._width):
            self._lay_out()

    def item_under_cursor(self) -> Item | None:
        """Return the item under the cursor, or the newest when the reader has not moved."""
        for item in self._items[self._first :]:
            if item.key == self.cursor_key:
                return item
        return self._items[-1] if self._items else None

    def show_record(self, session_id: str, step: StepItem, record: tuple[Paragraph, ...]) -> None:
        """Show what was stored of a step below it."""
        self._open.keep_record(session_id, step, record)
        self._lay_out()

    def step_open_to_record(self) -> StepItem | None:
        """Return the step under the cursor if its record is open."""
        item = self.item_under_cursor() if self.cursor_key else None
        if not isinstance(item, StepItem):
            return None
        is_open = self._open.depth(self.session_id, item) is Depth.RECORD
        return item if is_open else None

    def depth_under_cursor(self) -> Depth:
        """Return how far the item under the cursor is open."""
        item = self.item_under_cursor()
        return Depth.BRIEF if item is None else self._open.depth(self.session_id, item)

    # --- layout ----------

    @property
    def _width(self) -> int:
        return max(10, self.scrollable_content_region.width - 1)

    def _lay_out(self) -> None:
        if not self.is_mounted or not self.size.width:
            return
        anchor = self._anchor()
        shown = self._items[self._first :]
        height = self._lines.lay_out(self.session_id, shown, self._width)
        for item in shown:
            if isinstance(item, StepItem) and self._open.asks_for_record(self.session_id, item):
                self.post_message(self.Wants(self, self.session_id, item))
        self.virtual_size = Size(0, height + len(self._saying.lines))
        self._place(anchor)
        # A rollback may take off what the reader has seen.
        behind = 0 if self._following else max(0, len(self._items) - self._seen)
        if behind != self._behind:
            self._behind = behind
            self.post_message(self.NewItems(behind))
        self.refresh()

    def _anchor(self) -> tuple[str, int] | None:
        """Name the item at the top and how far it is scrolled out."""
        if self._following or self._lines.is_empty:
            return None
        line = int(self.scroll_offset.y)
        at = self._lines.at_line(line)
        if at is None:
            return None
        return self._lines.shown[at].key, line - self._lines.place(at)[0]

    def _place(self, anchor: tuple[str, int] | None) -> None:
        if self._following or anchor is None:
            self._put_top(self.max_scroll_y) if self._following else None
            return
        key, below = anchor
        at = self._lines.index(key)
        if at is not None:
            top, height = self._lines.place(at)
            self._put_top(top + min(below, max(0, height - 1)))

    def _put_top(self, y: float) -> None:
        self._placing = True
        try:
            self.scroll_to(y=y, animate=False, force=True, immediate=True)
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._placing or self._lines.is_empty:
            return
        self._following = new_value >= self.max_scroll_y
        if self._following:
            self._seen = len(self._items)
            if self._behind:
                self._behind = 0
                self.post_message(self.NewItems(0))
        elif new_value <= 0 and self._first > 0:
            self.call_later(self._load_older)

    def _load_older(self) -> None:
        anchor = self._anchor()
        self._first = max(0, self._first - WINDOW)
        self._lay_out()
        self._place(anchor)

    def on_resize(self, _event: Resize) -> None:
        self._saying.draw(self._width)
        self._lay_out()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lines.forget()
        if self.is_mounted:
            self._saying.draw(self._width)
            self._lay_out()

    # --- keys and mouse ----------

    def find_next(self, words: str) -> bool:
        """Go to the next item below the cursor that holds every word, from the top again at the
        end; False when there is none.
        """
        keys = [item.key for item in self._items]
        at = keys.index(self.cursor_key) + 1 if self.cursor_key in keys else 0
        found = first_holding(words, (*self._items[at:], *self._items[:at]))
        if found is None:
            return False
        self._first = min(self._first, keys.index(found.key))
        self._following = False
        self._lay_out()
        self._point_at(found.key)
        return True

    def action_move(self, by: int) -> None:
        """Move the cursor by items."""
        keys = [item.key for item in self._items[self._first :]]
        if not keys:
            return
        at = keys.index(self.cursor_key) if self.cursor_key in keys else len(keys) - (by < 0)
        if at < len(keys) and self._scroll_within(at, by):
            return
        if at + by < 0 and self._first > 0:
            self._load_older()
            return
        self._point_at(keys[max(0, min(len(keys) - 1, at + by))])

    def _scroll_within(self, at: int, by: int) -> bool:
        """Scroll on in an item that is taller than the view; False when its end is in view."""
        top, height = self._lines.place(at)
        room = self.scrollable_content_region.height
        hidden = (
            top + height - self.scroll_offset.y - room if by > 0 else self.scroll_offset.y - top
        )
        if height <= room or not 0 < hidden < height:
            return False
        self.scroll_relative(y=by * min(_LINES_A_KEY, hidden), animate=False, force=True)
        return True

    def _point_at(self, key: str) -> None:
        self.cursor_key = key
        self.post_message(self.Pointed())
        at = self._lines.index(key)
        if at is not None:
            self._following = self._first + at == len(self._items) - 1
            if self._following:
                self._put_top(self.max_scroll_y)
                self._lay_out()
            else:
                top, height = self._lines.place(at)
                region = Region(0, top, 1, height)
                self.scroll_to_region(region, animate=False, force=True)
        self.refresh()

    def action_page(self, direction: int) -> None:
        """Scroll by half of what is visible."""
        self.scroll_relative(y=direction * max(1, self.size.height // 2), animate=False, force=True)

    def action_oldest(self) -> None:
        """Go to the oldest item."""
        self._first = 0
        self._following = False
        self._lay_out()
        if self._items:
            self._point_at(self._items[0].key)
        self._put_top(0)

    def action_newest(self) -> None:
        """Go to the newest item and follow."""
        self._following = True
        self._seen = len(self._items)
        self.cursor_key = ""
        self.post_message(self.Pointed())
        self._lay_out()

    def action_expand(self) -> None:
        """Show more of the item under the cursor: all of it, then its record, then its summary."""
        item = self.item_under_cursor()
        if item is None:
            return
        self._open.deepen(self.session_id, item)
        self.cursor_key = item.key
        self._following = False
        self._lay_out()
        self._point_at(item.key)

    # --- selecting text ----------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, without what only the screen needs."""
        return selected(map(self._line_at, range(int(self.virtual_size.height))), selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def _line_at(self, line: int) -> DrawnLine | None:
        """Return a line as it is laid out; None where nothing is."""
        at = self._lines.at_line(line)
        drawn = self._lines.line(at, line) if at is not None else None
        if drawn is not None:
            return drawn
        spoken = line - (self.virtual_size.height - len(self._saying.lines))
        return self._saying.lines[spoken] if 0 <= spoken < len(self._saying.lines) else None

    def on_click(self, event: Click) -> None:
        # Textual selects all of a widget that is clicked twice; here that opens a step.
        event.prevent_default()
        line = event.get_content_offset_capture(self).y + self.scroll_offset.y
        at = self._lines.at_line(line)
        if at is not None:
            self.cursor_key = self._lines.shown[at].key
            if event.chain > 1:
                self.action_expand()
            self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # --- drawing ----------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.visual_style.rich_style
        if len(self._items) <= self._first and not self._saying.lines:
            return self._nothing.line(self, self.empty, y, width)
        line = y + self.scroll_offset.y
        at = self._lines.at_line(line)
        drawn = self._lines.line(at, line) if at is not None else None
        if at is not None and drawn is not None:
            strip = drawn.strip.adjust_cell_length(width, base)
            if self.has_focus and self._lines.shown[at].key == self.cursor_key:
                strip = with_cursor(self, strip)
            return selectable(self, strip, line)
        spoken = self._line_at(line)
        if spoken is not None:
            return selectable(self, spoken.strip.adjust_cell_length(width, base), line)
        return Strip.blank(width, base)
