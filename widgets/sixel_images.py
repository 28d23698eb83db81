"""Pictures as sixel images of 216 fixed colours.

numpy in, text out; the format: VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
Invariants: pixels of cells that are left out are not drawn at all; no pixel lies outside of the
size that is asked for; between two colours that are near, dots of both are spread evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from textual.geometry import Region

_LEVELS = 6
"""Of each channel; 6³ = 216 colours."""
_NONE = 255
_BAND_PX = 6
_SHORT = 4
"""A run that is shorter is written out: `!4x` is no shorter than `xxx`."""
_SPREAD = (
    np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], dtype=np.uint16) + 0.5
) / 16
"""Bayer's matrix, 0 to 1: what part of a step each dot of a 4 × 4 square is rounded up at."""


def encode(
    rgb: bytes,
    picture_px: tuple[int, int],
    cell_px: tuple[int, int],
    cells: tuple[int, int],
    parts: Sequence[Region],
) -> str:
    """Make the text of an image.

    Args:
        rgb: the picture, three bytes a pixel, row by row.
        picture_px: its width and height.
        cell_px: width and height of a cell.
        cells: columns and rows of the image.
        parts: what of it is drawn, in cells from its corner.
    """
    wide, high = cell_px[0] * cells[0], cell_px[1] * cells[1]
    pixels = np.frombuffer(rgb, dtype=np.uint8).reshape(picture_px[1], picture_px[0], 3)
    down = np.arange(high) * picture_px[1] // high
    across = np.arange(wide) * picture_px[0] // wide
    numbers = np.full((-(-high // _BAND_PX) * _BAND_PX, wide), _NONE, dtype=np.uint8)
    dotted = _numbered(pixels[down][:, across])
    for part in parts:
        seen = (
            slice(part.y * cell_px[1], part.bottom * cell_px[1]),
            slice(part.x * cell_px[0], part.right * cell_px[0]),
        )
        numbers[seen] = dotted[seen]
    bands = numbers.reshape(-1, _BAND_PX, wide)
    # P2 = 1: what is not drawn stays as it is. The next two say that pixels are square.
    drawn = "-".join(_band(band) for band in bands)
    return f'\x1bP0;1;0q"1;1;{wide};{high}{_palette()}{drawn}\x1b\\'


def _numbered(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Give each pixel the number of a colour, 0 to 215."""
    high, wide, _ = pixels.shape
    spread = np.tile(_SPREAD, (high // 4 + 1, wide // 4 + 1))[:high, :wide, None]
    steps = (pixels * ((_LEVELS - 1) / 255) + spread).astype(np.uint8)
    numbers: npt.NDArray[np.uint8] = (steps[..., 0] * _LEVELS + steps[..., 1]) * _LEVELS
    numbers += steps[..., 2]
    return numbers


@lru_cache(maxsize=1)
def _palette() -> str:
    steps = [round(100 * level / (_LEVELS - 1)) for level in range(_LEVELS)]
    colours = [(red, green, blue) for red in steps for green in steps for blue in steps]
    return "".join(f"#{at};2;{r};{g};{b}" for at, (r, g, b) in enumerate(colours))


def _band(band: npt.NDArray[np.uint8]) -> str:
    """Write six rows of colour numbers: a line for each colour, drawn over one another."""
    colours, which = np.unique(band, return_inverse=True)
    wide = band.shape[1]
    dots = np.zeros((colours.size, wide), dtype=np.uint8)
    every = np.arange(wide)
    for row, places in enumerate(which.reshape(band.shape)):
        dots[places, every] |= 1 << row
    lines = [
        f"#{colour}{_line(line)}"
        for colour, line in zip(colours.tolist(), dots, strict=True)
        if colour != _NONE
    ]
    return "$".join(lines)


def _line(dots: npt.NDArray[np.uint8]) -> str:
    """Write the dots of one colour; what is empty to the right is left out."""
    begins = np.concatenate(([0], np.flatnonzero(np.diff(dots)) + 1))
    lengths = np.diff(np.concatenate((begins, [dots.size]))).tolist()
    runs = [*zip(dots[begins].tolist(), lengths, strict=True)]
    if not runs[-1][0]:
        runs.pop()
    return "".join(
        f"!{length}{chr(63 + value)}" if length >= _SHORT else chr(63 + value) * length
        for value, length in runs
    )
