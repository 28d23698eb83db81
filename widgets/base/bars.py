"""Plots in the cells of a terminal: a bar of eighths, a line of small columns. Pure text.

No scale, no words, no colour: who draws one writes the figure beside it. Invariants: a plot has
exactly the cells it was given; a value that is not zero is never drawn as nothing; what is drawn
reads without colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_COLUMNS = "▁▂▃▄▅▆▇█"


def bar(value: float, most: float, cells: int) -> str:
    """Draw how large a value is beside the largest one, from the left.

    Args:
        value: what is drawn; less than nothing counts as nothing.
        most: the value that takes all cells.
        cells: how many there are.
    """
    if cells <= 0:
        return ""
    share = min(1.0, _usable(value) / most) if most > 0 else 0.0
    eighths = round(share * cells * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, part = divmod(eighths, 8)
    return (_EIGHTHS[8] * whole + (_EIGHTHS[part] if part else "")).ljust(cells)


def sparkline(values: Sequence[float], cells: int) -> str:
    """Draw the newest values as columns beside each other, the newest at the right.

    The columns stand on zero, and the tallest is the largest of what is drawn: half as tall is half
    as much. Fewer values than cells leave room at the left.
    """
    if cells <= 0:
        return ""
    drawn = [_usable(value) for value in values[-cells:]]
    most = max(drawn, default=0.0)
    if most <= 0:
        return (_COLUMNS[0] * len(drawn)).rjust(cells)
    tallest = len(_COLUMNS) - 1
    return "".join(_COLUMNS[round(tallest * value / most)] for value in drawn).rjust(cells)


def _usable(value: float) -> float:
    return max(0.0, value) if math.isfinite(value) else 0.0
