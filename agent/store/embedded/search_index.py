"""The full-text index: a separate file, written by a task that follows the log.

It can be deleted and is then rebuilt. Invariants: an append never waits for it; its position is
committed with the indexed events, so a crash loses and duplicates nothing; what is deleted from the
store is deleted here.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

import msgspec

from agent.errors import StoreError
from agent.protocol import Event, SessionsDeleted
from agent.records import SearchHit
from agent.store.changes.row_codec import EVENT_COLUMNS, as_int, as_text, event_of
from agent.store.database.database import Database, make_private
from agent.store.database.sqlite_errors import from_os_error
from agent.store.embedded.search_query import compiled, parted
from agent.store.queries.reader import Reader
from agent.store.queries.search_words import SNIPPET_MARKS, WORDED, snippet_of, text_of
from agent.store.rows import Value

MOST_HITS = 500

_VERSION = 1  # Raised when what is indexed, or how, changes: the index is then built anew.
_MOST_TOLD = 500  # The most events that are taken in at once.
_MOST_PASSED = 4000
"""The most events that are looked through for them: few have words, and a backlog of those that
have none is passed in few commits.
"""
_RETRY_S = 5.0
_PAUSE_S = 0.25
"""How long it lets events gather once it has caught up, so that it does not keep pace with every
commit; a search ends the pause.
"""
_CATCH_UP_S = 0.25  # How long a search waits for the index to take in what was stored last.
_SNIPPET_WORDS = 16

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # A crash may lose the newest batches, with the mark of how far they came.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA cache_size = -16384",
    "PRAGMA journal_size_limit = 16777216",
)
_TABLES = (
    "CREATE TABLE mark (only INTEGER PRIMARY KEY CHECK (only = 1), event_id INTEGER NOT NULL)",
    "INSERT INTO mark (only, event_id) VALUES (1, 0)",
    "CREATE TABLE place (event_id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, "
    "seq INTEGER NOT NULL, ts_ms INTEGER NOT NULL, kind TEXT NOT NULL) STRICT",
    "CREATE INDEX place_session ON place (session_id)",
    "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
    f"PRAGMA user_version = {_VERSION}",
)
_PUT_WORDS = "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)"
_PUT_PLACE = (
    "INSERT OR REPLACE INTO place (event_id, session_id, seq, ts_ms, kind) VALUES (?, ?, ?, ?, ?)"
)
_FORGET = (
    "DELETE FROM words WHERE rowid IN (SELECT event_id FROM place WHERE session_id = ?)",
    "DELETE FROM place WHERE session_id = ?",
)
FIND = (
    "SELECT place.session_id, place.seq, place.ts_ms, place.kind, "
    f"snippet(words, 0, ?, ?, ?, {_SNIPPET_WORDS}) "
    "FROM words JOIN place ON place.event_id = words.rowid "
    "WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?"
)
FIND_AMONG = FIND.replace(
    "ORDER BY", "AND place.session_id IN (SELECT value FROM json_each(?)) ORDER BY"
)
_TOLD = (
    f"SELECT {EVENT_COLUMNS} FROM event WHERE id > ? AND id <= ? "
    f"AND +type IN ({','.join('?' * len(WORDED))}) ORDER BY id LIMIT ?"
)
_log = logging.getLogger(__name__)


class Log(Protocol):
    """The log to index."""

    async def last_event_id(self) -> int: ...

    async def new_events(self, *, after: int, upto: int) -> tuple[Event, ...]:
        """Read the events among these ids that have text, and deletions, in order; the first
        500 if there are more.
        """


class StoredLog:
    """The log of an open store, without events that have no text."""

    def __init__(self, reader: Reader, last_event_id: Callable[[], int]) -> None:
        self._reader = reader
        self._last_event_id = last_event_id

    async def last_event_id(self) -> int:
        return self._last_event_id()

    async def new_events(self, *, after: int, upto: int) -> tuple[Event, ...]:
        rows = await self._reader.rows(_TOLD, (after, upto, *WORDED, _MOST_TOLD))
        return tuple(event_of(row) for row in rows)


class SearchIndex:
    """The index of one store; made by `open`, filled by `run`."""

    def __init__(self, path: Path, database: Database, log: Log, indexed_id: int) -> None:
        self._path = path
        self._database = database
        self._log = log
        self._indexed_id = indexed_id
        self._news = asyncio.Event()
        self._news.set()
        self._moved = asyncio.Event()
        self._wanted = asyncio.Event()
        self._stopping = asyncio.Event()

    @classmethod
    async def open(cls, path: Path, log: Log) -> Self:
        """Open the index, or start a new one if it is damaged, of another version or ahead.

        Raises StoreError.
        """
        try:
            database, indexed_id = await _opened(path)
        except StoreError as error:
            _log.warning("The search index is built anew: %s", error)
            await asyncio.to_thread(_remove, path)
            database, indexed_id = await _opened(path)
        if indexed_id > await log.last_event_id():
            # It belongs to a store that is not there any more.
            await database.close()
            await asyncio.to_thread(_remove, path)
            database, indexed_id = await _opened(path)
        return cls(path, database, log, indexed_id)

    @property
    def indexed_id(self) -> int:
        """Return the id of the newest indexed event."""
        return self._indexed_id

    def tell(self) -> None:
        """Wake the index for new events."""
        self._news.set()

    async def run(self) -> None:
        """Follow the log until `stop`; a failure is retried later."""
        while not self._stopping.is_set():
            await self._news.wait()
            self._news.clear()
            if not self._stopping.is_set():
                self._wanted.clear()
            try:
                await self._follow()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), _PAUSE_S)
            except StoreError as error:
                _log.warning("The search index could not be written: %s", error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _RETRY_S)
                self._news.set()

    async def _follow(self) -> None:
        while not self._stopping.is_set():
            last = await self._log.last_event_id()
            if last <= self._indexed_id:
                return
            upto = min(last, self._indexed_id + _MOST_PASSED)
            events = await self._log.new_events(after=self._indexed_id, upto=upto)
            if len(events) >= _MOST_TOLD:
                upto = events[-1].event_id
            await self._take_in(events, upto)
            if upto == last and not self._wanted.is_set():
                # What was stored meanwhile gathers, or every commit would be followed by one here.
                return
            await asyncio.sleep(0)

    def stop(self) -> None:
        """End `run` after its current batch; a cancel would leave a transaction open."""
        self._stopping.set()
        self._wanted.set()
        self._news.set()

    async def find(
        self, query: str, limit: int, among: Sequence[str] | None = None
    ) -> tuple[SearchHit, ...]:
        """Find events by words, newest first.

        Events of the last instant may still be missing.

        Args:
            query: the words.
            limit: how many at most.
            among: the sessions that are searched; None for all.

        Raises:
            UsageError: the query has nothing to search for.
            StoreError: the index cannot be read.
        """
        expression = compiled(query)
        await self._catch_up()
        parameters: tuple[Value, ...] = (
            *SNIPPET_MARKS,
            expression,
            *(() if among is None else (msgspec.json.encode(among).decode(),)),
            min(max(limit, 0), MOST_HITS),
        )
        rows = await self._database.rows(FIND if among is None else FIND_AMONG, parameters)
        hits: list[SearchHit] = []
        for session_id, seq, ts_ms, kind, marked in rows:
            snippet = snippet_of(as_text(marked))
            hits.append(
                SearchHit(
                    session_id=as_text(session_id),
                    seq=as_int(seq),
                    ts_ms=as_int(ts_ms),
                    kind=as_text(kind),
                    snippet=snippet.text,
                    matches=snippet.matches,
                )
            )
        return tuple(hits)

    async def close(self) -> None:
        await self._database.close()

    async def _catch_up(self) -> None:
        wanted = await self._log.last_event_id()
        if self._indexed_id < wanted:
            self._wanted.set()
        try:
            async with asyncio.timeout(_CATCH_UP_S):
                while self._indexed_id < wanted:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            _log.debug("A search came %d events early", wanted - self._indexed_id)

    async def _take_in(self, events: tuple[Event, ...], upto: int) -> None:
        """Index the events up to an id, in one transaction with the position."""
        places: list[tuple[Value, ...]] = []
        words: list[tuple[Value, ...]] = []
        gone: list[str] = []
        for event in events:
            if isinstance(event.msg, SessionsDeleted):
                gone += event.msg.session_ids
            text = text_of(event.msg) if event.session_id else ""
            if text:
                kind = str(type(event.msg).__struct_config__.tag)
                places.append((event.event_id, event.session_id, event.seq, event.ts_ms, kind))
                words.append((event.event_id, parted(text)))
        forgotten = [(session_id,) for session_id in gone]
        await self._database.transact(
            [
                (_PUT_WORDS, words),
                (_PUT_PLACE, places),
                *((sql, forgotten) for sql in _FORGET),
                ("UPDATE mark SET event_id = ?", [(upto,)]),
            ]
        )
        self._indexed_id = upto
        self._moved.set()


class Search:
    """The search of an open store: the index, and the task that fills it.

    Args:
        path: the index's file.
        log: what is indexed.
        insist: raises if the store has another owner now.
    """

    def __init__(self, path: Path, log: Log, insist: Callable[[], None]) -> None:
        self._path = path
        self._log = log
        self._insist = insist
        self.index: SearchIndex | None = None
        """None before `begin`, and where it could not be opened yet."""
        self._following: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Open the index; if that fails now, a search retries it."""
        try:
            await self._open()
        except StoreError as error:
            # What cannot be searched can still be worked with.
            _log.warning("There is no search for now: %s", error)

    async def find(
        self, query: str, limit: int, among: Sequence[str] | None = None
    ) -> tuple[SearchHit, ...]:
        """Find events by words; see `SearchIndex.find`. Raises UsageError, StoreError."""
        index = self.index or await self._open()
        return await index.find(query, limit, among)

    @property
    def indexed_id(self) -> int:
        """Return the id of the newest indexed event; 0 without an index."""
        return self.index.indexed_id if self.index is not None else 0

    def tell(self) -> None:
        """Report new events."""
        if self.index is not None:
            self.index.tell()

    async def close(self) -> None:
        """Finish the current batch, and close the file."""
        if self.index is not None:
            self.index.stop()
            if self._following is not None:
                await asyncio.wait({self._following})
            await self.index.close()

    async def _open(self) -> SearchIndex:
        self._insist()
        index = self.index = await SearchIndex.open(self._path, self._log)
        self._following = asyncio.create_task(index.run(), name="store search index")
        return index


async def _opened(path: Path) -> tuple[Database, int]:
    await asyncio.to_thread(make_private, path)
    database = await Database.connect(path)
    try:
        for pragma in _PRAGMAS:
            await database.run(pragma)
        [(version,)] = await database.rows("PRAGMA user_version")
        if version == 0:
            await database.run("BEGIN IMMEDIATE")
            for sql in _TABLES:
                await database.run(sql)
            await database.run("COMMIT")
        elif version != _VERSION:
            raise StoreError(f"{path} is an index of version {version!r}.")
        [(event_id,)] = await database.rows("SELECT event_id FROM mark")
        return database, as_int(event_id)
    except BaseException:
        await database.close()
        raise


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        try:
            path.with_name(path.name + ending).unlink(missing_ok=True)
        except OSError as error:
            raise from_os_error(error, path) from error
