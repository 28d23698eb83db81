"""The terminal's text for every colour, made once: `ESC[38;2;r;g;b` and its fellows.

Tables only. Source of the codes: ECMA-48 SGR, and ISO 8613-6 for the colours behind 38 and 48.
Invariants: two colours share an index exactly when the terminal shows them alike; a text is a
record of a fixed length, and the zero bytes within are no part of it.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from widgets.cells.rgb565 import Pixels565

Records = npt.NDArray[np.bytes_]
COLOUR_BYTES = 20  # Of a record that sets a colour.
_LEVELS = np.array((0, 95, 135, 175, 215, 255), dtype=np.int32)
_COLOURS = 1 << 16
_DIGITS = 3


class Codes(NamedTuple):
    """The texts of one kind of terminal, each indexed by what `indices` gives."""

    lookup: Pixels565 | None
    """From RGB565 to the index; None where they are the same."""
    ink: Records
    """Sets the foreground, not yet closed by `m`, nor by `;` and another code."""
    paper: Records
    """Sets the background, closed; not yet opened by `ESC[`, nor by `;` after another code."""

    def indices(self, colors: Pixels565) -> Pixels565:
        return colors if self.lookup is None else self.lookup[colors]


@lru_cache(maxsize=2)
def codes(truecolor: bool) -> Codes:
    """Return the texts for 24-bit colour, or for the palette of 256; made at the first call."""
    if truecolor:
        every = np.arange(_COLOURS, dtype=np.int32)
        return _codes(None, b";2;", *_rgb_of_all(every))
    return _codes(_nearest_256(), b";5;", np.arange(256, dtype=np.int32))


def _codes(lookup: Pixels565 | None, kind: bytes, *numbers: npt.NDArray[np.int32]) -> Codes:
    return Codes(
        lookup, _records(b"\x1b[38" + kind, numbers, b""), _records(b"48" + kind, numbers, b"m")
    )


def _records(before: bytes, numbers: tuple[npt.NDArray[np.int32], ...], after: bytes) -> Records:
    """Write numbers from 0 to 255, separated by semicolons, between two texts."""
    decimals = np.array([b"%d" % number for number in range(256)], dtype=f"S{_DIGITS}")
    letters = np.zeros((len(numbers[0]), COLOUR_BYTES), dtype=np.uint8)
    at = _put(letters, 0, before)
    for number, values in enumerate(numbers):
        at = _put(letters, at, b";") if number else at
        digits = decimals[values].view(np.uint8).reshape(-1, _DIGITS)
        letters[:, at : at + _DIGITS] = digits
        at += _DIGITS
    _put(letters, at, after)
    return letters.view(f"S{COLOUR_BYTES}").ravel()


def _put(letters: npt.NDArray[np.uint8], at: int, text: bytes) -> int:
    letters[:, at : at + len(text)] = np.frombuffer(text, dtype=np.uint8)
    return at + len(text)


def _nearest_256() -> Pixels565:
    """Return the nearest colour of xterm's 6×6×6 cube or grey ramp to each RGB565 colour."""
    every = np.arange(_COLOURS, dtype=np.int32)
    rgb = np.stack(_rgb_of_all(every), axis=1)
    at = np.abs(rgb[:, :, None] - _LEVELS).argmin(axis=2)
    cube = ((_LEVELS[at] - rgb) ** 2).sum(axis=1)
    grey = np.clip((rgb.sum(axis=1) // 3 - 3) // 10, 0, 23)
    shade = ((8 + 10 * grey)[:, None] - rgb) ** 2
    in_cube = 16 + 36 * at[:, 0] + 6 * at[:, 1] + at[:, 2]
    nearest: Pixels565 = np.where(shade.sum(axis=1) < cube, 232 + grey, in_cube).astype(np.uint16)
    return nearest


def _rgb_of_all(
    colors: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Unpack many RGB565 colours as `rgb_of` does one."""
    red, green, blue = colors >> 11, colors >> 5 & 0x3F, colors & 0x1F
    return red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2
