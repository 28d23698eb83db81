"""The items of a transcript as lines: each laid out once, one below the other.

Not what is scrolled or under a cursor. Invariant: an item that has not changed is not laid out
again while its width and how far it is open stay the same.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.widget import Widget

from agent.state.reducer import Item
from widgets.transcript.expansion import Depth, Expansion
from widgets.transcript.paragraph_strips import DrawnLine, lines_of
from widgets.transcript.transcript_lines import Paragraph, paragraphs


class _LaidOut(NamedTuple):
    """One item as it is drawn, and what that was made for."""

    item: Item
    width: int
    depth: Depth
    record: tuple[Paragraph, ...]
    lines: list[DrawnLine]


class ItemLayout:
    """The items that are shown, in order.

    Args:
        widget: whose styles they are drawn in.
        opened: how far each is open.
    """

    def __init__(self, widget: Widget, opened: Expansion) -> None:
        self._widget = widget
        self._opened = opened
        self._laid: dict[str, _LaidOut] = {}
        self._tops: list[int] = []
        self._names: Mapping[str, str] = {}
        self.shown: Sequence[Item] = ()

    @property
    def is_empty(self) -> bool:
        return not self._tops

    def lay_out(self, session_id: str, shown: Sequence[Item], width: int) -> int:
        """Lay items of a session out in so many columns; returns how many lines they take."""
        self.shown = shown
        keys = {item.key for item in shown}
        for gone in [key for key in self._laid if key not in keys]:
            del self._laid[gone]
        self._tops = []
        top = 0
        for item in shown:
            self._tops.append(top)
            top += len(self._draw(session_id, item, width))
        return top

    def name_phones(self, names: Mapping[str, str]) -> bool:
        """Take what phones are called, by serial; returns whether that changes anything."""
        if names == self._names:
            return False
        self._names = names
        self.forget()
        return True

    def forget(self) -> None:
        """Lay everything out anew the next time: its session or its style is another."""
        self._laid.clear()

    def place(self, at: int) -> tuple[int, int]:
        """Return the first line of the item at a place, and how many it has."""
        laid = self._laid.get(self.shown[at].key)
        return self._tops[at], len(laid.lines) if laid is not None else 0

    def index(self, key: str) -> int | None:
        return next((at for at, item in enumerate(self.shown) if item.key == key), None)

    def at_line(self, line: int) -> int | None:
        """Find the item that a line belongs to; the last for every line below, none above."""
        at = bisect_right(self._tops, line) - 1
        return at if 0 <= at < len(self.shown) else None

    def line(self, at: int, line: int) -> DrawnLine | None:
        """Return a line of the item at a place; None below its end."""
        laid = self._laid.get(self.shown[at].key)
        within = line - self._tops[at]
        return laid.lines[within] if laid is not None and within < len(laid.lines) else None

    def _draw(self, session_id: str, item: Item, width: int) -> list[DrawnLine]:
        depth = self._opened.depth(session_id, item)
        record = self._opened.record(session_id, item)
        laid = self._laid.get(item.key)
        if (
            laid is None
            or laid.item is not item
            or laid.width != width
            or laid.depth is not depth
            or laid.record is not record
        ):
            written = [*paragraphs(item, expanded=depth > Depth.BRIEF, names=self._names), *record]
            lines = [line for one in written for line in lines_of(self._widget, one, width)]
            laid = self._laid[item.key] = _LaidOut(item, width, depth, record, lines)
        return laid.lines
