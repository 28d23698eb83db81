"""Open a core's store in a fleet's database, with the data directory that belongs to it.

The directory keeps data of this host alone: the socket, logs, the audit, phones, and a mark with
the store's identity and newest event. Invariants: one process owns the directory, one core the
host's name; a directory is not used with another store, nor with an older copy, without the
operator's command.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

from agent.errors import StoreGoneError
from agent.store.changes.row_codec import as_int
from agent.store.database.identity import (
    DatabaseMetadata,
    Mark,
    check_has_no_database,
    mark_all,
    parts_of,
    read_mark,
)
from agent.store.database.lock import DirectoryLock, make_directory
from agent.store.postgres.bucket import Bucket
from agent.store.postgres.link import Link
from agent.store.postgres.opening import Core, open_records, put_back
from agent.store.postgres.postgres_store import PostgresStore

ADOPT = "Restore what belongs together, or take it as it is: switchboard store adopt"


@asynccontextmanager
async def open_core(
    dsn: str, host: str, directory: Path, *, adopts: bool = False, bucket: Bucket | None = None
) -> AsyncIterator[PostgresStore]:
    """Own a data directory and be a host's core on a database for the length of a `with` block.

    Args:
        dsn: see `PostgresStore.open`.
        host: the name of this computer.
        directory: made where it is not there.
        adopts: whether the database is taken as it is, whichever this directory knows.
        bucket: see `PostgresStore.open`.

    Raises:
        StoreError: see `PostgresStore.open`; or the directory is in use, or another store's.
        StoreGoneError: the database is not the one that belongs to the directory.
        ConfigError: other users of the computer may write the directory.
    """
    check_has_no_database(directory)
    make_directory(directory)
    lock = DirectoryLock.take(directory)
    try:
        mark = Mark() if adopts else read_mark(directory) or Mark()
        core = Core(events=mark.events, adopts=adopts)
        expected = "" if adopts else _expected(directory)
        opening = PostgresStore.open(dsn, host, expected=expected, core=core, bucket=bucket)
        async with opening as store:
            _leave_mark(directory, store, mark.events)
            yield store
            _leave_mark(directory, store, store.newest_event_id)
    finally:
        lock.release()


@asynccontextmanager
async def open_guest(
    dsn: str, host: str, directory: Path, *, bucket: Bucket | None = None
) -> AsyncIterator[PostgresStore]:
    """Own a data directory and use a database as a guest, to which nothing belongs, for the length
    of a `with` block. See `open_core`.

    Args:
        host: the name of this computer, whose host is another process.
    """
    check_has_no_database(directory)
    make_directory(directory)
    lock = DirectoryLock.take(directory)
    name = f"{host} guest {token_hex(3)}"
    try:
        expected = _expected(directory)
        async with PostgresStore.open(dsn, name, expected=expected, bucket=bucket) as store:
            _leave_mark(directory, store, 0)
            yield store
    finally:
        lock.release()


@asynccontextmanager
async def open_stored(
    dsn: str, directory: Path, *, bucket: Bucket | None = None
) -> AsyncIterator[PostgresStore]:
    """Read the database that belongs to a directory; see `PostgresStore.open_records`."""
    check_has_no_database(directory)
    expected = _expected(directory)
    async with PostgresStore.open_records(dsn, expected=expected, bucket=bucket) as store:
        yield store


async def adopt(
    dsn: str, host: str, directory: Path, *, bucket: Bucket | None = None
) -> tuple[str, ...]:
    """Bind a database and this directory to each other from now on.

    Returns:
        The previous mismatches, in sentences.

    Raises:
        StoreError: it cannot be opened, or a core uses it.
    """
    wrong: list[str] = []
    link = Link(dsn, "adopt", is_written=False)
    try:
        opening = await open_records(link, expected="")
        [(event_id,)] = await link.rows("SELECT event_id FROM tip")
    finally:
        await link.close()
    for name, part in parts_of(directory).items():
        mark = read_mark(part) or Mark()
        if mark.store and mark.store != opening.store:
            wrong.append(f"The {name} was of store {mark.store}, not {opening.store}.")
        elif mark.events > as_int(event_id):
            wrong.append(put_back(as_int(event_id), mark.events))
    async with open_core(dsn, host, directory, adopts=True, bucket=bucket):
        return tuple(wrong)


def _expected(directory: Path) -> str:
    """Return the identity of the directory's store; empty if it has none yet."""
    marks = {
        mark.store
        for part in parts_of(directory).values()
        if (mark := read_mark(part)) is not None and mark.store
    }
    if len(marks) > 1:
        raise StoreGoneError(
            f"{directory} contains parts of several stores ({', '.join(sorted(marks))}). "
            "Nothing was changed.",
            ADOPT,
        )
    return next(iter(marks), "")


def _leave_mark(directory: Path, store: PostgresStore, events: int) -> None:
    now = DatabaseMetadata(store=store.identity, epoch=store.epoch, events=events, is_fleet=True)
    mark_all(directory, now)
