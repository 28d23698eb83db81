"""Live pictures of one device for any number of readers, by repeated captures.

One loop per device runs while somebody reads; it serves every size from one capture and sleeps
longer while nothing changes. Not video, and nothing is stored. Invariants: a reader gets the newest
picture or an honest status, never a queue; a failure is a frame with status lost or error and its
reason, never a blank picture.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from agent.devices.device import Capture
from agent.devices.picture import scaled_rgb
from agent.errors import DeviceError, DeviceLostError, UsageError
from agent.records import FrameSource, FrameStatus, LiveFrame

STALE_AFTER_S = 2.0
"""A capture that takes longer leaves the last picture stale."""
CAPTURE_TIMEOUT_S = 15.0
RETRY_S = 1.0
IDLE_INTERVAL_S = 1.0
"""How far apart captures of a screen that does not change move, if the readers' rate allows."""
_IDLE_GROWTH = 1.5
_SIZE_LIMIT_PX = 4096
_RATE_LIMIT_HZ = 60.0

Size = tuple[int, int]


@dataclass(eq=False, slots=True)
class _Reader:
    """One consumer: the box its pictures must fit in, its pace, and the one frame it may take."""

    box: Size
    interval_s: float
    newest: LiveFrame | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def give(self, frame: LiveFrame) -> None:
        self.newest = frame
        self.arrived.set()


