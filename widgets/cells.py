"""A picture as the cells of a terminal: ink, paper and glyph of each, pasted and marked.

Not yet text (`cell_text`). Invariants: arrays of one shape; cells that nothing was pasted on are
holes, which are drawn in the style of what lies under the picture.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from widgets.rgb565 import Pixels565

Glyphs = npt.NDArray[np.uint16]
Mask = npt.NDArray[np.bool_]
HOLE, BLANK, HALF = 0, 1, 2
LETTERS: list[str] = [" ", " ", "▀"]
"""What each glyph number draws. It grows by the few letters that marks are made of."""
_NUMBERS: dict[str, int] = {"▀": HALF}


def glyph_of(letter: str) -> int:
    """Give the number of a letter that takes one cell."""
    number = _NUMBERS.get(letter)
    if number is None:
        number = _NUMBERS[letter] = len(LETTERS)
        LETTERS.append(letter)
    return number


def _glyphs_of(upper: Pixels565, lower: Pixels565) -> Glyphs:
    # A cell of one colour is a space: two bytes less, and no ink to set.
    glyphs: Glyphs = (upper != lower).astype(np.uint16)
    glyphs += np.uint16(BLANK)
    return glyphs


class Cells:
    """A rectangle of cells.

    Args:
        rows, columns: its size.
    """

    __slots__ = ("columns", "glyph", "ink", "paper", "rows")

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.ink: Pixels565 = np.zeros((rows, columns), dtype=np.uint16)
        self.paper: Pixels565 = np.zeros((rows, columns), dtype=np.uint16)
        self.glyph: Glyphs = np.zeros((rows, columns), dtype=np.uint16)

    @classmethod
    def of_pixels(cls, pixels: Pixels565) -> Cells:
        """Make half blocks of 2·rows × columns pixels."""
        made = cls.__new__(cls)
        made.rows, made.columns = pixels.shape[0] // 2, pixels.shape[1]
        made.ink, made.paper = pixels[0::2].copy(), pixels[1::2].copy()
        made.glyph = _glyphs_of(made.ink, made.paper)
        return made

    def copy(self) -> Cells:
        """Give the same cells again, to be changed."""
        made = Cells.__new__(Cells)
        made.rows, made.columns = self.rows, self.columns
        made.ink, made.paper, made.glyph = self.ink.copy(), self.paper.copy(), self.glyph.copy()
        return made

    def paste(self, other: Cells, row: int, column: int) -> None:
        """Draw other cells; they must lie within."""
        place = (slice(row, row + other.rows), slice(column, column + other.columns))
        self.ink[place], self.paper[place] = other.ink, other.paper
        self.glyph[place] = other.glyph

    def mark(self, row: int, column: int, text: str, *, ink: int, paper: int) -> None:
        """Write text over the picture, cut off at its edges; colours are RGB565."""
        for at, letter in enumerate(text, column):
            if 0 <= row < self.rows and 0 <= at < self.columns:
                self.ink[row, at], self.paper[row, at] = ink, paper
                self.glyph[row, at] = glyph_of(letter)

    def differs(self, other: Cells) -> Mask:
        """Tell of each cell whether it looks different in other cells of the same size."""
        differs: Mask = self.ink != other.ink
        differs |= self.paper != other.paper
        differs |= self.glyph != other.glyph
        return differs
