"""The terminal's text for every colour, made once: `ESC[38;2;r;g;b` and its fellows.

Tables only. Source of the codes: ECMA-48 SGR, and ISO 8613-6 for the colours behind 38 and 48.
Invariant: two colours share an index exactly when the terminal shows them alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from widgets.rgb565 import Pixels565

Texts = npt.NDArray[np.object_]
_LEVELS = np.array((0, 95, 135, 175, 215, 255), dtype=np.int32)
_COLOURS = 1 << 16


class Codes(NamedTuple):
    """The texts of one kind of terminal, each indexed by what `indices` gives."""

    lookup: Pixels565 | None
    """From RGB565 to the index; None where they are the same."""
    colours: int
    """How many colours; the tables' index of "no colour" as well."""
    ink: Texts
    """Sets the foreground, not yet closed by `m`; nothing at the end."""
    paper: Texts
    """Sets the background alone, then nothing; the same after an ink, then the ink's `m`."""

    def indices(self, colors: Pixels565) -> Pixels565:
        """Give the index of every colour."""
        return colors if self.lookup is None else self.lookup[colors]


@lru_cache(maxsize=2)
def codes(truecolor: bool) -> Codes:
    """Give the texts for 24-bit colour, or for the palette of 256; made at the first call."""
    if truecolor:
        names = [
            f"2;{r << 3 | r >> 2};{g << 2 | g >> 4};{b << 3 | b >> 2}"
            for r in range(32)
            for g in range(64)
            for b in range(32)
        ]
        return _codes(None, names)
    return _codes(_nearest_256(), [f"5;{number}" for number in range(256)])


def _codes(lookup: Pixels565 | None, names: list[str]) -> Codes:
    alone = [f"\x1b[48;{name}m" for name in names]
    after = [f";48;{name}m" for name in names]
    return Codes(
        lookup,
        len(names),
        np.array([*(f"\x1b[38;{name}" for name in names), ""], dtype=object),
        np.array([*alone, "", *after, "m"], dtype=object),
    )


def _nearest_256() -> Pixels565:
    """Give the nearest colour of xterm's 6×6×6 cube or grey ramp to each RGB565 colour."""
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
