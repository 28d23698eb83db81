"""Who follows one device's frames: the box and the pace of each reader, and the one frame it may
take.

Not where pictures come from (`capture_feed`, `agent.devices.scrcpy.video`). Invariants: a reader
holds the newest frame and no other; a failure is a frame with its status and reason, never a blank
picture.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.errors import UsageError
from agent.records import FrameSource, FrameStatus, LiveFrame

Size = tuple[int, int]
IDLE_HZ = 1.0
_SIZE_LIMIT_PX = 4096
_RATE_LIMIT_HZ = 60.0


@dataclass(eq=False, slots=True)
class Reader:
    """One consumer: the box its pictures must fit in, its pace, and the one frame it may take."""

    box: Size
    interval_s: float
    newest: LiveFrame | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    due_s: float = 0.0  # When it takes its next frame, on the monotonic clock.
    picture: int = 0  # The number of the last picture it was given, as its maker counts them.

    @classmethod
    def checked(cls, width_px: int, height_px: int, max_hz: float) -> "Reader":
        """Make a reader. Raises UsageError for a size or rate that no screen has."""
        if not (0 < width_px <= _SIZE_LIMIT_PX and 0 < height_px <= _SIZE_LIMIT_PX):
            raise UsageError(
                f"Frames of {width_px}×{height_px} pixels are not possible.",
                f"Ask for 1 to {_SIZE_LIMIT_PX} pixels a side.",
            )
        if not max_hz > 0:
            raise UsageError(f"max_hz is {max_hz}; it must be greater than 0.", "Use more than 0.")
        return cls((width_px, height_px), 1 / min(max_hz, _RATE_LIMIT_HZ))

    def give(self, frame: LiveFrame) -> None:
        """Replace the frame that it may take."""
        self.newest = frame
        self.arrived.set()


@dataclass(frozen=True, slots=True)
class PictureStatus:
    """What is said of a picture beside its pixels."""

    status: FrameStatus
    source: FrameSource
    captured_ms: int
    detail: str = ""


class Readers:
    """The readers of one device."""

    def __init__(self, serial: str) -> None:
        self.serial = serial
        self.all: list[Reader] = []
        self.wake = asyncio.Event()
        """Set when somebody came, or something happened to the device: look again."""
        self.acted_s = 0.0
        """When the device was last acted on, on the monotonic clock; 0: never."""

    @property
    def fastest_s(self) -> float:
        """The shortest interval that anybody asked for."""
        return min((reader.interval_s for reader in self.all), default=1 / IDLE_HZ)

    @property
    def longest_side_px(self) -> int:
        """The longest side of anybody's box."""
        return max((max(reader.box) for reader in self.all), default=1)

    @contextmanager
    def joined(self, reader: Reader) -> Iterator[None]:
        """Have a reader among the others for the block."""
        self.all.append(reader)
        self.wake.set()
        try:
            yield
        finally:
            self.all.remove(reader)

    def end(self) -> None:
        """Have every reader look whether it is over."""
        for reader in self.all:
            reader.arrived.set()

    def sizes(self, picture: Size) -> set[Size]:
        """Return the sizes at which a picture of this shape is wanted."""
        return {fit(picture, reader.box) for reader in self.all}

    def tell_picture(
        self, picture: Size, scaled: Mapping[Size, bytes], told: PictureStatus
    ) -> None:
        """Hand each reader the picture at its size; one whose size is missing wakes the maker."""
        for reader in self.all:
            if not self.tell_reader(reader, picture, scaled, told):
                # It came while the picture was made: the next one serves it.
                self.wake.set()

    def tell_reader(
        self, reader: Reader, picture: Size, scaled: Mapping[Size, bytes], told: PictureStatus
    ) -> bool:
        size = fit(picture, reader.box)
        rgb = scaled.get(size)
        if rgb is None:
            return False
        reader.give(self._frame(size, rgb, told))
        return True

    def tell_failure(self, status: FrameStatus, source: FrameSource, detail: str) -> None:
        """Tell every reader why there is no picture."""
        told = PictureStatus(status, source, time.time_ns() // 1_000_000, detail)
        for reader in self.all:
            reader.give(self._frame(reader.box, b"", told))

    def set_status(self, told: PictureStatus) -> None:
        """Update the status of each reader's picture."""
        for reader in self.all:
            if reader.newest is not None and reader.newest.rgb:
                reader.give(
                    replace(
                        reader.newest,
                        status=told.status,
                        source=told.source,
                        captured_ms=told.captured_ms,
                        detail=told.detail,
                    )
                )

    def _frame(self, size: Size, rgb: bytes, told: PictureStatus) -> LiveFrame:
        return LiveFrame(
            serial=self.serial,
            width_px=size[0],
            height_px=size[1],
            rgb=rgb,
            captured_ms=told.captured_ms,
            source=told.source,
            status=told.status,
            detail=told.detail,
        )


async def reading(reader: Reader, is_open: Callable[[], bool]) -> AsyncGenerator[LiveFrame, None]:
    """Yield a reader its newest frame again and again, on average no faster than it asked for.

    A frame that came late does not put off the next one: of a stream as fast as its reader some
    would be lost each second.
    """
    while is_open():
        await reader.arrived.wait()
        left_s = reader.due_s - time.monotonic()
        if left_s > 0:
            await asyncio.sleep(left_s)
        reader.arrived.clear()
        interval_s = reader.interval_s
        reader.due_s = max(reader.due_s + interval_s, time.monotonic() + interval_s / 2)
        if reader.newest is not None and is_open():
            yield reader.newest


def fit(picture: Size, box: Size) -> Size:
    """Return the largest size of the picture's shape that fits into the box."""
    scale = min(box[0] / picture[0], box[1] / picture[1])
    return max(round(picture[0] * scale), 1), max(round(picture[1] * scale), 1)


async def wait_until(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event, at most so long."""
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return
