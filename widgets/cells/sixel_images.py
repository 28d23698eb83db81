"""Pictures as sixel images of 216 fixed colours.

numpy in, text out; the format: VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
Invariants: pixels of cells that are left out are not drawn at all; no pixel lies outside of the
size that is asked for; between two colours that are near, dots of both are spread evenly.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from textual.geometry import Region

_LEVELS = 6  # Of each channel; 6³ = 216 colours.
_NONE = 255
_BAND_PX = 6
_SHORT = 4  # A run that is shorter is written out: `!4x` is no shorter than `xxx`.
_SIXELS = "".join(chr(63 + value) for value in range(64))
_PLAIN = 1 / 6
"""Of a step: a shade this near to a colour is that colour, so that white paper has no dots."""
_BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], dtype=np.uint16)
_SPREAD = (_PLAIN + (1 - 2 * _PLAIN) * (_BAYER + 0.5) / 16).astype(np.float32)
"""What part of a step each dot of a 4 × 4 square is rounded up at."""


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
    """Return each pixel the number of a colour, 0 to 215."""
    high, wide, _ = pixels.shape
    spread = np.tile(_SPREAD, (high // 4 + 1, wide // 4 + 1))[:high, :wide, None]
    steps = (pixels * np.float32((_LEVELS - 1) / 255) + spread).astype(np.uint8)
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
    used = np.bincount(band.ravel(), minlength=_NONE + 1)[:_NONE] > 0
    colours = np.flatnonzero(used)
    if not colours.size:
        return ""
    # What is left out goes to a line of its own, which is not written.
    which = np.full(_NONE + 1, colours.size)
    which[colours] = np.arange(colours.size)
    wide = band.shape[1]
    dots = np.zeros((colours.size + 1, wide), dtype=np.uint8)
    every = np.arange(wide)
    for row, places in enumerate(which[band]):
        dots[places, every] |= 1 << row
    return "$".join(
        f"#{colour}{line}" for colour, line in zip(colours.tolist(), _lines(dots[:-1]), strict=True)
    )


def _lines(dots: npt.NDArray[np.uint8]) -> Iterator[str]:
    """Write the dots of each colour; what is empty to the right is left out."""
    wide = dots.shape[1]
    flat = dots.ravel()
    begins_here = np.empty(flat.size, dtype=bool)
    begins_here[1:] = flat[1:] != flat[:-1]
    begins_here[::wide] = True
    begins = np.flatnonzero(begins_here)
    lengths = np.diff(begins, append=flat.size).tolist()
    values = flat[begins].tolist()
    ends = np.searchsorted(begins, np.arange(1, len(dots) + 1) * wide).tolist()
    first = 0
    for end in ends:
        last = end if values[end - 1] else end - 1
        yield "".join(map(_run, values[first:last], lengths[first:last]))
        first = end


def _run(value: int, length: int) -> str:
    return f"!{length}{_SIXELS[value]}" if length >= _SHORT else _SIXELS[value] * length
