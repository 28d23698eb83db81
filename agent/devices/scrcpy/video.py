"""Live video of one phone for its readers: a stream as large and as fast as somebody wants.

Not the choice between video and captures (`agent.devices.frames`) and not one stream's pictures
(`video_run`). Invariant: nobody is served from a stream that is smaller or slower than asked for,
once the phone can give a better one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from agent.devices.device import Capture
from agent.devices.frame_captures import IsSecure
from agent.devices.frame_readers import Readers
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.pictures import Decoding
from agent.devices.scrcpy.session import ScrcpySession
from agent.devices.scrcpy.video_run import VideoRun, open_decoded
from agent.devices.scrcpy.video_watch import Probe
from agent.errors import DeviceError

SIDES_PX = (240, 480, 720, 1080, 1600)
"""The longer sides that streams are asked for; beyond the last, the display's own."""
RATES_HZ = (5, 10, 15, 30, 60)
_BITS_PER_PIXEL_AT_30_HZ = 12
_LEAST_BIT_RATE = 1_000_000
_FULL_SIDE_PX = 2400
"""What is reckoned with where the display's own size is asked for."""

OpenSession = Callable[[SessionOptions], Awaitable[ScrcpySession]]


class VideoFrames:
    """Follow one phone by video.

    Args:
        open_session: starts a run of the server with the given options.
        probe: asks the phone for a sign of life.
        is_secure: tells whether the window in front forbids pictures.
        decoding: what decodes.
        options: what every run is asked for beside size and rate.
        most_fps: the bound of the setting.
        on_size: told the size of the video, in pixels, whenever it changes.
    """

    def __init__(
        self,
        open_session: OpenSession,
        probe: Probe,
        is_secure: IsSecure,
        *,
        decoding: Decoding,
        options: SessionOptions,
        most_fps: int = 60,
        on_size: Callable[[int, int], None] | None = None,
    ) -> None:
        self._open_session = open_session
        self._probe = probe
        self._is_secure = is_secure
        self._decoding = decoding
        self._options = options
        self._most_fps = most_fps
        self._on_size = on_size
        self._run: VideoRun | None = None
        self._least_side_px = 1
        self._enough_for: tuple[int, float, int] | None = None
        """What the running stream was last found to be enough for."""

    async def capture(self, *, least_side_px: int, timeout_s: float) -> Capture | None:
        """Give a picture of the running stream, encoded after it was asked for; None without one.

        A stream that is too small is made larger, as long as it runs, for the next time.
        """
        run = self._run
        if run is None or not run.can_capture:
            return None
        self._least_side_px = max(self._least_side_px, least_side_px)
        if run.side_px < least_side_px and not run.is_full_size:
            return None
        try:
            async with asyncio.timeout(timeout_s):
                return await run.capture()
        except (TimeoutError, DeviceError):
            # The other way says what is wrong with the phone, if anything is.
            return None

    async def follow(self, readers: Readers) -> None:
        """Serve the readers until cancelled. Raises DeviceError with why when it cannot go on."""
        self._least_side_px = 1
        while True:
            options = self._wanted(readers)
            session, pictures = await open_decoded(self._open_session(options), self._decoding)
            run = VideoRun(session, pictures, readers, self._probe, self._is_secure, self._on_size)
            self._run, self._enough_for = run, None
            try:
                await run.serve(until=partial(self._is_short, options, readers))
            finally:
                self._run = None
                await run.close()

    def _is_short(self, given: SessionOptions, readers: Readers) -> bool:
        """Tell whether somebody wants more than the stream gives; asked before every picture."""
        asked = readers.longest_side_px, readers.fastest_s, self._least_side_px
        if asked == self._enough_for:
            return False
        now = self._wanted(readers)
        is_short = _side(now) > _side(given) or now.max_fps > given.max_fps
        self._enough_for = None if is_short else asked
        return is_short

    def _wanted(self, readers: Readers) -> SessionOptions:
        return wanted(self._options, readers, self._most_fps, self._least_side_px)


def wanted(
    options: SessionOptions, readers: Readers, most_fps: int, least_side_px: int = 1
) -> SessionOptions:
    """Ask for the smallest and slowest stream that serves every reader, and who takes pictures."""
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
