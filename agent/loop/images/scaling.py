"""Decode a phone's picture and bring it to the size that a model can use.

Not the drawing on it (that is `agent.loop.images.set_of_marks`). Invariants: what comes out is no
larger than a model takes, with its shape kept; bytes that are no whole picture give None, never an
error and never half a picture; a picture is refused for its size before anything of it is decoded.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, TypeAlias

from agent.extras import is_installed

if TYPE_CHECKING:
    from PIL.Image import Image

Scaled: TypeAlias = "Image | None"
"""A picture of `MODE`, no larger than a model takes; None where the bytes were none."""

LONG_EDGE_PX = 1568
SHORT_EDGE_PX = 768
"""What the providers scale a picture down to by themselves: OpenAI to a short edge of 768,
Anthropic to a long edge of 1568. More would cost time and tokens and show nothing."""
MODE = "YCbCr"
"""How a scaled picture is kept: a JPEG's own colours (JFIF, full range), so none is converted."""
_MAX_PIXELS = 64_000_000
_PNG_START = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_PNG_END = b"IEND\xaeB`\x82"


def scaled(data: bytes) -> Image | None:
    """Decode a picture and scale it down; None when it is none, or a gigantic one.

    Blocks for tens of milliseconds, most of them without the interpreter's lock.

    Returns:
        A picture of `MODE`.
    """
    if data.startswith(_PNG_START) and data.endswith(_PNG_END):
        width, height = struct.unpack_from(">II", data, len(_PNG_START))
        if not 0 < width * height <= _MAX_PIXELS:
            return None
        picture = _by_ffmpeg(data, fitted(width, height))
        if picture is not None:
            return picture
    return _by_pillow(data)


def fitted(width_px: int, height_px: int) -> tuple[int, int]:
    """Return the size, in pixels, at which a model gets a picture of this one."""
    short, long = sorted((width_px, height_px))
    share = min(1.0, SHORT_EDGE_PX / short, LONG_EDGE_PX / long)
    return max(round(width_px * share), 1), max(round(height_px * share), 1)


def _by_ffmpeg(data: bytes, size: tuple[int, int]) -> Image | None:
    """Decode a PNG in half of Pillow's time, and scale it in a third; None without FFmpeg."""
    if not is_installed("video"):
        return None
    import av
    from PIL import Image

    try:
        # The pixel format is the file's; transparency, which no screen has, is dropped.
        decoder = av.CodecContext.create("png", "r")
        assert isinstance(decoder, av.VideoCodecContext)
        (frame,) = decoder.decode(av.Packet(data))
        small = frame.reformat(*size, format="yuvj444p", interpolation="AREA", threads=1)
    except (av.FFmpegError, ValueError):
        return None
    planes = [
        # A plane is a buffer, of which nothing needs to be copied before the planes are merged.
        Image.frombuffer("L", size, plane, "raw", "L", plane.line_size, 1)  # type: ignore[arg-type]
        for plane in small.planes
    ]
    return Image.merge(MODE, planes)


def _by_pillow(data: bytes) -> Image | None:
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(data))
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        size = fitted(picture.width, picture.height)
        # A JPEG is decoded no larger than needed; other pictures know no such way.
        picture.draft("RGB", size)
        rgb = picture.convert("RGB").resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
        return rgb.convert(MODE)
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,
        ZeroDivisionError,
        Image.DecompressionBombError,
    ):
        return None
