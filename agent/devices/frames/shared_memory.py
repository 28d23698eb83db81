"""Frames in shared memory: one process writes the newest, any other maps it without a copy.

Not a queue and not video, and not the segment itself (`agent.devices.frames.shared_segment`). The
writer fills the slot after the newest one and then says that this is the newest, so a reader has as
long as the writer takes for the rest of the ring. Invariants: each slot has a sequence number that
is odd while it is written (a sequence lock), so a reader knows of every frame it looked at whether
it stayed whole; a writer that dies half-way leaves the frame before as the newest.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.devices.frames.shared_segment import (
    BYTES_PER_PIXEL,
    NEWEST,
    NEWEST_AT,
    SCHEME,
    SEQUENCE,
    SLOT,
    SLOTS,
    SUCCESSOR,
    SUCCESSOR_AT,
    SharedFrameError,
    attach,
    check_size,
    create,
    fence,
    foreign,
    is_alive,
    new_name,
    remove_abandoned,
)
from agent.errors import UsageError

if TYPE_CHECKING:
    from agent.devices.frames.shared_segment import Pixels

_TRIES = 100


class TornFrameError(SharedFrameError):
    """The writer has gone once round while a frame was looked at; look at the next one."""


@dataclass(frozen=True, slots=True)
class SharedFrame:
    """One frame in shared memory: RGB, row by row, not copied and not to be written."""

    pixels: Pixels  # Height × width × 3 bytes, a view of the segment itself.
    number: int  # Counts up from 1 with each frame that was written.
    captured_ms: int


class FrameWriter:
    """Write frames for any number of readers.

    Args:
        width_px: of the largest frame that is expected; a larger one moves the segment.
        height_px: the same.
        name: the segment's name; one is made when it is not given.

    Raises:
        UsageError: no screen has this size, or the name cannot be one.
        DeviceError: the system gives no shared memory.
    """

    def __init__(self, width_px: int, height_px: int, *, name: str = "") -> None:
        check_size(width_px, height_px)
        remove_abandoned()
        self._number = 0
        self._segment = create(name or new_name(), width_px * height_px * BYTES_PER_PIXEL)

    @property
    def url(self) -> str:
        """Where readers find the frames: `shm://NAME`; it changes when the segment is moved."""
        return SCHEME + self._segment.name

    def write(self, pixels: Pixels, *, captured_ms: int) -> None:
        """Make a frame the newest: height × width × 3 bytes of RGB, in any memory order."""
        height, width, depth = pixels.shape
        if depth != BYTES_PER_PIXEL or pixels.dtype != "uint8":
            raise UsageError("A frame must be RGB with one byte per channel.", "Convert it first.")
        with self.filling(width, height, captured_ms=captured_ms) as place:
            place[...] = pixels

    @contextmanager
    def filling(self, width_px: int, height_px: int, *, captured_ms: int) -> Iterator[Pixels]:
        """Yield the next frame's place for a block to draw or decode into, without a copy.

        The frame is the newest when the block ends; one whose block raised is never seen. The
        place is height × width × 3 bytes of RGB, holds an older frame at first, and is not to be
        used after the block.
        """
        check_size(width_px, height_px)
        if width_px * height_px * BYTES_PER_PIXEL > self._segment.slot_bytes:
            self._move(width_px * height_px * BYTES_PER_PIXEL)
        segment, number = self._segment, self._number + 1
        at = segment.slot_at(number % SLOTS)
        (sequence,) = SEQUENCE.unpack_from(segment.memory, at)
        sequence += sequence & 1
        SEQUENCE.pack_into(segment.memory, at, sequence + 1)
        fence()
        SLOT.pack_into(segment.memory, at, sequence + 1, number, width_px, height_px, captured_ms)
        yield segment.view(at, width_px, height_px)
        self._number = number
        fence()
        SEQUENCE.pack_into(segment.memory, at, sequence + 2)
        fence()
        NEWEST.pack_into(segment.memory, NEWEST_AT, number)

    def close(self) -> None:
        """Remove the segment; readers that have it mapped keep their last frame. Idempotent."""
        self._segment.unlink()
        self._segment.close()

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _move(self, slot_bytes: int) -> None:
        old = self._segment
        self._segment = create(new_name(), slot_bytes)
        SUCCESSOR.pack_into(old.memory, SUCCESSOR_AT, self._segment.name.encode())
        old.unlink()
        old.close()


class FrameReader:
    """Look at the newest frame that another process wrote.

    Args:
        url: `shm://NAME`.

    Raises:
        SharedFrameError: there is no such segment, or it is not one of ours.
    """

    def __init__(self, url: str) -> None:
        self._segment = attach(url)

    def newest(self) -> SharedFrame | None:
        """Map the newest frame without a copy; None before the first one.

        The writer goes on: `is_whole` says afterwards whether the frame stayed what it was.
        """
        self._follow()
        segment = self._segment
        for _ in range(_TRIES):
            (number,) = NEWEST.unpack_from(segment.memory, NEWEST_AT)
            if number == 0:
                return None
            fence()
            at = segment.slot_at(number % SLOTS)
            sequence, there, width, height, captured_ms = SLOT.unpack_from(segment.memory, at)
            fence()
            (again,) = SEQUENCE.unpack_from(segment.memory, at)
            if sequence & 1 or again != sequence or there != number:
                continue
            if not 0 < width * height * BYTES_PER_PIXEL <= segment.slot_bytes:
                raise foreign(segment.name)
            return SharedFrame(segment.view(at, width, height), number, captured_ms)
        raise TornFrameError(
            f"The writer of {SCHEME}{segment.name} is too fast to be read.", "Read it again."
        )

    def is_whole(self, frame: SharedFrame) -> bool:
        """Return whether a mapped frame is still the one it was when it was mapped."""
        fence()
        at = self._segment.slot_at(frame.number % SLOTS)
        sequence, there = struct.unpack_from("<QQ", self._segment.memory, at)
        return there == frame.number and not sequence & 1

    @contextmanager
    def looking(self) -> Iterator[SharedFrame]:
        """Look at the newest frame for the length of a block.

        Raises:
            TornFrameError: it was overwritten meanwhile, so what was made of it is worth nothing.
            SharedFrameError: there is no frame yet.
        """
        frame = self.newest()
        if frame is None:
            raise SharedFrameError("No frame was written yet.", "Wait for the first one.")
        yield frame
        if not self.is_whole(frame):
            raise TornFrameError(f"Frame {frame.number} was overwritten.", "Look at the next one.")

    def copy(self) -> SharedFrame | None:
        """Copy the newest frame, whole; None before the first one.

        Raises TornFrameError when the writer overtakes every try.
        """
        for _ in range(_TRIES):
            frame = self.newest()
            if frame is None:
                return None
            kept = frame.pixels.copy()
            if self.is_whole(frame):
                kept.flags.writeable = False
                return SharedFrame(kept, frame.number, frame.captured_ms)
        raise TornFrameError(
            "The writer overwrote each frame before it was copied.", "Read it again."
        )

    @property
    def is_written(self) -> bool:
        """Whether the process that writes is still there."""
        return is_alive(self._segment.writer)

    def close(self) -> None:
        """Let go of the segment; frames that were mapped stay readable while they are held."""
        self._segment.close()

    def __enter__(self) -> FrameReader:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _follow(self) -> None:
        """Go where the writer went when its frames outgrew the segment."""
        while True:
            (name,) = SUCCESSOR.unpack_from(self._segment.memory, SUCCESSOR_AT)
            successor = name.rstrip(b"\0").decode("ascii", "replace")
            if not successor:
                return
            old, self._segment = self._segment, attach(SCHEME + successor)
            old.close()