class FrameFeed:
    """Capture one device for its readers.

    Args:
        serial: the device.
        capture: takes one picture within a time-out in seconds; raises DeviceError.
        why_away: says why the device cannot be captured now; empty when it can.
    """

    def __init__(
        self,
        serial: str,
        capture: Callable[[float], Awaitable[Capture]],
        why_away: Callable[[], str],
    ) -> None:
        self._serial = serial
        self._capture = capture
        self._why_away = why_away
        self._readers: list[_Reader] = []
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._closed = False
        self._shown: Capture | None = None
        self._seen_ms = 0
        self._scaled: dict[Size, bytes] = {}

    async def read(
        self, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncGenerator[LiveFrame, None]:
        """Follow the newest picture, fitted into a box with its shape kept.

        Raises UsageError for a size or rate that no screen has. Ends when the feed is closed.
        """
        if not (0 < width_px <= _SIZE_LIMIT_PX and 0 < height_px <= _SIZE_LIMIT_PX):
            raise UsageError(
                f"Frames of {width_px}×{height_px} pixels cannot be made.",
                f"Ask for 1 to {_SIZE_LIMIT_PX} pixels a side.",
            )
        if not max_hz > 0:
            raise UsageError(f"A rate of {max_hz} frames a second is none.", "Ask for more than 0.")
        reader = _Reader((width_px, height_px), 1 / min(max_hz, _RATE_LIMIT_HZ))
        self._readers.append(reader)
        self._begin()
        try:
            due = 0.0
            while not self._closed:
                await reader.arrived.wait()
                await asyncio.sleep(max(due - time.monotonic(), 0))
                reader.arrived.clear()
                due = time.monotonic() + reader.interval_s
                if reader.newest is not None and not self._closed:
                    yield reader.newest
        finally:
            self._readers.remove(reader)
            if not self._readers and self._task is not None:
                self._task.cancel()
                self._task = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being captured, because nobody reads."""
        return self._task is None or self._task.done()

    def wake(self) -> None:
        """Look again at once: the device was acted on or changed its state."""
        self._wake.set()

    async def close(self) -> None:
        """Stop capturing; every reader's iteration ends."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        for reader in self._readers:
            reader.arrived.set()

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"frames of {self._serial}")
        self._wake.set()

    async def _run(self) -> None:
        try:
            await self._follow()
        except Exception as error:
            # A fault of ours: whoever looks must not take the last picture for a live one.
            self._tell_failure(FrameStatus.ERROR, f"The capture loop failed: {error!r}.")
            raise

    async def _follow(self) -> None:
        pause_s = 0.0
        while True:
            self._wake.clear()
            started = time.monotonic()
            status = await self._look()
            fastest_s = min((reader.interval_s for reader in self._readers), default=RETRY_S)
            if status is FrameStatus.LIVE:
                pause_s = fastest_s
            elif status is FrameStatus.STATIC:
                pause_s = max(fastest_s, min(pause_s * _IDLE_GROWTH, IDLE_INTERVAL_S))
            else:
                pause_s = max(fastest_s, RETRY_S)
            # An action shortens an idle pause, yet nobody is served faster than asked for.
            await asyncio.sleep(max(started + fastest_s - time.monotonic(), 0))
            left_s = started + pause_s - time.monotonic()
            if left_s > 0 and not self._wake.is_set():
                await _until(self._wake, left_s)

    async def _look(self) -> FrameStatus:
        """Capture once and tell every reader what came of it."""
        why = self._why_away()
        if why:
            return self._tell_failure(FrameStatus.LOST, why)
        try:
            capture = await self._watched_capture()
            changed = self._shown is None or capture.frame.digest != self._shown.frame.digest
            self._seen_ms = capture.frame.captured_ms
            if changed:
                self._shown, self._scaled = capture, {}
            await self._scale(capture)
        except DeviceLostError as error:
            return self._tell_failure(FrameStatus.LOST, str(error))
        except DeviceError as error:
            return self._tell_failure(FrameStatus.ERROR, str(error))
        status = FrameStatus.LIVE if changed else FrameStatus.STATIC
        self._tell_picture(status)
        return status

    async def _watched_capture(self) -> Capture:
        """Capture; readers learn that their picture is stale while it takes too long."""
        task = asyncio.ensure_future(self._capture(CAPTURE_TIMEOUT_S))
        try:
            done, _ = await asyncio.wait({task}, timeout=STALE_AFTER_S)
            if not done:
                self._tell_picture(FrameStatus.STALE)
            return await task
        finally:
            task.cancel()

    async def _scale(self, capture: Capture) -> None:
        frame = capture.frame
        wanted = {_fit((frame.width_px, frame.height_px), reader.box) for reader in self._readers}
        missing = tuple(sorted(wanted - self._scaled.keys()))
        if missing:
            pictures = await asyncio.to_thread(scaled_rgb, self._serial, capture.data, missing)
            self._scaled.update(zip(missing, pictures, strict=True))
        for size in self._scaled.keys() - wanted:
            del self._scaled[size]

    def _tell_picture(self, status: FrameStatus) -> None:
        if self._shown is None:
            return
        frame = self._shown.frame
        for reader in self._readers:
            width, height = _fit((frame.width_px, frame.height_px), reader.box)
            rgb = self._scaled.get((width, height))
            if rgb is None:
                # It came while this capture was under way: the next one serves it.
                self._wake.set()
                continue
            reader.give(
                LiveFrame(
                    serial=self._serial,
                    width_px=width,
                    height_px=height,
                    rgb=rgb,
                    captured_ms=self._seen_ms,
                    source=FrameSource.CAPTURE,
                    status=status,
                )
            )

    def _tell_failure(self, status: FrameStatus, detail: str) -> FrameStatus:
        for reader in self._readers:
            reader.give(
                LiveFrame(
                    serial=self._serial,
                    width_px=reader.box[0],
                    height_px=reader.box[1],
                    rgb=b"",
                    captured_ms=time.time_ns() // 1_000_000,
                    source=FrameSource.CAPTURE,
                    status=status,
                    detail=detail,
                )
            )
        return status


def _fit(picture: Size, box: Size) -> Size:
    """Give the largest size of the picture's shape that fits into the box."""
    scale = min(box[0] / picture[0], box[1] / picture[1])
    return max(round(picture[0] * scale), 1), max(round(picture[1] * scale), 1)


async def _until(event: asyncio.Event, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return
