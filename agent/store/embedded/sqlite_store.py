"""The embedded store: all durable data of Switchboard in one data directory.

Invariants: those of `agent.store.store`; and one process owns the directory, so the previous
process's leases are free.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from agent.errors import StoreError, UnwritableError
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import Job, SearchHit
from agent.state.commit import Commit
from agent.store.changes.event_ledger import EventDraft
from agent.store.database.identity import DATABASE_NAME, SEARCH_NAME, mark_all
from agent.store.embedded.blob_collection import Blobs
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.dialect import SQLITE
from agent.store.embedded.due_cache import DueCache
from agent.store.embedded.opening import Opening, open_as_it_is, open_directory
from agent.store.embedded.search_index import Search, StoredLog
from agent.store.queries.reader import Reader
from agent.store.record_store import RecordStore
from agent.store.store import wall_clock_ms

__all__ = ["DATABASE_NAME", "EventDraft", "SqliteStore"]

_log = logging.getLogger(__name__)


class SqliteStore(RecordStore):
    """Events, sessions, questions, jobs and blobs of one data directory; open it with `open`."""

    def __init__(self, directory: Path, opening: Opening) -> None:
        self.directory = directory
        self._opening = opening
        self._writing, self._reading = opening.writing, opening.reading
        writer = opening.writer
        super().__init__(writer, Reader(self._reading.rows, writer.published, SQLITE), SQLITE)
        self._due_cache = DueCache(self._reader)
        self.blobs = Blobs(
            BlobFiles(directory / "blobs"), self._reader, self._write, writer.write_soon
        )
        log = StoredLog(self._reader, lambda: writer.last_event_id)
        self.searching = Search(directory / SEARCH_NAME, log, writer.check_writable)
        writer.listeners.append(self._on_commit)
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        directory: Path,
        *,
        clock_ms: Callable[[], int] = wall_clock_ms,
        may_only_read: bool = False,
    ) -> AsyncIterator[Self]:
        """Own a data directory for the length of a `with` block, creating it if it does not exist.

        Args:
            may_only_read: on a disk that is full or read-only, open the stored data all the same;
                every write is then refused with the error that this would have raised.

        Raises:
            StoreError: it is held by another process, not writable, read-only or full, or its
                database is damaged, another program's or a newer Switchboard's. Nothing is then
                changed.
        """
        store = await cls._opened(directory, clock_ms, may_only_read)
        try:
            yield store
        finally:
            await store.close()

    @classmethod
    async def _opened(
        cls, directory: Path, clock_ms: Callable[[], int], may_only_read: bool
    ) -> Self:
        try:
            opening = await open_directory(directory, clock_ms=clock_ms)
        except UnwritableError as error:
            if not may_only_read:
                raise
            return cls(directory, await open_as_it_is(directory, error, clock_ms=clock_ms))
        store = cls(directory, opening)
        try:
            store.blobs.prepare()
            mark_all(directory, opening.standing)
            await store.searching.begin()
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def epoch(self) -> int:
        """Return the number of this opening; a write under an older one raises FencedError."""
        return self._opening.writer.epoch

    async def close(self) -> None:
        """Store queued requests and release the directory; idempotent."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="store close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._writer.close()
        finally:
            try:
                await self.searching.close()
                self._leave_mark()
            finally:
                await self._opening.give_up()

    def _leave_mark(self) -> None:
        """Record the newest event, so that the next start detects an older database."""
        if self.epoch == 0:
            return
        events = self._writer.last_event_id
        try:
            mark_all(self.directory, replace(self._opening.standing, events=events))
        except StoreError as error:
            _log.warning("How far the store came could not be written down: %s", error)

    async def check_owned(self) -> None:
        """Raise if the store has a newer owner, or its file was moved or replaced."""
        self._writer.check_writable()
        await asyncio.to_thread(self._opening.file.check)
        await self._reading.check_epoch(self._opening.writer.epoch)

    # --- search ----------

    async def search(
        self, query: str, *, limit: int = 50, wanted: SessionFilter = EVERY_SESSION
    ) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first. Raises UsageError, StoreError."""
        if wanted == EVERY_SESSION:
            return await self.searching.find(query, limit)
        return await self.searching.find(query, limit, await self._reader.session_ids(wanted))

    # --- jobs ----------

    async def job(self, job_id: int) -> Job | None:
        return self._due_cache.find(job_id) or await self._reader.job(job_id)

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[Job, ...]:
        """List active jobs that are due, the longest overdue first."""
        return await self._due_cache.due(now_ms, max(limit, 0))

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""
        return await self._due_cache.next_due_ms()

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that started at or before a time."""
        return await self._due_cache.running(before_ms)

    def _on_commit(self, commit: Commit) -> None:
        self.blobs.on_commit(commit.events)
        self._due_cache.on_commit(commit.events)
        self.searching.tell()
