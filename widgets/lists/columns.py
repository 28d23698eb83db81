"""Columns of a list: one row says a column's name, its size at each width, and what stands in it.

Pure. Invariant: what stands in a column fits it, so columns line up under their heading.
"""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from textual.content import Content

from agent.text import one_line
from widgets.base.rich_parts import steady
from widgets.base.rows import Parts

_R = TypeVar("_R")
_READ_CHARS = 200
Cells = tuple[tuple[int, int], ...]
"""From which width of the list on a column takes how many cells, the gap behind it among them;
narrower lists leave it out."""


class Column(NamedTuple, Generic[_R]):
    """One column."""

    name: str
    cells: Cells
    text: Callable[[_R, int], tuple[str, str]]
    """What stands in it for a record at a time in ms, and its style."""

    def size(self, width: int) -> int:
        """Return the cells that it takes in a list of a width; 0 where it is left out."""
        return size_at(self.cells, width)


def size_at(cells: Cells, width: int) -> int:
    """Return the cells that a column takes in a list of a width; 0 where it is left out."""
    return next((size for least, size in reversed(cells) if width >= least), 0)


def heading(columns: Iterable[Column[_R]], width: int) -> Parts:
    """Return the line that stands over `cells`, with the title behind the columns."""
    sizes = ((column.name, column.size(width)) for column in columns)
    named = "".join(fit(name, size) for name, size in sizes if size)
    return ((f"  {named}title", "$faint"),)


def cells(columns: Iterable[Column[_R]], record: _R, *, now_ms: int, width: int) -> Parts:
    """Return a record's columns as they stand in a list of a width."""
    parts: list[tuple[str, str]] = []
    for column in columns:
        if size := column.size(width):
            text, style = column.text(record, now_ms)
            parts.append((fit(text, size), style))
    return tuple(parts)


def fit(text: str, size: int, gap: int = 1) -> str:
    """Fit a text into so many cells, with a gap of empty ones behind it."""
    cut = Content(steady(one_line(text, _READ_CHARS))).truncate(size - gap, ellipsis=True)
    return cut.plain + " " * (size - cut.cell_length)
