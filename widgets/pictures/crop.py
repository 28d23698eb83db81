"""Cut the part that is seen out of a picture, at the sharpness of the whole.

Pure. A part is in shares of the picture, sizes are (width, height) in pixels.
"""

from msgspec.structs import replace

from agent.records import Bounds, LiveFrame
from widgets.pictures.zoom import WHOLE

_MOST_SIDE_PX = 4_096  # The most that is given of a side (`agent.devices.frames.subscribers`).
_MOST_PX = 4_000_000  # Of a whole picture; twelve megabytes.


def whole_px(drawn_px: tuple[int, int], part: Bounds) -> tuple[int, int]:
    """Return the size of the whole picture of which a part has the size that is drawn.

    It is smaller where nobody would give so large a one; its proportions are kept.
    """
    wide, high = drawn_px[0] / (part.right - part.left), drawn_px[1] / (part.bottom - part.top)
    if not wide or not high:
        return 0, 0
    share = min(1.0, _MOST_SIDE_PX / max(wide, high), (_MOST_PX / (wide * high)) ** 0.5)
    return max(1, round(wide * share)), max(1, round(high * share))


def box_px(size_px: tuple[int, int], part: Bounds) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom in pixels of a part of a picture; never empty."""
    wide, high = size_px
    left, top = min(wide - 1, round(part.left * wide)), min(high - 1, round(part.top * high))
    right, bottom = round(part.right * wide), round(part.bottom * high)
    return left, top, max(left + 1, right), max(top + 1, bottom)


def cropped(frame: LiveFrame, part: Bounds, size_px: tuple[int, int]) -> LiveFrame:
    """Return a part of a frame as a frame of a size; the frame itself for the whole of it."""
    if part == WHOLE or not frame.rgb:
        return frame
    import numpy as np

    pixels = np.frombuffer(frame.rgb, np.uint8).reshape(frame.height_px, frame.width_px, 3)
    left, top, right, bottom = box_px((frame.width_px, frame.height_px), part)
    wide, high = size_px
    down = top + np.arange(high) * (bottom - top) // high
    across = left + np.arange(wide) * (right - left) // wide
    rgb = np.ascontiguousarray(pixels[down][:, across]).tobytes()
    return replace(frame, width_px=wide, height_px=high, rgb=rgb)
