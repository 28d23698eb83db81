"""Pictures as RGB565: packed, fitted to a size, and held still against the noise of a codec.

numpy in, numpy out; no text and no Textual. 65,536 colours are few enough for every one to have its
terminal text ready (`colour_codes`). Invariant: an array is never changed once it was given out.
"""

import numpy as np
import numpy.typing as npt

Pixels565 = npt.NDArray[np.uint16]
_SPREAD = np.uint32(0x07E0F81F)
"""Where a colour's channels are in 32 bits when there is room over each: green, red, blue."""
_ONES = np.uint32(1 << 21 | 1 << 11 | 1)


def to_565(rgb: npt.NDArray[np.uint8]) -> Pixels565:
    """Pack height × width × 3 bytes into height × width RGB565."""
    wide = rgb.astype(np.uint16)
    packed: Pixels565 = wide[:, :, 0] & np.uint16(0xF8)
    packed <<= 8
    green = wide[:, :, 1] & np.uint16(0xFC)
    green <<= 3
    packed |= green
    packed |= wide[:, :, 2] >> 3
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
    """Return a picture at half its brightness."""
    halved: Pixels565 = ((pixels >> 1) & 0b01111_011111_01111).astype(np.uint16)
    return halved


def settle(old: Pixels565, new: Pixels565) -> Pixels565:
    """Keep an old pixel where the new one differs by one step a channel: noise stays still."""
    if old.shape != new.shape:
        return new
    differs = old != new
    count = np.count_nonzero(differs)
    if not count:
        return old
    settled = new.copy()
    if count * 4 > old.size:
        np.copyto(settled, old, where=_is_near(old, new))
        return settled
    at = differs.ravel().nonzero()[0]
    before = old.ravel()[at]
    near = _is_near(before, new.ravel()[at])
    settled.ravel()[at[near]] = before[near]
    return settled


def _is_near(one: Pixels565, other: Pixels565) -> npt.NDArray[np.bool_]:
    """Return where no channel differs by more than one step.

    All three are subtracted at once: a channel that is lower takes its loan from the room over it,
    where it is seen.
    """
    apart = _spread(one)
    apart += _ONES
    apart -= _spread(other)
    # Each difference is now 0, 1 or 2, in bits of its own, or something else.
    both = apart >> np.uint32(1)
    both &= apart
    both &= _ONES
    apart &= ~(_ONES | _ONES << np.uint32(1))
    apart |= both
    near: npt.NDArray[np.bool_] = apart == 0
    return near


def _spread(pixels: Pixels565) -> npt.NDArray[np.uint32]:
    wide = pixels.astype(np.uint32)
    wide |= wide << np.uint32(16)
    wide &= _SPREAD
    return wide
