"""Open SQLite connections for the store: the only importer of aiosqlite.

The writer and the reader have the queries. Invariants: a database of another program, or of a newer
Switchboard, is refused before anything in it changes; every opening for writing takes a new epoch;
every error from this module is a StoreError.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import aiosqlite

from agent.errors import FencedError, StoreError
from agent.protocol.session_filter import foldable
from agent.store.database.identity import DatabaseMetadata, new_identity
from agent.store.database.schema import APPLICATION_ID, MIGRATIONS
from agent.store.database.sqlite_errors import from_os_error, from_sqlite
from agent.store.rows import Row, Statement, Value

_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    # In pages. The writer folds the log into the file in its pauses; only where it has none does a
    # commit have to, and then each of these makes everybody wait: seldom, and more at a time.
    "PRAGMA wal_autocheckpoint = 4000",
)
_THREAD_ENDS_S = 5.0
_EPOCH = "SELECT epoch FROM owner"
_FIRST_WITH_IDENTITY = 9
# Only the writer checkpoints, which keeps clear of SQLite's WAL-reset bug before 3.51.3.
_READ_PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA query_only = ON",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA cache_size = -16384",
)


class Database:
    """A connection on its own thread; statements run in order."""

    def __init__(self, path: Path, connection: aiosqlite.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    async def connect(cls, path: Path, *, is_still: bool = False) -> Self:
        """Open a file. Raises StoreError.

        Args:
            is_still: it has no writer and no pending log, so it can be read without creating files
                beside it.
        """
        where = f"{_uri(path)}?mode=ro&immutable=1" if is_still else str(path)
        connection = aiosqlite.connect(
            where, isolation_level=None, cached_statements=64, uri=is_still
        )
        # A store that was never closed must not keep the interpreter from ending. What such a
        # thread has not committed was not acknowledged either.
        connection._thread.daemon = True
        try:
            await connection
        except sqlite3.Error as error:
            # It has been told to end, and says so to the loop, which must still be there.
            await asyncio.to_thread(connection._thread.join, _THREAD_ENDS_S)
            raise from_sqlite(error, path) from error
        return cls(path, connection)

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open; SQLite itself ends one on some errors."""
        return self._connection.in_transaction

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Run one statement and fetch all its rows. Raises StoreError."""
        with self._as_store_errors():
            return [tuple(row) for row in await self._connection.execute_fetchall(sql, parameters)]

    async def run(self, sql: str, parameters: Sequence[Value] = ()) -> None:
        """Run one statement without rows. Raises StoreError."""
        await self.rows(sql, parameters)

    async def add_function(self, name: str, function: Callable[[str], str]) -> None:
        """Let statements of this connection call a function of one text. Raises StoreError."""
        try:
            await self._connection.create_function(name, 1, function, deterministic=True)
        except sqlite3.Error as error:
            raise from_sqlite(error, self.path) from error

    async def run_many(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row. Raises StoreError."""
        with self._as_store_errors():
            await self._connection.executemany(sql, rows)

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise from_sqlite(error, self.path) from error
        except (OverflowError, UnicodeError) as error:
            raise StoreError(f"{self.path} cannot hold a value: {error}.") from error
        except ValueError as error:
            raise StoreError(f"{self.path} is closed.") from error

    async def transact(self, statements: Sequence[Statement], *, epoch: int | None = None) -> None:
        """Run statements in one transaction, atomically.

        The thread runs all of them at once: a round trip per statement would cost a busy process
        more than the statements.

        Args:
            statements: what to run, in order.
            epoch: refuse if the database has another; None = it has no owner.

        Raises:
            FencedError: the database has a newer owner.
            StoreError: nothing was changed.
        """
        with self._as_store_errors():
            await self._connection._execute(  # type: ignore[no-untyped-call]
                self._transact, tuple(statements), epoch
            )

    def _transact(self, statements: tuple[Statement, ...], epoch: int | None) -> None:
        connection = self._connection._conn
        connection.execute("BEGIN IMMEDIATE")
        try:
            if epoch is not None:
                [(newest,)] = connection.execute(_EPOCH).fetchall()
                self._check_epoch(epoch, newest)
            for sql, rows in statements:
                if rows:
                    connection.executemany(sql, rows)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    async def checkpoint(self) -> None:
        """Checkpoint the write-ahead log, as far as readers allow. Raises StoreError.

        Only for the connection that writes; see `_READ_PRAGMAS`.
        """
        await self.run("PRAGMA wal_checkpoint(PASSIVE)")

    async def check_epoch(self, epoch: int) -> None:
        """Raise FencedError if the database has another epoch than this; or StoreError."""
        [(newest,)] = await self.rows(_EPOCH)
        self._check_epoch(epoch, newest)

    def _check_epoch(self, epoch: int, newest: Value) -> None:
        if newest != epoch:
            raise FencedError(
                f"{self.path} has a newer owner (epoch {newest!r}, this one is {epoch}).",
                "Close this Switchboard and work through the newer one.",
            )

    async def rollback(self) -> None:
        """Roll back the open transaction, unless SQLite has done so already."""
        if self.in_transaction:
            await self.run("ROLLBACK")

    async def close(self) -> None:
        """Close the file and end the thread."""
        await self._connection.close()


