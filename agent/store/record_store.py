"""The common part of every database store: one writer, one reader, and their calls.

Subclasses implement opening, search and blobs. Invariants: those of `agent.store.store`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from agent.errors import FencedError, StoreError
from agent.protocol import Event
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import Job, JobStatus, Question, Session
from agent.store.changes.event_ledger import EventDraft, body_of
from agent.store.changes.write_queue import Listener, WriteQueue
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
from agent.store.leases import Lease
from agent.store.queries.dialect import Dialect
from agent.store.queries.job_pages import JobPages
from agent.store.queries.job_runs import JobRuns
from agent.store.queries.reader import Reader
from agent.store.queries.spendings import Spendings
from agent.store.queries.watcher_queries import Watches


class RecordStore:
    """Events, sessions, questions, leases and jobs over a writer and a reader."""

    def __init__(self, writer: WriteQueue, reader: Reader, dialect: Dialect) -> None:
        self._writer = writer
        self._reader = reader
        self.watches = Watches(reader.rows)
        self.job_runs = JobRuns(reader.rows)
        self.job_pages = JobPages(reader.rows, dialect.lookup)
        self.spendings = Spendings(reader.rows, dialect)
        self.trouble: StoreError | None = None
        """Why the last write was not stored; None once one is."""

    # --- events ----------

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        """Store events together, durably, and update the derived records.

        Returns:
            The events, numbered and dated, in the order of the drafts.

        Raises:
            StoreError: nothing of it was stored; the message says why. FencedError: because its
                lease was taken over or released.
            UsageError: a session or question that does not exist.
            WrongStateError: a session that exists already, or an answer to a question that is no
                longer open.
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
        """Return the id of the newest stored event; 0 before the first."""
        return self._writer.last_event_id

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        """Read events with a larger id than `after`, in order."""
        return await self._reader.events(after=after, limit=limit)

    async def facts(self, types: Sequence[str], *, limit: int) -> tuple[Event, ...]:
        """Read the newest events of no session that are of some types, in order."""
        return await self._reader.facts(types, limit=limit)

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

    # --- leases ----------

    async def acquire_lease(self, key: str, owner: str, ttl_ms: int) -> Lease | None:
        """Take a key for a time; None if another owner has it. Raises UsageError."""
        lease = await self._write(AcquireLease(key, owner, ttl_ms))
        assert lease is None or isinstance(lease, Lease)
        return lease

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease:
        """Extend a lease. Raises FencedError if it is no longer valid."""
        longer = await self._write(RenewLease(lease, ttl_ms))
        assert isinstance(longer, Lease)
        return longer

    async def release_lease(self, lease: Lease) -> None:
        """Release a lease; an invalid one is left as it is."""
        await self._write(ReleaseLease(lease))

    async def lease(self, key: str) -> Lease | None:
        """Return a key's newest lease; `is_free` tells whether it still excludes others."""
        return await self._reader.lease(key)

    # --- sessions and questions ----------

    async def sessions(
        self,
        *,
        limit: int = 200,
        active_only: bool = False,
        before: str = "",
        wanted: SessionFilter = EVERY_SESSION,
    ) -> tuple[Session, ...]:
        """List sessions, newest first; only those older than the session `before`, if given, and
        only those that a filter finds.
        """
        return await self._reader.sessions(
            limit=limit, active_only=active_only, before=before, wanted=wanted
        )

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
        """List the ids of all top-level sessions, newest first."""
        return await self._reader.root_ids()

    def unpruned_roots(self) -> AsyncIterator[tuple[Session, ...]]:
        """List top-level sessions that still have their frames, newest first."""
        return self._reader.unpruned_roots()

    async def delete_sessions(self, *session_ids: str) -> None:
        """Delete sessions with their events and questions. Raises UsageError, StoreError."""
        if session_ids:
            await self._write(DeleteSessions(session_ids))

    async def open_questions(self) -> tuple[Question, ...]:
        """List open questions, oldest first."""
        return await self._reader.open_questions()

    async def question(self, question_id: str) -> tuple[Question, bool]:
        """Find a question and return whether it is still open. Raises UsageError."""
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

    async def jobs(self, *, query: str = "", limit: int = 50) -> tuple[Job, ...]:
        """List jobs, newest first; the query is a part of title, prompt or status in any case."""
        return await self._reader.jobs(query=query, limit=limit)

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs that an event makes due."""
        return await self._reader.jobs_on(trigger)

    async def next_number(self, kind: str, newest: int) -> int:
        """Return the next number of a counted kind; see `Store.next_number`."""
        return newest + 1
