"""Live pictures of one device for any number of readers: video where the device gives it, captures
where it does not.

One loop per device runs while somebody reads. Nothing is stored. Invariants: a reader gets the
newest picture or an honest status, never a queue; while pictures are captures although video was
wanted, each says why, and video is tried again.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol

from agent.devices.frames.capture_feed import RETRY_S, CaptureFrames, IsSecure
from agent.devices.frames.subscribers import Reader, Readers, reading, wait_until
from agent.devices.protocols import Capture
from agent.errors import DeviceError
from agent.records import FrameSource, FrameStatus, LiveFrame
from agent.text import one_line

FIRST_VIDEO_RETRY_S = 2.0
LONGEST_VIDEO_RETRY_S = 60.0
_GOOD_RUN_S = 10.0
"""Video that ran so long was no false start: the next retry comes as soon as the first."""


class Video(Protocol):
    """A maker of frames that the feed prefers to captures."""

    async def follow(self, readers: Readers) -> None:
        """Serve the readers until cancelled. Raises DeviceError with the reason when it cannot go
        on; a picture that was given until then stays the readers' last.
        """


class FrameFeed:
    """Follow one device for its readers.

    Args:
        serial: the device.
        capture: takes one picture within a time-out in seconds; raises DeviceError.
        why_away: says why the device cannot be looked at now; empty when it can.
        video: the preferred maker of frames; None where there is none.
        is_secure: returns whether the window in front forbids pictures.
    """

    def __init__(
        self,
        serial: str,
        capture: Callable[[float], Awaitable[Capture]],
        why_away: Callable[[], str],
        *,
        video: Video | None = None,
        is_secure: IsSecure | None = None,
    ) -> None:
        self._why_away = why_away
        self._video = video
        self._captures = CaptureFrames(capture, is_secure)
        self._readers = Readers(serial)
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._why_no_video = ""
        self._video_again_s = 0.0
        self._video_pause_s = FIRST_VIDEO_RETRY_S

    async def read(
        self, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncGenerator[LiveFrame, None]:
        """Follow the newest picture, fitted into a box with its shape kept.

        Raises UsageError for a size or rate that no screen has. Ends when the feed is closed.
        """
        reader = Reader.checked(width_px, height_px, max_hz)
        try:
            with self._readers.joined(reader):
                self._begin()
                async for frame in reading(reader, lambda: not self._closed):
                    yield frame
        finally:
            if not self._readers.all and self._task is not None:
                self._task.cancel()
                self._task = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being looked at, because nobody reads."""
        return self._task is None or self._task.done()

    def wake(self) -> None:
        """Look again at once: the device was acted on or changed its state."""
        self._readers.acted_s = time.monotonic()
        self._readers.wake.set()

    def retry_video(self) -> None:
        """Try video at once: the device came back, perhaps as another build."""
        self._video_again_s = 0.0
        self._video_pause_s = FIRST_VIDEO_RETRY_S
        self.wake()

    async def close(self) -> None:
        """Stop looking; every reader's iteration ends."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self._readers.end()

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"frames of {self._readers.serial}")
        self._readers.wake.set()

    async def _run(self) -> None:
        try:
            while True:
                await self._turn()
        except Exception as error:
            # A fault of ours: whoever looks must not take the last picture for a live one.
            self._readers.tell_failure(
                FrameStatus.ERROR, FrameSource.CAPTURE, f"The frame loop failed: {error!r}."
            )
            raise

    async def _turn(self) -> None:
        """Do one round: wait for an absent device, follow the video until it ends, or capture."""
        why = self._why_away()
        if why:
            self._readers.wake.clear()
            self._readers.tell_failure(FrameStatus.LOST, FrameSource.CAPTURE, why)
            await wait_until(self._readers.wake, RETRY_S)
        elif self._video is not None and time.monotonic() >= self._video_again_s:
            await self._follow_video(self._video)
        else:
            await self._captures.look(self._readers, self._why_no_video)

    async def _follow_video(self, video: Video) -> None:
        started = time.monotonic()
        try:
            await video.follow(self._readers)
        except DeviceError as error:
            if time.monotonic() - started > _GOOD_RUN_S:
                self._video_pause_s = FIRST_VIDEO_RETRY_S
            self._why_no_video = one_line(f"No video: {error}", 300)
            self._video_again_s = time.monotonic() + self._video_pause_s
            self._video_pause_s = min(self._video_pause_s * 2, LONGEST_VIDEO_RETRY_S)
