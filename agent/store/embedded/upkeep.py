"""Check and compact a store that no process uses.

Damage is reported, and moved away only on the operator's command
(`agent.store.embedded.quarantine`). Invariants: a check changes nothing; a compaction changes no
record.
"""

import asyncio
from pathlib import Path

import msgspec

from agent.errors import StoreError, StoreGoneError, UsageError
from agent.store.changes.row_codec import as_int, as_text
from agent.store.database.database import Database, check_ours, metadata_of, open_for_reading
from agent.store.database.identity import SEARCH_NAME, disagreements, remains
from agent.store.database.lock import DirectoryLock
from agent.store.database.sqlite_errors import a_folder
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from agent.store.queries.integrity import MOST_FINDINGS, IntegrityReport, gaps, unreadable


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a compaction."""

    before_bytes: int
    after_bytes: int
    blobs: int  # Dropped because no event names them.
    stray_files: int  # Dropped because no row knows them.


async def check(directory: Path) -> IntegrityReport:
    """Read the whole store and report damage.

    Raises:
        StoreError: another process owns it, or it cannot even be opened.
        UsageError: there is none.
    """
    path = _existing_database(directory)
    lock = DirectoryLock.take(directory)
    try:
        database = await open_for_reading(path)
        try:
            return await _checked(database, directory)
        finally:
            await database.close()
    finally:
        lock.release()


async def compact(directory: Path) -> Compacted:
    """Drop unnamed blobs, and return free space to the file system.

    Raises:
        StoreError: another process owns it, it is damaged, or there is no room for the copy that
            SQLite makes.
        UsageError: there is none.
    """
    path = _existing_database(directory)
    before = _size(directory)
    async with SqliteStore.open(directory) as store:
        collected = await store.blobs.collect()
        strays = await store.blobs.sweep()
    lock = DirectoryLock.take(directory)
    try:
        for name in (path, directory / SEARCH_NAME):
            if name.exists():
                await _vacuum(name)
    finally:
        lock.release()
    return Compacted(
        before_bytes=before, after_bytes=_size(directory), blobs=collected.blobs, stray_files=strays
    )


async def _vacuum(path: Path) -> None:
    database = await Database.connect(path)
    try:
        await database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        await database.run("VACUUM")
        await database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        await database.close()


async def _checked(database: Database, directory: Path) -> IntegrityReport:
    findings: list[str] = []
    try:
        await check_ours(database)
        standing = await metadata_of(database)
        findings += disagreements(directory, standing)
        if not standing.epoch:
            findings.append(f"{database.path} holds no store.")
    except StoreError as error:
        findings.append(error.message)
    findings += [
        f"SQLite: {as_text(said)}"
        for (said,) in await database.rows(f"PRAGMA integrity_check({MOST_FINDINGS})")
        if said != "ok"
    ]
    if not findings:
        findings += await unreadable(database)
        findings += await gaps(database)
        findings += await _absent_blobs(database, directory)
    counts: list[int] = []
    for table in ("event", "session", "blob"):
        try:
            [(count,)] = await database.rows(f"SELECT count(*) FROM {table}")
            counts.append(as_int(count))
        except StoreError as error:
            findings.append(error.message)
            counts.append(0)
    return IntegrityReport(
        events=counts[0],
        sessions=counts[1],
        blobs=counts[2],
        size_bytes=_size(directory),
        findings=tuple(findings[:MOST_FINDINGS]),
    )


async def _absent_blobs(database: Database, directory: Path) -> list[str]:
    files = BlobFiles(directory / "blobs")
    rows = await database.rows("SELECT digest FROM blob")
    digests = [as_text(digest) for (digest,) in rows]
    absent = await asyncio.to_thread(
        lambda: [digest for digest in digests if not files.path_of(digest).is_file()]
    )
    return [f"Blob {digest} is gone: its file is not there." for digest in absent]


def _existing_database(directory: Path) -> Path:
    path = directory / DATABASE_NAME
    left = remains(directory)
    if not path.is_file() and left:
        raise StoreGoneError(
            f"{path} is gone; what belongs to it is still there: {', '.join(left)}.",
            "Restore it, or start with an empty store: switchboard store reset",
        )
    if path.is_dir():
        raise a_folder(path)
    if not path.is_file():
        raise UsageError(f"There is no store in {directory}.")
    return path


def _size(directory: Path) -> int:
    """Return the total size of the store's files."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
