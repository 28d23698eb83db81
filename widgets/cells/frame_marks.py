"""What is drawn over a picture: element numbers, the last touch, a chosen element.

Draws on cells it is given. Invariant: a number that would cover another is left out, so that each
one that is seen can be read.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from textual.geometry import Region

from agent.records import Bounds, Element, Point
from widgets.cells.cells import Cells, Mask
from widgets.cells.rgb565 import pack

_CHIP_INK, _CHIP_PAPER = pack(16, 18, 22), pack(255, 209, 92)
_NEW_INK, _NEW_PAPER = pack(16, 18, 22), pack(126, 214, 160)
_OLD_INK = pack(128, 128, 128)
_TOUCH_INK, _TOUCH_PAPER = pack(255, 255, 255), pack(214, 51, 92)
_CHOSEN = pack(255, 92, 214)


def draw_touch(cells: Cells, touch: Point) -> None:
    row, column = _cell(touch, cells)
    cells.mark(row, column - 1, "(●)", ink=_TOUCH_INK, paper=_TOUCH_PAPER)


def draw_path(cells: Cells, path: Sequence[Point]) -> None:
    """Draw the way of a finger: dots from place to place, and a ring at each but the last."""
    places = [_cell(at, cells) for at in path]
    for (row, column), (to_row, to_column) in pairwise(places):
        steps = max(abs(to_row - row), abs(to_column - column) // 2, 1)
        for step in range(1, steps):
            at = round(row + (to_row - row) * step / steps)
            beside = round(column + (to_column - column) * step / steps)
            cells.mark(at, beside, "•", ink=_TOUCH_PAPER, paper=int(cells.paper[at, beside]))
    for row, column in places[:-1]:
        cells.mark(row, column, "○", ink=_TOUCH_INK, paper=_TOUCH_PAPER)


def draw_chosen(cells: Cells, bounds: Bounds) -> None:
    """Draw the corners of an element around it."""
    top, left = _place(bounds.left, bounds.top, cells.rows, cells.columns)
    bottom, right = _place(bounds.right, bounds.bottom, cells.rows, cells.columns)
    for row, column, corner in (
        (top, left, "┏"),
        (top, right, "┓"),
        (bottom, left, "┗"),
        (bottom, right, "┛"),
    ):
        cells.mark(row, column, corner, ink=_CHOSEN, paper=int(cells.paper[row, column]))


def draw_numbers(cells: Cells, elements: Sequence[Element], *, faded: bool = False) -> None:
    """Write the number of each element at its left edge, on its middle line.

    `faded` numbers are of a screen that is another by now.
    """
    taken: set[tuple[int, int]] = set()
    # On another screen everything is new, which says nothing.
    all_new = all(element.is_new for element in elements)
    for element in elements:
        chip = str(element.number)
        corner = Point(x=element.bounds.left, y=element.bounds.top)
        row, column = _cell(corner, cells)
        # A number sits on the element's middle line: the top edge often belongs to its parent.
        row = _cell(element.bounds.center, cells)[0]
        column = max(0, min(column, cells.columns - len(chip)))
        spot = {(row, at) for at in range(column, column + len(chip))}
        if spot & taken:
            continue
        taken |= spot | {(row, column - 1), (row, column + len(chip))}
        is_new = element.is_new and not all_new
        ink, paper = (_NEW_INK, _NEW_PAPER) if is_new else (_CHIP_INK, _CHIP_PAPER)
        if faded:
            ink, paper = _OLD_INK, int(cells.paper[row, column])
        cells.mark(row, column, chip, ink=ink, paper=paper)


def unmarked(marked: Mask) -> list[Region]:
    """Cut the cells that are not marked into rectangles that do not overlap."""
    done: list[Region] = []
    growing: dict[tuple[int, int], Region] = {}
    for row, line in enumerate(marked):
        # A gap begins where the marks end, and ends where the next one begins.
        edges = np.flatnonzero(np.diff(np.concatenate(([True], line, [True])))).tolist()
        gaps = set(zip(edges[0::2], edges[1::2], strict=True))
        done += [growing.pop(gap) for gap in [*growing] if gap not in gaps]
        for left, right in gaps:
            above = growing.get((left, right))
            height = above.height + 1 if above else 1
            top = above.y if above else row
            growing[left, right] = Region(left, top, right - left, height)
    return [*done, *growing.values()]


def _place(x: float, y: float, rows: int, columns: int) -> tuple[int, int]:
    return min(rows - 1, max(0, int(y * rows))), min(columns - 1, max(0, int(x * columns)))


def _cell(at: Point, cells: Cells) -> tuple[int, int]:
    return _place(at.x, at.y, cells.rows, cells.columns)
