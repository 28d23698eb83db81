"""Where jobs are handed in, listed and stopped; keeps the wake going.

Not the wake and not a run. Invariant: a stopped job stays stopped, whatever its run still says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.errors import RpcCode, UsageError
from agent.jobs.creation import planned_job
from agent.jobs.records import JobRecords
from agent.jobs.runs import Runs
from agent.jobs.schedule import paused, resumed, run_now, set_off, stopped, waits_for
from agent.jobs.wake import Wake
from agent.protocol import DeviceChanged, Event, JobCreate
from agent.records import DeviceInfo, DeviceState, Job, JobStatus, Trigger
from agent.sessions.operations import Operations
from agent.sessions.parts import Parts
from agent.store.store import EventDraft

LIST_LIMIT = 50


class JobDesk:
    """The jobs of one core."""

    def __init__(self, parts: Parts, operations: Operations) -> None:
        self._parts = parts
        self._records = JobRecords(parts.store)
        self._runs = Runs(parts, operations, self._records)
        self.wake = Wake(parts, self._records, self._runs)
        self._awake = False
        self._online: dict[str, bool] = {}

    async def start(self, *, wake: bool = True) -> None:
        """Take back what a dead core was running, then let the wake go. Raises StoreError."""
        await self.wake.recover()
        self._awake = wake
        if wake:
            self._set_off(Trigger.CONSOLE_START)
            self._parts.crew.start(self.wake.run(), "wake of jobs")

    def on_commit(self, events: Iterable[Event]) -> None:
        """Follow the store."""
        events = tuple(events)
        self.wake.on_commit(events)
        for event in events:
            match event.msg:
                case DeviceChanged(device=DeviceInfo(state=state, serial=serial)):
                    before = self._online.get(serial, False)
                    self._online[serial] = state is DeviceState.ONLINE
                    if self._online[serial] and not before and self._awake:
                        self._set_off(Trigger.DEVICE_CONNECTED, serial)
                case _:
                    pass

    def _set_off(self, trigger: Trigger, serial: str = "") -> None:
        self._parts.crew.start(self._trigger(trigger, serial), f"jobs on {trigger}")

    async def _trigger(self, trigger: Trigger, serial: str) -> None:
        """Make every job due that waits for what happened."""
        now_ms = self._parts.clock_ms()
        for job in await self._parts.store.jobs_on(trigger):
            if waits_for(job, trigger, serial):
                await self._records.change(
                    job.id, lambda stored: set_off(stored, now_ms), f"on {trigger}"
                )

    async def create(
        self,
        op: JobCreate,
        *,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store a job, and what `beside` makes of it, together or not at all.

        Raises UsageError when it cannot run.
        """
        build = planned_job(op, assignment=self._parts.assignment, now_ms=self._parts.clock_ms())
        return await self._parts.store.create_job(build, beside=beside)

    async def list(self, query: str, limit: int) -> tuple[Job, ...]:
        """List jobs, newest first. Raises UsageError for a limit outside 1 to 50."""
        if not 1 <= limit <= LIST_LIMIT:
            raise UsageError(f"limit is {limit}.", f"Use 1 to {LIST_LIMIT}.")
        return await self._parts.store.jobs(query=query, limit=limit)

    async def pause(self, job_id: int) -> Job:
        """Keep a job from running. Raises UsageError when it cannot be paused."""
        return await self._move(job_id, paused, "paused", JobStatus.PAUSED)

    async def resume(self, job_id: int) -> Job:
        """Let a paused job run again. Raises UsageError when it is not paused."""
        return await self._move(job_id, resumed, "resumed", JobStatus.ACTIVE)

    async def run_now(self, job_id: int) -> Job:
        """Make a job due at once. Raises UsageError while it runs or waits for a review."""
        return await self._move(job_id, run_now, "run by the operator", None)

    async def _move(
        self,
        job_id: int,
        rule: Callable[[Job, int], Job | None],
        reason: str,
        already: JobStatus | None,
    ) -> Job:
        now_ms = self._parts.clock_ms()
        job, changed = await self._records.change(
            job_id, lambda stored: rule(stored, now_ms), reason
        )
        if not changed and job.status is not already:
            error = UsageError(
                f"Job {job_id} is {job.status.value}, so it cannot be {reason.split()[0]}.",
                "Its state: switchboard jobs list",
            )
            error.code = RpcCode.WRONG_STATE
            raise error
        return job

    async def stop(self, job_id: int) -> Job:
        """Stop a job for good and end its run; stopping it again does nothing.

        Raises:
            UsageError: there is no such job.
        """
        now_ms = self._parts.clock_ms()
        job, _ = await self._records.change(
            job_id,
            lambda stored: None if stored.status is JobStatus.STOPPED else stopped(stored, now_ms),
            "stopped by the operator",
        )
        await self._runs.end(job_id, "its job was stopped")
        return job
