"""Put a picture into memory that a terminal on this machine can read, and take it away again.

Linux keeps POSIX shared memory as files of /dev/shm (shm_overview(7)); elsewhere there is none
here, and cells are drawn. `multiprocessing.shared_memory` starts a process to watch what it made
and fails while Textual has the terminal. Invariants: only this user can read it; at most one is
left, and it is gone when the console ends, whether a terminal has read it or not.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

_FOLDER = Path("/dev/shm")


class SharedImage:
    """At most one picture in shared memory."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._folder = folder
        self._path: Path | None = None

    @property
    def is_there(self) -> bool:
        """Whether this machine has such memory."""
        return self._folder.is_dir() and os.access(self._folder, os.W_OK)

    def put(self, data: bytes) -> str:
        """Write a picture in the place of the last; returns its name. Raises OSError."""
        self.remove()
        path = self._folder / f"switchboard-{os.getpid()}-{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path, flags, 0o600)
        self._path = path
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
        return f"/{path.name}"

    def remove(self) -> None:
        """Take the picture away; the terminal does so itself once it has read it."""
        path, self._path = self._path, None
        if path is not None:
            with suppress(FileNotFoundError):
                path.unlink()
