"""Convert errno and SQLite codes into a StoreError with cause and remedy.

Raises nothing itself. Invariant: every message names the path, and the remedy for every condition
that an operator can fix.
"""

import errno
import sqlite3
from pathlib import Path

from agent.errors import StoreError, UnwritableError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM}

_ELSEWHERE = "point SWITCHBOARD_DATA_DIR at another directory"
_MAKE_ROOM = "Free some space there; the store then continues automatically."
_QUARANTINE = (
    "Nothing was changed. Restore it from a backup, or move it away and start with an empty store: "
    "switchboard store quarantine"
)


def from_os_error(error: OSError, path: Path) -> StoreError:
    """Return the StoreError for an operating system error on a path of the data directory."""
    number = error.errno
    if number in _FULL:
        return UnwritableError(f"{path} could not be written: {_full(number)}.", _MAKE_ROOM)
    if number == errno.EROFS:
        return UnwritableError(
            f"{path} is on a read-only file system.", f"Make it writable, or {_ELSEWHERE}."
        )
    if number in _REFUSED:
        return UnwritableError(
            f"{path} is not writable for this account.",
            f"Change its owner or mode, or {_ELSEWHERE}.",
        )
    if path.is_dir() and number in {errno.EEXIST, errno.EISDIR}:
        return a_folder(path)
    if number in {errno.ENOTDIR, errno.EEXIST, errno.EISDIR}:
        return StoreError(
            f"{path} cannot be used as a directory: it, or something above it, is a file.",
            f"Move that file away, or {_ELSEWHERE}.",
        )
    return StoreError(
        f"{path} could not be used: {error.strerror or error}.", f"Check the disk, or {_ELSEWHERE}."
    )


def from_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the StoreError for an SQLite error on a database file.

    The codes are those of https://www.sqlite.org/rescode.html; extended codes keep the primary one
    in their low byte.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    name = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    match code & 0xFF:
        case sqlite3.SQLITE_CANTOPEN if path.is_dir():
            return a_folder(path)
        case sqlite3.SQLITE_FULL:
            return UnwritableError(f"{path} could not be written: the disk is full.", _MAKE_ROOM)
        case sqlite3.SQLITE_IOERR:
            return UnwritableError(
                f"{path} could not be read or written ({name}): the disk is full, a file size "
                "limit is reached, or the disk fails.",
                "Free some space or lift the limit, then check the disk. The store then "
                "continues automatically.",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return UnwritableError(
                f"{path} is read-only.",
                f"Make the file and its directory writable, or {_ELSEWHERE}.",
            )
        case sqlite3.SQLITE_CANTOPEN:
            return UnwritableError(
                f"{path} could not be opened ({name}).",
                f"Check that its directory is writable and has free space, or {_ELSEWHERE}.",
            )
        case sqlite3.SQLITE_NOTADB:
            return StoreError(f"{path} is not an SQLite database.", _QUARANTINE)
        case sqlite3.SQLITE_CORRUPT:
            return StoreError(f"{path} is damaged: {error}.", _QUARANTINE)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(
                f"{path} is locked by another program.",
                "End the program that has the database open, then try again.",
            )
        case _:
            return StoreError(f"{path} refused a statement ({name}): {error}.")


def a_folder(path: Path) -> StoreError:
    """Return the StoreError for a folder in the place of a file."""
    return StoreError(
        f"{path} is a folder, and a file belongs there.", f"Move that folder away, or {_ELSEWHERE}."
    )


def _full(number: int | None) -> str:
    if number == errno.EFBIG:
        return "a file size limit is reached"
    if number == errno.EDQUOT:
        return "the disk quota is used up"
    return "the disk is full"
