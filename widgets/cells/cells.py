"""A picture as the cells of a terminal: ink, paper and glyph of each, pasted and marked.

Not yet text (`cell_text`). Invariants: a cell is one number of 64 bits, so that two pictures are
compared and copied in one go; cells that nothing was pasted on are holes, which are drawn in the
style of what lies under the picture.
"""

from typing import Self

import numpy as np
import numpy.typing as npt

from widgets.cells.rgb565 import Pixels565

Glyphs = npt.NDArray[np.uint16]
Mask = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.uint64]
"""Ink, paper and glyph of each cell, 16 bits each, and 16 that are zero."""
HOLE, BLANK, HALF = 0, 1, 2
LETTERS: list[str] = [" ", " ", "▀"]
"""What each glyph number draws. It grows by the few letters that marks are made of."""
_NUMBERS: dict[str, int] = {"▀": HALF}
_INK, _PAPER, _GLYPH = range(3)


def glyph_of(letter: str) -> int:
    """Return the number of a letter that takes one cell."""
    number = _NUMBERS.get(letter)
    if number is None:
        number = _NUMBERS[letter] = len(LETTERS)
        LETTERS.append(letter)
    return number


def rows_of(changed: Mask) -> list[int]:
    """List the rows in which there are cells of a mask."""
    rows: list[int] = np.flatnonzero(changed.any(axis=1)).tolist()
    return rows


class Cells:
    """A rectangle of cells.

    Args:
        rows, columns: its size.
    """

    __slots__ = ("columns", "glyph", "ink", "packed", "paper", "rows")

    def __init__(self, rows: int, columns: int) -> None:
        self._take(np.zeros((rows, columns), dtype=np.uint64))

    @classmethod
    def of_pixels(cls, pixels: Pixels565) -> Self:
        """Make half blocks of 2·rows × columns pixels."""
        made = cls(pixels.shape[0] // 2, pixels.shape[1])
        upper, lower = pixels[0::2], pixels[1::2]
        made.ink[:], made.paper[:] = upper, lower
        # A cell of one colour is a space: two bytes less, and no ink to set.
        np.add(upper != lower, np.uint16(BLANK), out=made.glyph)
        return made

    @classmethod
    def of_colours(cls, pixels: Pixels565) -> Self:
        """Make cells of one colour each, of rows × columns pixels."""
        made = cls(*pixels.shape)
        made.ink[:] = made.paper[:] = pixels
        made.glyph[:] = BLANK
        return made

    def _take(self, packed: Packed) -> None:
        self.packed = packed
        self.rows, self.columns = packed.shape
        parts = packed.view(np.uint16).reshape(self.rows, self.columns, 4)
        self.ink: Pixels565 = parts[:, :, _INK]
        self.paper: Pixels565 = parts[:, :, _PAPER]
        self.glyph: Glyphs = parts[:, :, _GLYPH]

    def copy(self) -> Self:
        """Return the same cells again, to be changed."""
        made = self.__class__.__new__(self.__class__)
        made._take(self.packed.copy())
        return made

    def paste(self, other: "Cells", row: int, column: int) -> None:
        """Draw other cells; they must lie within."""
        self.packed[row : row + other.rows, column : column + other.columns] = other.packed

    def mark(self, row: int, column: int, text: str, *, ink: int, paper: int) -> None:
        """Write text over the picture, cut off at its edges; colours are RGB565."""
        for at, letter in enumerate(text, column):
            if 0 <= row < self.rows and 0 <= at < self.columns:
                self.ink[row, at], self.paper[row, at] = ink, paper
                self.glyph[row, at] = glyph_of(letter)

    def differs(self, other: "Cells") -> Mask:
        """Return for each cell whether it looks different in other cells of the same size."""
        differs: Mask = self.packed != other.packed
        return differs
