"""Read what `screencap` writes without `-p`: a small header, then pixels row by row.

After AOSP frameworks/base/cmds/screencap/screencap.cpp: width, height and pixel format as 32-bit
little-endian numbers, since Android 9 a colour space, then rows without padding. Invariant: the
length must be that of the header's size exactly, or there is no picture.
"""

import struct
from dataclasses import dataclass

from agent.devices.frames.png import PIXEL_LIMIT
from agent.errors import DeviceError

_ORDERS = {1: "RGBX", 2: "RGBX", 3: "RGB", 5: "BGRX"}
"""Pillow's names of HAL_PIXEL_FORMAT_RGBA_8888, RGBX_8888, RGB_888 and BGRA_8888."""

_HEAD = struct.Struct("<III")
_WORDS_BYTES = 4096
_LINE_END = ord("\n")


@dataclass(frozen=True, slots=True)
class RawScreen:
    """One picture: width and height in pixels, and its samples in the order of Pillow's name."""

    size: tuple[int, int]
    order: str
    pixels: bytes


def read_raw_screen(serial: str, data: bytes) -> RawScreen:
    """Read a picture. Raises DeviceError when it is none, or was cut short."""
    # Since Android 14 a warning of several lines stands before it on phones with several displays.
    starts = [0, *(at + 1 for at in range(min(len(data), _WORDS_BYTES)) if data[at] == _LINE_END)]
    for start in starts:
        found = _picture_at(data, start)
        if found is not None:
            return found
    said = data[:200].decode("utf-8", "replace").strip()
    if len(data) < _HEAD.size or "".join(said.split()).isprintable():
        raise _none(serial, f"it wrote {said or 'nothing'}")
    width, height, pixel_format = _HEAD.unpack_from(data)
    raise _none(
        serial, f"{len(data)} bytes are not {width}×{height} pixels of format {pixel_format}"
    )


def _picture_at(data: bytes, start: int) -> RawScreen | None:
    """Return the picture that begins at a place and ends with the data; None where none does."""
    if len(data) - start < _HEAD.size:
        return None
    width, height, pixel_format = _HEAD.unpack_from(data, start)
    order = _ORDERS.get(pixel_format)
    if order is None or not 0 < width * height <= PIXEL_LIMIT:
        return None
    size = width * height * len(order)
    for head in (16, 12):
        if len(data) - start == head + size:
            return RawScreen((width, height), order, data[start + head :])
    return None


def _none(serial: str, why: str) -> DeviceError:
    return DeviceError(
        f"screencap of {serial} gave no raw picture: {why[:200]}.",
        "Pictures are taken as PNG, which sessions use anyway.",
    )
