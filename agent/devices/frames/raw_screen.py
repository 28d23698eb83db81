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


@dataclass(frozen=True, slots=True)
class RawScreen:
    """One picture: width and height in pixels, and its samples in the order of Pillow's name."""

    size: tuple[int, int]
    order: str
    pixels: bytes


def read_raw_screen(serial: str, data: bytes) -> RawScreen:
    """Read a picture. Raises DeviceError when it is none, or was cut short."""
    if len(data) < 12:
        said = data.decode("utf-8", "replace").strip()
        raise _none(serial, f"it wrote {said or 'nothing'}")
    width, height, pixel_format = struct.unpack("<III", data[:12])
    order = _ORDERS.get(pixel_format)
    if order is None or not 0 < width * height <= PIXEL_LIMIT:
        raise _none(serial, f"{width}×{height} of format {pixel_format} is no picture")
    size = width * height * len(order)
    for head in (16, 12):
        if len(data) == head + size:
            return RawScreen((width, height), order, data[head:])
    raise _none(serial, f"{len(data)} bytes are not {width}×{height} pixels")


def _none(serial: str, why: str) -> DeviceError:
    return DeviceError(
        f"screencap of {serial} gave no raw picture: {why[:200]}.",
        "Pictures are taken as PNG, which sessions use anyway.",
    )
