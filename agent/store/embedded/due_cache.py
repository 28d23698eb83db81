"""Cache the jobs due soonest and the running ones, which the scheduler reads at every wake.

The table of jobs is authoritative: this follows the writer's commits like any listener. Invariants:
its answers equal the table's; it holds a bounded number of jobs, the soonest, however many are
stored.
"""

import asyncio
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from agent.protocol import Event, JobChanged, JobsDropped
from agent.records import Job, JobStatus
from agent.store.queries.reader import Reader

SOONEST = 1024  # How many active jobs are read at once; four times as many are held at most.
_EVER_MS = 1 << 62
_OF_JOBS = frozenset({JobChanged, JobsDropped})  # Known at once: every committed event passes here.

_Key = tuple[int, int]  # When it is due, and its id: the order of the queue.


class DueCache:
    """The soonest active jobs and all running ones of one store.

    Every query raises StoreError if the table must be read and cannot be.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._active: dict[int, Job] = {}
        """Every active job up to the horizon."""
        self._queue: list[_Key] = []
        """A heap of their keys; one that its job no longer has is passed over."""
        self._horizon: _Key | None = (-1, 0)
        """The last key that is held; None when no active job lies beyond."""
        self._running: dict[int, Job] | None = None
        """None before the first reading."""
        self._missed: list[Event] | None = None
        """What was committed while the table was being read."""
        self._reading = asyncio.Lock()

    def on_commit(self, events: Iterable[Event]) -> None:
        for event in events:
            if type(event.msg) in _OF_JOBS:
                if self._missed is not None:
                    self._missed.append(event)
                self._follow(event)

    def find(self, job_id: int) -> Job | None:
        """Return a cached job; None says nothing about the others."""
        return self._active.get(job_id) or (self._running or {}).get(job_id)

    async def due(self, now_ms: int, limit: int) -> tuple[Job, ...]:
        """List active jobs that are due, the longest overdue first."""
        if limit > SOONEST:
            return await self._reader.due_jobs(now_ms, limit)
        found = self._up_to(now_ms, limit)
        if len(found) < limit and self._horizon is not None and self._horizon[0] <= now_ms:
            await self._read()
            found = self._up_to(now_ms, limit)
        return found

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""
        first = self._first()
        if first is None and self._horizon is not None:
            await self._read()
            first = self._first()
        return None if first is None else first[0]

    async def running(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that started at or before a time, the longest running first."""
        if self._running is None:
            await self._read()
        found = [job for job in (self._running or {}).values() if job.running_at <= before_ms]
        return tuple(sorted(found, key=lambda job: (job.running_at, job.id)))

    async def _read(self) -> None:
        """Read the soonest jobs from the table, and apply what was committed meanwhile."""
        async with self._reading:
            self._missed = []
            try:
                running = await self._reader.stale_jobs(_EVER_MS)
                active = await self._reader.due_jobs(_EVER_MS, SOONEST)
                self._running = {job.id: job for job in running}
                self._active = {job.id: job for job in active}
                self._horizon = _key(active[-1]) if len(active) == SOONEST else None
                self._heap_again()
                for event in self._missed:
                    self._follow(event)
            finally:
                self._missed = None

    def _follow(self, event: Event) -> None:
        match event.msg:
            case JobChanged(job=job):
                self._forget(job.id)
                if job.status is JobStatus.RUNNING and self._running is not None:
                    self._running[job.id] = job
                if job.status is JobStatus.ACTIVE and self._is_held(job):
                    self._active[job.id] = job
                    heappush(self._queue, _key(job))
                    self._trim()
            case JobsDropped(job_ids=job_ids):
                for job_id in job_ids:
                    self._forget(job_id)
            case _:
                pass

    def _is_held(self, job: Job) -> bool:
        return self._horizon is None or _key(job) <= self._horizon

    def _forget(self, job_id: int) -> None:
        self._active.pop(job_id, None)
        if self._running is not None:
            self._running.pop(job_id, None)

    def _trim(self) -> None:
        """Keep only the soonest jobs, and few stale keys."""
        if len(self._active) > 4 * SOONEST:
            soonest = sorted(self._active.values(), key=_key)[:SOONEST]
            self._active = {job.id: job for job in soonest}
            self._horizon = _key(soonest[-1])
            self._heap_again()
        elif len(self._queue) > 8 * SOONEST:
            self._heap_again()

    def _heap_again(self) -> None:
        self._queue = [_key(job) for job in self._active.values()]
        heapify(self._queue)

    def _first(self) -> _Key | None:
        while self._queue and not self._stands(self._queue[0]):
            heappop(self._queue)
        return self._queue[0] if self._queue else None

    def _stands(self, key: _Key) -> bool:
        job = self._active.get(key[1])
        return job is not None and job.next_run_at == key[0]

    def _up_to(self, now_ms: int, limit: int) -> tuple[Job, ...]:
        """Pop the soonest jobs off the heap, and push them back."""
        taken: list[_Key] = []
        while len(taken) < limit and (first := self._first()) is not None and first[0] <= now_ms:
            # A job that was due, changed and is due again at the same time has its key twice.
            if first not in taken:
                taken.append(first)
            heappop(self._queue)
        for key in taken:
            heappush(self._queue, key)
        return tuple(self._active[job_id] for _, job_id in taken)


def _key(job: Job) -> _Key:
    return job.next_run_at, job.id
