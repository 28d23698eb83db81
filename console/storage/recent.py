"""What was chosen in the palette before, newest first, kept over restarts.

Holds the names of entries alone, never what was typed: a typed goal may hold a secret that only
the core knows to take out. Invariant: a file that cannot be read or written costs the order only.
"""

import logging
from pathlib import Path

import msgspec

from console.storage.short_list import MOST, read_short_list, write_short_list

FILE_NAME = "palette.json"
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
        try:
            write_short_list(self._path, self._keys)
        except OSError as error:
            _log.warning("The palette's last entries could not be kept: %s", error)

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            return read_short_list(self._path)
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("The palette's last entries could not be read: %s", error)
            return []
