"""Read stored frames as pictures of the size that is drawn; decoding happens in a thread.

Keeps the last few. Invariant: a frame that is gone or broken says so in its detail, never a blank.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from agent.core import Core
from agent.devices.frames.png import scaled_rgb
from agent.errors import SwitchboardError
from agent.records import Frame, FrameSource, FrameStatus, LiveFrame
from console.input.gate import Wait

_KEPT = 32
_BLOB = re.compile(r"^Blob \S+ ")  # How the store names what it lacks.


class StoredFrames:
    """A small cache of decoded frames."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._kept: OrderedDict[tuple[str, int, int], LiveFrame] = OrderedDict()

    def ready(self, frame: Frame, size_px: tuple[int, int]) -> LiveFrame | None:
        return self._kept.get((frame.digest, *size_px))

    async def read(self, frame: Frame, size_px: tuple[int, int], *, serial: str) -> LiveFrame:
        key = (frame.digest, *size_px)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        read = self._kept[key] = await self.large(frame, size_px, serial=serial)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return read

    async def large(self, frame: Frame, size_px: tuple[int, int], *, serial: str) -> LiveFrame:
        """Read and scale a frame without keeping it: one of an image's size has megabytes."""
        rgb, detail, status = b"", "", FrameStatus.STATIC
        if min(size_px) > 0:
            try:
                data = await self._core.blob(frame.digest)
                [rgb] = await asyncio.to_thread(scaled_rgb, serial, data, (size_px,))
            except SwitchboardError as error:
                detail, status = _BLOB.sub("This picture ", str(error)), FrameStatus.ERROR
        return LiveFrame(
            serial=serial,
            width_px=size_px[0],
            height_px=size_px[1],
            rgb=rgb,
            captured_ms=frame.captured_ms,
            source=FrameSource.STORED,
            status=status,
            detail=detail,
        )


class FrameConsole(Protocol):
    """The console, as a reader of stored frames sees it."""

    @property
    def stored(self) -> StoredFrames:
        """What has been read."""

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Do work beside the messages."""


class FrameReader:
    """Reads the stored frames that one screen shows, each once, beside its messages.

    Args:
        show: shows the picture again; called once a frame is there.
    """

    def __init__(self, show: Callable[[], object]) -> None:
        self._show = show
        self._reading: set[tuple[str, int, int]] = set()

    def get(
        self, console: FrameConsole, frame: Frame, size_px: tuple[int, int], *, serial: str
    ) -> LiveFrame | None:
        """Return a stored frame at the size that is drawn; None while it is read."""
        stored, wanted = console.stored, (frame.digest, *size_px)
        ready = stored.ready(frame, size_px)
        if ready is None and wanted not in self._reading:
            self._reading.add(wanted)
            work = self._read(stored, frame, size_px, serial)
            console.spawn(work, "reading a stored frame", Wait.NOT)
        return ready

    async def _read(
        self, stored: StoredFrames, frame: Frame, size_px: tuple[int, int], serial: str
    ) -> None:
        try:
            await stored.read(frame, size_px, serial=serial)
        finally:
            self._reading.discard((frame.digest, *size_px))
        self._show()
