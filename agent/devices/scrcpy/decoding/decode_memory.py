"""The memory in which the process that decodes leaves its newest pictures for the core.

One file without a name, mapped by both: nothing is left behind, however either of them ends. A
place holds the newest picture of one stream at one size; the core hands places out and takes them
back. Invariant: a place has a sequence number that is odd while it is written and the number of its
picture, as in `agent.devices.frames.shared_segment`; a picture that was overwritten while it was
read is never given.
"""

import mmap
import os
import struct
import tempfile
from dataclasses import dataclass

from agent.devices.frames.shared_memory import TornFrameError
from agent.devices.frames.shared_segment import BYTES_PER_PIXEL, SEQUENCE, SLOT, fence
from agent.devices.frames.subscribers import Size
from agent.errors import DeviceError

MEMORY_BYTES = 1 << 30  # Of addresses; memory is taken only where pictures were written.
THREADS = 2  # Decoding threads of the process; each has its own mark.
_MARK = struct.Struct("<I")
_HEAD_BYTES = 64
_LEAST_BYTES = 4096


def new_file() -> int:
    """Make the file and give its descriptor. Raises OSError."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("switchboard-pictures")
    else:
        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    try:
        os.ftruncate(handle, MEMORY_BYTES)
    except OSError:
        os.close(handle)
        raise
    return handle


class PictureMemory:
    """The file, mapped. Raises OSError or ValueError where it cannot be."""

    def __init__(self, handle: int) -> None:
        self._map = mmap.mmap(handle, MEMORY_BYTES)

    def write(self, at: int, number: int, size: Size, rgb: bytes, captured_ms: int) -> None:
        """Replace the picture of a place, which has room for it."""
        (sequence,) = SEQUENCE.unpack_from(self._map, at)
        sequence += sequence & 1
        SEQUENCE.pack_into(self._map, at, sequence + 1)
        fence()
        SLOT.pack_into(self._map, at, sequence + 1, number, *size, captured_ms)
        start = at + _HEAD_BYTES
        self._map[start : start + len(rgb)] = rgb
        fence()
        SEQUENCE.pack_into(self._map, at, sequence + 2)

    def read(self, at: int, number: int) -> tuple[Size, bytes]:
        """Copy the picture of a place. Raises TornFrameError when it is, or becomes, another."""
        if self._map.closed:
            raise TornFrameError("The decoder has ended.", "Look again.")
        sequence, there, width, height, _ = SLOT.unpack_from(self._map, at)
        fence()
        start = at + _HEAD_BYTES
        rgb = self._map[start : start + width * height * BYTES_PER_PIXEL]
        fence()
        (again,) = SEQUENCE.unpack_from(self._map, at)
        if sequence & 1 or again != sequence or there != number:
            raise TornFrameError(f"Picture {number} was overwritten.", "Look at the next one.")
        return (width, height), rgb

    def close(self) -> None:
        """Free the memory; nothing is written or read any more. Closing twice is fine."""
        self._map.close()

    # --- what is being decoded ----------

    def mark(self, thread: int, stream: int) -> None:
        """Note which stream a thread decodes; 0: none."""
        _MARK.pack_into(self._map, thread * _MARK.size, stream)

    def marked(self) -> frozenset[int]:
        """Return the streams that were being decoded."""
        if self._map.closed:
            return frozenset()
        marks = (_MARK.unpack_from(self._map, at * _MARK.size)[0] for at in range(THREADS))
        return frozenset(stream for stream in marks if stream)


@dataclass(frozen=True, slots=True)
class Place:
    """Room for one picture."""

    at: int
    room_bytes: int


class Places:
    """Which parts of the memory are taken; known to the core alone."""

    def __init__(self) -> None:
        self._free: dict[int, list[Place]] = {}
        self._end = _LEAST_BYTES

    def take(self, box: Size) -> Place:
        """Return room for any picture that fits a box. Raises DeviceError when there is none."""
        needed = _HEAD_BYTES + box[0] * box[1] * BYTES_PER_PIXEL
        # Powers of two, so that what one size leaves another takes.
        room = max(_LEAST_BYTES, 1 << (needed - 1).bit_length())
        freed = self._free.get(room)
        if freed:
            return freed.pop()
        if self._end + room > MEMORY_BYTES:
            raise DeviceError("Too many pictures at once.", "Look at fewer or smaller pictures.")
        place = Place(self._end, room)
        self._end += room
        return place

    def give_back(self, place: Place) -> None:
        """Let a place be taken by another."""
        self._free.setdefault(place.room_bytes, []).append(place)
