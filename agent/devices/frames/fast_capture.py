"""Pictures of a phone by the quicker of two ways: `screencap`, or the video that runs anyway.

Not live pictures (`agent.devices.frames.feed`). Invariants: a picture shows the screen as it was
after it was asked for; an exact one is taken unless that is slow on this phone and video is
running, large enough for a model; each says its source.
"""

import time
from collections.abc import Callable
from math import inf
from typing import Protocol

from agent.devices.protocols import Capture

SLOW_CAPTURE_S = 0.25
"""More than a picture out of a large video takes; `screencap` needs 0.5 to 2 s on real phones."""
STREAM_TIMEOUT_S = 1.5
"""An encoder that takes longer is no quicker than `screencap`."""
LEAST_SIDE_PX = 1568
"""The longer side below which a model would be shown less than it takes
(`agent.loop.images.scaling`).
"""
MEASURE_AGAIN_S = 60.0


class Exact(Protocol):
    """What takes pictures of the screen itself."""

    async def capture(self, *, timeout_s: float) -> Capture:
        """Take one. Raises DeviceError."""


class Stream(Protocol):
    """What gives pictures out of the video that somebody looks at."""

    async def capture(self, *, least_side_px: int, timeout_s: float) -> Capture | None:
        """Return a picture that was encoded after the call, or None.

        A stream that is too small is made larger, for the next time.
        """


class QuickCaptures:
    """Take pictures of one phone.

    Args:
        exact: `screencap`.
        seconds: a monotonic clock.
    """

    def __init__(self, exact: Exact, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self.stream: Stream | None = None
        """Set once somebody can look at the phone's video."""
        self._exact = exact
        self._took_s = 0.0
        self._measured_s = 0.0

    def forget(self) -> None:
        """Measure anew: the phone came back, or is reached another way."""
        self._took_s = 0.0

    def expect(self, took_s: float) -> None:
        """Take an exact picture to last so long, as it did when the phone was qualified.

        Infinity says that it gave none: then it is taken only where there is no other.
        """
        self._took_s = took_s
        self._measured_s = self._seconds()

    async def capture(self, *, timeout_s: float) -> Capture:
        """Take a picture of the screen. Raises DeviceError when there is none."""
        is_slow = self._took_s >= SLOW_CAPTURE_S
        is_recent = self._seconds() - self._measured_s < MEASURE_AGAIN_S
        if self.stream is not None and is_slow and (is_recent or self._took_s == inf):
            picture = await self.stream.capture(
                least_side_px=LEAST_SIDE_PX, timeout_s=min(timeout_s / 2, STREAM_TIMEOUT_S)
            )
            if picture is not None:
                return picture
        started = self._seconds()
        picture = await self._exact.capture(timeout_s=timeout_s)
        self._measured_s = self._seconds()
        self._took_s = self._measured_s - started
        return picture
