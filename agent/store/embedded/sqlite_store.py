"""The embedded store: everything Switchboard must not forget, in one data directory.

Not a cache and not a scheduler. Invariants: those of `agent.store.store`; and one process owns the
directory, so what another process leased in it before is free again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from agent.errors import FencedError, StoreError, UnwritableError
from agent.protocol import Event
from agent.records import Job, JobStatus, Question, SearchHit, Session
from agent.state.commit import Commit
from agent.store.changes.event_ledger import EventDraft, body_of
from agent.store.changes.write_requests import (
    AcquireLease,
    Append,
    CreateJob,
    DeleteSessions,
    ReleaseLease,
    RenewLease,
    ReplaceJob,
    Request,
    Result,
)
from agent.store.database.identity import DATABASE_NAME, SEARCH_NAME, mark_all
from agent.store.embedded.blob_collection import Blobs
from agent.store.embedded.blobs import BlobFiles
from agent.store.embedded.dialect import SQLITE
from agent.store.embedded.due_cache import Dues
from agent.store.embedded.opening import Opening, open_as_it_is, open_directory
from agent.store.embedded.search_index import SearchIndex, StoredLog
from agent.store.leases import Lease
from agent.store.queries.job_pages import JobPages
from agent.store.queries.job_runs import JobRuns
from agent.store.queries.reader import Reader
from agent.store.queries.spendings import Spendings
from agent.store.queries.watcher_queries import Watches
from agent.store.store import Collected, Listener, wall_clock_ms

__all__ = ["DATABASE_NAME", "EventDraft", "SqliteStore"]

_log = logging.getLogger(__name__)


class SqliteStore:
    """Events, sessions, questions, jobs and blobs of one data directory; open it with `open`."""

    def __init__(self, directory: Path, opening: Opening) -> None:
        self.directory = directory
        self._opening = opening
        self._writing, self._reading = opening.writing, opening.reading
        self._writer = writer = opening.writer
        self._reader = Reader(self._reading.rows, writer.told, SQLITE)
        self._dues = Dues(self._reader)
        self.watches = Watches(self._reader.rows)
        self.job_runs = JobRuns(self._reader.rows)
        self.job_pages = JobPages(self._reader.rows, SQLITE.lookup)
        self.spendings = Spendings(self._reader.rows, SQLITE)
        self._blobs = Blobs(
            BlobFiles(directory / "blobs"), self._reader, self._write, writer.write_soon
        )
        self._index: SearchIndex | None = None
        self._indexing: asyncio.Task[None] | None = None
        writer.listeners.append(self._on_commit)
        self._closing: asyncio.Task[None] | None = None
        self.trouble: StoreError | None = None
        """Why the last write was not stored; None once one is."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        directory: Path,
        *,
        clock_ms: Callable[[], int] = wall_clock_ms,
        may_only_read: bool = False,
    ) -> AsyncIterator[Self]:
        """Own a data directory for the length of a `with` block, making it when it is not there.

        Args:
            may_only_read: on a disk that is full or read-only, open what is stored all the same;
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
            store._blobs.prepare()
            mark_all(directory, opening.standing)
            await store._begin_index()
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def epoch(self) -> int:
        """The number of this opening; a write under an older one is refused with FencedError."""
        return self._writer.epoch

    async def close(self) -> None:
        """Store what is queued and let the directory go; calling it again does nothing more."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="store close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._writer.close()
        finally:
            try:
                await self._close_index()
                self._leave_mark()
            finally:
                await self._opening.give_up()

    def _leave_mark(self) -> None:
        """Write down how far the log came, for the next start to miss what is missing by then."""
        if self.epoch == 0:
            return
        events = self._writer.last_event_id
        try:
            mark_all(self.directory, replace(self._opening.standing, events=events))
        except StoreError as error:
            _log.warning("How far the store came could not be written down: %s", error)

    async def _close_index(self) -> None:
        if self._index is not None:
            self._index.stop()
            if self._indexing is not None:
                await asyncio.wait({self._indexing})
            await self._index.close()

    async def check_owned(self) -> None:
        """Raise when the store has a newer owner, or its file is not where it was opened."""
        self._writer.insist()
        await asyncio.to_thread(self._opening.file.check)
        await self._reading.check_epoch(self._writer.epoch)

    # --- events ----------

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        """Store facts together, durably, and update what is kept beside them.

        Returns:
            The events, numbered and dated, in the order of the drafts.

        Raises:
            StoreError: nothing of it was stored; the message says why. FencedError: because the
                lease it came under was taken over or given back.
            UsageError: a session or question that does not exist.
            WrongStateError: a session that exists already, or an answer to a question that is not
                open any more.
        """
        if not drafts:
            return ()
        bodies = tuple(body_of(draft.msg) for draft in drafts)
        stored = await self._write(Append(drafts, bodies, under))
        assert isinstance(stored, tuple)
        return stored

    async def _write(self, request: Request) -> Result:
        try:
            result = await self._writer.write(request)
        except FencedError:
            # The caller's trouble, not the store's.
            raise
        except StoreError as error:
            self.trouble = error
            raise
        self.trouble = None
        return result

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call back with each commit that holds events, in commit order, in the loop.

        Returns:
            A function that ends the subscription.
        """
        self._writer.listeners.append(callback)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._writer.listeners.remove(callback)

        return unsubscribe

    async def last_event_id(self) -> int:
        """Say the id of the newest stored event; 0 before the first."""
        return self._writer.last_event_id

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        """Read events with a larger id than `after`, in order."""
        return await self._reader.events(after=after, limit=limit)

    async def session_events(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's events with a larger seq than `after_seq`, in order; with a
        `before_seq`, the newest `limit` of those before it.
        """
        if before_seq:
            return await self._reader.earlier_events(
                session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
            )
        return await self._reader.session_events(session_id, after_seq=after_seq, limit=limit)

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first. Raises UsageError, StoreError."""
        if self._index is None:
            self._index = await self._open_index()
        return await self._index.find(query, limit)

    @property
    def indexed_id(self) -> int:
        """The newest event that a search can find; 0 when there is no index."""
        return self._index.indexed_id if self._index is not None else 0

    async def rebuild_search(self) -> None:
        """Build the search index anew, behind the store. Raises StoreError."""
        if self._index is None:
            self._index = await self._open_index()
        await self._index.rebuild()

    async def _begin_index(self) -> None:
        try:
            self._index = await self._open_index()
        except StoreError as error:
            # What cannot be searched can still be worked with.
            _log.warning("There is no search for now: %s", error)

    async def _open_index(self) -> SearchIndex:
        self._writer.insist()
        index = await SearchIndex.open(
            self.directory / SEARCH_NAME,
            StoredLog(self._reader, lambda: self._writer.last_event_id),
        )
        self._indexing = asyncio.create_task(index.run(), name="store search index")
        return index

    # --- leases ----------

    async def acquire_lease(self, key: str, owner: str, ttl_ms: int) -> Lease | None:
        """Take a key for a time; None when somebody else has it. Raises UsageError."""
        lease = await self._write(AcquireLease(key, owner, ttl_ms))
        assert lease is None or isinstance(lease, Lease)
        return lease

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease:
        """Put off the end of a lease. Raises FencedError when it counts no more."""
        longer = await self._write(RenewLease(lease, ttl_ms))
        assert isinstance(longer, Lease)
        return longer

    async def release_lease(self, lease: Lease) -> None:
        """Give a lease back; one that counts no more is left as it is."""
        await self._write(ReleaseLease(lease))

    async def lease(self, key: str) -> Lease | None:
        """Say who had a key last; `is_free` tells whether that still keeps others out."""
        return await self._reader.lease(key)

    # --- sessions and questions ----------

    async def sessions(
        self, *, limit: int = 200, active_only: bool = False, before: str = ""
    ) -> tuple[Session, ...]:
        """List sessions, newest first; only those older than the session `before`, if given."""
        return await self._reader.sessions(limit=limit, active_only=active_only, before=before)

    async def trees(self, *, limit: int = 200) -> tuple[Session, ...]:
        """List the newest top-level sessions, all that are not settled, and their whole trees."""
        return await self._reader.trees(limit=limit)

    async def session(self, id_or_prefix: str) -> Session:
        """Find a session by its id or a unique prefix of it. Raises UsageError."""
        return await self._reader.session(id_or_prefix)

    async def children(self, parent_id: str) -> tuple[Session, ...]:
        """List the children of a session, oldest first."""
        return await self._reader.children(parent_id)

    async def root_ids(self) -> tuple[str, ...]:
        """Name every top-level session, newest first."""
        return await self._reader.root_ids()

    async def unpruned_roots(self) -> tuple[Session, ...]:
        """List top-level sessions that still have their frames, newest first."""
        return await self._reader.unpruned_roots()

    async def delete_sessions(self, *session_ids: str) -> None:
        """Forget sessions with their events and questions. Raises UsageError, StoreError."""
        if session_ids:
            await self._write(DeleteSessions(session_ids))

    async def open_questions(self) -> tuple[Question, ...]:
        """List open questions, oldest first."""
        return await self._reader.open_questions()

    async def question(self, question_id: str) -> tuple[Question, bool]:
        """Find a question and say whether it is still open. Raises UsageError."""
        return await self._reader.question(question_id)

    # --- jobs ----------

    async def create_job(
        self,
        build: Callable[[int], Job],
        *,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store the job that `build` makes for the next free id; see `Store.create_job`."""
        job = await self._write(CreateJob(build, beside))
        assert isinstance(job, Job)
        return job

    async def replace_job(self, job: Job, *, expect: JobStatus, reason: str) -> bool:
        """Store a job's new record if its status is still `expect`; see `Store.replace_job`.

        Raises UsageError when there is no such job.
        """
        replaced = await self._write(ReplaceJob(job, expect, reason))
        assert isinstance(replaced, bool)
        return replaced

    async def job(self, job_id: int) -> Job | None:
        """Find a job."""
        return self._dues.find(job_id) or await self._reader.job(job_id)

    async def jobs(self, *, query: str = "", limit: int = 50) -> tuple[Job, ...]:
        """List jobs, newest first; the query is a part of title, prompt or status in any case."""
        return await self._reader.jobs(query=query, limit=limit)

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[Job, ...]:
        """List active jobs whose time has come, the longest overdue first."""
        return await self._dues.due(now_ms, max(limit, 0))

    async def next_due_ms(self) -> int | None:
        """Say when the next active job is due; 0 is now, None is never."""
        return await self._dues.next_due_ms()

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs that an event makes due."""
        return await self._reader.jobs_on(trigger)

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that began at or before a moment."""
        return await self._dues.running(before_ms)

    # --- blobs ----------

    async def put_blob(self, data: bytes, media_type: str) -> str:
        """Keep bytes durably; returns their sha256 in hex. Raises StoreError."""
        return await self._blobs.put(data, media_type)

    async def read_blob(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError when it is gone or damaged, UsageError for no digest."""
        return await self._blobs.read(digest)

    async def blob_bytes(self) -> int:
        """Return how many bytes all blobs take."""
        return await self._reader.blob_bytes()

    async def blob_type(self, digest: str) -> str:
        """Say a blob's media type; empty when there is no such blob."""
        return await self._blobs.type_of(digest)

    async def collect_blobs(self) -> Collected:
        """Drop the blobs that no event names. Raises StoreError."""
        return await self._blobs.collect()

    async def sweep_blobs(self) -> int:
        """Drop the files that no row knows, which a crash may have left; returns how many."""
        return await self._blobs.sweep()

    def _on_commit(self, commit: Commit) -> None:
        self._blobs.on_commit(commit.events)
        self._dues.on_commit(commit.events)
        if self._index is not None:
            self._index.tell()
