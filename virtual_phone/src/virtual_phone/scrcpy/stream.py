"""The video stream: size, encoder and packets. H.264 by PyAV, annex B, one packet a frame.

Not the session that feeds it. Invariant: the first packet of every encoder is its configuration
(SPS and PPS), and the next one is a key frame.
"""

import struct
from fractions import Fraction
from typing import TYPE_CHECKING

from virtual_phone.scrcpy.dialect import Dialect

if TYPE_CHECKING:
    from PIL.Image import Image

H264 = 0x68323634
_GLOBAL_HEADER = 1 << 22
_SESSION_PACKET = 1 << 31
_KEY_FRAME_EVERY = 600
"""Frames between key frames: ten seconds of motion, as the real server asks of its encoder."""


def video_size(width: int, height: int, max_size: int, multiple: int) -> tuple[int, int]:
    """Return the size of the video of a display: its longer side at most `max_size` pixels.

    Both sides are multiples of `multiple` (and even, which H.264 needs), never less than one.
    """
    step = max(multiple, 2)
    width, height = max(width // step, 1) * step, max(height // step, 1) * step
    limit = max_size // step * step
    longer = max(width, height)
    if not limit or longer <= limit:
        return width, height
    shorter = max(min(width, height) * limit // longer + step // 2, step) // step * step
    return (shorter, limit) if height >= width else (limit, shorter)


class VideoEncoder:
    """Encode RGB pictures of one size."""

    def __init__(self, width: int, height: int, *, bit_rate: int, max_fps: float) -> None:
        import av

        # Kept: a new converter, or a new buffer for each picture, costs as much as encoding it.
        self._rgb = av.VideoFrame(width, height, "rgb24")
        self._converter = av.video.reformatter.VideoReformatter()
        self.width = width
        self.height = height
        codec = av.CodecContext.create("libx264", "w")
        codec.width = width
        codec.height = height
        codec.pix_fmt = "yuv420p"
        codec.time_base = Fraction(1, 1_000_000)
        codec.framerate = Fraction(max(round(max_fps), 1))
        codec.bit_rate = bit_rate
        codec.gop_size = _KEY_FRAME_EVERY
        codec.thread_count = 1
        codec.flags |= _GLOBAL_HEADER
        codec.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "profile": "baseline",
            # Finer steps cannot be seen on a screen, and take three times the bits.
            "qmin": "18",
        }
        codec.open()
        self._codec = codec
        self._last_pts = -1

    @property
    def configuration(self) -> bytes:
        """SPS and PPS in annex B."""
        return bytes(self._codec.extradata or b"")

    def encode(self, picture: "Image", pts_us: int) -> list[tuple[int, bool, bytes]]:
        """Encode one picture; return (time stamp in µs, whether a key frame, annex B) packets."""
        plane = self._rgb.planes[0]
        plane.update(picture.tobytes("raw", "RGB", plane.line_size, 1))
        frame = self._converter.reformat(self._rgb, format=self._codec.pix_fmt, threads=1)
        # Two pictures in one microsecond would break the order that encoders insist on.
        self._last_pts = frame.pts = max(pts_us, self._last_pts + 1)
        frame.time_base = self._codec.time_base
        return [
            (int(packet.pts or 0), bool(packet.is_keyframe), bytes(packet))
            for packet in self._codec.encode(frame)
        ]


def header(dialect: Dialect, width: int, height: int) -> bytes:
    """Return what a video socket begins with: codec id, and the size up to version 3."""
    if not dialect.has_codec_header:
        return b""
    if dialect.has_session_packets:
        return struct.pack(">I", H264) + session_packet(width, height)
    return struct.pack(">III", H264, width, height)


def session_packet(width: int, height: int, *, resized_by_client: bool = False) -> bytes:
    """Return version 4's word of a new size."""
    return struct.pack(">III", _SESSION_PACKET | int(resized_by_client), width, height)


def configuration_packet(dialect: Dialect, data: bytes, *, with_meta: bool) -> bytes:
    """Return a codec configuration as it goes on the wire."""
    if not with_meta:
        return data
    return struct.pack(">QI", dialect.config_flag or (1 << 64) - 1, len(data)) + data


def frame_packet(
    dialect: Dialect, pts_us: int, data: bytes, *, is_key: bool, with_meta: bool
) -> bytes:
    """Return a frame as it goes on the wire."""
    if not with_meta:
        return data
    stamp = pts_us & ((1 << 61) - 1) | (dialect.key_flag if is_key else 0)
    return struct.pack(">QI", stamp, len(data)) + data


def device_meta(dialect: Dialect, name: str, width: int, height: int) -> bytes:
    """Return the phone's name in 64 bytes, cut between characters; its size up to version 1."""
    cut = name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore").encode()
    meta = cut.ljust(64, b"\0")
    return meta + struct.pack(">HH", width, height) if dialect.meta_has_size else meta
