"""The key with which an operator's warrants are signed, a file of the data directory.

Invariants: the file is the user's alone (mode 600); a key that others may read, or that is not
whole, signs and proves nothing.
"""

import os
import secrets
import stat
from pathlib import Path

from agent.errors import ConfigError

FILE_NAME = "warrant.key"
_BYTES = 32


class WarrantKey:
    """The key of one data directory, read from its file each time."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE_NAME

    def read(self) -> bytes:
        """Return it; a new one is made where there is none yet.

        Raises:
            ConfigError: it cannot be read or written, others may read it, or it is not whole.
        """
        try:
            with self.path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                key = file.read(_BYTES + 1)
        except FileNotFoundError:
            return self._made()
        except OSError as error:
            raise ConfigError(
                f"The key of the warrants, {self.path}, cannot be read: {error.strerror or error}.",
                "Make it yours to read, or remove it: every warrant is void then.",
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"Others may read {self.path}.", f"Run: chmod 600 '{self.path}'")
        if len(key) != _BYTES:
            raise ConfigError(
                f"The key of the warrants, {self.path}, is not whole.",
                "Remove it: every warrant is void then, and new ones can be signed.",
            )
        return key

    def _made(self) -> bytes:
        key = secrets.token_bytes(_BYTES)
        part = self.path.with_name(f".{FILE_NAME}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(key)
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                "Make the data directory yours to write.",
            ) from error
        return key
