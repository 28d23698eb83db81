"""What stat says of a phone's file, whose it can be, and how its calls fail.

Not the files themselves. Invariant: a failure names the phone's path, never the host's.
"""

import io
import os
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass

UID_ROOT = 0
UID_SHELL = 2000
GID_SDCARD = 1015


@dataclass(frozen=True, slots=True)
class FileStat:
    """What stat says: full mode, sizes in bytes, times in seconds since 1970."""

    mode: int
    size: int
    mtime: float
    atime: float
    ctime: float
    inode: int
    device: int
    links: int
    uid: int
    gid: int

    @property
    def is_dir(self) -> bool:
        return modes.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        return modes.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        return modes.S_ISREG(self.mode)


def failure(code: int, path: str) -> OSError:
    """Return the OSError of an errno for a phone path."""
    return OSError(code, os.strerror(code), path)


class WrittenFile(io.FileIO):
    """A file being written that tells somebody once it is closed."""

    def __init__(self, number: int, mode: str, told: Callable[[], None]) -> None:
        super().__init__(number, mode)
        self._told = told

    def close(self) -> None:
        """Close the file; apps see it from now on."""
        was_open = not self.closed
        super().close()
        if was_open:
            self._told()
