"""What the core asks of a store: durable facts, and leases that fence them.

Not an implementation: `agent.store.embedded.sqlite_store` is the embedded one. Invariants that each
keeps: a write is durable when it returns and nothing is published sooner (append, then publish); a
write under a lease that was taken over is refused; the records beside the log are what folding the
log gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from agent.errors import StoreError
from agent.protocol import Event
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
    """What a collection of blobs dropped."""

    blobs: int = 0
    size_bytes: int = 0


class BlobStore(Protocol):
    """Bytes by their digest. Every call raises StoreError when the store itself fails."""

    async def put(self, data: bytes, media_type: str) -> str:
        """Keep bytes durably; returns their sha256 in hex."""

    async def read(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError when it is gone or damaged, UsageError for no digest."""

    async def type_of(self, digest: str) -> str:
        """Return a blob's media type; empty when there is no such blob."""

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        """Name the sessions whose events name a blob; none once they are pruned."""

    async def size_bytes(self) -> int:
        """Return how many bytes all blobs take."""

    async def collect(self) -> Collected:
        """Drop the blobs that no event names, beside writers that go on.

        A blob is named by the sessions whose events hold its digest, until they are pruned (a
        SessionPruned) or deleted. One that was put by this opening and has yet to be named is left.
        """


class Store(Protocol):
    """Durable facts. Every call raises StoreError when the store itself fails."""

    @property
    def trouble(self) -> StoreError | None:
        """Why the last write was not stored; None once one is."""

    @property
    def watches(self) -> WatchRecords:
        """Where watchers and commitments are looked up; they are written by their events."""

    @property
    def job_pages(self) -> JobQueue:
        """Where the queue of jobs is read page by page."""

    @property
    def job_runs(self) -> RunRecords:
        """Where the runs of jobs are looked up; they are written by their events."""

    @property
    def spendings(self) -> SpendingRecords:
        """Where what sessions used is added up."""

    @property
    def blobs(self) -> BlobStore:
        """Where frames, trees and prompts are kept."""

    async def check_owned(self) -> None:
        """Raise when what is written would not be kept: FencedError when somebody else owns the
        store now, StoreGoneError when its files are gone; StoreError when it cannot be known.
        """

    # --- events ----------

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        """Store facts together, durably, and update what is kept beside them.

        Args:
            drafts: all of them are stored, or none.
            under: the lease that gives the right to write them.

        Returns:
            The events, numbered and dated by the store, in the order of the drafts.

        Raises:
            FencedError: the lease was taken over or given back; nothing was stored.
            UsageError: a session or question that does not exist.
            WrongStateError: a session that exists already, or an answer to a question that is not
                open any more.
        """

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        """Call back with each commit that holds events; the result ends that."""

    async def last_event_id(self) -> int:
        """Return the id of the newest stored event; 0 before the first."""

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        """Read events with a larger id than `after`, in order."""

    async def session_events(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's events with a larger seq than `after_seq`, in order; with a
        `before_seq`, the newest `limit` of those before it.
        """

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first; see `agent.store.queries.search_words.compiled`.

        Raises UsageError for a query with nothing to look for.
        """

    # --- leases ----------

    async def acquire_lease(self, key: str, owner: str, ttl_ms: int) -> Lease | None:
        """Take a key for a time, durably; None when somebody else has it.

        Free are keys that nobody had, that were given back, or whose lease ran out by the store's
        clock. An owner that takes its own key again gets a new epoch. Raises UsageError for a blank
        name or a time that is not positive.
        """

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease:
        """Put off the end of a lease (its heartbeat). Raises FencedError when it was taken over."""

    async def release_lease(self, lease: Lease) -> None:
        """Release a lease; one that counts no more is left as it is."""

    async def lease(self, key: str) -> Lease | None:
        """Return who had a key last; `is_free` tells whether that still keeps others out."""

    # --- sessions and questions ----------

    async def sessions(
        self, *, limit: int = 200, active_only: bool = False, before: str = ""
    ) -> tuple[Session, ...]:
        """List sessions, newest first; only those older than the session `before`, if given."""

    async def trees(self, *, limit: int = 200) -> tuple[Session, ...]:
        """List the newest top-level sessions, all that are not settled, and their whole trees."""

    async def session(self, id_or_prefix: str) -> Session:
        """Find a session by its id or a unique prefix of it. Raises UsageError."""

    async def children(self, parent_id: str) -> tuple[Session, ...]:
        """List the children of a session, oldest first."""

    async def root_ids(self) -> tuple[str, ...]:
        """Name every top-level session, newest first."""

    async def unpruned_roots(self) -> tuple[Session, ...]:
        """List top-level sessions that still have their frames and caches, newest first."""

    async def delete_sessions(self, *session_ids: str) -> None:
        """Forget sessions with their events and questions, and tell it in a SessionsDeleted.

        Their blobs go with the next `blobs.collect`. Raises UsageError for an unknown session, and
        nothing is then deleted.
        """

    async def open_questions(self) -> tuple[Question, ...]:
        """List open questions, oldest first."""

    async def question(self, question_id: str) -> tuple[Question, bool]:
        """Find a question and say whether it is still open. Raises UsageError."""

    # --- jobs ----------

    async def create_job(
        self,
        build: Callable[[int], Job],
        *,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store the job that `build` makes for the next free id, with its JobChanged event, and
        what `beside` makes of it together with it.
        """

    async def replace_job(self, job: Job, *, expect: JobStatus, reason: str) -> bool:
        """Store a job's new record with its JobChanged event if its status is still `expect`.

        Returns:
            False, and nothing is changed, when somebody was faster: a late result never revives a
            stopped job.

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
        """List active jobs whose time has come, the longest overdue first."""

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs that an event makes due."""

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that began at or before a moment."""

    async def next_number(self, kind: str, newest: int) -> int:
        """Return a number for a new record of a kind, larger than all before.

        Args:
            kind: `watcher` or `commitment`.
            newest: the largest that the caller knows of.
        """
