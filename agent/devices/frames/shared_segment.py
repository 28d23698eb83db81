"""A segment of POSIX shared memory that holds frames: its layout, its making, its end.

Not the writing and reading (`agent.devices.frames.shared_memory`). Invariants: only what has our
mark and the size that its head claims is taken for a segment; nobody unlinks one but its writer, or
a later writer when that one is dead.

`multiprocessing.shared_memory` is not used: until Python 3.13 its resource tracker removes a
segment when a mere reader ends (python/cpython#82300). POSIX only, as the whole of Switchboard.
"""

import _posixshmem  # type: ignore[import-not-found]
import mmap
import os
import secrets
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import DeviceError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

SCHEME = "shm://"
PREFIX = "switchboard-"
"""Names are `switchboard-PID-RANDOM`: short enough for macOS, which allows 31 characters."""
SLOTS = 4
LARGEST_SIDE_PX = 16_384
BYTES_PER_PIXEL = 3
MAGIC = b"SBFRAME1"
HEAD = struct.Struct("<8sIIQQ32s")
"""Mark, slot count, writer's process id, bytes a slot holds, newest frame's number from 1 (0: none
yet; its slot is that number modulo the count), and the name of the segment that replaced this."""
NEWEST = struct.Struct("<Q")
NEWEST_AT = 24
SUCCESSOR = struct.Struct("32s")
SUCCESSOR_AT = 32
SLOT = struct.Struct("<QQIIQ")
"""Sequence number (odd while it is written), frame number, width and height in pixels, and the
wall clock in milliseconds at which it was captured."""
SEQUENCE = struct.Struct("<Q")
_ALIGNED = 64
_FOLDER = Path("/dev/shm")


class SharedFrameError(DeviceError):
    """There is no segment of that name, or it is not one of ours."""


def remove_abandoned() -> int:
    """Remove the segments of writers that died, and say how many; only Linux lists them."""
    removed = 0
    if not _FOLDER.is_dir():
        return 0
    for path in _FOLDER.glob(f"{PREFIX}*"):
        pid = path.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isascii() and pid.isdigit() and not is_alive(int(pid)):
            with suppress(OSError):
                path.unlink()
                removed += 1
    return removed


class Segment:
    """One mapped segment and the places in it."""

    def __init__(self, name: str, memory: mmap.mmap) -> None:
        self.name = name
        self.memory = memory
        magic, slots, self.writer, self.slot_bytes, _, _ = HEAD.unpack_from(memory)
        needed = HEAD.size + SLOTS * _slot_size(self.slot_bytes)
        if magic != MAGIC or slots != SLOTS or needed > len(memory):
            raise foreign(name)

    def slot_at(self, slot: int) -> int:
        """Return where a slot's own head begins."""
        return HEAD.size + slot * _slot_size(self.slot_bytes)

    def view(self, at: int, width: int, height: int) -> "Pixels":
        """Return the pixels of the slot that begins there, as they stand in the segment."""
        import numpy as np

        return np.frombuffer(
            self.memory, np.uint8, width * height * BYTES_PER_PIXEL, at + _ALIGNED
        ).reshape(height, width, BYTES_PER_PIXEL)

    def unlink(self) -> None:
        """Remove the name; what is mapped stays."""
        unlink(self.name)

    def close(self) -> None:
        """Unmap it, now or when the last frame that shows it is gone."""
        with suppress(BufferError):
            self.memory.close()


def create(name: str, slot_bytes: int) -> Segment:
    """Make a segment whose slots hold so many bytes each; only this user may open it.

    Raises:
        UsageError: the name cannot be one.
        DeviceError: there is no memory for it, or the name is taken.
    """
    memory = map_new(name, HEAD.size + SLOTS * _slot_size(slot_bytes))
    HEAD.pack_into(memory, 0, MAGIC, SLOTS, os.getpid(), slot_bytes, 0, b"")
    return Segment(name, memory)


def map_new(name: str, size: int) -> mmap.mmap:
    """Make shared memory of so many bytes and map it; only this user may open it.

    Raises:
        UsageError: the name cannot be one.
        DeviceError: there is no memory for it, or the name is taken.
    """
    if not name or "/" in name or len(name) > 30 or not name.isascii():
        raise UsageError(
            f"{name!r} cannot be the name of shared memory.", "Use at most 30 letters and digits."
        )
    try:
        handle = _posixshmem.shm_open(f"/{name}", os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600)
        try:
            os.ftruncate(handle, size)
            if hasattr(os, "posix_fallocate"):
                # Memory that is not there must fail here: later it would be a SIGBUS.
                os.posix_fallocate(handle, 0, size)
            return mmap.mmap(handle, size)
        except BaseException:
            _posixshmem.shm_unlink(f"/{name}")
            raise
        finally:
            os.close(handle)
    except OSError as error:
        raise DeviceError(
            f"No shared memory of {size} bytes named {name!r} is available: {error.strerror}.",
            "Make /dev/shm larger, or choose another name.",
        ) from error


def unlink(name: str) -> None:
    """Remove a name; what is mapped stays."""
    with suppress(FileNotFoundError):
        _posixshmem.shm_unlink(f"/{name}")


def attach(url: str) -> Segment:
    """Map a segment that another process made, to read only.

    Raises:
        UsageError: it is no address of shared frames.
        SharedFrameError: nothing is there, or something else.
    """
    name = url.removeprefix(SCHEME)
    if not url.startswith(SCHEME) or not name or "/" in name:
        raise UsageError(
            f"{url!r} is not the address of shared frames.", "It looks like shm://NAME."
        )
    try:
        handle = _posixshmem.shm_open(f"/{name}", os.O_RDONLY, mode=0)
    except OSError as error:
        raise SharedFrameError(
            f"There are no shared frames at {url}: {error.strerror}.",
            "Request the address again: the writer has ended or moved.",
        ) from error
    try:
        size = os.fstat(handle).st_size
        if size < HEAD.size:
            raise foreign(name)
        memory = mmap.mmap(handle, size, prot=mmap.PROT_READ)
    finally:
        os.close(handle)
    return Segment(name, memory)


def _slot_size(slot_bytes: int) -> int:
    return _ALIGNED + -(-slot_bytes // _ALIGNED) * _ALIGNED


def new_name() -> str:
    """Choose a name that tells which process made the segment."""
    return f"{PREFIX}{os.getpid()}-{secrets.token_hex(3)}"


def check_size(width_px: int, height_px: int) -> None:
    """Refuse a frame of no size, or of one that no screen has. Raises UsageError."""
    if not (0 < width_px <= LARGEST_SIDE_PX and 0 < height_px <= LARGEST_SIDE_PX):
        raise UsageError(
            f"A frame of {width_px}×{height_px} pixels cannot be shared.",
            f"Use 1 to {LARGEST_SIDE_PX} pixels a side.",
        )


def foreign(name: str) -> SharedFrameError:
    return SharedFrameError(
        f"{SCHEME}{name} does not contain Switchboard's frames.",
        "Use the address that the writer gives.",
    )


def is_alive(pid: int) -> bool:
    """Return whether a process runs, another user's too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_BARRIER = threading.Lock()


def fence() -> None:
    """Keep what was written and read before from being reordered with what comes after.

    Two locks taken in a row are a full barrier also on processors that reorder stores (Arm).
    """
    with _BARRIER:
        pass
    with _BARRIER:
        pass
