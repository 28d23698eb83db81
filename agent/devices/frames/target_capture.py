"""Make a capture of a detached target small enough to be handed on: a JPEG within fixed bounds.

Not the capture itself. Invariant: what comes out is no longer than 480 px and no heavier than
48 KiB, by the steps of Codex Android's Genie (CONTRACTS 1.6): first quality, then size.
"""

import io

from agent.errors import DeviceError

LONG_EDGE_PX = 480
MAX_BYTES = 48 * 1024
MEDIA_TYPE = "image/jpeg"
_QUALITIES = (65, 58, 51, 44, 38)  # In steps of seven, down to the least.
_SHRINK = 0.8
_MAX_PIXELS = 64_000_000


def small_picture(data: bytes) -> bytes:
    """Return a picture as a small JPEG. Blocks for milliseconds: call it in a thread.

    Raises:
        DeviceError: the bytes are no picture, or one of more than 64 million pixels.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > _MAX_PIXELS:
                raise DeviceError("The picture of the display is implausibly large.")
            share = min(1.0, LONG_EDGE_PX / max(opened.size))
            picture = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise DeviceError("The display gave no picture that can be read.", "Try again.") from error
    width, height = (max(round(edge * share), 1) for edge in picture.size)
    while True:
        scaled = picture.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0)
        for quality in _QUALITIES:
            target = io.BytesIO()
            scaled.save(target, "JPEG", quality=quality)
            if target.tell() <= MAX_BYTES:
                return target.getvalue()
        width, height = (max(int(edge * _SHRINK), 1) for edge in (width, height))
