"""Rows of a picture as strips whose text is made only when the terminal is written, and whose
segments only on demand.

Not a widget. Textual's own strips cost several caches each and a style per cell; a frame has fifty
of them thirty times a second. Invariant: text and segments show the same cells.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.filter import LineFilter
from textual.strip import Strip

from widgets.cells.cell_text import RESET, changed_text, row_texts
from widgets.cells.cells import HOLE, LETTERS, Cells, Mask
from widgets.cells.colour_codes import codes
from widgets.cells.rgb565 import rgb_of


class Drawn:
    """Cells as they are on the screen; they do not change any more.

    Args:
        cells: the picture.
        ground: the style of cells without a picture.
        truecolor: whether the terminal takes 24-bit colour; else the 256-colour palette is used.
    """

    __slots__ = ("_codes", "_ground", "_hole", "_texts", "cells")

    def __init__(self, cells: Cells, ground: Style, *, truecolor: bool) -> None:
        self.cells = cells
        self._ground = ground
        self._codes = codes(truecolor)
        self._hole: str | None = None
        self._texts: list[str] | None = None

    def text(self, row: int, console: Console) -> str:
        """Return one row as terminal text; all rows are encoded at the first call."""
        if self._texts is None:
            self._texts = row_texts(self.cells, self._codes, hole=self._hole_text(console))
        return self._texts[row]

    def changes(self, changed: Mask, console: Console, *, x: int, y: int) -> str:
        """Return the text that draws these cells where the picture's corner is at x, y."""
        return changed_text(
            self.cells, changed, self._codes, x=x, y=y, hole=self._hole_text(console)
        )

    def _hole_text(self, console: Console) -> str:
        if self._hole is None:
            drawn = self._ground.render(" ", color_system=console._color_system)
            self._hole = drawn.partition(" ")[0] or RESET
        return self._hole

    def segments(self, row: int) -> list[Segment]:
        """List one row as segments; the slow way, for pictures and where something overlaps."""
        listed: list[Segment] = []
        before = (-1, -1, -1)
        cells = self.cells
        for column in range(cells.columns):
            glyph = int(cells.glyph[row, column])
            now = (glyph, int(cells.ink[row, column]), int(cells.paper[row, column]))
            if now == before:
                last = listed[-1]
                listed[-1] = Segment(last.text + LETTERS[glyph], last.style)
                continue
            style = self._ground
            if glyph != HOLE:
                style = _style(now[1], now[2])
            listed.append(Segment(LETTERS[glyph], style))
            before = now
        return listed


class FrameStrip(Strip):
    """One row of a picture."""

    __slots__ = ("_drawn", "_plain", "_row")

    def __init__(self, drawn: Drawn, row: int) -> None:
        # Deliberately not calling super: its seven caches are what this class avoids.
        self._drawn = drawn
        self._row = row
        self._plain: Strip | None = None
        self._cell_length = drawn.cells.columns
        self._render_cache = None
        self._link_ids = set()
        self._cell_count = drawn.cells.columns

    def _as_strip(self) -> Strip:
        """Build the ordinary strip; needed where something overlaps, and for pictures."""
        if self._plain is None:
            self._plain = Strip(self._drawn.segments(self._row), self._drawn.cells.columns)
        return self._plain

    @property
    def _segments(self) -> list[Segment]:  # type: ignore[override]
        return self._as_strip()._segments

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        wanted = [cut for cut in cuts if cut <= self._drawn.cells.columns]
        if wanted == [self._drawn.cells.columns]:
            return [self]
        return self._as_strip().divide(wanted)

    def crop(self, start: int, end: int | None = None) -> Strip:
        if start <= 0 and (end is None or end >= self._drawn.cells.columns):
            return self
        return self._as_strip().crop(start, end)

    def adjust_cell_length(self, cell_length: int, style: Style | None = None) -> Strip:
        if cell_length == self._drawn.cells.columns:
            return self
        return self._as_strip().adjust_cell_length(cell_length, style)

    def apply_filter(self, filter: LineFilter, background: object) -> Strip:
        return self

    def apply_style(self, style: Style) -> Strip:
        return self._as_strip().apply_style(style)

    def simplify(self) -> Strip:
        return self._as_strip().simplify()

    def discard_meta(self) -> Strip:
        return self._as_strip()

    def render(self, console: Console) -> str:
        return self._drawn.text(self._row, console)


@lru_cache(4096)
def _style(ink: int, paper: int) -> Style:
    return Style(color=_color(ink), bgcolor=_color(paper))


def _color(packed: int) -> Color:
    return Color.from_rgb(*rgb_of(packed))
