"""What a dataset's folder holds and what each file's bytes are: `dataset.json`.

Invariants: a file that the manifest names is whole and synced; whatever else lies there is a
leftover of an export that was broken off; a name in it never leads out of the folder.
"""

import hashlib
import os
import re
from pathlib import Path

import msgspec

from agent.errors import StoreError, UsageError

NAME = "dataset.json"
MOST_BYTES = 1 << 28
_CHUNK = 1 << 20
_PATH = re.compile(r"(episodes|steps|events|blobs)/part-\d{5,9}\.parquet")


class DatasetFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the dataset, as a reader checks it."""

    path: str  # Below the folder, with slashes.
    rows: int
    size_bytes: int
    sha256: str


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Some episodes: a file of each table."""

    episodes: tuple[str, ...]  # Their ids, in the order of their rows.
    files: tuple[DatasetFile, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All parts, in order."""

    format: int
    parts: tuple[Part, ...] = ()
    missing_blobs: int = 0  # Bytes that an event names and the store no longer had.

    @property
    def episodes(self) -> tuple[str, ...]:
        """The ids of all episodes, in order."""
        return tuple(name for part in self.parts for name in part.episodes)

    def rows(self, table: str) -> int:
        return sum(
            file.rows
            for part in self.parts
            for file in part.files
            if file.path.startswith(f"{table}/")
        )


def read_manifest(folder: Path, *, newest: int) -> Manifest | None:
    """Read a folder's manifest; None where there is none.

    Args:
        folder: the dataset's.
        newest: the newest format that is understood.

    Raises:
        UsageError: it is broken, of a newer format, or names a file outside the folder.
    """
    path = folder / NAME
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB.", _REMEDY)
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not the manifest of a dataset: {error}.", _REMEDY) from error
    if manifest.format > newest:
        raise UsageError(
            f"{path} is of format {manifest.format}; this Switchboard reads up to {newest}.",
            "Upgrade Switchboard.",
        )
    for part in manifest.parts:
        for file in part.files:
            if not _PATH.fullmatch(file.path):
                raise UsageError(f"{path} names the file {file.path[:120]!r}.", _REMEDY)
    return manifest


_REMEDY = "Name a folder that `switchboard dataset export` wrote."


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest whole, or not at all. Raises StoreError."""
    write_whole(folder / NAME, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is the old one or the new one, synced. Raises StoreError."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror}.",
            "Name a writable folder with free space.",
        ) from error


def file_of(folder: Path, path: Path, rows: int) -> DatasetFile:
    """Describe a file that was written. Raises OSError."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
        os.fsync(file.fileno())
    return DatasetFile(
        path=path.relative_to(folder).as_posix(),
        rows=rows,
        size_bytes=size,
        sha256=digest.hexdigest(),
    )


def check_file(folder: Path, wanted: DatasetFile) -> None:
    """Compare a file with its checksum. Raises UsageError where it is gone or another."""
    try:
        found = file_of(folder, folder / wanted.path, wanted.rows)
    except OSError as error:
        raise UsageError(
            f"{folder / wanted.path} cannot be read: {error.strerror}.", _REMEDY
        ) from error
    if found != wanted:
        raise UsageError(
            f"{folder / wanted.path} is not the file that {NAME} names: its checksum differs.",
            "Copy the dataset again, or export it again.",
        )
