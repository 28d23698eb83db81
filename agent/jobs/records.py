"""Change job records one after the other, each from what is stored now.

Not the rules of a change (`agent.jobs.schedule`, `agent.jobs.review_rules`). Invariants: no change
is made from a record that was read before another change, so none is ever lost (CONTRACTS 2.3,
hazards 1, 2 and 4); what belongs to a change is stored with it or not at all.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from agent.errors import UsageError
from agent.protocol import JobChanged
from agent.records import Job
from agent.sessions.registry.session_registry import SessionRegistry
from agent.store.store import EventDraft, Store

Rule = Callable[[Job], Job | None]  # Give the record as it should be; None leaves it as it is.


class JobRecords:
    """The one way to change a stored job."""

    def __init__(self, store: Store, registry: SessionRegistry) -> None:
        self._store = store
        self._registry = registry
        # One for each job: changes of different jobs share a commit.
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def change(
        self,
        job_id: int,
        rule: Rule,
        reason: str,
        *,
        beside: Callable[[Job, Job], Iterable[EventDraft]] | None = None,
    ) -> tuple[Job, bool]:
        """Apply a rule to a job as it is stored now.

        Args:
            job_id: which.
            rule: makes the new record.
            reason: why, for people.
            beside: returns what is stored with it, just before it, from the old and the new record.

        Returns:
            The job as it then is, and whether the rule changed it.

        Raises:
            UsageError: there is no such job.
            StoreError: it could not be stored.
        """
        async with self.held(job_id) as before:
            job = before
            while True:
                changed = rule(job)
                if changed is None:
                    return job, False
                if beside is not None:
                    drafts = (*beside(job, changed), changing(changed, reason))
                    await self._registry.append(*drafts)
                    return changed, True
                if await self._store.replace_job(changed, expect=job.status, reason=reason):
                    return changed, True
                job = await self.find(job_id)

    async def change_together(
        self,
        job_ids: Iterable[int],
        rule: Rule,
        reason: str,
        *,
        beside: Callable[[Job, Job], Iterable[EventDraft]],
    ) -> tuple[Job, ...]:
        """Apply a rule to several jobs as they are stored now, in one append: all, or none.

        Args:
            job_ids: which; one that is gone meanwhile is passed over.
            rule: makes a new record; what it gives None for stays as it is.
            reason: why, for people.
            beside: returns what is stored with each, just before it.

        Returns:
            The jobs that were changed, as they then are.

        Raises:
            StoreError: nothing was changed.
        """
        changed: list[Job] = []
        drafts: list[EventDraft] = []
        async with self._locked(job_ids):
            for job_id in job_ids:
                before = await self._store.job(job_id)
                after = rule(before) if before is not None else None
                if before is not None and after is not None:
                    changed.append(after)
                    drafts += (*beside(before, after), changing(after, reason))
            if drafts:
                await self._registry.append(*drafts)
        return tuple(changed)

    @asynccontextmanager
    async def held(self, job_id: int) -> AsyncIterator[Job]:
        """Keep a job as it is for the length of the block. Raises UsageError."""
        async with self._locked((job_id,)):
            yield await self.find(job_id)

    @asynccontextmanager
    async def _locked(self, job_ids: Iterable[int]) -> AsyncIterator[None]:
        taken: list[asyncio.Lock] = []
        try:
            # In order: two who want the same jobs never wait for each other.
            for job_id in sorted(set(job_ids)):
                lock = self._locks.get(job_id)
                if lock is None:
                    lock = self._locks[job_id] = asyncio.Lock()
                await lock.acquire()
                taken.append(lock)
            yield
        finally:
            for lock in taken:
                lock.release()

    async def find(self, job_id: int) -> Job:
        """Read a job as it is stored. Raises UsageError when there is none."""
        job = await self._store.job(job_id)
        if job is None:
            raise UsageError(f"There is no job {job_id}.", "List them: switchboard jobs list")
        return job


def changing(job: Job, reason: str) -> EventDraft:
    """Make the draft of a job's new record."""
    return EventDraft("", JobChanged(job=job, reason=reason))
