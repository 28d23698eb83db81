"""Pictures as RGB565: packed, fitted to a size, and held still against the noise of a codec.

numpy in, numpy out; no text and no Textual. 65,536 colours are few enough for every one to have its
terminal text ready (`colour_codes`). Invariant: an array is never changed once it was given out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels565 = npt.NDArray[np.uint16]
_CHANNEL = np.arange(256, dtype=np.uint16)
_RED: Pixels565 = ((_CHANNEL & 0xF8) << 8).astype(np.uint16)
_GREEN: Pixels565 = ((_CHANNEL & 0xFC) << 3).astype(np.uint16)
_BLUE: Pixels565 = (_CHANNEL >> 3).astype(np.uint16)


def to_565(rgb: npt.NDArray[np.uint8]) -> Pixels565:
    """Pack height × width × 3 bytes into height × width RGB565."""
    packed: Pixels565 = _RED[rgb[:, :, 0]]
    packed |= _GREEN[rgb[:, :, 1]]
    packed |= _BLUE[rgb[:, :, 2]]
    return packed


def of_rgb(data: bytes, width_px: int, height_px: int) -> Pixels565:
    """Pack a picture's bytes, three a pixel, row by row."""
    return to_565(np.frombuffer(data, dtype=np.uint8).reshape(height_px, width_px, 3))


def rgb_of(color: int) -> tuple[int, int, int]:
    """Unpack an RGB565 colour into 8-bit channels."""
    red, green, blue = color >> 11, color >> 5 & 0x3F, color & 0x1F
    return (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)


def pack(red: int, green: int, blue: int) -> int:
    """Pack 8-bit channels into RGB565."""
    return (red & 0xF8) << 8 | (green & 0xFC) << 3 | blue >> 3


def fit(pixels: Pixels565, height: int, width: int) -> Pixels565:
    """Sample a picture at exactly height × width pixels; the same array when it fits."""
    if pixels.shape == (height, width):
        return pixels
    down = (np.arange(height) * pixels.shape[0]) // height
    across = (np.arange(width) * pixels.shape[1]) // width
    sampled: Pixels565 = pixels[down][:, across]
    return sampled


def dimmed(pixels: Pixels565) -> Pixels565:
    """Give a picture at half its brightness."""
    halved: Pixels565 = ((pixels >> 1) & 0b01111_011111_01111).astype(np.uint16)
    return halved


def settle(old: Pixels565, new: Pixels565) -> Pixels565:
    """Keep an old pixel where the new one differs by one step a channel: noise stays still."""
    if old.shape != new.shape:
        return new
    at = np.flatnonzero(old != new)
    if not at.size:
        return old
    before, after = old.ravel()[at].astype(np.int32), new.ravel()[at].astype(np.int32)
    near = (
        (np.abs((before >> 11) - (after >> 11)) <= 1)
        & (np.abs((before >> 5 & 0x3F) - (after >> 5 & 0x3F)) <= 1)
        & (np.abs((before & 0x1F) - (after & 0x1F)) <= 1)
    )
    settled = new.copy()
    settled.ravel()[at[near]] = before[near].astype(np.uint16)
    return settled
