"""All pictures of the wall as one picture: held still against noise and made cells at once.

A wall of sixty-four small pictures costs a few calls of NumPy and not a few for each. Not a widget
and not a phone's picture (`tile_picture`). Invariants: only rows in which something was put are
worked on; what no picture is on is a hole; a picture that is no live one is drawn at half its
brightness under a word that says why.
"""

import numpy as np
from textual.geometry import Region

from widgets.cells.blocks import Blocks
from widgets.cells.cells import Cells, Mask
from widgets.cells.rgb565 import Pixels565, dimmed, pack, settle

_INK, _PAPER = pack(230, 232, 238), pack(40, 44, 52)


class WallCanvas:
    """What all tiles show.

    Args:
        columns, rows: its size in cells.
        blocks: what pictures are made of.
    """

    def __init__(self, columns: int, rows: int, blocks: Blocks) -> None:
        self.blocks = blocks
        self.cells = Cells(rows, columns)
        """As drawn last; not changed any more."""
        shape = (rows * blocks.down, columns * blocks.across)
        self._exact: Pixels565 = np.zeros(shape, dtype=np.uint16)
        self._shown: Pixels565 = np.zeros(shape, dtype=np.uint16)
        self._is_picture: Mask = np.zeros((rows, columns), dtype=bool)
        self._sizes: dict[Region, tuple[int, int]] = {}
        """Of the picture in each box, in cells."""
        self._words: dict[Region, str] = {}
        self._touched: list[Region] = []

    def put(self, box: Region, pixels: Pixels565 | None, word: str, *, exact: bool = False) -> bool:
        """Put a picture at the top of its box, in the middle of its width.

        Args:
            box: in cells; always the same of one tile.
            pixels: None: no picture.
            word: why it is no live one; empty when it is.
            exact: draw the noise beside what is there as well.

        Returns:
            Whether noise may be left out; it is not where there was no picture of this size.
        """
        self._touched.append(box)
        self._words.pop(box, None)
        if word or pixels is None:
            self._words[box] = word or "no picture"
        size = (0, 0)
        if pixels is not None:
            size = pixels.shape[1] // self.blocks.across, pixels.shape[0] // self.blocks.down
        is_held = not exact and size == self._sizes.get(box)
        within = Region(box.x + (box.width - size[0]) // 2, box.y, *size)
        if size != self._sizes.get(box):
            self._sizes[box] = size
            self._is_picture[box.y : box.bottom, box.x : box.right] = False
            around = self._pixels(box)
            self._exact[around] = self._shown[around] = 0
            self._is_picture[within.y : within.bottom, within.x : within.right] = True
        if pixels is not None:
            place = self._pixels(within)
            exact_pixels = self._exact[place]
            # A wall may be smaller than its smallest tile.
            high, wide = exact_pixels.shape
            exact_pixels[:] = (dimmed(pixels) if word else pixels)[:high, :wide]
            if not is_held:
                self._shown[place] = exact_pixels
        return is_held

    def draw(self) -> Cells:
        """Return the cells of all, with what was put since."""
        touched, self._touched = [box for box in self._touched if box.area], []
        if not touched:
            return self.cells
        first, below = min(box.y for box in touched), max(box.bottom for box in touched)
        band = self._pixels(Region(0, first, self.cells.columns, below - first))
        self._shown[band] = settle(self._shown[band], self._exact[band])
        drawn = self.blocks.cells(self._shown[band])
        drawn.glyph *= self._is_picture[first:below]
        self.cells = self.cells.copy()
        self.cells.paste(drawn, first, 0)
        for box, word in self._words.items():
            if box.y < below and box.bottom > first:
                text = f" {word} "[: box.width]
                row, column = box.y + box.height // 2, box.x + (box.width - len(text)) // 2
                self.cells.mark(row, column, text, ink=_INK, paper=_PAPER)
        return self.cells

    def _pixels(self, cells: Region) -> tuple[slice, slice]:
        across, down = self.blocks.across, self.blocks.down
        return (
            slice(cells.y * down, cells.bottom * down),
            slice(cells.x * across, cells.right * across),
        )
