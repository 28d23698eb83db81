"""How many pixels a cell shows: half blocks everywhere, sextants where they are drawn.

A choice and its measures; the drawing, which takes numpy, is imported when there is a picture.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widgets.cells import Cells
    from widgets.rgb565 import Pixels565


class Blocks(StrEnum):
    """Which glyphs pictures are made of."""

    HALF = "half"
    SEXTANT = "sextant"

    @property
    def across(self) -> int:
        """Pixels of a cell beside each other."""
        return 2 if self is Blocks.SEXTANT else 1

    @property
    def down(self) -> int:
        """Pixels of a cell above each other."""
        return 3 if self is Blocks.SEXTANT else 2

    def cells(self, pixels: Pixels565) -> Cells:
        """Draw pixels as cells; their number is a multiple of what a cell shows each way."""
        if self is Blocks.SEXTANT:
            from widgets.sextants import sextant_cells

            return sextant_cells(pixels)
        from widgets.cells import Cells

        return Cells.of_pixels(pixels)
