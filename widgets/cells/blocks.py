"""How many pixels a cell shows: two by half blocks, six by sextants, one where there is no Unicode.

A choice and its measures; the drawing, which takes numpy, is imported when there is a picture.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widgets.cells.cells import Cells
    from widgets.cells.rgb565 import Pixels565


class Blocks(StrEnum):
    """Which glyphs pictures are made of."""

    HALF = "half"
    SEXTANT = "sextant"
    WHOLE = "whole"
    """One colour for a cell. ASCII has no letter that fills half of one, and one that shows two
    colours by its strokes says less than the mean of both."""

    @property
    def across(self) -> int:
        """Pixels of a cell beside each other."""
        return 2 if self is Blocks.SEXTANT else 1

    @property
    def down(self) -> int:
        """Pixels of a cell above each other."""
        return _DOWN[self]

    def cells(self, pixels: "Pixels565") -> "Cells":
        """Draw pixels as cells; their number is a multiple of what a cell shows each way."""
        if self is Blocks.SEXTANT:
            from widgets.cells.sextants import sextant_cells

            return sextant_cells(pixels)
        from widgets.cells.cells import Cells

        return Cells.of_colours(pixels) if self is Blocks.WHOLE else Cells.of_pixels(pixels)


_DOWN = {Blocks.HALF: 2, Blocks.SEXTANT: 3, Blocks.WHOLE: 1}
