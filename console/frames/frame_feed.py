"""Follow the live frame of the one device that is on screen, at the size it is drawn.

Holds one subscription at a time and only the newest frame. Invariant: nothing is asked of a device
that nobody sees.
"""

import asyncio
import logging
from typing import NamedTuple

from agent.core import Core
from agent.errors import SwitchboardError
from agent.records import FrameSource, FrameStatus, LiveFrame

_log = logging.getLogger(__name__)
_RETRY_S = 2.0
_ONE_S = 5.0


class FeedTarget(NamedTuple):
    """Which device, and at how many pixels."""

    serial: str
    width_px: int
    height_px: int


class FrameFeed:
    """The newest frame of what is wanted."""

    def __init__(self, core: Core, *, max_hz: float) -> None:
        self._core = core
        self._max_hz = max_hz
        self._wanted: FeedTarget | None = None
        self._task: asyncio.Task[None] | None = None
        self.newest: LiveFrame | None = None
        self.version = 0

    def want(self, wanted: FeedTarget | None) -> None:
        """Follow another device or size; None follows nothing."""
        if wanted == self._wanted:
            return
        if wanted is None or self._wanted is None or wanted.serial != self._wanted.serial:
            self._take(None)
        self._wanted = wanted
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if wanted is not None:
            self._task = asyncio.create_task(self._follow(wanted), name=f"frames {wanted.serial}")

    def _take(self, frame: LiveFrame | None) -> None:
        self.newest = frame
        self.version += 1

    async def _follow(self, wanted: FeedTarget) -> None:
        while True:
            try:
                async with self._core.frames(
                    wanted.serial,
                    width_px=wanted.width_px,
                    height_px=wanted.height_px,
                    max_hz=self._max_hz,
                ) as frames:
                    async for frame in frames:
                        self._take(frame)
            except SwitchboardError as error:
                self._take(_failed(wanted, self.newest, str(error)))
            except Exception as error:
                _log.exception("The frames of %s broke off", wanted.serial)
                self._take(_failed(wanted, self.newest, f"{type(error).__name__}: {error}"))
            await asyncio.sleep(_RETRY_S)

    async def one(self, width_px: int, height_px: int) -> LiveFrame | None:
        """Return one frame of what is followed, at another size; None when it does not come."""
        wanted = self._wanted
        if wanted is None:
            return None
        try:
            async with (
                asyncio.timeout(_ONE_S),
                self._core.frames(
                    wanted.serial, width_px=width_px, height_px=height_px, max_hz=self._max_hz
                ) as frames,
            ):
                return await anext(frames)
        except (SwitchboardError, TimeoutError, StopAsyncIteration) as error:
            _log.debug("No frame of %s at %d×%d: %s", wanted.serial, width_px, height_px, error)
            return None

    async def close(self) -> None:
        """Stop following."""
        task, self._task, self._wanted = self._task, None, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _failed(wanted: FeedTarget, last: LiveFrame | None, detail: str) -> LiveFrame:
    return LiveFrame(
        serial=wanted.serial,
        width_px=wanted.width_px,
        height_px=wanted.height_px,
        rgb=b"",
        captured_ms=last.captured_ms if last else 0,
        source=FrameSource.CAPTURE,
        status=FrameStatus.ERROR,
        detail=detail,
    )
