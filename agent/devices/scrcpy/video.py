"""Live video of one phone for its readers: a stream as large and as fast as somebody wants.

Not the choice between video and captures (`agent.devices.frames.feed`) and not one stream's
pictures (`video_run`). Invariant: while somebody looks one stream runs, and it fits those who look
(`stream_fit`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from agent.devices.frames.capture_feed import IsSecure
from agent.devices.frames.subscribers import Readers
from agent.devices.protocols import Capture
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.decoding.pictures import Decoding
from agent.devices.scrcpy.session import ScrcpySession
from agent.devices.scrcpy.stream_fit import StreamFit, options_for
from agent.devices.scrcpy.video_run import VideoRun, need_decoder, open_decoded
from agent.devices.scrcpy.video_watch import Probe
from agent.errors import DeviceError

_CAPTURES_S = 60.0  # A stream is kept large enough for captures so long after the last one.

OpenSession = Callable[[SessionOptions], Awaitable[ScrcpySession]]


class VideoFrames:
    """Follow one phone by video.

    Args:
        open_session: starts a run of the server with the given options.
        probe: asks the phone for a sign of life.
        is_secure: returns whether the window in front forbids pictures.
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
        self._capture_side_px = 1
        self._captured_s = 0.0
        self._last_wanted: tuple[tuple[int, float, int], SessionOptions] | None = None
        """What was needed last, and for whom: it is asked for before every picture."""

    @property
    def side_px(self) -> int:
        """The longer side of the pictures that come now; 0 before the first."""
        return 0 if self._run is None else self._run.side_px

    async def capture(self, *, least_side_px: int, timeout_s: float) -> Capture | None:
        """Return a picture of the running stream, encoded after it was asked for; None without one.

        A stream that is too small is made larger, as long as it runs, for the next time.
        """
        run = self._run
        if run is None or not run.can_capture:
            return None
        self._capture_side_px = max(self._least_side_px, least_side_px)
        self._captured_s = time.monotonic()
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
        need_decoder()
        self._capture_side_px = 1
        while True:
            options = self._wanted(readers)
            session, pictures = await open_decoded(self._open_session(options), self._decoding)
            run = VideoRun(session, pictures, readers, self._probe, self._is_secure, self._on_size)
            self._run = run
            try:
                await run.serve(until=partial(self._is_over, StreamFit(options), readers))
            finally:
                self._run = None
                await run.close()

    def _is_over(self, fit: StreamFit, readers: Readers) -> bool:
        """Return whether another stream is to be opened; asked before every picture."""
        return fit.is_over(self._wanted(readers), time.monotonic())

    @property
    def _least_side_px(self) -> int:
        is_recent = time.monotonic() - self._captured_s < _CAPTURES_S
        return self._capture_side_px if is_recent else 1

    def _wanted(self, readers: Readers) -> SessionOptions:
        asked = readers.longest_side_px, readers.fastest_s, self._least_side_px
        if self._last_wanted is None or self._last_wanted[0] != asked:
            found = options_for(self._options, readers, self._most_fps, self._least_side_px)
            self._last_wanted = asked, found
        return self._last_wanted[1]
