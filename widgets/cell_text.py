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
    starts = _starts(cells)
    at = np.flatnonzero(starts)
    ends = np.cumsum(starts.sum(axis=1))
    runs = _runs(cells, codes, at, np.diff(at, append=starts.size))
    fresh = np.zeros(runs.total, dtype=bool)
    fresh[0] = fresh[ends[:-1]] = True
    parts = np.empty((runs.total, 3), dtype=object)
    parts[:, 0], parts[:, 1] = _colours(runs, fresh, codes, hole)
    parts[:, 2] = _glyphs(runs)
    flat = parts.reshape(-1).tolist()
    return ["".join(flat[a * 3 : b * 3]) + RESET for a, b in pairwise([0, *ends.tolist()])]


def changed_text(
    cells: Cells, changed: Mask, codes: Codes, *, x: int, y: int, hole: str = RESET
) -> str:
    """Give the text that draws some cells, moving the cursor to them.

    Args:
        changed: rows × columns, which cells.
        x, y: the column and row of the terminal, from 0, where the first cell is.
    """
    starts = _starts(cells)
    ends = np.ones(starts.shape, dtype=bool)
    np.logical_or(starts[:, 1:], ~changed[:, 1:], out=ends[:, :-1])
    starts[:, 1:] |= ~changed[:, :-1]
    starts &= changed
    ends &= changed
    at = np.flatnonzero(starts)
    if not at.size:
        return ""
    runs = _runs(cells, codes, at, np.flatnonzero(ends) - at + 1)
    fresh = np.zeros(runs.total, dtype=bool)
    fresh[0] = True
    parts = np.empty((runs.total, 4), dtype=object)
    parts[:, 0] = _moves(runs, cells.columns, x, y)
    parts[:, 1], parts[:, 2] = _colours(runs, fresh, codes, hole)
    parts[:, 3] = _glyphs(runs)
    return "".join(parts.reshape(-1).tolist()) + RESET


class _Runs(NamedTuple):
    """Stretches of equal cells within a row, in reading order."""

    total: int
    at: _Places
    """The number of the first cell of each."""
    length: _Places
    ink: Pixels565
    """As indices of the codes, like paper."""
    paper: Pixels565
    glyph: Glyphs


def _starts(cells: Cells) -> Mask:
    """Tell where a cell does not just go on from the one at its left."""
    ink, paper, glyph = cells.ink, cells.paper, cells.glyph
    starts = np.ones(glyph.shape, dtype=bool)
    inner = starts[:, 1:]
    np.not_equal(paper[:, 1:], paper[:, :-1], out=inner)
    inner |= ink[:, 1:] != ink[:, :-1]
    inner |= glyph[:, 1:] != glyph[:, :-1]
    if cells.columns > _LONGEST_RUN:
        starts[:, ::_LONGEST_RUN] = True
    return starts


def _runs(cells: Cells, codes: Codes, at: _Places, length: _Places) -> _Runs:
    ink = codes.indices(cells.ink.ravel()[at])
    paper = codes.indices(cells.paper.ravel()[at])
    return _Runs(len(at), at, length, ink, paper, cells.glyph.ravel()[at])


def _colours(runs: _Runs, fresh: Mask, codes: Codes, hole: str) -> tuple[Texts, Texts]:
    """Give what sets the ink and what sets the paper of each run.

    Args:
        fresh: the runs before which the colours of the terminal are not known.
    """
    holes = runs.glyph == HOLE
    has_holes = bool(holes.any())
    if has_holes:
        fresh = fresh | holes
        fresh[1:] |= holes[:-1]
    number = np.arange(runs.total)
    inked = runs.glyph > BLANK
    # The colour that the terminal has is that of the last run with ink since it was unknown.
    last_inked = np.maximum.accumulate(np.where(inked, number, -1))
    before = np.empty_like(last_inked)
    before[0], before[1:] = -1, last_inked[:-1]
    since = np.maximum.accumulate(np.where(fresh, number, 0))
    sets_ink = (runs.ink != runs.ink[before]) | (before < since)
    sets_ink &= inked
    sets_paper = fresh.copy()
    sets_paper[1:] |= runs.paper[1:] != runs.paper[:-1]
    none = codes.colours
    ink = codes.ink[np.where(sets_ink, runs.ink, np.int32(none))]
    # The second half of the papers follows an ink; what neither sets ends the tables.
    chosen = np.where(sets_paper, runs.paper, np.int32(none))
    chosen[sets_ink] += none + 1
    paper = codes.paper[chosen]
    if has_holes:
        ink[holes], paper[holes] = RESET, hole
    return ink, paper


@lru_cache(maxsize=1)
def _repeated() -> Texts:
    table = np.empty((3, _LONGEST_RUN + 1), dtype=object)
    for glyph in (HOLE, BLANK, HALF):
        table[glyph] = [LETTERS[glyph] * length for length in range(_LONGEST_RUN + 1)]
    return table.ravel()


def _glyphs(runs: _Runs) -> Texts:
    texts: Texts = _repeated()[
        np.minimum(runs.glyph, HALF).astype(np.intp) * (_LONGEST_RUN + 1) + runs.length
    ]
    for at in np.flatnonzero(runs.glyph > HALF).tolist():
        texts[at] = LETTERS[runs.glyph[at]] * int(runs.length[at])
    return texts


@lru_cache(maxsize=1)
def _forward() -> Texts:
    table = [f"\x1b[{cells}C" for cells in range(_LONGEST_RUN)]
    return np.array(["", "\x1b[C", *table[2:]], dtype=object)


def _moves(runs: _Runs, columns: int, x: int, y: int) -> Texts:
    """Give the cursor movement before each run; empty where it stands there already."""
    moves = np.full(runs.total, "", dtype=object)
    row = runs.at // columns
    in_row = np.zeros(runs.total, dtype=bool)
    np.equal(row[1:], row[:-1], out=in_row[1:])
    gap = np.zeros(runs.total, dtype=np.intp)
    gap[1:] = runs.at[1:] - runs.at[:-1] - runs.length[:-1]
    near = np.flatnonzero(in_row & (gap > 0) & (gap < _LONGEST_RUN))
    moves[near] = _forward()[gap[near]]
    for at in np.flatnonzero(~(in_row & (gap < _LONGEST_RUN))).tolist():
        down, right = divmod(int(runs.at[at]), columns)
        moves[at] = f"\x1b[{y + down + 1};{x + right + 1}H"
    return moves
