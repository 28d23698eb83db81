"""Restrict a fleet's store to one host's work for its core.

Listeners still receive events of the whole store. Invariants: a core resumes, claims, keeps and
drops on its own only its host's records; it marks new ones as its host's; a look-up by id finds any
host's record.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, cast

from msgspec.structs import replace

from agent.protocol import CommitmentChanged, Event, JobChanged, SessionConfigured, WatcherChanged
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import Commitment, Job, Question, Session, Watcher
from agent.store.changes.row_codec import as_int, as_text, decode_job
from agent.store.leases import Lease
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.queries.job_runs import RunRecords
from agent.store.queries.watcher_queries import WatchRecords
from agent.store.store import EventDraft, Store

_ALL = 1 << 30
_OWN_DUE = (
    "SELECT record FROM job WHERE status = 'active' AND host_of(record) = ? AND next_run_at <= ? "
    "ORDER BY next_run_at, id LIMIT ?"
)
_OWN_NEXT = "SELECT min(next_run_at) FROM job WHERE status = 'active' AND host_of(record) = ?"
_NUMBER = (
    "INSERT INTO counter (kind, newest) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE "
    "SET newest = greatest(counter.newest + 1, ?) RETURNING newest"
)


def own_part(store: PostgresStore) -> Store:
    """Return the part of a store that belongs to the host which has it open."""
    return cast(Store, HostStore(store))


async def host_of_unassigned(store: PostgresStore) -> str:
    """Return the host that owns records without a host, from before there were hosts."""
    [(host,)] = await store.rows("SELECT core_host FROM tip", ())
    return as_text(host)


class HostStore:
    """A host's part of a store; other calls go to the store."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self.job_runs = cast(RunRecords, _HostRuns(store.job_runs, store.host))
        self.watches = cast(WatchRecords, _HostWatches(store.watches, store.host))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    # --- writing ----------

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        """Store events; see `Store.append`. New records are marked as this host's."""
        return await self._store.append(*map(self._marked, drafts), under=under)

    async def create_job(
        self,
        build: Callable[[int], Job],
        *,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store a new job of this host; see `Store.create_job`."""
        return await self._store.create_job(
            lambda job_id: replace(build(job_id), host=self._store.host), beside=beside
        )

    def _marked(self, draft: EventDraft) -> EventDraft:
        host = self._store.host
        match draft.msg:
            case SessionConfigured(session=session) if session.host != host:
                msg = SessionConfigured(session=replace(session, host=host))
                return replace(draft, msg=msg)
            case WatcherChanged(watcher=Watcher(host="") as watcher, reason=reason):
                return replace(
                    draft, msg=WatcherChanged(watcher=replace(watcher, host=host), reason=reason)
                )
            case CommitmentChanged(commitment=Commitment(host="") as one, reason=reason):
                return replace(
                    draft, msg=CommitmentChanged(commitment=replace(one, host=host), reason=reason)
                )
            case JobChanged(job=Job(host="") as job, reason=reason):
                return replace(draft, msg=JobChanged(job=replace(job, host=host), reason=reason))
            case _:
                return draft

    # --- what there is to take up ----------

    async def sessions(
        self,
        *,
        limit: int = 200,
        active_only: bool = False,
        before: str = "",
        wanted: SessionFilter = EVERY_SESSION,
    ) -> tuple[Session, ...]:
        """List sessions; of those that are not settled, this host's."""
        found = await self._store.sessions(
            limit=limit, active_only=active_only, before=before, wanted=wanted
        )
        return tuple(one for one in found if self._is_own(one)) if active_only else found

    async def root_ids(self) -> tuple[str, ...]:
        """List the ids of this host's top-level sessions, newest first."""
        return tuple(
            one.session_id
            for one in await self._store.sessions(limit=_ALL)
            if not one.parent_id and self._is_own(one)
        )

    async def unpruned_roots(self) -> AsyncIterator[tuple[Session, ...]]:
        """List top-level sessions of this host that still have their frames, newest first, by
        pages, of which some may be empty.
        """
        async for page in self._store.unpruned_roots():
            yield tuple(filter(self._is_own, page))

    async def open_questions(self) -> tuple[Question, ...]:
        """List the open questions of this host's sessions, oldest first."""
        found: list[Question] = []
        for question in await self._store.open_questions():
            if self._is_own(await self._store.session(question.session_id)):
                found.append(question)
        return tuple(found)

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[Job, ...]:
        """List active jobs of this host that are due, the longest overdue first."""
        rows = await self._store.rows(_OWN_DUE, (self._store.host, now_ms, max(limit, 0)))
        return tuple(decode_job(record) for (record,) in rows)

    async def next_due_ms(self) -> int | None:
        """Return when the next active job of this host is due; 0 is now, None is never."""
        [(due,)] = await self._store.rows(_OWN_NEXT, (self._store.host,))
        return due if isinstance(due, int) else None

    async def next_number(self, kind: str, newest: int) -> int:
        """Return the next number of a kind, shared by all hosts."""
        [(number,)] = await self._store.rows(_NUMBER, (kind, newest + 1, newest + 1))
        return as_int(number)

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs of this host that started at or before a time."""
        return self._jobs(await self._store.stale_jobs(before_ms))

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs of this host that an event makes due."""
        return self._jobs(await self._store.jobs_on(trigger))

    def _jobs(self, found: tuple[Job, ...]) -> tuple[Job, ...]:
        return tuple(one for one in found if one.host == self._store.host)

    def _is_own(self, session: Session) -> bool:
        return session.host == self._store.host


class _HostWatches:
    """Watchers and commitments; of those that are live, this host's."""

    def __init__(self, watches: WatchRecords, host: str) -> None:
        self._watches = watches
        self._host = host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watches, name)

    async def watchers(self, *, live_only: bool = False, **how: Any) -> tuple[Watcher, ...]:
        """List watchers; see `WatchRecords.watchers`."""
        found = await self._watches.watchers(live_only=live_only, **how)
        return tuple(one for one in found if one.host == self._host) if live_only else found

    async def commitments(self, *, live_only: bool = False, **how: Any) -> tuple[Commitment, ...]:
        """List commitments; see `WatchRecords.commitments`."""
        found = await self._watches.commitments(live_only=live_only, **how)
        return tuple(one for one in found if one.host == self._host) if live_only else found


class _HostRuns:
    """Runs of jobs; of the jobs that wait, this host's."""

    def __init__(self, runs: RunRecords, host: str) -> None:
        self._runs = runs
        self._host = host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    async def open_jobs(self) -> tuple[Job, ...]:
        """List this host's jobs whose run waits; see `RunRecords.open_jobs`."""
        return tuple(one for one in await self._runs.open_jobs() if one.host == self._host)
