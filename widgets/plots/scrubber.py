"""The scrubber of a replay: where on the tape we are, with marks.

Pure text. Invariant: the line is as wide as it is asked to be.
"""

from __future__ import annotations

from collections.abc import Sequence

from widgets.base.rows import Parts

_MARKS = {
    "app": ("╵", "$model"),
    "question": ("?", "$ask"),
    "error": ("×", "$bad"),
    "message": ("▾", "$primary"),
    "result": ("✓", "$good"),
}


def scrubber(position: int, length: int, signs: Sequence[tuple[int, str]], width: int) -> Parts:
    """Draw the tape.

    Args:
        position: events played.
        length: events there are.
        signs: (position, kind) of what is worth a mark.
        width: cells.
    """
    if width <= 0:
        return ()
    here = _cell(position, length, width)
    cells: list[tuple[str, str]] = [
        ("━", "$primary") if at <= here else ("─", "$faint") for at in range(width)
    ]
    for at, kind in signs:
        cells[_cell(at, length, width)] = _MARKS[kind]
    cells[here] = ("●", "bold $primary")
    merged: list[tuple[str, str]] = []
    for text, style in cells:
        if merged and merged[-1][1] == style:
            merged[-1] = (merged[-1][0] + text, style)
        else:
            merged.append((text, style))
    return tuple(merged)


def _cell(position: int, length: int, width: int) -> int:
    return min(width - 1, position * (width - 1) // max(1, length))
