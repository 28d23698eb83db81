"""Store frames, trees, prompts and replies as files named by their sha256.

What is stored stays until `drop`. Invariants: a file appears completely or not at all and survives
a power loss once `put` returned; `get` returns bytes with the requested digest. Everything here
blocks; the store calls it in a thread.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agent.errors import StoreError
from agent.store.changes.blob_refs import DIGEST, check_digest
from agent.store.database.sqlite_errors import from_os_error


class BlobFiles:
    """The files under one directory: `ab/cdef…` for the digest `abcdef…`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._incoming = directory / "incoming"

    def prepare(self) -> None:
        """Create the directories, and remove a crash's partial files. Raises StoreError."""
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            self._incoming.mkdir(mode=0o700, exist_ok=True)
            for leftover in self._incoming.iterdir():
                leftover.unlink()
        except OSError as error:
            raise from_os_error(error, self._directory) from error

    def path_of(self, digest: str) -> Path:
        """Return a blob's path. Raises UsageError unless the digest is a sha256 in lower-case
        hex.
        """
        check_digest(digest)
        return self._directory / digest[:2] / digest[2:]

    def put(self, data: bytes) -> str:
        """Store bytes durably and return their digest; the same bytes are stored once.

        Raises StoreError.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self.path_of(digest)
        try:
            if not _holds(path, data):
                self._write(path, data)
        except OSError as error:
            raise from_os_error(error, path) from error
        return digest

    def get(self, digest: str) -> bytes:
        """Read a blob.

        Raises:
            UsageError: the digest is invalid.
            StoreError: it is gone, unreadable, or its content has changed.
        """
        path = self.path_of(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise StoreError(
                f"Blob {digest} is gone.",
                "Retention or a deletion dropped it, or it was never stored.",
            ) from error
        except OSError as error:
            raise from_os_error(error, path) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(
                f"Blob {digest} is damaged: {path} does not contain what was stored.",
                "Check the disk; the event that refers to it is intact.",
            )
        return data

    def drop(self, digests: Iterable[str]) -> None:
        """Delete blobs; a missing one is ignored. Raises StoreError."""
        for digest in digests:
            path = self.path_of(digest)
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise from_os_error(error, path) from error

    def digests(self) -> Iterator[str]:
        """List the digests of all files, in no order. Raises StoreError."""
        try:
            for folder in self._directory.iterdir():
                if len(folder.name) == 2 and folder.is_dir():
                    for path in folder.iterdir():
                        if DIGEST.fullmatch(digest := folder.name + path.name):
                            yield digest
        except OSError as error:
            raise from_os_error(error, self._directory) from error

    def size_bytes(self) -> int:
        """Return the size of all files in bytes. Raises StoreError."""
        if not self._directory.is_dir():
            return 0
        size = 0
        for digest in self.digests():
            # One that goes meanwhile takes nothing.
            with suppress(FileNotFoundError):
                size += self.path_of(digest).stat().st_size
        return size

    def _write(self, path: Path, data: bytes) -> None:
        is_new = not path.parent.is_dir()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        part = self._incoming / f"{path.parent.name}{path.name[:16]}-{secrets.token_hex(8)}"
        try:
            with open(part, "xb", opener=_open_private) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_directory(path.parent)
        if is_new:
            _sync_directory(self._directory)


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file already has exactly these bytes; a damaged one is rewritten."""
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
