"""Six pixels a cell: sextants, two pixels across and three down in two colours.

numpy in, cells out. Sextants are U+1FB00–U+1FB3B of Unicode 13 ("Symbols for Legacy Computing").
Invariant: a cell whose pixels are of at most two colours shows exactly these pixels.
"""

import numpy as np
import numpy.typing as npt

from widgets.cells.cells import BLANK, Cells, Glyphs, glyph_of
from widgets.cells.rgb565 import Pixels565

_LEFT, _RIGHT, _FULL = 0b010101, 0b101010, 0b111111
"""Patterns that Unicode has as older block elements. Bits go from the top left, row by row."""


def sextant(pattern: int) -> str:
    """Return the glyph of six pixels; a set bit is ink."""
    older = {0: " ", _LEFT: "▌", _RIGHT: "▐", _FULL: "█"}
    if pattern in older:
        return older[pattern]
    return chr(0x1FB00 + pattern - 1 - (pattern > _LEFT) - (pattern > _RIGHT))


_GLYPHS: Glyphs = np.array(
    [BLANK, *(glyph_of(sextant(pattern)) for pattern in range(1, 64))], dtype=np.uint16
)
_BITS = (1 << np.arange(6)).astype(np.uint8)
_Channels = npt.NDArray[np.int32]


def sextant_cells(pixels: Pixels565) -> Cells:
    """Draw pixels as cells: height × width RGB565, multiples of three and two."""
    rows, columns = pixels.shape[0] // 3, pixels.shape[1] // 2
    # rows × columns × the six pixels of a cell.
    six = pixels.reshape(rows, 3, columns, 2).transpose(0, 2, 1, 3).reshape(rows, columns, 6)
    wide = six.astype(np.int32)
    # Channels of six bits each, so that none outweighs the others by its depth.
    channels = np.stack((wide >> 11 << 1, wide >> 5 & 0x3F, (wide & 0x1F) << 1), axis=-1)
    low, high = channels.min(axis=2), channels.max(axis=2)
    # The middle of the channel that differs most parts the six pixels into two colours.
    widest = (high - low).argmax(axis=2)[:, :, None]
    middle = (np.take_along_axis(low, widest, 2) + np.take_along_axis(high, widest, 2)) / 2
    chosen = np.take_along_axis(channels, widest[:, :, None, :], 3)[..., 0]
    is_ink = chosen > middle
    cells = Cells(rows, columns)
    cells.ink[:] = _mean(channels, is_ink)
    cells.paper[:] = _mean(channels, ~is_ink)
    cells.glyph[:] = _GLYPHS[(is_ink * _BITS).sum(axis=2)]
    cells.ink[cells.glyph == BLANK] = cells.paper[cells.glyph == BLANK]
    return cells


def _mean(channels: _Channels, chosen: npt.NDArray[np.bool_]) -> Pixels565:
    """Return the mean colour of the chosen pixels of each cell."""
    count = np.maximum(chosen.sum(axis=2), 1)[:, :, None]
    mean = ((channels * chosen[..., None]).sum(axis=2) + count // 2) // count
    packed = mean[..., 0] >> 1 << 11 | mean[..., 1] << 5 | mean[..., 2] >> 1
    means: Pixels565 = packed.astype(np.uint16)
    return means
