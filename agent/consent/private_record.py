"""One JSON file of this user alone: written whole or not at all, read strictly.

Invariant: a file that others may read is refused, since what is in it may be known or theirs.
"""

import fcntl
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from agent.errors import ConfigError

T = TypeVar("T")


class PrivateRecord(Generic[T]):
    """A record in a file of mode 600.

    Args:
        path: of the file.
        kind: the record's type.
        what: what it holds, for people, as "The tokens".
        remedy: what to do where it cannot be read.
    """

    def __init__(self, path: Path, kind: type[T], *, what: str, remedy: str) -> None:
        self.path = path
        self._kind = kind
        self._what = what
        self._remedy = remedy

    def read(self) -> T | None:
        """Return the record; None without a file. Raises ConfigError: it cannot be used."""
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                found = msgspec.json.decode(file.read(), type=self._kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{self._what} in {self.path} cannot be read: {error}.", self._remedy
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"Others may read {self.path}.", f"Run: chmod 600 '{self.path}'")
        return found

    def write(self, record: T) -> None:
        """Store a record in place of the one before. Raises ConfigError."""
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(record))
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Make the data directory yours to write.",
            ) from error

    def change(self, changed: Callable[[T | None], T]) -> None:
        """Store what a record becomes, while no other process changes it.

        Raises:
            ConfigError: it cannot be read or written; and what `changed` raises.
        """
        lock = self.path.with_name(f".{self.path.name}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise ConfigError(
                f"{lock} cannot be written: {error.strerror or error}.",
                "Make the data directory yours to write.",
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self.write(changed(self.read()))
        finally:
            os.close(descriptor)
