"""Schedule jobs: repair what is stuck, claim and start what is due, set one timer for the next.

What a run does is in `agent.jobs.runs`. No polling: the timer rings when something is due.
Invariants: a job runs once for each due time; at most three start per ring; the order is that of
CONTRACTS 2.3; a ring is never put off.
"""

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
from agent.wake_timer import WakeTimer

_FOREVER_MS = 1 << 62
_log = logging.getLogger(__name__)


class JobScheduler:
    """The one timer of a core's jobs, and what happens when it rings."""

    def __init__(self, parts: Services, records: JobRecords, runs: Runs, reviews: Reviews) -> None:
        self._parts = parts
        self._records = records
        self._runs = runs
        self._reviews = reviews
        self._armed_ms: int | None = None
        self.timer = WakeTimer(parts.clock_ms, lambda: self._armed_ms)

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

    def ring_now(self) -> None:
        """Ring at once: an operator is waiting, so the minimum delay does not apply."""
        self._arm(self._parts.clock_ms())

    async def recover(self) -> None:
        """Repair the jobs that a dead core was running. Raises StoreError."""
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
                _log.warning("The scheduler of jobs failed: %s", error)
                self._arm(self._parts.clock_ms() + MINIMUM_DELAY_MS)
            await self.timer.wait()

    async def ring(self) -> None:
        """Repair, claim, start and arm, once. Raises StoreError."""
        self._armed_ms = None
        now_ms = self._parts.clock_ms()
        for job in await self._parts.store.stale_jobs(now_ms):
            if is_stuck(job, now_ms):
                await self._repair(job, RunOutcome.STUCK)
                await self._runs.cancel_session(job, "its job took too long")
            else:
                self._arm(job.running_at + STUCK_AFTER_MS + 1)
        await self._claim(await self._due(now_ms), now_ms)
        self._arm(wake_at_ms(await self._parts.store.next_due_ms(), now_ms))

    async def _claim(self, due: Iterable[Job], now_ms: int) -> None:
        """Claim due jobs in one commit and start their runs; skip those that are due no more."""
        begun: dict[int, RunRecord] = {}

        def new_run(before: Job, _: Job) -> list[EventDraft]:
            begun[before.id] = history.new_run(before, now_ms)
            return [EventDraft("", RunChanged(run=begun[before.id]))]

        claims = await self._records.change_together(
            [job.id for job in due],
            lambda stored: claimed(stored, now_ms) if is_due(stored, now_ms) else None,
            "claimed",
            beside=new_run,
        )
        for claim in claims:
            self._parts.supervisor.start(
                self._runs.run(claim, begun[claim.id]), f"run of job {claim.id}"
            )

    async def _due(self, now_ms: int) -> tuple[Job, ...]:
        """Return the jobs that may start now, after moving those that missed their time."""
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
            self._runs.on_run_end(after, run)

    def _arm(self, at_ms: int | None) -> None:
        self._armed_ms = armed_at_ms(self._armed_ms, at_ms)
        self.timer.changed()
