"""Define the Store protocol: durable events, and leases that fence them.

`agent.store.embedded.sqlite_store` is the embedded implementation. Invariants of every one: a write
is durable when it returns, and published only then; a write under a superseded lease is refused;
the derived records equal the fold of the log.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import msgspec

from agent.errors import StoreError
from agent.protocol import Event
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import Job, JobStatus, Question, SearchHit, Session
from agent.store.changes.event_ledger import EventDraft
from agent.store.changes.write_queue import Listener
from agent.store.leases import Lease
from agent.store.queries.job_pages import JobQueue
from agent.store.queries.job_runs import RunRecords
from agent.store.queries.spendings import SpendingRecords
from agent.store.queries.watcher_queries import WatchRecords

__all__ = ["Collected", "EventDraft", "Lease", "Listener", "Store", "wall_clock_ms"]


def wall_clock_ms() -> int:
    """Return the time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a collection of blobs."""

    blobs: int = 0
    size_bytes: int = 0


class BlobStore(Protocol):
    """Bytes by their digest. Every call raises StoreError if the store itself fails."""

    async def put(self, data: bytes, media_type: str) -> str:
        """Store bytes durably; returns their sha256 in hex."""

    async def read(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError if it is gone or damaged, UsageError for an invalid
        digest.
        """

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        """List the ids of sessions whose events name a blob; none once they are pruned."""

    async def size_bytes(self) -> int:
        """Return the size of all blobs in bytes."""

    async def collect(self) -> Collected:
        """Drop the blobs that no event names, while other tasks put more.

        Sessions name a blob by events that contain its digest, until they are pruned (a
        SessionPruned) or deleted. A blob put since the store was opened that no event has named yet
        is kept.
        """


class Store(Protocol):
    """Durable events. Every call raises StoreError if the store itself fails."""

    @property
    def trouble(self) -> StoreError | None:
        """Return why the last write failed; None once one succeeds."""

    @property
    def watches(self) -> WatchRecords:
        """Return the look-ups of watchers and commitments, which their events write."""

    @property
    def job_pages(self) -> JobQueue:
        """Return the paged look-up of the job queue."""

    @property
    def job_runs(self) -> RunRecords:
        """Return the look-ups of job runs, which their events write."""

    @property
    def spendings(self) -> SpendingRecords:
        """Return the look-up of spending."""

    @property
    def blobs(self) -> BlobStore:
        """Return the store of frames, trees and prompts."""

    async def check_owned(self) -> None:
        """Raise if writes would be lost: FencedError if the store has another owner now,
        StoreGoneError if its files are gone; StoreError if that is unknown.
        """

    # --- events ----------

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        """Store events together, durably, and update the derived records.

        Args:
            drafts: all of them are stored, or none.
            under: the lease that permits writing them.

        Returns:
            The events, numbered and dated by the store, in the order of the drafts.

        Raises:
            FencedError: the lease was taken over or released; nothing was stored.
            UsageError: a session or question that does not exist.
            WrongStateError: a session that exists already, or an answer to a question that is no
                longer open.
        """

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call back with each commit that has events; call the result to unsubscribe."""

    async def last_event_id(self) -> int:
        """Return the id of the newest stored event; 0 before the first."""

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        """Read events with a larger id than `after`, in order."""

    async def facts(self, types: Sequence[str], *, limit: int) -> tuple[Event, ...]:
        """Read the newest events of no session that are of some types, in order."""

    async def session_events(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's events with a larger seq than `after_seq`, in order; with a
        `before_seq`, the newest `limit` of those before it.
        """

    async def search(
        self, query: str, *, limit: int = 50, wanted: SessionFilter = EVERY_SESSION
    ) -> tuple[SearchHit, ...]:
        """Find events by words, newest first, in the sessions that a filter finds; see
        `agent.store.queries.search_words.terms_of`.

        Raises UsageError for a query with nothing to search for.
        """

    # --- leases ----------

    async def acquire_lease(self, key: str, owner: str, ttl_ms: int) -> Lease | None:
        """Take a key for a time, durably; None if another owner has it.

        A key is free if it was never taken, was released, or its lease expired by the store's
        clock. An owner that takes its own key again gets a new epoch. Raises UsageError for a blank
        name or a time that is not positive.
        """

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease:
        """Extend a lease (its heartbeat). Raises FencedError if it was taken over."""

    async def release_lease(self, lease: Lease) -> None:
        """Release a lease; an invalid one is left as it is."""

    async def lease(self, key: str) -> Lease | None:
        """Return a key's newest lease; `is_free` tells whether it still excludes others."""

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

    async def trees(self, *, limit: int = 200) -> tuple[Session, ...]:
        """List the newest top-level sessions, all that are not settled, and their whole trees."""

    async def session(self, id_or_prefix: str) -> Session:
        """Find a session by its id or a unique prefix of it. Raises UsageError."""

    async def children(self, parent_id: str) -> tuple[Session, ...]:
        """List the children of a session, oldest first."""

    async def root_ids(self) -> tuple[str, ...]:
        """List the ids of all top-level sessions, newest first."""

    def unpruned_roots(self) -> AsyncIterator[tuple[Session, ...]]:
        """List top-level sessions that still have their frames and caches, newest first, by pages.

        What is pruned in between is not on a later page.
        """

    async def delete_sessions(self, *session_ids: str) -> None:
        """Delete sessions with their events and questions, and store a SessionsDeleted.

        Their blobs are dropped by the next `blobs.collect`. Raises UsageError for an unknown
        session, and deletes nothing.
        """

    async def open_questions(self) -> tuple[Question, ...]:
        """List open questions, oldest first."""

    async def question(self, question_id: str) -> tuple[Question, bool]:
        """Find a question and return whether it is still open. Raises UsageError."""

    # --- jobs ----------

    async def create_job(
        self,
        build: Callable[[int], Job],
        *,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store the job that `build` makes for the next free id, with its JobChanged event and
        the drafts that `beside` makes of it.
        """

    async def replace_job(self, job: Job, *, expect: JobStatus, reason: str) -> bool:
        """Store a job's new record with its JobChanged event if its status is still `expect`.

        Returns:
            False if another change came first, and nothing is changed: a late result never revives
            a stopped job.

        Raises:
            UsageError: there is no such job.
        """

    async def job(self, job_id: int) -> Job | None:
        """Find a job."""

    async def jobs(self, *, query: str = "", limit: int = 50) -> tuple[Job, ...]:
        """List jobs, newest first; the query is a part of title, prompt or status in any case.

        Raises UsageError for a query that is too long.
        """

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[Job, ...]:
        """List active jobs that are due, the longest overdue first."""

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs that an event makes due."""

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that started at or before a time."""

    async def next_number(self, kind: str, newest: int) -> int:
        """Return a number for a new record of a kind, larger than all before.

        Args:
            kind: `watcher` or `commitment`.
            newest: the largest that the caller knows.
        """
