"""Read stored frames as pictures of the size that is drawn; decoding happens in a thread.

Keeps the last few. Invariant: a frame that is gone or broken says so in its detail, never a blank.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from agent.core import Core
from agent.devices.frames.png import scaled_rgb
from agent.errors import SwitchboardError
from agent.records import Frame, FrameSource, FrameStatus, LiveFrame

_KEPT = 32


class StoredFrames:
    """A small cache of decoded frames."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._kept: OrderedDict[tuple[str, int, int], LiveFrame] = OrderedDict()

    def ready(self, frame: Frame, size_px: tuple[int, int]) -> LiveFrame | None:
        """Return a frame that has been read already."""
        return self._kept.get((frame.digest, *size_px))

    async def read(self, frame: Frame, size_px: tuple[int, int], *, serial: str) -> LiveFrame:
        """Read and scale a frame."""
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
                detail, status = str(error), FrameStatus.ERROR
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
