"""What was chosen in the palette before, newest first, kept over restarts.

Holds the names of entries alone, never what was typed: a typed goal may hold a secret that only
the core knows to take out. Invariant: a file that cannot be read or written costs the order only.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

FILE_NAME = "palette.json"
MOST = 50
_MOST_BYTES = 64_000
_MOST_CHARS = 200
_log = logging.getLogger(__name__)


class Recent:
    """The last entries that were chosen.

    Args:
        data_dir: where they are kept; None keeps them for this console only.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self._path = None if data_dir is None else data_dir / FILE_NAME
        self._keys = self._read()

    @property
    def places(self) -> dict[str, int]:
        """The place of each entry by its key, 0 for the one that was chosen last."""
        return {key: at for at, key in enumerate(self._keys)}

    def note(self, key: str) -> None:
        """Put an entry first, and keep the list."""
        self._keys = [key, *(one for one in self._keys if one != key)][:MOST]
        if self._path is None:
            return
        partial = self._path.with_name(f".{FILE_NAME}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self._keys))
            partial.replace(self._path)
        except OSError as error:
            _log.warning("The palette's last entries could not be kept: %s", error)

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            with self._path.open("rb") as file:
                keys = msgspec.json.decode(file.read(_MOST_BYTES), type=list[str])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("The palette's last entries could not be read: %s", error)
            return []
        return [key for key in keys[:MOST] if len(key) <= _MOST_CHARS]
