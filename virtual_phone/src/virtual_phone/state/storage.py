"""The phone's shared storage as apps see it: the files below /sdcard, and those a new phone has.

The same files as the shell's and `adb push`'s (`userland.files`), on the host below the phone's
home. Not the private data of apps. Invariant: a link is never followed and never shown, so no path
of an app leads out of the phone's directory.
"""

import errno
import os
import shutil
import stat as modes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from virtual_phone.errors import PhoneError

FOLDERS = (
    "Alarms",
    "Android",
    "Audiobooks",
    "DCIM",
    "Documents",
    "Download",
    "Movies",
    "Music",
    "Notifications",
    "Pictures",
    "Podcasts",
    "Recordings",
    "Ringtones",
)
PICTURES = frozenset({"png", "jpg", "jpeg", "webp", "gif", "bmp"})
MAX_SHOWN = 5000  # How many files apps look at; a phone with more shows the first ones.


@dataclass(frozen=True, slots=True)
class FirstFile:
    """A file of a new phone: its path, its bytes, and when it was changed (seconds since 1970)."""

    path: str
    content: Callable[[], bytes]
    modified: float


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file or folder: path below the storage, size in bytes, changed in seconds since 1970."""

    path: str
    size: int
    modified: float
    folder: bool

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """What stands behind the name's last dot, in small letters."""
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""


class SharedStorage:
    """Read and change the files of one phone's shared storage.

    Args:
        root: the directory on the host; made with its first files when first looked at.
        first: returns the files of a new phone.
        changed: is told when files changed.
    """

    def __init__(
        self, root: Path, first: Callable[[], list[FirstFile]], changed: Callable[[], None]
    ) -> None:
        self._root = root
        self._first = first
        self.changed = changed
        self.full: Callable[[], bool] = lambda: False
        """Says whether there is no room left."""

    def furnish(self) -> None:
        """Make the folders and files of a new phone, unless there are some; raise OSError."""
        if self._root.is_dir():
            return
        making = self._root.with_name(f"{self._root.name}.new")
        shutil.rmtree(making, ignore_errors=True)
        for name in FOLDERS:
            (making / name).mkdir(parents=True)
        folders: set[Path] = set()
        newest = 0.0
        for file in self._first():
            path = making / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content())
            os.utime(path, (file.modified, file.modified))
            folders.add(path.parent)
            newest = max(newest, file.modified)
        for name in FOLDERS:
            os.utime(making / name, (newest, newest))
        for folder in sorted(folders, reverse=True):
            os.utime(folder, (newest, newest))
        making.rename(self._root)

    def inside(self, folder: str = "") -> list[StoredFile]:
        """Return what is in a folder, by name; nothing where there is no such folder."""
        try:
            place = self._place(folder)
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except (OSError, PhoneError):
            return []
        found = (self._stored(f"{folder}/{one.name}".lstrip("/"), one) for one in entries)
        return [one for one in found if one is not None][:MAX_SHOWN]

    def walk(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every file below a folder, those in hidden folders left out."""
        pending, count = [folder], 0
        while pending and count < MAX_SHOWN:
            for one in self.inside(pending.pop()):
                if one.name.startswith("."):
                    continue
                count += 1
                yield one
                if one.folder:
                    pending.append(one.path)

    def pictures(self) -> list[StoredFile]:
        """Return the pictures, the newest first."""
        found = [f for f in self.walk() if not f.folder and f.suffix in PICTURES]
        return sorted(found, key=lambda f: (-f.modified, f.path))

    def find(self, path: str) -> StoredFile | None:
        """Return one file, or None where there is none."""
        return next((f for f in self.inside(path.rpartition("/")[0]) if f.path == path), None)

    def open_path(self, path: str) -> Path:
        """Return where a regular file lies on the host.

        Raises:
            PhoneError: it is not there, or a link.
        """
        place = self._place(path)
        if not place.is_file():
            raise PhoneError(f"{path} is not a file.", "Choose another one.")
        return place

    def write(self, path: str, data: bytes, modified: float) -> None:
        """Write a file, with its folder where that is missing.

        Raises:
            PhoneError: there is no room, or the path is not one of this storage.
        """
        if self.full():
            raise PhoneError("Not enough storage space.", "Delete some files.")
        with _os_errors_as_phone_errors(path):
            place = self._place(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(place, flags, 0o660), "wb") as file:
                file.write(data)
            os.utime(place, (modified, modified))
        self.changed()

    def make_folder(self, path: str) -> None:
        """Make a folder; raise PhoneError when the name is taken."""
        with _os_errors_as_phone_errors(path):
            self._place(path).mkdir()
        self.changed()

    def rename(self, path: str, to: str) -> None:
        """Rename a file or folder. Raises PhoneError when the name is taken."""
        with _os_errors_as_phone_errors(to):
            start, end = self._place(path), self._place(to)
            if end.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            start.rename(end)
        self.changed()

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; raise PhoneError."""
        if not path:
            raise PhoneError("The storage itself cannot be deleted.", "Choose a file in it.")
        with _os_errors_as_phone_errors(path):
            place = self._place(path)
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink()
        self.changed()

    def _place(self, path: str) -> Path:
        self.furnish()
        place = self._root
        for part in PurePosixPath(path).parts:
            if part in ("/", "..") or "\0" in part or place.is_symlink():
                raise PhoneError(f"There is no {path} on this phone.", "Choose another file.")
            place /= part
        if place.is_symlink():
            raise PhoneError(f"{path} is a link.", "Choose another file.")
        return place

    def _stored(self, path: str, entry: os.DirEntry[str]) -> StoredFile | None:
        try:
            raw = entry.stat(follow_symlinks=False)
        except OSError:
            return None
        folder = modes.S_ISDIR(raw.st_mode)
        if not folder and not modes.S_ISREG(raw.st_mode):
            return None
        return StoredFile(path, 0 if folder else raw.st_size, raw.st_mtime, folder)


class _os_errors_as_phone_errors:
    """Turn an OSError of a block into a PhoneError that names the file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileExistsError):
            raise PhoneError("That name is taken", "Choose another name.") from error
        if isinstance(error, OSError):
            raise PhoneError(
                f"{self._path}: {error.strerror}", "Choose another file or name."
            ) from error
