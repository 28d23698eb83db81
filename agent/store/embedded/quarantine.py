"""Move a damaged database, or the whole store, away; only on the operator's command.

Invariant: nothing is deleted; blobs stay where they are, since their names are their content,
unless the operator starts over without the old store.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from agent.errors import UsageError
from agent.store.database.database import check_ours, metadata_of, open_for_reading
from agent.store.database.identity import (
    MARK_NAME,
    SEARCH_NAME,
    Mark,
    disagreements,
    indexed_until,
    mark_all,
    remains,
    write_mark,
)
from agent.store.database.lock import DirectoryLock
from agent.store.database.sqlite_errors import from_os_error
from agent.store.embedded.sqlite_store import DATABASE_NAME


def quarantine(directory: Path, *, fleet_store: str = "") -> Path:
    """Move the database and its companion files into a new directory beside them; returns it.

    Args:
        fleet_store: the identity of the store in a fleet's database that the directory belongs to
            from now on; empty: the next start makes an empty store.

    Raises:
        StoreError: another process owns the directory, or it cannot be written.
        UsageError: there is no database.
    """
    lock = DirectoryLock.take(directory)
    try:
        files = [
            path
            for name in (DATABASE_NAME, SEARCH_NAME)
            for ending in ("", "-wal", "-shm")
            if (path := directory / f"{name}{ending}").exists()
        ]
        if not files:
            raise UsageError(f"There is no database in {directory}.")
        return _move_aside(directory, files, Mark(store=fleet_store, is_fleet=bool(fleet_store)))
    finally:
        lock.release()


def reset(directory: Path) -> Path:
    """Move all remains of a store, with blobs and audit, into a new directory; returns it.

    Raises:
        StoreError: another process owns the directory, or it cannot be written.
        UsageError: the directory has nothing of a store.
    """
    lock = DirectoryLock.take(directory)
    try:
        names = [
            f"{name}{ending}"
            for name in (DATABASE_NAME, SEARCH_NAME)
            for ending in ("", "-wal", "-shm")
        ]
        found = [directory / name for name in (*names, MARK_NAME, "blobs", "audit")]
        files = [path for path in found if path.exists()]
        if not files:
            raise UsageError(f"There is no part of a store in {directory}.")
        return _move_aside(directory, files, Mark())
    finally:
        lock.release()


async def adopt(directory: Path) -> tuple[str, ...]:
    """Accept the database and everything beside it as one store from now on.

    Returns:
        The previous mismatches, in sentences.

    Raises:
        StoreError: another process owns the directory, or the database cannot be used.
        UsageError: there is no database.
    """
    path = directory / DATABASE_NAME
    if not path.is_file() or not path.stat().st_size:
        left = ", ".join(remains(directory)) or "nothing"
        raise UsageError(
            f"There is no database in {directory}; {left} of it is there.",
            "Restore it, or start with an empty store: switchboard store reset",
        )
    lock = DirectoryLock.take(directory)
    try:
        database = await open_for_reading(path)
        try:
            await check_ours(database)
            standing = await metadata_of(database)
        finally:
            await database.close()
        wrong = disagreements(directory, standing)
        if indexed_until(directory) > standing.events:
            (directory / SEARCH_NAME).unlink(missing_ok=True)
        # A database from before identities gets one at its next start.
        mark_all(directory, standing)
        return wrong
    finally:
        lock.release()


def _move_aside(directory: Path, files: Sequence[Path], mark: Mark) -> Path:
    """Move files into a new directory, and write the mark that the next start finds."""
    aside = directory / f"quarantine-{time.strftime('%Y%m%dT%H%M%S')}-{time.time_ns() % 10**9}"
    try:
        aside.mkdir(mode=0o700)
        for path in files:
            path.rename(aside / path.name)
    except OSError as error:
        raise from_os_error(error, aside) from error
    write_mark(directory, mark)
    return aside
