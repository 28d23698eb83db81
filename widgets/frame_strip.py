"""A Strip whose text is made only when the terminal is written, and whose segments only on demand.

Not a widget. Textual's own strips cost several caches each and a style per cell; a frame has fifty
of them thirty times a second. Invariant: text and segments show the same cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.filter import LineFilter
from textual.strip import Strip

from widgets.half_blocks import Grid, rgb_of


class FrameStrip(Strip):
    """One row of a picture.

    Args:
        grid: the picture.
        row: which of its rows.
        truecolor: whether the terminal takes 24-bit colour; else the 256-colour palette is used.
    """

    __slots__ = ("_grid", "_plain", "_row", "_truecolor")

    def __init__(self, grid: Grid, row: int, *, truecolor: bool = True) -> None:
        # Deliberately not calling super: its seven caches are what this class avoids.
        self._grid = grid
        self._row = row
        self._truecolor = truecolor
        self._plain: Strip | None = None
        self._cell_length = grid.columns
        self._render_cache = None
        self._link_ids = set()
        self._cell_count = grid.columns

    def _as_strip(self) -> Strip:
        """Build the ordinary strip; needed where something overlaps, and for pictures."""
        if self._plain is None:
            segments = [
                Segment(text, Style(color=_color(ink), bgcolor=_color(paper)))
                for text, ink, paper in self._grid.runs(self._row)
            ]
            self._plain = Strip(segments, self._grid.columns)
        return self._plain

    @property
    def _segments(self) -> list[Segment]:  # type: ignore[override]
        return self._as_strip()._segments

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        wanted = [cut for cut in cuts if cut <= self._grid.columns]
        if wanted == [self._grid.columns]:
            return [self]
        return self._as_strip().divide(wanted)

    def crop(self, start: int, end: int | None = None) -> Strip:
        if start <= 0 and (end is None or end >= self._grid.columns):
            return self
        return self._as_strip().crop(start, end)

    def adjust_cell_length(self, cell_length: int, style: Style | None = None) -> Strip:
        if cell_length == self._grid.columns:
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
        return self._grid.text(self._row, truecolor=self._truecolor)


def _color(packed: int) -> Color:
    return Color.from_rgb(*rgb_of(packed))
