"""Render plots in terminal cells: a bar in eighths, a line of small columns. Pure text.

Without scale, label or colour: the caller prints the figure beside the plot. Invariants: a plot has
exactly the given cells; a non-zero value is never drawn empty; plots read without colour.
"""

import math
from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_COLUMNS = "▁▂▃▄▅▆▇█"


def bar(value: float, most: float, cells: int) -> str:
    """Draw a value relative to the largest one, from the left.

    Args:
        value: negative values count as 0.
        most: the value that fills all cells.
        cells: the width.
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
    """Draw the newest values as adjacent columns, the newest at the right.

    The scale starts at zero and ends at the largest drawn value. Fewer values than cells leave room
    at the left.
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
