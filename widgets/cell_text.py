"""Cells as text for a terminal: whole rows, or only the cells that changed.

Runs of equal cells are merged, and a colour that the terminal has already is not set again. There
is no loop over cells in Python: a few arrays of ready texts are joined. Invariant: what is made
holds nothing but SGR sequences, cursor movements and the glyphs of `cells`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from widgets.cells import BLANK, HALF, HOLE, LETTERS, Cells, Glyphs, Mask
from widgets.colour_codes import Codes, Texts
from widgets.rgb565 import Pixels565

RESET = "\x1b[0m"
_LONGEST_RUN = 512
_Places = npt.NDArray[np.intp]


def row_texts(cells: Cells, codes: Codes, *, hole: str = RESET) -> list[str]:
    """Give every row as text that stands alone: it begins and ends with the default colours.

    Args:
        hole: the sequence that sets the style of cells without a picture.
    """
    runs = _runs(cells, None, codes)
    first_in_row = runs.column == 0
    parts = np.empty((runs.total, 3), dtype=object)
    parts[:, 0], parts[:, 1] = _colours(runs, first_in_row, codes, hole)
    parts[:, 2] = _glyphs(runs)
    ends = np.cumsum(np.bincount(runs.row, minlength=cells.rows)) * 3
    flat = parts.reshape(-1).tolist()
    return ["".join(flat[a:b]) + RESET for a, b in pairwise([0, *ends.tolist()])]


def changed_text(
    cells: Cells, changed: Mask, codes: Codes, *, x: int, y: int, hole: str = RESET
) -> str:
    """Give the text that draws some cells, moving the cursor to them.

    Args:
        changed: rows × columns, which cells.
        x, y: the column and row of the terminal, from 0, where the first cell is.
    """
    runs = _runs(cells, changed, codes)
    if not runs.total:
        return ""
    fresh = np.zeros(runs.total, dtype=bool)
    fresh[0] = True
    parts = np.empty((runs.total, 4), dtype=object)
    parts[:, 0] = _moves(runs, x, y)
    parts[:, 1], parts[:, 2] = _colours(runs, fresh, codes, hole)
    parts[:, 3] = _glyphs(runs)
    return "".join(parts.reshape(-1).tolist()) + RESET


class _Runs(NamedTuple):
    """Stretches of equal cells within a row, in reading order."""

    total: int
    row: _Places
    column: _Places
    length: _Places
    ink: Pixels565
    """As indices of the codes, like paper."""
    paper: Pixels565
    glyph: Glyphs


def _runs(cells: Cells, wanted: Mask | None, codes: Codes) -> _Runs:
    ink, paper, glyph = codes.indices(cells.ink), codes.indices(cells.paper), cells.glyph
    # Where a run cannot go on from the left: at an edge, beside a cell that is not wanted, or
    # where anything differs that is seen.
    starts = np.ones(glyph.shape, dtype=bool)
    np.not_equal(paper[:, 1:], paper[:, :-1], out=starts[:, 1:])
    starts[:, 1:] |= glyph[:, 1:] != glyph[:, :-1]
    starts[:, 1:] |= ink[:, 1:] != ink[:, :-1]
    if cells.columns > _LONGEST_RUN:
        starts[:, ::_LONGEST_RUN] = True
    if wanted is None:
        at = np.flatnonzero(starts)
        length = np.diff(at, append=starts.size)
    else:
        ends = np.ones(glyph.shape, dtype=bool)
        np.logical_or(starts[:, 1:], ~wanted[:, 1:], out=ends[:, :-1])
        starts[:, 1:] |= ~wanted[:, :-1]
        starts &= wanted
        ends &= wanted
        at = np.flatnonzero(starts)
        length = np.flatnonzero(ends) - at + 1
    row, column = np.divmod(at, cells.columns)
    return _Runs(
        len(at), row, column, length, ink.ravel()[at], paper.ravel()[at], glyph.ravel()[at]
    )


def _colours(runs: _Runs, fresh: Mask, codes: Codes, hole: str) -> tuple[Texts, Texts]:
    """Give what sets the ink and what sets the paper of each run.

    Args:
        fresh: the runs before which the colours of the terminal are not known.
    """
    holes = runs.glyph == HOLE
    if holes.any():
        fresh = fresh | holes
        fresh[1:] |= holes[:-1]
    number = np.arange(runs.total)
    inked = runs.glyph > BLANK
    # The colour that the terminal has is that of the last run with ink since it was unknown.
    last_inked = np.maximum.accumulate(np.where(inked, number, -1))
    before = np.concatenate(([-1], last_inked[:-1]))
    since = np.maximum.accumulate(np.where(fresh, number, 0))
    sets_ink = inked & ((before < since) | (runs.ink != runs.ink[before]))
    sets_paper = np.ones(runs.total, dtype=bool)
    np.not_equal(runs.paper[1:], runs.paper[:-1], out=sets_paper[1:])
    sets_paper |= fresh
    ink = np.where(sets_ink, codes.ink[runs.ink], "")
    alone = np.where(sets_paper, codes.paper[runs.paper], "")
    after = np.where(sets_paper, codes.and_paper[runs.paper], "m")
    paper = np.where(sets_ink, after, alone)
    if holes.any():
        ink[holes], paper[holes] = RESET, hole
    return ink, paper


@lru_cache(maxsize=1)
def _repeated() -> Texts:
    table = np.empty((3, _LONGEST_RUN + 1), dtype=object)
    for glyph in (HOLE, BLANK, HALF):
        table[glyph] = [LETTERS[glyph] * length for length in range(_LONGEST_RUN + 1)]
    return table


def _glyphs(runs: _Runs) -> Texts:
    table = _repeated()
    marked = np.flatnonzero(runs.glyph > HALF)
    texts: Texts = table[np.minimum(runs.glyph, HALF), runs.length]
    for at in marked.tolist():
        texts[at] = LETTERS[runs.glyph[at]] * int(runs.length[at])
    return texts


@lru_cache(maxsize=1)
def _forward() -> Texts:
    table = [f"\x1b[{cells}C" for cells in range(_LONGEST_RUN)]
    return np.array(["", "\x1b[C", *table[2:]], dtype=object)


def _moves(runs: _Runs, x: int, y: int) -> Texts:
    """Give the cursor movement before each run; empty where it stands there already."""
    moves = np.full(runs.total, "", dtype=object)
    in_row = np.zeros(runs.total, dtype=bool)
    np.equal(runs.row[1:], runs.row[:-1], out=in_row[1:])
    gap = np.zeros(runs.total, dtype=np.intp)
    gap[1:] = runs.column[1:] - runs.column[:-1] - runs.length[:-1]
    near = in_row & (gap < _LONGEST_RUN)
    moves[near] = _forward()[gap[near]]
    for at in np.flatnonzero(~near).tolist():
        moves[at] = f"\x1b[{y + int(runs.row[at]) + 1};{x + int(runs.column[at]) + 1}H"
    return moves
