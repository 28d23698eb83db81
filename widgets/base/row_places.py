"""Map a list's lines to rows, and remember the mapping before rows moved. No widgets.

Invariant: a press applies to the row that was visible there, not to one that moved there on its own
a moment before.
"""

from collections.abc import Iterable

from textual.geometry import Region

from widgets.base.rows import Row

SEEN_S = 0.3
"""How long after rows moved by themselves a press is still meant for what stood there before."""


class RowPlaces:
    """The layout of rows, one below the other, in lines."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = tuple(rows)
        self._index = {row.key: at for at, row in enumerate(self.rows)}
        self._lines = [(at, n) for at, row in enumerate(self.rows) for n in range(len(row.lines))]
        self._tops: list[int] = []
        top = 0
        for row in self.rows:
            self._tops.append(top)
            top += len(row.lines)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    @property
    def height(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    @property
    def lines_each(self) -> int:
        """Return the usual number of lines per row; at least one."""
        return max(1, len(self._lines) // max(1, len(self.rows)))

    def has(self, row: Row) -> bool:
        """Return whether an equal row is in the list."""
        at = self._index.get(row.key)
        return at is not None and self.rows[at] == row

    def index(self, key: str) -> int | None:
        """Return the index of a row; None if there is none with this key."""
        return self._index.get(key)

    def line(self, y: int) -> tuple[Row, int] | None:
        """Return the row of a line, and which of its lines it is."""
        if not 0 <= y < len(self._lines):
            return None
        at, number = self._lines[y]
        return self.rows[at], number

    def key_at(self, y: int) -> str:
        """Return the key of the row on a line; empty if none there can be selected."""
        found = self.line(y)
        return "" if found is None or found[0].is_heading else found[0].key

    def region(self, at: int) -> Region:
        return Region(0, self._tops[at], 1, len(self.rows[at].lines))

    def scroll_to_show(self, at: int, height: int, from_y: int) -> int:
        """Return the first line to draw so that a row is visible, as near to `from_y` as
        possible.
        """
        region = self.region(at)
        lowest = max(0, self.height - height)
        return min(region.y, max(region.bottom - height, min(from_y, lowest)))

    def nearest(self, at: int, by: int) -> int | None:
        """Return the index of the first row from here on that is not a heading, else the last
        before it; None if there is none.
        """
        if not self.rows:
            return None
        onward = range(at, len(self.rows)) if by > 0 else range(at, -1, -1)
        behind = range(at - 1, -1, -1) if by > 0 else range(at + 1, len(self.rows))
        places = (one for one in (*onward, *behind) if not self.rows[one].is_heading)
        return next(places, None)


class MovedRows:
    """The rows visible on each line before rows moved on their own."""

    def __init__(self) -> None:
        self._stood: tuple[str, ...] = ()
        self._moved_s = float("-inf")

    def forget(self) -> None:
        """Discard the old mapping after the operator's own key or press moved rows."""
        self._moved_s = float("-inf")

    def note(self, stood: tuple[str, ...], now_s: float) -> None:
        """Store the rows of each line until now; of several simultaneous moves, before the
        first.
        """
        if now_s - self._moved_s >= SEEN_S:
            self._stood = stood
        self._moved_s = now_s

    def stood_at(self, y: int, pressed_s: float) -> str | None:
        """Return the row visible at a line when it was pressed; None if nothing moved."""
        if pressed_s - self._moved_s < SEEN_S and y < len(self._stood):
            return self._stood[y]
        return None
