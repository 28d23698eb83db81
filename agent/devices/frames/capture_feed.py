"""Live pictures by repeated captures: for devices that give no video, and until they do.

It sleeps longer while nothing changes. Invariants: one capture serves every size; an unchanged
screen is not decoded again; a capture that takes too long leaves the last picture stale.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.frames.png import is_black, scaled_rgb
from agent.devices.frames.subscribers import PictureStatus, Readers, Size, wait_until
from agent.devices.protocols import Capture
from agent.errors import DeviceError, DeviceLostError
from agent.records import FrameSource, FrameStatus
from agent.text import one_line

STALE_AFTER_S = 2.0
"""A capture that takes longer leaves the last picture stale."""
CAPTURE_TIMEOUT_S = 15.0
RETRY_S = 1.0
IDLE_INTERVAL_S = 1.0
"""How far apart captures of a screen that does not change move, if the readers' rate allows."""
_IDLE_GROWTH = 1.5

_SEEN = known(False, "the picture shows something")
SECURE_DETAIL = "The app in front forbids pictures of itself (FLAG_SECURE)."

IsSecure = Callable[[], Awaitable[Fact[bool]]]
"""Tells whether the window in front forbids pictures; DeviceError: nobody can be asked."""


async def ask_secure(is_secure: IsSecure) -> Fact[bool]:
    """Ask, and take a phone that cannot be asked as one that does not say."""
    try:
        return await is_secure()
    except DeviceError as error:
        return Unknown(reason=error.message.rstrip("."))


def unsure_detail(reason: str) -> str:
    """Return what a black picture is worth when nobody knows why it is black."""
    return one_line(
        f"The picture is black. Whether the app in front forbids pictures is unknown: {reason}.",
        300,
    )


class CaptureFrames:
    """Capture one device for its readers.

    Args:
        capture: takes one picture within a time-out in seconds; raises DeviceError.
        is_secure: asked when a picture is black.
    """

    def __init__(
        self, capture: Callable[[float], Awaitable[Capture]], is_secure: IsSecure | None = None
    ) -> None:
        self._capture = capture
        self._is_secure = is_secure
        self._shown: Capture | None = None
        self._secure: Fact[bool] = _SEEN
        self._seen_ms = 0
        self._scaled: dict[Size, bytes] = {}
        self._pause_s = 0.0

    async def look(self, readers: Readers, detail: str) -> None:
        """Capture once, tell every reader what came of it, and pause as long as that deserves.

        Args:
            detail: said with each picture: why these are captures and no video.
        """
        readers.wake.clear()
        started = time.monotonic()
        status = await self._look(readers, detail)
        fastest_s = readers.fastest_s
        if status is FrameStatus.LIVE:
            self._pause_s = fastest_s
        elif status in (FrameStatus.STATIC, FrameStatus.SECURE, FrameStatus.UNKNOWN):
            self._pause_s = max(fastest_s, min(self._pause_s * _IDLE_GROWTH, IDLE_INTERVAL_S))
        else:
            self._pause_s = max(fastest_s, RETRY_S)
        # An action shortens an idle pause, yet nobody is served faster than asked for.
        await asyncio.sleep(max(started + fastest_s - time.monotonic(), 0))
        left_s = started + self._pause_s - time.monotonic()
        if left_s > 0 and not readers.wake.is_set():
            await wait_until(readers.wake, left_s)

    async def _look(self, readers: Readers, detail: str) -> FrameStatus:
        try:
            capture = await self._watched_capture(readers, detail)
            changed = self._shown is None or capture.frame.digest != self._shown.frame.digest
            self._seen_ms = capture.frame.captured_ms
            if changed:
                self._shown, self._scaled = capture, {}
            await self._scale(readers, capture)
            if changed or isinstance(self._secure, Unknown):
                self._secure = await self._forbidden()
        except DeviceLostError as error:
            return self._fail(readers, FrameStatus.LOST, str(error))
        except DeviceError as error:
            return self._fail(readers, FrameStatus.ERROR, str(error))
        match self._secure:
            case Known(value=True):
                status, detail = FrameStatus.SECURE, SECURE_DETAIL
            case Unknown(reason=reason):
                status, detail = FrameStatus.UNKNOWN, unsure_detail(reason)
            case _:
                status = FrameStatus.LIVE if changed else FrameStatus.STATIC
        self._tell(readers, status, detail)
        return status

    async def _watched_capture(self, readers: Readers, detail: str) -> Capture:
        """Capture; readers learn that their picture is stale while it takes too long."""
        task = asyncio.ensure_future(self._capture(CAPTURE_TIMEOUT_S))
        try:
            done, _ = await asyncio.wait({task}, timeout=STALE_AFTER_S)
            if not done:
                self._tell(readers, FrameStatus.STALE, detail)
            return await task
        finally:
            task.cancel()

    async def _scale(self, readers: Readers, capture: Capture) -> None:
        wanted = readers.sizes((capture.frame.width_px, capture.frame.height_px))
        missing = tuple(sorted(wanted - self._scaled.keys()))
        if missing:
            pictures = await asyncio.to_thread(scaled_rgb, readers.serial, capture.data, missing)
            self._scaled.update(zip(missing, pictures, strict=True))
        for size in self._scaled.keys() - wanted:
            del self._scaled[size]

    async def _forbidden(self) -> Fact[bool]:
        """Return whether the picture is black because the app in front wants it so."""
        if self._is_secure is None or not self._scaled:
            return _SEEN
        size, rgb = min(self._scaled.items(), key=lambda item: len(item[1]))
        return await ask_secure(self._is_secure) if is_black(rgb, size) else _SEEN

    def _tell(self, readers: Readers, status: FrameStatus, detail: str) -> None:
        if self._shown is None:
            return
        frame = self._shown.frame
        told = PictureStatus(status, FrameSource.CAPTURE, self._seen_ms, detail)
        readers.tell_picture((frame.width_px, frame.height_px), self._scaled, told)

    @staticmethod
    def _fail(readers: Readers, status: FrameStatus, detail: str) -> FrameStatus:
        readers.tell_failure(status, FrameSource.CAPTURE, detail)
        return status
