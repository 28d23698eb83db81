"""Cells as text for a terminal: whole rows, or only the cells that changed.

A colour that the terminal has already is not set again. There is no loop over cells in Python:
every cell is a record of a fixed length in one array, its ready texts are copied in by NumPy, and
the zero bytes that are left over are taken out of the whole at once. Invariant: what is made holds
nothing but SGR sequences, cursor movements and the glyphs of `cells`.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from widgets.cells.cells import BLANK, HOLE, LETTERS, Cells, Mask, Packed
from widgets.cells.colour_codes import COLOUR_BYTES, Codes, Records

RESET = "\x1b[0m"
_FARTHEST = 512  # Cells; the cursor is moved farther by naming its place.
_WORD = 4
_RECORD = np.dtype(
    {
        "names": ["ink", "join", "paper", "glyph"],
        "formats": [f"S{COLOUR_BYTES}", f"S{_WORD}"] * 2,
        "offsets": [0, COLOUR_BYTES, COLOUR_BYTES + _WORD, 2 * COLOUR_BYTES + _WORD],
        "itemsize": 2 * (COLOUR_BYTES + _WORD),
    }
)
_WHOLE = np.dtype(f"S{_RECORD.itemsize}")
_JOINS: Records = np.array([b"", b"m", b"\x1b[", b";"], dtype=f"S{_WORD}")
"""What stands between an ink and a paper: where neither is set, the first, the second, or both."""
_Places = npt.NDArray[np.intp]


def row_texts(cells: Cells, codes: Codes, *, hole: str = RESET) -> list[str]:
    """Return every row as text that stands alone: it begins and ends with the default colours.

    Args:
        hole: the sequence that sets the style of cells without a picture.
    """
    if not cells.packed.size:
        return [RESET] * cells.rows
    ends = np.arange(cells.columns, cells.packed.size, cells.columns)
    fresh = np.zeros(cells.packed.size, dtype=bool)
    fresh[:: cells.columns] = True
    text = _text(cells.packed.ravel(), fresh, ends, f"{RESET}\n".encode(), codes, hole)
    return (text + RESET).split("\n")


def changed_text(
    cells: Cells, changed: Mask, codes: Codes, *, x: int, y: int, hole: str = RESET
) -> str:
    """Return the text that draws some cells, moving the cursor to them.

    Args:
        changed: rows × columns, which cells.
        x, y: the column and row of the terminal, from 0, where the first cell is.
    """
    at = changed.ravel().nonzero()[0]
    if not at.size:
        return ""
    fresh = np.zeros(at.size, dtype=bool)
    fresh[0] = True
    starts, moves = _moves(at, cells.columns, x, y)
    return _text(cells.packed.ravel()[at], fresh, starts, moves, codes, hole) + RESET


def _text(
    cells: Packed, fresh: Mask, breaks: _Places, said: Records | bytes, codes: Codes, hole: str
) -> str:
    """Return the text of cells in the order in which they are drawn; at least one.

    Args:
        fresh: the cells before which the colours of the terminal are not known.
        breaks: the cells before which something else is said.
        said: that, of each or of all.
    """
    parts = cells.view(np.uint16).reshape(-1, 4)
    glyph = parts[:, 2]
    extra = np.zeros(cells.size, dtype=np.intp)
    extra[breaks] = 1
    holes: Mask | None = None
    ground: Sequence[bytes] = ()
    grounded = breaks[:0]
    if not glyph.all():
        holes = glyph == HOLE
        ground = _chunks(RESET + hole)
        into = holes & fresh
        into[1:] |= holes[1:] & ~holes[:-1]
        grounded = into.nonzero()[0]
        extra[grounded] += len(ground)
        fresh = fresh | holes
        fresh[1:] |= holes[:-1]
    place = np.arange(cells.size)
    place += extra.cumsum()
    records = np.zeros(int(place[-1]) + 1, dtype=_RECORD)
    whole = records.view(_WHOLE)
    whole[place[breaks] - extra[breaks]] = said
    for number, chunk in enumerate(ground):
        whole[place[grounded] - len(ground) + number] = chunk
    _colour(records, place, parts, fresh, holes, codes)
    records["glyph"][place] = _letters(len(LETTERS))[glyph]
    return records.tobytes().translate(None, b"\0").decode()


def _colour(
    records: npt.NDArray[np.void],
    place: _Places,
    parts: npt.NDArray[np.uint16],
    fresh: Mask,
    holes: Mask | None,
    codes: Codes,
) -> None:
    """Set the ink and the paper of each cell whose predecessor left another."""
    paper = codes.indices(parts[:, 1])
    sets_paper = fresh.copy()
    sets_paper[1:] |= paper[1:] != paper[:-1]
    if holes is not None:
        sets_paper &= ~holes
    inked = (parts[:, 2] > BLANK).nonzero()[0]
    ink = codes.indices(parts[:, 0][inked])
    # The colour that the terminal has is that of the last cell with ink since it was unknown.
    since = fresh.cumsum()[inked]
    sets_ink = np.ones(inked.size, dtype=bool)
    np.not_equal(ink[1:], ink[:-1], out=sets_ink[1:])
    sets_ink[1:] |= since[1:] != since[:-1]
    inked = inked[sets_ink]
    join = sets_paper.view(np.uint8) << 1
    join[inked] |= 1
    papered = sets_paper.nonzero()[0]
    records["ink"][place[inked]] = codes.ink[ink[sets_ink]]
    records["paper"][place[papered]] = codes.paper[paper[papered]]
    records["join"][place] = _JOINS[join]


def _chunks(text: str) -> Sequence[bytes]:
    data = text.encode()
    return [data[at : at + _WHOLE.itemsize] for at in range(0, len(data), _WHOLE.itemsize)]


@lru_cache(maxsize=1)
def _letters(count: int) -> Records:
    """Return what draws each glyph number, of so many that there are."""
    return np.array([letter.encode() for letter in LETTERS[:count]], dtype=f"S{_WORD}")


@lru_cache(maxsize=1)
def _forward() -> Records:
    table = [b"\x1b[%dC" % cells for cells in range(_FARTHEST)]
    return np.array([b"", b"\x1b[C", *table[2:]], dtype=_WHOLE)


def _moves(at: _Places, columns: int, x: int, y: int) -> tuple[_Places, Records]:
    """Return the cells before which the cursor does not stand there already, and what moves it."""
    row = at // columns
    gap = np.empty(at.size, dtype=np.intp)
    gap[0] = _FARTHEST
    np.subtract(at[1:], at[:-1], out=gap[1:])
    gap[1:] -= 1
    gap[1:][row[1:] != row[:-1]] = _FARTHEST
    starts = gap.nonzero()[0]
    gap = gap[starts]
    moves: Records = _forward()[np.minimum(gap, _FARTHEST - 1)]
    far = (gap >= _FARTHEST).nonzero()[0]
    down, right = np.divmod(at[starts[far]], columns)
    named = zip((down + (y + 1)).tolist(), (right + (x + 1)).tolist(), strict=True)
    moves[far] = [b"\x1b[%d;%dH" % place for place in named]
    return starts, moves
