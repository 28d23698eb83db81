"""The wake: repair what is stuck, claim what is due, send it off, and set one timer for the next.

Not what a run does (`agent.jobs.runs`), and no polling: the timer rings when something is due.
Invariants: a job runs once for each due time; at most three start per ring; the order is that of
CONTRACTS 2.3; a ring is never put off.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from agent.errors import SwitchboardError
from agent.jobs import history
from agent.jobs.records import JobRecords
from agent.jobs.reviews import Reviews
from agent.jobs.runs import Runs
from agent.jobs.schedule import (
    DUE_PER_WAKE,
    MINIMUM_DELAY_MS,
    STUCK_AFTER_MS,
    armed_at_ms,
    claimed,
    failed,
    is_due,
    is_same_run,
    is_stuck,
    missed,
    wake_at_ms,
)
from agent.protocol import Event, JobChanged, RunChanged
from agent.records import Job, JobStatus, RunOutcome, RunRecord
from agent.sessions.registry.services import Services
from agent.store.store import EventDraft

LONGEST_SLEEP_S = 15.0
"""A clock that is set is noticed by looking."""
"""The timer looks at the clock this often, for clocks are set and machines sleep."""
_UNSTEADY_MS = 1000
"""How far a clock may go back without having been set: it is slewed, or two are read."""
_FOREVER_MS = 1 << 62
_log = logging.getLogger(__name__)


class Wake:
    """The one timer of the jobs."""

    def __init__(self, parts: Services, records: JobRecords, runs: Runs, reviews: Reviews) -> None:
        self._parts = parts
        self._records = records
        self._runs = runs
        self._reviews = reviews
        self._armed_ms: int | None = None
        self._looked_ms = 0
        self._changed = asyncio.Event()

    @property
    def armed_ms(self) -> int | None:
        """When the timer rings next; None when nothing is active."""
        return self._armed_ms

    def on_commit(self, events: Iterable[Event]) -> None:
        """Arm the timer for jobs that were created, finished or claimed."""
        for event in events:
            match event.msg:
                case JobChanged(job=Job(status=JobStatus.ACTIVE, next_run_at=due_ms)):
                    self._arm(wake_at_ms(due_ms, self._parts.clock_ms()))
                case JobChanged(job=Job(status=JobStatus.RUNNING, running_at=since_ms)):
                    self._arm(since_ms + STUCK_AFTER_MS + 1)
                case _:
                    pass

    async def recover(self) -> None:
        """Take the jobs back that a dead core was running. Raises StoreError."""
        for job in await self._parts.store.stale_jobs(_FOREVER_MS):
            if not await self._reviews.take_back(job):
                await self._repair(job, RunOutcome.RESTARTED)
        await self._reviews.recover()

    async def run(self) -> None:
        """Ring at once, as at every start, and then whenever something is due, for ever."""
        while True:
            try:
                await self.ring()
            except SwitchboardError as error:
                # Of one job that is gone meanwhile, too: the others have no other timer.
                _log.warning("The wake of jobs failed: %s", error)
                self._arm(self._parts.clock_ms() + MINIMUM_DELAY_MS)
            while not self.is_time():
                self._changed.clear()
                await self._sleep()

    async def ring(self) -> None:
        """Do all that one wake does. Raises StoreError."""
        self._armed_ms = None
        now_ms = self._parts.clock_ms()
        for job in await self._parts.store.stale_jobs(now_ms):
            if is_stuck(job, now_ms):
                await self._repair(job, RunOutcome.STUCK)
                await self._runs.end(job, "its job took too long")
            else:
                self._arm(job.running_at + STUCK_AFTER_MS + 1)
        await self._claim(await self._due(now_ms), now_ms)
        self._arm(wake_at_ms(await self._parts.store.next_due_ms(), now_ms))

    async def _claim(self, due: Iterable[Job], now_ms: int) -> None:
        """Take due jobs in one commit and send their runs off; who is late leaves a job alone."""
        begun: dict[int, RunRecord] = {}

        def opening(before: Job, _: Job) -> list[EventDraft]:
            begun[before.id] = history.begun(before, now_ms)
            return [EventDraft("", RunChanged(run=begun[before.id]))]

        claims = await self._records.change_together(
            [job.id for job in due],
            lambda stored: claimed(stored, now_ms) if is_due(stored, now_ms) else None,
            "claimed",
            beside=opening,
        )
        for claim in claims:
            self._parts.supervisor.start(
                self._runs.run(claim, begun[claim.id]), f"run of job {claim.id}"
            )

    async def _due(self, now_ms: int) -> tuple[Job, ...]:
        """Return what may start now, once the times that passed too long ago are put right."""
        while True:
            due = await self._parts.store.due_jobs(now_ms, DUE_PER_WAKE)
            passed = [job for job in due if missed(job, now_ms) is not None]
            if not passed:
                return due
            for job in passed:
                await self._records.change(
                    job.id, lambda stored: missed(stored, now_ms), "missed its time"
                )

    async def _repair(self, job: Job, outcome: RunOutcome) -> None:
        now_ms = self._parts.clock_ms()
        run = await self._reviews.close_run(job, outcome, "Nothing more was heard of it.")
        after, changed = await self._records.change(
            job.id,
            lambda stored: (
                failed(stored, outcome.value, now_ms) if is_same_run(stored, job) else None
            ),
            outcome.value,
            beside=lambda *_: [EventDraft("", RunChanged(run=run))] if run else [],
        )
        if changed and run is not None:
            self._runs.told(after, run)

    def _arm(self, at_ms: int | None) -> None:
        self._armed_ms = armed_at_ms(self._armed_ms, at_ms)
        self._changed.set()

    def is_time(self) -> bool:
        """Look at the clock: whether the timer has to ring now.

        Also when the clock was set back: what it was armed for by the old time would be late.
        """
        now_ms, before_ms = self._parts.clock_ms(), self._looked_ms
        self._looked_ms = now_ms
        if now_ms < before_ms - _UNSTEADY_MS:
            _log.info("The clock was set back by %d s", (before_ms - now_ms) // 1000)
            return True
        return self._armed_ms is not None and self._armed_ms <= now_ms

    async def _sleep(self) -> None:
        wait_s = None
        if self._armed_ms is not None:
            left_s = (self._armed_ms - self._parts.clock_ms()) / 1000
            wait_s = min(max(left_s, 0.0), LONGEST_SLEEP_S)
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return
