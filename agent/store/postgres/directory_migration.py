"""Copy a data directory's store into an empty database of a fleet.

Done once; the files stay unchanged until the caller moves them away. Invariants: the database has
all of it or nothing; it stays the same store, with its identity, events, numbers and times; no core
uses the files meanwhile.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from agent.errors import StoreError, UsageError
from agent.store.changes.row_codec import EVENT_COLUMNS, as_int, as_text, event_of
from agent.store.database.identity import DATABASE_NAME
from agent.store.database.sqlite_errors import from_sqlite
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.postgres.backup import set_number
from agent.store.postgres.link import Link
from agent.store.postgres.opening import make_empty, migrate
from agent.store.postgres.schema import MIGRATIONS
from agent.store.postgres.words import vector_of
from agent.store.queries.search_words import text_of
from agent.store.rows import Row, Value

_AT_ONCE = 500
_COLUMNS = {
    "event": ("id", "session_id", "seq", "ts_ms", "submission_id", "type", "body"),
    "session": (
        *("number", "session_id", "parent_id", "state", "last_seq", "job_id", "is_pruned"),
        *("record", "created_ms", "place", "model", "labels"),
    ),
    "question": ("number", "question_id", "session_id", "is_open", "record"),
    "job": ("id", "status", "next_run_at", "running_at", "search", "record"),
    "job_run": ("number", "run_id", "job_id", "record"),
    "watcher": ("id", "is_live", "search", "record"),
    "commitment": ("id", "is_live", "search", "record"),
    "lease": ("key", "owner", "epoch", "expires_ms"),
    "blob_use": ("session_id", "digest"),
}
"""Every table that both kinds of store have, but for the blobs; a test holds this to the schema."""


class MigrationResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a copy."""

    store: str
    events: int
    sessions: int
    blobs: int
    missing: int  # Blobs whose file was gone or damaged already.


async def migrate_directory(directory: Path, dsn: str, host: str) -> MigrationResult:
    """Copy a data directory's own store into an empty database, which is then this host's.

    Args:
        directory: no core works on it.
        dsn: of a database without a store.
        host: the name of this computer in the fleet.

    Raises:
        UsageError: the directory has no store of its own.
        StoreError: a core works on it, or the database cannot be written or has a store already;
            the database is then as it was.
    """
    if not (directory / DATABASE_NAME).exists():
        raise UsageError(
            f"There is no store in {directory} to copy.",
            "Name the directory of the store by --data-dir. If it was already copied, nothing is "
            "left to do.",
        )
    link = Link(dsn, "migrate")
    try:
        # Opened as a core would: its schema is brought up to date, and no core can have it.
        async with SqliteStore.open(directory), link.transaction():
            await make_empty(link)
            await migrate(link, 0, len(MIGRATIONS))
            done = await _copied(directory, link, host)
            await link.commit()
    except sqlite3.Error as error:
        raise from_sqlite(error, directory / DATABASE_NAME) from error
    finally:
        await link.close()
    return done


async def _copied(directory: Path, link: Link, host: str) -> MigrationResult:
    counts: dict[str, int] = {}
    newest = {"event": 0, "job": 0}
    address = f"{(directory / DATABASE_NAME).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as files:
        for table, columns in _COLUMNS.items():
            counts[table] = 0
            marks = ", ".join("?" * len(columns))
            put = (
                f"INSERT INTO {table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE "
                f"VALUES ({marks})"
            )
            pages = _pages(files, f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1")
            while rows := await asyncio.to_thread(next, pages, None):
                await link.run([(put, [tuple(map(_plain, row)) for row in rows])])
                if table == "event":
                    await _put_words(link, rows)
                counts[table] += len(rows)
            await set_number(link, table)
        for name, number in files.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            if name in newest:
                newest[str(name)] = int(number)
        [(store, epoch)] = files.execute("SELECT store, epoch FROM owner").fetchall()
        blobs, missing = await _put_blobs(directory, files, link)
    await link.rows(
        "UPDATE tip SET version = ?, store = ?, event_id = ?, job_id = ?, core_host = ?",
        (len(MIGRATIONS), str(store), newest["event"], newest["job"], host),
    )
    # Openings are numbered onward: the marks beside the other parts know how far that was.
    await link.rows("SELECT setval('epoch', ?)", (max(int(epoch), 1),))
    return MigrationResult(
        store=str(store),
        events=counts["event"],
        sessions=counts["session"],
        blobs=blobs,
        missing=missing,
    )


async def _put_words(link: Link, rows: list[Row]) -> None:
    """Index the text of events, as a commit does."""
    words: list[tuple[Value, ...]] = []
    for event_id, session_id, seq, ts_ms, submission_id, _type, body in rows:
        event = event_of((event_id, session_id, seq, ts_ms, submission_id, body))
        text = text_of(event.msg) if event.session_id else ""
        if text:
            words.append((event.event_id, event.session_id, vector_of(text)))
    if words:
        put = "INSERT INTO words (event_id, session_id, found) VALUES (?, ?, ?::tsvector)"
        await link.run([(put, words)])


async def _put_blobs(directory: Path, files: sqlite3.Connection, link: Link) -> tuple[int, int]:
    held = BlobFiles(directory / "blobs")
    done = missing = 0
    put = (
        "INSERT INTO blob (digest, media_type, size_bytes, stored_ms, put_by, data) "
        "VALUES (?, ?, ?, ?, 0, ?)"
    )
    rows = files.execute("SELECT digest, media_type, size_bytes, stored_ms FROM blob").fetchall()
    for digest, media_type, size_bytes, stored_ms in rows:
        try:
            data = await asyncio.to_thread(held.get, as_text(digest))
        except StoreError:
            missing += 1
            continue
        await link.rows(
            put, (as_text(digest), as_text(media_type), as_int(size_bytes), stored_ms, data)
        )
        done += 1
    return done, missing


def _pages(files: sqlite3.Connection, sql: str) -> Iterator[list[Row]]:
    """Yield the rows of a statement page by page; the calling thread reads each."""
    cursor = files.execute(sql)
    while page := cursor.fetchmany(_AT_ONCE):
        yield page


def _plain(value: Value) -> Value:
    """Replace NUL, which PostgreSQL's text does not allow; JSON has it as an escape."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


assert EVENT_COLUMNS == "id, session_id, seq, ts_ms, submission_id, body"
