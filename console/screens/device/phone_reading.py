"""When a phone's tree is read anew while its text is looked at.

Not the reading (`console.screens.device.device_parts`). Invariants: a tree is read at most once a
second, and only while a text made of it is seen; what was read before the screen changed is known
as old.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from agent.records import LiveFrame

if TYPE_CHECKING:
    from console.screens.device.device_parts import DeviceParts

LEAST_S = 1.0
"""Between two readings: a screen that moves always changes."""
MOST_S = 5.0
"""A change that is too small for the coarse picture is seen after so long at most."""
_SAME = 24  # Less of 255 is the noise of a codec.
_CHANGED = 0.001
"""The share of pixels from which on a picture is another: a switch, not the dots of a clock."""


class Rereading:
    """Follows one phone's picture and reading.

    Args:
        clock_s: a clock that only goes forward, in seconds.
    """

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self._clock_s = clock_s
        self._parts: DeviceParts | None = None
        self._asked_s = 0.0
        self._seen: LiveFrame | None = None
        self._compared: tuple[LiveFrame, bool] | None = None

    def follow(self, parts: "DeviceParts", frame: LiveFrame | None) -> bool:
        """Read the tree if that is due.

        Returns:
            Whether the screen is another than when the tree was read last.
        """
        if parts is not self._parts:
            self._parts, self._asked_s, self._seen = parts, 0.0, None
        is_old = self._has_changed(frame)
        waited_s = self._clock_s() - self._asked_s
        is_first = not self._asked_s
        if is_first or waited_s >= (LEAST_S if is_old else MOST_S):
            self._asked_s = self._clock_s()
            self._seen, self._compared = frame, None
            parts.read_elements()
        return is_old and parts.look is not None

    def _has_changed(self, frame: LiveFrame | None) -> bool:
        if frame is None or not frame.rgb or self._seen is None:
            # A picture that only just came says nothing yet of when the tree was read.
            if self._seen is None:
                self._seen = frame if frame is not None and frame.rgb else None
            return False
        if self._compared is None or self._compared[0] is not frame:
            self._compared = frame, differs(self._seen, frame)
        return self._compared[1]


def differs(one: LiveFrame, other: LiveFrame) -> bool:
    """Return whether two pictures of one size show different screens; of two sizes they do."""
    if (one.width_px, one.height_px) != (other.width_px, other.height_px):
        return True
    if one.rgb == other.rgb:
        return False
    import numpy as np

    before, after = (np.frombuffer(each.rgb, np.uint8).astype(np.int16) for each in (one, other))
    changed = np.count_nonzero(np.abs(before - after) > _SAME)
    return bool(changed > _CHANGED * before.size)
