"""Lay the elements of a screen out as text, each about where it stands on the screen.

Pure. Invariants: every element with something to say has exactly one entry; entries of a line do
not overlap and keep their order from left to right; lines keep their order from top to bottom, and
use the height there is as the screen does.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from agent.records import Element
from agent.text import one_line

_MOST_CHARS = 200
_MOST_DOTS = 32
_UNLABELED = "unlabeled"
_KINDS = {
    "btn": "button",
    "icon-btn": "icon",
    "nav-btn": "button",
    "INPUT": "field",
    "scrollable": "list",
    "webview": "web page",
}
"""The words of the kinds of `agent.loop.screen.elements` where those are not words."""
_SAME_LINE = 0.012  # Centres at most so far apart, as a share of the height, stand in one line.


class Entry(NamedTuple):
    """One element as text at a place of the map."""

    element: Element
    line: int
    column: int
    text: str  # Begins with one cell for the cursor.
    key: str  # Names the same element when the screen is read anew, and no other of this screen.


class MapLayout(NamedTuple):
    """A screen as text."""

    entries: tuple[Entry, ...]  # From top to bottom, and from left to right in a line.
    lines: int

    def at(self, line: int, column: int) -> int | None:
        """Return the index of the entry on a cell; None where there is none."""
        for index, entry in enumerate(self.entries):
            if entry.line == line and 0 <= column - entry.column < cells(entry.text):
                return index
        return None

    def beside(self, index: int, across: int, down: int) -> int:
        """Return the index of the entry that lies next to one in a direction; itself at the end."""
        here = self.entries[index]
        if across:
            line = [at for at, entry in enumerate(self.entries) if entry.line == here.line]
            to = line.index(index) + across
            return line[to] if 0 <= to < len(line) else index
        lines = sorted({entry.line for entry in self.entries})
        to = lines.index(here.line) + down
        if not 0 <= to < len(lines):
            return index
        there = [at for at, entry in enumerate(self.entries) if entry.line == lines[to]]
        return min(there, key=lambda at: abs(self.entries[at].column - here.column))


def cells(text: str) -> int:
    """Return how many cells a text takes."""
    return Content(text).cell_length


def lay_out(elements: Sequence[Element], columns: int, rows: int) -> MapLayout:
    """Lay elements out on so many columns and rows; more lines than rows are scrolled to."""
    if columns < 2 or rows < 1:
        return MapLayout((), 0)
    named = [element for element in elements if _says_something(element)]
    bands = _bands(named or list(elements))
    placed = [_placed(band, columns) for band in bands]
    centers = [band[0].bounds.center_y for band in bands]
    tops = _tops([(y, len(lines)) for y, lines in zip(centers, placed, strict=True)], rows)
    entries: list[Entry] = []
    seen: Counter[str] = Counter()
    for top, lines in zip(tops, placed, strict=True):
        for below, line in enumerate(lines):
            for element, at, text in line:
                seen[element.key] += 1
                key = f"{element.key}#{seen[element.key]}"
                entries.append(Entry(element, top + below, at, text, key))
    last = entries[-1].line + 1 if entries else 0
    return MapLayout(tuple(entries), last)


def entry_text(element: Element) -> str:
    """Write an element: its number where it can be used, what it says, its value and state."""
    label = one_line(element.label, _MOST_CHARS).replace(" | ", " · ")
    if not label or label == _UNLABELED:
        label = f"({_KINDS.get(element.kind, element.kind)})"
    parts = [label]
    if element.editable:
        parts[0] += ":"
        value = one_line(element.value, _MOST_CHARS) or "•" * min(element.length, _MOST_DOTS)
        parts.append(f"[{value or '   '}]")
    if element.checkable:
        parts.append("[on]" if element.checked else "[off]")
    parts += [
        f"({word})"
        for word, holds in (
            ("selected", element.selected and not element.checkable),
            ("focused", element.focused),
            ("disabled", not element.enabled),
        )
        if holds
    ]
    number = f"{element.number} " if can_be_used(element) else ""
    return f" {number}{' '.join(parts)}"


def can_be_used(element: Element) -> bool:
    """Return whether an element is more than text."""
    return element.clickable or element.long_clickable or element.editable or element.checkable


def _says_something(element: Element) -> bool:
    return can_be_used(element) or element.label not in ("", _UNLABELED)


def _bands(elements: list[Element]) -> list[list[Element]]:
    """Group elements whose centres stand in one line, in the order of reading."""
    ordered = sorted(elements, key=lambda one: (_finite(one.bounds.center_y), one.number))
    bands: list[list[Element]] = []
    for element in ordered:
        y = _finite(element.bounds.center_y)
        if bands and y - _finite(bands[-1][0].bounds.center_y) <= _SAME_LINE:
            bands[-1].append(element)
        else:
            bands.append([element])
    for band in bands:
        band.sort(key=lambda one: (_finite(one.bounds.left), one.number))
    return bands


_Placed = tuple[Element, int, str]


def _placed(band: list[Element], columns: int) -> list[list[_Placed]]:
    """Place the entries of a band on as few lines as hold them whole."""
    lines: list[list[_Placed]] = []
    ends: list[int] = []
    for element in band:
        text = Content(entry_text(element)).truncate(columns, ellipsis=True).plain
        length = cells(text)
        # The cell of the cursor stands before the place itself.
        wanted = int(_finite(element.bounds.left) * columns) - 1
        at = max(0, min(wanted, columns - length))
        for line, end in enumerate(ends):
            # A little to the right is still where it is; a line below is the next best.
            if end <= at or (end - at <= columns // 8 and end + length <= columns):
                start = max(at, end)
                lines[line].append((element, start, text))
                ends[line] = start + length
                break
        else:
            lines.append([(element, at, text)])
            ends.append(at + length)
    return lines


def _tops(bands: list[tuple[float, int]], rows: int) -> list[int]:
    """Return the first line of each band of (centre, lines)."""
    tops: list[int] = []
    below = 0
    for center, lines in bands:
        wanted = round(_finite(center) * rows - lines / 2)
        below = max(below, wanted)
        tops.append(below)
        below += lines
    # What was pushed out at the foot moves up as far as there is room above.
    end = rows
    for at in range(len(bands) - 1, -1, -1):
        end -= bands[at][1]
        tops[at] = min(tops[at], end)
        end = tops[at]
    if tops and tops[0] < 0:
        # There is no room for all: they follow one another, and are scrolled to.
        below = 0
        for at, (_, lines) in enumerate(bands):
            tops[at], below = below, below + lines
    return tops


def _finite(share: float) -> float:
    """Return a share of the screen within it; a phone's numbers may be anything."""
    return min(1.0, max(0.0, share)) if share == share else 0.0
