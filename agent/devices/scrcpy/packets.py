"""The video socket of a scrcpy server: sizes and packets.

Layouts after `Streamer.java` and `doc/develop.md` of v1.20 to v4.1, big endian. Not a decoder. The
peer is not trusted. Invariant: a length or a size is checked before it is believed.
"""

import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TypeAlias

from agent.devices.scrcpy.dialect import Dialect
from agent.devices.scrcpy.replies import ReadExactly
from agent.errors import DeviceError

H264 = 0x68323634
NAME_BYTES = 64
PACKET_LIMIT_BYTES = 16 << 20  # Several times the largest key frame of an 8K screen.
SIDE_LIMIT_PX = 8192
_HEAD = struct.Struct(">QI")
_SESSION = 1 << 63
_ALL_BITS = (1 << 64) - 1
_DISABLED, _MISCONFIGURED = 0, 1


@dataclass(frozen=True, slots=True)
class VideoSize:
    """The pictures that follow have this size in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class VideoPacket:
    """One H.264 access unit in annex B, or the codec's configuration."""

    pts_us: int
    """When the phone took the picture, in microseconds of its own clock; 0 for a configuration."""
    data: bytes
    is_config: bool
    is_key: bool


VideoItem: TypeAlias = VideoSize | VideoPacket


async def read_name(ways: Dialect, read: ReadExactly) -> str:
    """Read the device's name, which the first socket begins with; text of the phone."""
    return (await read(NAME_BYTES)).split(b"\0", 1)[0].decode("utf-8", "replace")


async def read_video(ways: Dialect, read: ReadExactly) -> AsyncIterator[VideoItem]:
    """Read sizes and packets until the stream ends, which raises what `read` does.

    Raises DeviceError for what the protocol does not allow.
    """
    if ways.meta_has_size:
        yield _size(*struct.unpack(">HH", await read(4)))
    elif ways.has_codec_header:
        _check_codec(int.from_bytes(await read(4)))
        if not ways.has_session_packets:
            yield _size(*struct.unpack(">II", await read(8)))
    config, key = ways.config_flag, ways.key_flag
    has_sessions = ways.has_session_packets
    while True:
        stamp, size = _HEAD.unpack(await read(_HEAD.size))
        if has_sessions and stamp & _SESSION:
            yield _size(stamp & 0xFFFFFFFF, size)
            continue
        if not 0 < size <= PACKET_LIMIT_BYTES:
            raise _bad_header(f"a packet of {size} bytes")
        yield _packet(config, key, stamp, await read(size))


def _packet(config: int, key: int, stamp: int, data: bytes) -> VideoPacket:
    is_config = bool(stamp & config) if config else stamp == _ALL_BITS
    pts_us = 0 if is_config else stamp & ~(config | key | _SESSION)
    return VideoPacket(pts_us, data, is_config, bool(key and stamp & key and not is_config))


def _check_codec(codec: int) -> None:
    if codec == H264:
        return
    if codec == _DISABLED:
        raise DeviceError(
            "The phone sends no video: its server turned the stream off.",
            "Pictures are taken by screencap instead.",
        )
    if codec == _MISCONFIGURED:
        raise DeviceError(
            "The phone's encoder refused to start.", "Pictures are taken by screencap instead."
        )
    raise _bad_header(f"the codec {codec:#010x} where H.264 was asked for")


def _size(width: int, height: int) -> VideoSize:
    if not (0 < width <= SIDE_LIMIT_PX and 0 < height <= SIDE_LIMIT_PX):
        raise _bad_header(f"a picture of {width}×{height} pixels")
    return VideoSize(width, height)


def _bad_header(what: str) -> DeviceError:
    return DeviceError(
        f"The scrcpy server announced {what}.",
        "Its version may not be what it said; pictures are taken by screencap instead.",
    )
