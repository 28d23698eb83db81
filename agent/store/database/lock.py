"""Lock a data directory for one owner process.

The database's epoch is the fence where this lock does not hold, as on some network file systems.
Invariant: the lock lasts exactly as long as its owner, because the kernel drops it with the open
file.
"""

import errno
import fcntl
import os
import time
from pathlib import Path

from agent.errors import DirectoryInUseError
from agent.private_files import check_unshared
from agent.store.database.sqlite_errors import from_os_error

LOCK_NAME = "lock"
_TRIES = 5
_PAUSE_S = 0.01


class DirectoryLock:
    """Hold `<directory>/lock` until `release`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, directory: Path) -> "DirectoryLock":
        """Become the owner of a directory and write the process id into the lock file.

        Raises:
            DirectoryInUseError: another process is the owner (named by pid).
            StoreError: the file cannot be written.
        """
        path = directory / LOCK_NAME
        try:
            # flock and not lockf: a POSIX lock would be lost when any other descriptor of the
            # file is closed in this process, and would not keep a second Store in it out.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise from_os_error(error, path) from error
        try:
            _lock(descriptor)
        except OSError as error:
            pid = _read_pid(descriptor)
            os.close(descriptor)
            if error.errno in {errno.EAGAIN, errno.EACCES}:
                raise _held(directory, pid) from error
            raise from_os_error(error, path) from error
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(descriptor)
            raise from_os_error(error, path) from error
        return cls(path, descriptor)

    @classmethod
    def share(cls, directory: Path) -> "DirectoryLock":
        """Keep owners out of a directory while reading it; readers share the lock.

        Raises:
            DirectoryInUseError: a process is the owner (named by pid).
            StoreError: there is no lock file.
        """
        path = directory / LOCK_NAME
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise from_os_error(error, path) from error
        try:
            _lock(descriptor, fcntl.LOCK_SH)
        except OSError as error:
            pid = _read_pid(descriptor)
            os.close(descriptor)
            raise _held(directory, pid) from error
        return cls(path, descriptor)

    def release(self) -> None:
        """Release the lock; idempotent."""
        if self._descriptor >= 0:
            # The file stays: removing it would let two processes hold two different files.
            os.close(self._descriptor)
            self._descriptor = -1


def make_directory(directory: Path) -> None:
    """Create the directory with mode 0700; refuse one that others may write (ConfigError).

    Raises StoreError.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_unshared(directory)
    except OSError as error:
        raise from_os_error(error, directory) from error


def owner_pid(directory: Path) -> int | None:
    """Return the pid of a data directory's owner; None if there is none or it is unknown."""
    try:
        descriptor = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read_pid(descriptor)
    finally:
        os.close(descriptor)
    return None


def _lock(descriptor: int, how: int = fcntl.LOCK_EX) -> None:
    """Lock at once or fail; `owner_pid` of another process may hold it for an instant."""
    for _ in range(_TRIES - 1):
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE_S)
    fcntl.flock(descriptor, how | fcntl.LOCK_NB)


def _read_pid(descriptor: int) -> int | None:
    written = os.pread(descriptor, 32, 0).strip()
    return int(written) if written.isdigit() else None


def _held(directory: Path, pid: int | None) -> DirectoryInUseError:
    who = "another process" if pid is None else f"process {pid}"
    return DirectoryInUseError(
        f"The data directory {directory} is in use by {who}.",
        "Talk to that process through its socket, end it, or point SWITCHBOARD_DATA_DIR at "
        "another directory.",
    )