async def open_for_writing(
    path: Path, *, now_ms: int, check: Callable[[DatabaseMetadata], None]
) -> tuple[Database, DatabaseMetadata]:
    """Open or create the database, migrate it to this schema, and take a new epoch.

    Args:
        path: of the file.
        now_ms: the time.
        check: called with the database's metadata before anything in it changes; raises to refuse
            it.

    Returns:
        The connection, and the database's metadata now.

    Raises:
        StoreError: damaged, another program's, a newer schema's, refused or not writable.
    """
    make_private(path)
    database = await Database.connect(path)
    try:
        await check_ours(database)
        check(await metadata_of(database))
        await database.run("PRAGMA journal_mode = WAL")
        for pragma in _PRAGMAS:
            await database.run(pragma)
        await _migrate(database)
        await _take_epoch(database, now_ms)
        standing = await metadata_of(database)
    except BaseException:
        await database.close()
        raise
    return database, standing


async def open_for_reading(path: Path) -> Database:
    """Open the database read-only beside its writer. Raises StoreError."""
    database = await Database.connect(path)
    try:
        for pragma in _READ_PRAGMAS:
            await database.run(pragma)
    except BaseException:
        await database.close()
        raise
    return database


async def open_unwritable(path: Path) -> Database:
    """Open a database for reading that has no writer and cannot be written, e.g. on a full disk.

    Raises:
        StoreError: it cannot be read, such as a crash's leftovers on a read-only file system, or it
            has another schema.
    """
    log = path.with_name(f"{path.name}-wal")
    database = await Database.connect(path, is_still=not log.exists() or not log.stat().st_size)
    try:
        # What a crash left in the log is read too, and its index kept in memory, not in a file.
        for pragma in ("PRAGMA locking_mode = EXCLUSIVE", *_READ_PRAGMAS):
            await database.run(pragma)
        await check_ours(database)
        if await _number(database, "PRAGMA user_version") != len(MIGRATIONS):
            raise StoreError(f"{path} was made by an older Switchboard and cannot be upgraded.")
    except BaseException:
        await database.close()
        raise
    return database


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def make_private(path: Path) -> None:
    """Create the file with mode 0600 before SQLite does; its -wal and -shm files copy the mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise from_os_error(error, path) from error


async def metadata_of(database: Database) -> DatabaseMetadata:
    """Read a database's metadata, also of an old one without identity. Raises StoreError."""
    version = await _number(database, "PRAGMA user_version")
    if version == 0:
        return DatabaseMetadata(store="", epoch=0, events=0)
    store = "store" if version >= _FIRST_WITH_IDENTITY else "''"
    [(name, epoch)] = await database.rows(f"SELECT {store}, epoch FROM owner")
    events = await _number(database, "SELECT coalesce(max(id), 0) FROM event")
    assert isinstance(epoch, int)
    return DatabaseMetadata(store=str(name), epoch=epoch, events=events)


async def check_ours(database: Database) -> None:
    """Raise StoreError if it is another program's database, or a newer Switchboard's."""
    version = await _number(database, "PRAGMA user_version")
    application = await _number(database, "PRAGMA application_id")
    tables = await _number(database, "SELECT count(*) FROM sqlite_schema")
    if application not in {0, APPLICATION_ID} or (application == 0 and (version or tables)):
        raise StoreError(
            f"{database.path} belongs to another program.",
            "Nothing was changed. Point SWITCHBOARD_DATA_DIR at another directory.",
        )
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{database.path} has schema {version}, made by a newer Switchboard; this one knows "
            f"schemas up to {len(MIGRATIONS)}.",
            "Nothing was changed. Upgrade Switchboard, or point SWITCHBOARD_DATA_DIR at another "
            "directory.",
        )


async def _migrate(database: Database) -> None:
    """Bring the schema up to date, in one transaction."""
    version = await _number(database, "PRAGMA user_version")
    if version == len(MIGRATIONS):
        return
    # SQLite's own lower() knows only ASCII.
    await database.add_function("foldable", foldable)
    await database.run("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                await database.run(statement)
        await database.run(f"PRAGMA application_id = {APPLICATION_ID}")
        await database.run(f"PRAGMA user_version = {len(MIGRATIONS)}")
        await database.run("COMMIT")
    except BaseException:
        await database.rollback()
        raise


async def _take_epoch(database: Database, now_ms: int) -> None:
    await database.run(
        "UPDATE owner SET epoch = epoch + 1, pid = ?, since_ms = ?, "
        "store = CASE store WHEN '' THEN ? ELSE store END",
        (os.getpid(), now_ms, new_identity()),
    )
    # Whoever held them held them through an owner that is fenced from now on.
    await database.run("UPDATE lease SET expires_ms = 0")


async def _number(database: Database, sql: str) -> int:
    [(value,)] = await database.rows(sql)
    assert isinstance(value, int)
    return value
