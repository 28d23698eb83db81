"""Keep a phone's state in a file: written whole or not at all, set aside when it cannot be read.

Bytes in, bytes out; what they mean is the phone's business. Invariant: the file is always either
the old state or the new one, and a damaged file is never overwritten.
"""

import contextlib
import os
import threading
from pathlib import Path

from virtual_phone.errors import PhoneError

FILE_NAME = "phone.json"


def write_state(home: Path, data: bytes) -> None:
    """Replace the state file in `home`.

    Raises:
        PhoneError: the directory cannot be written to.
    """
    target = home / FILE_NAME
    partial = home / f".{FILE_NAME}.{os.getpid()}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise PhoneError(
            f"The virtual phone's state could not be saved in {home}: {error.strerror}.",
            "Free some space there, or give a directory that can be written to.",
        ) from error


class StateFile:
    """Write states in the order they were taken, from whichever thread gets there first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = 0
        self._written = 0

    def next(self) -> int:
        """Return the number of the state that is taken now."""
        self._taken += 1
        return self._taken

    def write(self, home: Path, data: bytes, number: int) -> None:
        """Write a state, unless a newer one has been written already.

        Raises:
            PhoneError: the directory cannot be written to.
        """
        with self._lock:
            if number > self._written:
                write_state(home, data)
                self._written = number


def read_state(home: Path) -> bytes | None:
    """Return the saved state, or None where there is none.

    Raises:
        PhoneError: the file is there and cannot be read.
    """
    try:
        return (home / FILE_NAME).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PhoneError(
            f"The virtual phone's state in {home} could not be read: {error.strerror}.",
            "Make the file readable, or give another directory.",
        ) from error


def quarantine(home: Path) -> Path:
    """Set the state file aside under a name that is free, and return that name.

    Raises:
        PhoneError: it cannot be renamed.
    """
    source = home / FILE_NAME
    number = 1
    while (target := home / f"{FILE_NAME}.corrupt-{number}").exists():
        number += 1
    try:
        source.rename(target)
    except OSError as error:
        raise PhoneError(
            f"The damaged state file {source} could not be set aside: {error.strerror}.",
            "Move it away by hand.",
        ) from error
    return target
