"""A second store, in memory: it shows that the conformance suite is not about SQLite.

It keeps the promises of `agent.store.store.Store` for as long as it lives; `reopened` is what is
left when its process has died: everything that was acknowledged.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Container, Sequence
from contextlib import suppress

from agent import records
from agent.errors import StoreError, UsageError
from agent.protocol import Event, JobChanged, SessionsDeleted
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.store import leases
from agent.store.changes.blob_refs import digests_of
from agent.store.changes.event_ledger import (
    EventDraft,
    EventLedger,
    QuestionHead,
    SessionHead,
    body_of,
)
from agent.store.changes.overlay import Layers
from agent.store.leases import Lease
from agent.store.queries.job_pages import JobPage
from agent.store.queries.search_words import text_of
from agent.store.store import Collected, Listener, wall_clock_ms
from tests.spending import spent


class MemoryWatches:
    """Implements `WatchRecords` over dictionaries."""

    def __init__(self) -> None:
        self.by_id: dict[int, records.Watcher] = {}
        self.commitments_by_id: dict[int, records.Commitment] = {}

    async def watchers(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[records.Watcher, ...]:
        newest_first = sorted(self.by_id.values(), key=lambda one: -one.id)
        return tuple(
            one
            for one in newest_first
            if query.casefold() in f"{one.title} {one.type} {one.status}".casefold()
            and not 0 < before <= one.id
            and (not live_only or one.unread or one.status is records.WatcherStatus.ACTIVE)
        )[:limit]

    async def watcher(self, watcher_id: int) -> records.Watcher | None:
        return self.by_id.get(watcher_id)

    async def commitments(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[records.Commitment, ...]:
        newest_first = sorted(self.commitments_by_id.values(), key=lambda one: -one.id)
        return tuple(
            one
            for one in newest_first
            if query.casefold() in f"{one.title} {one.description} {one.status}".casefold()
            and not 0 < before <= one.id
            and not (live_only and one.status.is_over)
        )[:limit]

    async def commitment(self, commitment_id: int) -> records.Commitment | None:
        return self.commitments_by_id.get(commitment_id)


class MemoryRuns:
    """Implements `RunRecords` over dictionaries."""

    def __init__(self, jobs: dict[int, records.Job]) -> None:
        self.by_id: dict[str, records.RunRecord] = {}
        self._jobs = jobs

    async def runs(self, job_id: int, *, limit: int = 20) -> tuple[records.RunRecord, ...]:
        return tuple(run for run in reversed(self.by_id.values()) if run.job_id == job_id)[:limit]

    async def open_jobs(self) -> tuple[records.Job, ...]:
        waits = {
            records.JobStatus.WAITING,
            records.JobStatus.QUEUED,
            records.JobStatus.AWAITING_REVIEW,
        }
        return tuple(job for _, job in sorted(self._jobs.items()) if job.status in waits)

    async def ended_jobs(self, limit: int) -> tuple[int, ...]:
        over = {records.JobStatus.COMPLETED, records.JobStatus.FAILED, records.JobStatus.STOPPED}
        return tuple(key for key, job in sorted(self._jobs.items()) if job.status in over)[:limit]

    async def count_jobs(self) -> int:
        return len(self._jobs)


class MemoryPages:
    """Implements `JobQueue` over a dictionary."""

    def __init__(self, jobs: dict[int, records.Job]) -> None:
        self._jobs = jobs

    async def page(self, *, query: str = "", limit: int = 100, after: str = "") -> JobPage:
        ended = {records.JobStatus.COMPLETED, records.JobStatus.FAILED, records.JobStatus.STOPPED}

        def place(job: records.Job) -> tuple[int, int, int]:
            if job.status is records.JobStatus.ACTIVE:
                return (1, job.next_run_at, job.id)
            return (2 if job.status in ended else 0, 0, -job.id)

        words = query.casefold()
        queue = sorted(
            (
                j
                for j in self._jobs.values()
                if words in f"{j.title}\n{j.prompt}\n{j.status}".casefold()
            ),
            key=place,
        )
        start = int(after or 0)
        page = tuple(queue[start : start + limit])
        return JobPage(page, str(start + limit) if len(queue) >= start + limit else "")


class MemoryBlobs:
    """Blobs in a dictionary, with the sessions that name each."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes, str]] = {}
        self.uses: set[tuple[str, str]] = set()
        self.unnamed: set[str] = set()

    def drop_uses(self, sessions: Container[str]) -> None:
        self.uses = {use for use in self.uses if use[0] not in sessions}

    async def put(self, data: bytes, media_type: str) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._kept.setdefault(digest, (data, media_type))
        self.unnamed.add(digest)
        return digest

    async def read(self, digest: str) -> bytes:
        if digest not in self._kept:
            raise StoreError(f"Blob {digest} is gone.")
        return self._kept[digest][0]

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        return tuple(sorted(session_id for session_id, one in self.uses if one == digest))

    async def size_bytes(self) -> int:
        return sum(len(data) for data, _ in self._kept.values())

    async def collect(self) -> Collected:
        named = {digest for _, digest in self.uses} | self.unnamed
        gone = [digest for digest in self._kept if digest not in named]
        size = sum(len(self._kept.pop(digest)[0]) for digest in gone)
        return Collected(blobs=len(gone), size_bytes=size)


