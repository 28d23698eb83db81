"""Storage that phones of a process share until one of them writes: its files are copied then.

Invariants: the files that are shared are never written again once they are made; a phone that was
rewound has none of its own.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from virtual_phone.state.storage import FirstFile, SharedStorage, StoredFile

_making = threading.Lock()


def _no_change() -> None:
    return None


class FirstFiles:
    """The files of a new phone, made once below a folder."""

    def __init__(self, folder: Path, first: Callable[[], list[FirstFile]]) -> None:
        self.root = folder / "first-files"
        self._first = first
        self._walked: list[StoredFile] | None = None

    def make(self) -> Path:
        """Return where they are. Raises OSError."""
        if not self.root.is_dir():
            with _making:
                SharedStorage(self.root, self._first, _no_change).furnish()
        return self.root

    def walk(self) -> list[StoredFile]:
        """Return all of them, as `SharedStorage.walk` does."""
        if self._walked is None:
            self.make()
            self._walked = list(SharedStorage(self.root, self._first, _no_change).walk())
        return self._walked


class CopiedOnWrite(SharedStorage):
    """The storage of a phone that has the first files until it changes one.

    Args:
        own: where its own files are, once there are some.
        first: those that it shares.
        changed: is told when files changed.
    """

    def __init__(self, own: Path, first: FirstFiles, changed: Callable[[], None]) -> None:
        super().__init__(first.root, list, changed)
        self._own = own
        self._shared = first

    def furnish(self) -> None:
        """Make the files of a new phone, unless there are some; raise OSError."""
        if self._root is not self._own:
            self._shared.make()
        else:
            super().furnish()

    def walk(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every file below a folder, those in hidden folders left out."""
        if self._root is not self._own and not folder:
            return iter(self._shared.walk())
        return super().walk(folder)

    def take_own(self) -> None:
        """Have files of its own from now on: copies of the shared ones. Raises OSError."""
        if self._root is self._own:
            return
        if not self._own.is_dir():
            making = self._own.with_name(f"{self._own.name}.new")
            shutil.rmtree(making, ignore_errors=True)
            making.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(self._shared.make(), making)
            making.rename(self._own)
        self._root = self._own

    def rewind(self) -> None:
        """Share the first files again. Raises OSError."""
        self._root = self._shared.root
        if self._own.parent.is_dir():
            shutil.rmtree(self._own.parent)

    def write(self, path: str, data: bytes, modified: float) -> None:
        """Write a file; see `SharedStorage.write`."""
        self.take_own()
        super().write(path, data, modified)

    def make_folder(self, path: str) -> None:
        """Make a folder; see `SharedStorage.make_folder`."""
        self.take_own()
        super().make_folder(path)

    def rename(self, path: str, to: str) -> None:
        """Rename a file; see `SharedStorage.rename`."""
        self.take_own()
        super().rename(path, to)

    def delete(self, path: str) -> None:
        """Delete a file; see `SharedStorage.delete`."""
        self.take_own()
        super().delete(path)
