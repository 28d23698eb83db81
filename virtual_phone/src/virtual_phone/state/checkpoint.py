"""A phone's whole content at one moment, apps and files, to go back to within milliseconds.

`Phone.snapshot` is the state alone; this also holds what lies on /sdcard and /data/local/tmp.
Kept in memory, or in a file. Invariant: going back writes only files that differ, afterwards each
is what it was, with its mode and time, and nothing outside the phone's files was touched.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat as modes
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from virtual_phone.errors import PhoneError
from virtual_phone.well_formed import well_formed

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

LARGEST_BYTES = 256 * 1024 * 1024


class KeptFile(msgspec.Struct, frozen=True):
    """A file, folder or link: path below the phone's files, full mode, time in nanoseconds.

    JSON has no room for a path that is no UTF-8: `raw_path` is its bytes then.
    """

    path: str
    mode: int
    modified_ns: int
    content: bytes = b""  # A file's bytes, or the text of a link.
    raw_path: bytes = b""

    @property
    def place(self) -> str:
        """Where it lies below the phone's files, to the byte."""
        return os.fsdecode(self.raw_path) if self.raw_path else self.path


class Checkpoint(msgspec.Struct, frozen=True):
    """A phone's state and its files; no files at all when none had been looked at yet."""

    state: bytes
    files: tuple[KeptFile, ...]


def take(phone: Phone) -> Checkpoint:
    """Return what a phone holds now.

    Raises:
        PhoneError: its files are too large to keep, or cannot be read.
    """
    root = phone.home / "files"
    kept: list[KeptFile] = []
    left = LARGEST_BYTES
    try:
        for path, facts in _walk(root):
            content = b""
            if modes.S_ISREG(facts.st_mode):
                left -= facts.st_size
                if left < 0:
                    raise PhoneError(
                        f"The files of {phone.name} are larger than {LARGEST_BYTES} bytes.",
                        "Delete large files from the phone before you keep its content.",
                    )
                content = path.read_bytes()
            elif modes.S_ISLNK(facts.st_mode):
                content = os.fsencode(path.readlink())
            name = str(path.relative_to(root))
            text = well_formed(name)
            raw = os.fsencode(name) if text != name else b""
            kept.append(KeptFile(text, facts.st_mode, facts.st_mtime_ns, content, raw))
    except OSError as error:
        raise _failed(phone, error) from error
    return Checkpoint(phone.snapshot(), tuple(kept))


def go_back(phone: Phone, to: Checkpoint) -> None:
    """Put a phone's state and files back to a checkpoint.

    Raises:
        PhoneError: the state cannot be read, or the files cannot be written.
    """
    phone.restore(to.state)
    root = phone.home / "files"
    wanted = {one.place: one for one in to.files}
    try:
        for path, facts in sorted(_walk(root), reverse=True):
            one = wanted.get(str(path.relative_to(root)))
            if one is None or modes.S_IFMT(one.mode) != modes.S_IFMT(facts.st_mode):
                _remove(path, facts)
        if not wanted:
            shutil.rmtree(root, ignore_errors=True)
        for one in to.files:
            _put(root / one.place, one)
        for one in reversed(to.files):
            if not modes.S_ISLNK(one.mode):
                os.utime(root / one.place, ns=(one.modified_ns, one.modified_ns))
    except OSError as error:
        raise _failed(phone, error) from error
    phone.invalidate()


def packed(kept: Checkpoint) -> bytes:
    """Return a checkpoint as a file of it holds it: gzip of JSON."""
    return gzip.compress(msgspec.json.encode(kept), compresslevel=1)


def write(kept: Checkpoint, path: Path) -> None:
    """Write a checkpoint to a file that only this user can read: gzip of JSON.

    Raises:
        PhoneError: the file cannot be written.
    """
    data = packed(kept)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise PhoneError(
            f"The snapshot {path} cannot be written: {error.strerror}.",
            "Choose a folder that can be written, on a disk that has room.",
        ) from error


def read(path: Path) -> Checkpoint:
    """Return what `write` wrote.

    Raises:
        PhoneError: there is no such file, or it is no snapshot.
    """
    try:
        with path.open("rb") as file:
            return unpacked(file, str(path))
    except FileNotFoundError:
        raise PhoneError(
            f"There is no snapshot {path}.", "Take one first, or name another file."
        ) from None
    except OSError as error:
        raise PhoneError(f"{path} is no snapshot of a phone: {error}.", "Name another file.") from (
            error
        )


def unpacked(source: BinaryIO, name: str) -> Checkpoint:
    """Return what `packed` made.

    Args:
        source: its bytes; anybody's.
        name: what an error calls it.

    Raises:
        PhoneError: it is no snapshot, is too large, or names a file outside of the phone.
    """
    try:
        with gzip.open(source) as file:
            data = file.read(2 * LARGEST_BYTES + 1)
        if len(data) > 2 * LARGEST_BYTES:
            raise PhoneError(f"{name} is too large for a snapshot.", "Name another file.")
        kept = msgspec.json.decode(data, type=Checkpoint)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PhoneError(f"{name} is no snapshot of a phone: {error}.", "Name another file.") from (
            error
        )
    links = {Path(one.place) for one in kept.files if modes.S_ISLNK(one.mode)}
    for one in kept.files:
        place = Path(one.place)
        if place.is_absolute() or ".." in place.parts or not links.isdisjoint(place.parents):
            raise PhoneError(
                f"{name} names a file outside of the phone: {one.path}.", "Name another file."
            )
    return kept


def _walk(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield everything below a directory, each folder before what is in it, no link followed."""
    pending = [root] if root.is_dir() else []
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                facts = entry.stat(follow_symlinks=False)
                yield Path(entry.path), facts
                if modes.S_ISDIR(facts.st_mode):
                    pending.append(Path(entry.path))


def _put(path: Path, one: KeptFile) -> None:
    """Make one file what it was, unless it still is."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        facts = None
    if modes.S_ISDIR(one.mode):
        if facts is None:
            path.mkdir(parents=True, exist_ok=True)
        path.chmod(modes.S_IMODE(one.mode))
        return
    if modes.S_ISLNK(one.mode):
        target = os.fsdecode(one.content)
        if facts is None or str(path.readlink()) != target:
            path.unlink(missing_ok=True)
            path.symlink_to(target)
        return
    same = facts is not None and (facts.st_size, facts.st_mtime_ns) == (
        len(one.content),
        one.modified_ns,
    )
    if not same:
        if facts is not None:
            # A new file: what has the old one open, or another name of it, keeps its bytes.
            path.unlink()
        path.write_bytes(one.content)
    path.chmod(modes.S_IMODE(one.mode))


def _remove(path: Path, facts: os.stat_result) -> None:
    if modes.S_ISDIR(facts.st_mode):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _failed(phone: Phone, error: OSError) -> PhoneError:
    return PhoneError(
        f"The files of {phone.name} cannot be kept or put back: {error.strerror}.",
        "Check who owns the phone's directory, and that its disk has room.",
    )
