"""The filters that the operator saved: a small file in the data directory.

Invariant: a file that cannot be read or written loses no session; it is said, and the filters last
until the console is left.
"""

from pathlib import Path

import msgspec

from agent.errors import StoreError
from console.storage.short_list import MOST, MOST_CHARS, read_short_list, write_short_list

FILE_NAME = "history-filters.json"


class SavedFilters:
    """The saved filters, the newest first.

    Args:
        data_dir: where they are kept; None keeps them for this console only.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self._path = None if data_dir is None else data_dir / FILE_NAME
        self._texts: list[str] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What was saved. Raises StoreError where it cannot be read."""
        if self._texts is None:
            self._texts = []
            self._texts = self._read()
        return tuple(self._texts)

    def toggle(self, text: str) -> bool:
        """Save a filter, or forget one that is saved; returns whether it is saved now.

        Raises StoreError where that cannot be kept.
        """
        before = [one for one in self.texts if one != text]
        is_saved = len(before) == len(self.texts)
        self._texts = ([text[:MOST_CHARS], *before] if is_saved else before)[:MOST]
        self._write()
        return is_saved

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            return read_short_list(self._path)
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(
                f"{self._path} cannot be read: {error}.", "Correct or remove it."
            ) from error

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            write_short_list(self._path, self._texts or [])
        except OSError as error:
            raise StoreError(
                f"{self._path} could not be written: {error.strerror or error}.",
                "The filter lasts until you leave.",
            ) from error
