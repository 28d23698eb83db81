"""Which stream serves whoever looks: its size and rate, and when another one is worth opening.

Pure: told who reads and the time. Invariants: nobody is served from a stream that is smaller or
slower than asked for, once the phone can give a better one; one that is larger or faster than
anybody needs is not kept, so that a phone that went from a full picture to a thumbnail costs what
a thumbnail does; a display that was created for its stream is never opened anew to save something.
"""

from dataclasses import replace

from agent.devices.frames.subscribers import Readers
from agent.devices.scrcpy.arguments import SessionOptions

SIDES_PX = (240, 480, 720, 1080, 1600)
"""The longer sides that streams are asked for; beyond the last, the display's own."""
RATES_HZ = (5, 10, 15, 30, 60)
SPARE_S = 10.0
"""How long a stream may give more than is needed: to open another costs the phone an encoder's
start, and whoever looks back soon wants the old one."""
_BITS_PER_PIXEL_AT_30_HZ = 12
_LEAST_BIT_RATE = 1_000_000
_FULL_SIDE_PX = 2400  # What is reckoned with where the display's own size is asked for.


class StreamFit:
    """Whether the stream that runs is still the one to have.

    Args:
        given: what it was asked for.
    """

    def __init__(self, given: SessionOptions) -> None:
        self._given = given
        self._spare_since_s: float | None = None

    def is_over(self, needed: SessionOptions, now_s: float) -> bool:
        """Return whether another stream is to be opened for what is needed now."""
        given = self._given
        if _side(needed) > _side(given) or needed.max_fps > given.max_fps:
            return True
        if given.new_display is not None or needed == given:
            self._spare_since_s = None
            return False
        if self._spare_since_s is None:
            self._spare_since_s = now_s
        return now_s - self._spare_since_s >= SPARE_S


def options_for(
    options: SessionOptions, readers: Readers, most_fps: int, least_side_px: int = 1
) -> SessionOptions:
    """Return the smallest and slowest stream that serves every reader, and who takes pictures."""
    longest = max(readers.longest_side_px, least_side_px)
    side = next((side for side in SIDES_PX if side >= longest), 0)
    if options.new_display is not None:
        side = 0
    hz = min(1 / readers.fastest_s, most_fps)
    # A rate of 30 Hz comes back from its interval as 29.999…
    fps = next((rate for rate in RATES_HZ if rate >= hz * 0.99), RATES_HZ[-1])
    pixels = (side or _FULL_SIDE_PX) ** 2 // 2
    return replace(
        options,
        max_size_px=side,
        max_fps=fps,
        bit_rate=max(pixels * _BITS_PER_PIXEL_AT_30_HZ * fps // 30, _LEAST_BIT_RATE),
    )


def _side(options: SessionOptions) -> int:
    return options.max_size_px or 1 << 16
