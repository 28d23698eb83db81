"""Turn a picture into terminal text: two pixels a cell, runs of equal cells, precomputed colours.

numpy in, strings out; no Textual. Colours are RGB565, so that every colour has a ready string and
a row is one join. Invariant: `rows` of a grid never holds anything but SGR sequences, half blocks
and the marks put on it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Pixels565 = npt.NDArray[np.uint16]
_UPPER_HALF = "▀"
_LONGEST_RUN = 512


def to_565(rgb: npt.NDArray[np.uint8]) -> Pixels565:
    """Pack height × width × 3 bytes into height × width RGB565."""
    red, green, blue = (rgb[:, :, channel].astype(np.uint16) for channel in range(3))
    packed = ((red & 0xF8) << 8) | ((green & 0xFC) << 3) | (blue >> 3)
    return packed.astype(np.uint16, copy=False)


def rgb_of(color: int) -> tuple[int, int, int]:
    """Unpack an RGB565 colour into 8-bit channels."""
    red, green, blue = color >> 11, color >> 5 & 0x3F, color & 0x1F
    return (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)


def pack(red: int, green: int, blue: int) -> int:
    """Pack 8-bit channels into RGB565."""
    return (red & 0xF8) << 8 | (green & 0xFC) << 3 | blue >> 3


def fit(pixels: Pixels565, rows: int, columns: int) -> Pixels565:
    """Sample a picture at exactly 2·rows × columns pixels; the same array when it fits."""
    height, width = pixels.shape
    if (height, width) == (rows * 2, columns):
        return pixels
    down = (np.arange(rows * 2) * height) // (rows * 2)
    across = (np.arange(columns) * width) // columns
    sampled: Pixels565 = pixels[down][:, across]
    return sampled


def settle(old: Pixels565, new: Pixels565) -> Pixels565:
    """Keep an old pixel where the new one differs by one step a channel: noise stays still."""
    if old.shape != new.shape:
        return new
    before, after = old.astype(np.int32), new.astype(np.int32)
    near = (
        (np.abs((before >> 11) - (after >> 11)) <= 1)
        & (np.abs((before >> 5 & 0x3F) - (after >> 5 & 0x3F)) <= 1)
        & (np.abs((before & 0x1F) - (after & 0x1F)) <= 1)
    )
    settled: Pixels565 = np.where(near, old, new)
    return settled


def _nearest_256(red: int, green: int, blue: int) -> int:
    """Give the colour of xterm's 6×6×6 cube or grey ramp that is nearest."""
    levels = (0, 95, 135, 175, 215, 255)

    def level(value: int) -> int:
        return min(range(6), key=lambda at: abs(levels[at] - value))

    at = (level(red), level(green), level(blue))
    cube = sum((levels[i] - v) ** 2 for i, v in zip(at, (red, green, blue), strict=True))
    grey = min(23, max(0, round((red + green + blue) / 3 - 8) // 10))
    shade = 8 + 10 * grey
    if sum((shade - v) ** 2 for v in (red, green, blue)) < cube:
        return 232 + grey
    return 16 + 36 * at[0] + 6 * at[1] + at[2]


@lru_cache(maxsize=2)
def _tables(truecolor: bool) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
    """Make the SGR text of all 65,536 colours, as foreground and as background; once, lazily."""
    fore = np.empty(65_536, dtype=object)
    back = np.empty(65_536, dtype=object)
    for color in range(65_536):
        red, green, blue = rgb_of(color)
        name = f"2;{red};{green};{blue}" if truecolor else f"5;{_coarse(red, green, blue)}"
        fore[color] = f"\x1b[38;{name}"
        back[color] = f";48;{name}m"
    return fore, back


@lru_cache(maxsize=32_768)
def _coarse_of(red: int, green: int, blue: int) -> int:
    return _nearest_256(red, green, blue)


def _coarse(red: int, green: int, blue: int) -> int:
    # 16 steps a channel are finer than the cube; 4,096 searches instead of 65,536.
    return _coarse_of(red & 0xF0 | 8, green & 0xF0 | 8, blue & 0xF0 | 8)


_RUNS = np.array([_UPPER_HALF * length for length in range(_LONGEST_RUN + 1)], dtype=object)


class Grid:
    """A picture at cell resolution with marks on it; immutable once drawn.

    Args:
        pixels: 2·rows × columns RGB565.
    """

    def __init__(self, pixels: Pixels565) -> None:
        self.upper = pixels[0::2].copy()
        self.lower = pixels[1::2].copy()
        self.rows, self.columns = self.upper.shape
        # 0 is a half block; other values index `_letters`.
        self._glyphs = np.zeros(self.upper.shape, dtype=np.uint16)
        self._letters: list[str] = [""]
        self._encoded: list[list[str]] | None = None

    def mark(self, row: int, column: int, text: str, *, ink: int, paper: int) -> None:
        """Write text over the picture, cut off at its edges; colours are RGB565."""
        for at, letter in enumerate(text, column):
            if 0 <= row < self.rows and 0 <= at < self.columns:
                self._letters.append(letter)
                self._glyphs[row, at] = len(self._letters) - 1
                self.upper[row, at] = ink
                self.lower[row, at] = paper

    def changed_rows(self, other: Grid) -> list[int]:
        """List the rows that look different in another grid of the same size."""
        moved = np.any((self.upper != other.upper) | (self.lower != other.lower), axis=1)
        marked = np.any((self._glyphs != 0) | (other._glyphs != 0), axis=1)
        for row in np.flatnonzero(marked & ~moved):
            moved[row] = self._letters_of(int(row)) != other._letters_of(int(row))
        return [int(row) for row in np.flatnonzero(moved)]

    def _letters_of(self, row: int) -> list[str]:
        return [self._letters[glyph] for glyph in self._glyphs[row]]

    def runs(self, row: int) -> list[tuple[str, int, int]]:
        """List the runs of one row: text, ink, paper; the slow way, for pictures and overlaps."""
        listed: list[tuple[str, int, int]] = []
        for column in range(self.columns):
            glyph = int(self._glyphs[row, column])
            ink, paper = int(self.upper[row, column]), int(self.lower[row, column])
            text = self._letters[glyph] if glyph else _UPPER_HALF
            before = listed[-1] if listed else ("", -1, -1)
            if not glyph and before[0].endswith(_UPPER_HALF) and before[1:] == (ink, paper):
                listed[-1] = (before[0] + text, ink, paper)
            else:
                listed.append((text, ink, paper))
        return listed

    def text(self, row: int, *, truecolor: bool = True) -> str:
        """Give one row as terminal text; the whole grid is encoded at the first call."""
        if self._encoded is None:
            self._encoded = self._encode(truecolor)
        return "".join(self._encoded[row]) + "\x1b[0m"

    def _encode(self, truecolor: bool) -> list[list[str]]:
        starts = np.ones(self.upper.shape, dtype=bool)
        starts[:, 1:] = (
            (self.upper[:, 1:] != self.upper[:, :-1])
            | (self.lower[:, 1:] != self.lower[:, :-1])
            | (self._glyphs[:, 1:] != 0)
            | (self._glyphs[:, :-1] != 0)
        )
        starts[:, ::_LONGEST_RUN] = True
        at = np.flatnonzero(starts)
        lengths = np.diff(at, append=self.upper.size)
        fore, back = _tables(truecolor)
        glyphs = self._glyphs.reshape(-1)[at]
        cells = _RUNS[lengths]
        if len(self._letters) > 1:
            marked = glyphs != 0
            cells[marked] = np.array(self._letters, dtype=object)[glyphs[marked]]
        parts = np.empty((len(at), 3), dtype=object)
        parts[:, 0] = fore[self.upper.reshape(-1)[at]]
        parts[:, 1] = back[self.lower.reshape(-1)[at]]
        parts[:, 2] = cells
        ends = np.cumsum(starts.sum(axis=1)) * 3
        flat = parts.reshape(-1).tolist()
        begins = [0, *ends.tolist()]
        return [flat[begin:end] for begin, end in pairwise(begins)]