class MemoryStore:
    """Implements `Store` over dictionaries, with the same fold as every other."""

    trouble: StoreError | None = None

    def __init__(self, clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._clock_ms = clock_ms
        self._events: list[Event] = []
        self._sessions: dict[str, SessionHead] = {}
        self._questions: dict[str, QuestionHead] = {}
        self._jobs: dict[int, records.Job] = {}
        self.watches = MemoryWatches()
        self.job_runs = MemoryRuns(self._jobs)
        self.job_pages = MemoryPages(self._jobs)
        self.spendings = self
        self._leases: dict[str, Lease] = {}
        self.blobs = MemoryBlobs()
        self._listeners: list[Listener] = []
        self._last_id = 0

    def reopened(self) -> "MemoryStore":
        self._listeners.clear()
        self.blobs.unnamed.clear()
        self._leases = {k: leases.released(v, v) or v for k, v in self._leases.items()}
        return self

    # --- events ----------

    async def check_owned(self) -> None:
        return

    async def append(self, *drafts: EventDraft, under: Lease | None = None) -> tuple[Event, ...]:
        if under is not None:
            leases.check(self._leases.get(under.key), under)
        if not drafts:
            return ()
        ledger = EventLedger(
            last_event_id=self._last_id,
            last_job_id=max(self._jobs, default=0),
            sessions=Layers({}, self._sessions),
            questions=Layers({}, self._questions),
            jobs=Layers({}, self._jobs),
            leases=Layers({}, {}),
        )
        for draft in drafts:
            ledger.fold(draft, body_of(draft.msg), self._clock_ms())
        self._sessions.update(ledger.sessions.maps[0])
        self._questions.update(ledger.questions.maps[0])
        self._jobs.update(ledger.jobs.maps[0])
        self.watches.by_id.update(ledger.watchers)
        self.job_runs.by_id.update(ledger.runs)
        for job_id in ledger.dropped_jobs:
            self._jobs.pop(job_id, None)
            of_it = [run for run in self.job_runs.by_id.values() if run.job_id == job_id]
            for run in of_it:
                del self.job_runs.by_id[run.run_id]
        self.watches.commitments_by_id.update(ledger.commitments)
        self.blobs.drop_uses(ledger.pruned)
        self.blobs.uses |= set(ledger.uses)
        events = tuple(event for event, _ in ledger.events)
        for event in events:
            self.blobs.unnamed.difference_update(digests_of(event.msg))
        self._last_id = ledger.last_event_id
        self._events.extend(events)
        for listener in tuple(self._listeners):
            listener(ledger.commit())
        return events

    def subscribe(self, callback: Listener) -> Callable[[], None]:
        self._listeners.append(callback)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(callback)

        return end

    async def last_event_id(self) -> int:
        return self._last_id

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        return tuple([e for e in self._events if e.event_id > after][:limit])

    async def facts(self, types: Sequence[str], *, limit: int) -> tuple[Event, ...]:
        found = [
            one
            for one in self._events
            if not one.session_id and type(one.msg).__struct_config__.tag in types
        ]
        return tuple(found[-limit:])

    async def session_events(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        found = [e for e in self._events if e.session_id == session_id and e.seq > after_seq]
        if before_seq:
            return tuple([e for e in found if e.seq < before_seq][-limit:])
        return tuple(found[:limit])

    async def since(self, since_ms: int) -> records.Spending:
        by_session: dict[str, tuple[Event, ...]] = {}
        for event in self._events:
            by_session[event.session_id] = (*by_session.get(event.session_id, ()), event)
        return spent(
            (head.session for head in self._sessions.values()), by_session, since_ms=since_ms
        )

    async def search(
        self, query: str, *, limit: int = 50, wanted: SessionFilter = EVERY_SESSION
    ) -> tuple[records.SearchHit, ...]:
        words = query.casefold().split()
        if not words:
            raise UsageError("There is no word to look for.")
        hits: list[records.SearchHit] = []
        for event in reversed(self._events):
            text = text_of(event.msg) if event.session_id else ""
            is_found = text and all(word in text.casefold().split() for word in words)
            if is_found and wanted.holds(self._sessions[event.session_id].session):
                hits.append(
                    records.SearchHit(
                        session_id=event.session_id,
                        seq=event.seq,
                        ts_ms=event.ts_ms,
                        kind=str(type(event.msg).__struct_config__.tag),
                        snippet=text,
                    )
                )
        return tuple(hits[:limit])

    # --- leases ----------

    async def acquire_lease(self, key: str, owner: str, ttl_ms: int) -> Lease | None:
        got = leases.granted_lease(self._leases.get(key), key, owner, ttl_ms, self._clock_ms())
        if got is not None:
            self._leases[key] = got
        return got

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> Lease:
        present = self._leases.get(lease.key)
        self._leases[lease.key] = leases.renewed(present, lease, ttl_ms, self._clock_ms())
        return self._leases[lease.key]

    async def release_lease(self, lease: Lease) -> None:
        given_back = leases.released(self._leases.get(lease.key), lease)
        if given_back is not None:
            self._leases[lease.key] = given_back

    async def lease(self, key: str) -> Lease | None:
        return self._leases.get(key)

    # --- sessions and questions ----------

    def _records(self) -> list[records.Session]:
        return [head.session for head in reversed(self._sessions.values())]

    async def sessions(
        self,
        *,
        limit: int = 200,
        active_only: bool = False,
        before: str = "",
        wanted: SessionFilter = EVERY_SESSION,
    ) -> tuple[records.Session, ...]:
        found = self._records()
        if before:
            at = [one.session_id for one in found].index(before)
            found = found[at + 1 :]
        if active_only:
            found = [one for one in found if not one.state.is_terminal]
        return tuple([one for one in found if wanted.holds(one)][:limit])

    async def trees(self, *, limit: int = 200) -> tuple[records.Session, ...]:
        roots = [one.session_id for one in self._records() if not one.parent_id][:limit]
        roots += [one.parent_id or one.session_id for one in await self.sessions(active_only=True)]
        return tuple(one for one in self._records() if (one.parent_id or one.session_id) in roots)

    async def session(self, id_or_prefix: str) -> records.Session:
        found = [k for k in self._sessions if id_or_prefix and k.startswith(id_or_prefix)]
        if id_or_prefix in self._sessions or len(found) == 1:
            key = id_or_prefix if id_or_prefix in self._sessions else found[0]
            return self._sessions[key].session
        raise UsageError(f"There is no session {id_or_prefix!r}.")

    async def children(self, parent_id: str) -> tuple[records.Session, ...]:
        return tuple(o for o in reversed(self._records()) if o.parent_id == parent_id != "")

    async def root_ids(self) -> tuple[str, ...]:
        return tuple(one.session_id for one in self._records() if not one.parent_id)

    async def unpruned_roots(self) -> AsyncIterator[tuple[records.Session, ...]]:
        yield tuple(o for o in self._records() if not o.parent_id and not o.pruned)

    async def delete_sessions(self, *session_ids: str) -> None:
        for session_id in session_ids:
            if session_id not in self._sessions:
                raise UsageError(f"There is no session {session_id!r}.")
        await self.append(EventDraft("", SessionsDeleted(session_ids=session_ids)))
        gone = set(session_ids)
        self._events = [e for e in self._events if e.session_id not in gone]
        self.blobs.drop_uses(gone)
        self._questions = {
            k: q for k, q in self._questions.items() if q.question.session_id not in gone
        }
        for session_id in gone:
            del self._sessions[session_id]

    async def open_questions(self) -> tuple[records.Question, ...]:
        return tuple(head.question for head in self._questions.values() if head.is_open)

    async def question(self, question_id: str) -> tuple[records.Question, bool]:
        if question_id not in self._questions:
            raise UsageError(f"There is no question {question_id!r}.")
        return self._questions[question_id]

    # --- jobs ----------

    async def create_job(
        self,
        build: Callable[[int], records.Job],
        *,
        beside: Callable[[records.Job], tuple[EventDraft, ...]] | None = None,
    ) -> records.Job:
        job = build(max(self._jobs, default=0) + 1)
        created = EventDraft("", JobChanged(job=job, reason="created"))
        await self.append(created, *(beside(job) if beside is not None else ()))
        return job

    async def replace_job(
        self, job: records.Job, *, expect: records.JobStatus, reason: str
    ) -> bool:
        if job.id not in self._jobs:
            raise UsageError(f"There is no job {job.id}.")
        if self._jobs[job.id].status is not expect:
            return False
        await self.append(EventDraft("", JobChanged(job=job, reason=reason)))
        return True

    async def job(self, job_id: int) -> records.Job | None:
        return self._jobs.get(job_id)

    async def jobs(self, *, query: str = "", limit: int = 50) -> tuple[records.Job, ...]:
        found = [j for j in reversed(self._jobs.values()) if query.casefold() in j.title.casefold()]
        return tuple(found[:limit])

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[records.Job, ...]:
        active = [j for j in self._jobs.values() if j.status is records.JobStatus.ACTIVE]
        due = sorted((j for j in active if j.next_run_at <= now_ms), key=lambda j: j.next_run_at)
        return tuple(due[:limit])

    async def next_due_ms(self) -> int | None:
        active = [
            j.next_run_at for j in self._jobs.values() if j.status is records.JobStatus.ACTIVE
        ]
        return min(active, default=None)

    async def jobs_on(self, trigger: str) -> tuple[records.Job, ...]:
        return tuple(
            job
            for job in self._jobs.values()
            if job.status is records.JobStatus.ACTIVE and trigger in job.schedule_json.get("on", ())
        )

    async def stale_jobs(self, before_ms: int) -> tuple[records.Job, ...]:
        running = [j for j in self._jobs.values() if j.status is records.JobStatus.RUNNING]
        return tuple(j for j in running if j.running_at <= before_ms)
