"""Create, list, change, stop and review jobs; start their scheduler.

Scheduling is in `agent.jobs.job_scheduler`, a run in `agent.jobs.runs`. Invariants: a stopped job
stays stopped, whatever its run still reports; at most `jobs.limit` jobs are stored, and only ended
ones are dropped for new ones.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import assert_never

from msgspec.structs import replace

from agent import protocol
from agent.errors import RpcCode, UsageError
from agent.jobs import review_rules
from agent.jobs.campaigns import Campaigns
from agent.jobs.creation import REQUEST, SESSION_PREFIX, Creator, planned_job
from agent.jobs.delivery import Delivery
from agent.jobs.editing import checked_edit, edited
from agent.jobs.job_scheduler import JobScheduler
from agent.jobs.records import JobRecords
from agent.jobs.reviews import Reviews
from agent.jobs.runs import Runs
from agent.jobs.schedule import paused, read, resumed, run_now, stopped
from agent.jobs.triggers import Triggers
from agent.loop.task_context import JobOp
from agent.records import Job, JobStatus, JobType, RunRecord, Session
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import requested_id
from agent.sessions.turns.job_turns import JobTurns
from agent.store.queries.job_pages import JobPage
from agent.store.store import EventDraft

LIST_LIMIT = 50
PAGE_LIMIT = 200
_NEWEST = 50


class JobService:
    """The jobs of one core."""

    def __init__(self, parts: Services, operations: Operations, job_turns: JobTurns) -> None:
        self._parts = parts
        self._records = JobRecords(parts.store, parts.registry)
        self.delivery = Delivery(parts)
        self._runs = Runs(parts, operations, job_turns, self._records, self.delivery.tell)
        self.reviews = Reviews(parts, job_turns, self._records, self._runs, self.delivery.tell)
        self.scheduler = JobScheduler(parts, self._records, self._runs, self.reviews)
        self._triggers = Triggers(parts, self._records)
        self._campaigns = Campaigns(parts, operations, self._records)
        self._creating = asyncio.Lock()

    async def start(self, *, wake: bool = True) -> None:
        """Take back what a dead core was running, then start the scheduler. Raises StoreError."""
        self.reviews.takes_runs_on = wake
        await self.scheduler.recover()
        if wake:
            await self._campaigns.recover()
        self._parts.supervisor.start(self._campaigns.run(), "campaigns")
        if wake:
            self._triggers.begin()
            self._parts.supervisor.start(self.scheduler.run(), "scheduler of jobs")

    async def finish(self) -> None:
        """Let runs store what they have come to by now, before the core closes."""
        await self._runs.finish()

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Follow the store."""
        events = tuple(events)
        self.scheduler.on_commit(events)
        self.reviews.on_commit(events)
        self._triggers.on_commit(events)
        self._campaigns.on_commit(events)

    # --- handing in ----------

    async def hand_in(self, op: protocol.JobCreate) -> Job:
        """Store a job for a person, who hears at once when it names no session; see `create`.

        A request with the id of one of the newest jobs creates nothing.
        """
        if request := requested_id(op.request_id):
            for job in await self._parts.store.jobs(limit=_NEWEST):
                if job.payload_json.get(REQUEST) == request:
                    return job
        if op.session_target.startswith(SESSION_PREFIX):
            session_id = op.session_target.removeprefix(SESSION_PREFIX)
            if session_id:
                await self._parts.registry.get(session_id)
        if op.campaign is not None:
            op = replace(op, campaign=await self._campaigns.phones(op.campaign))
        return await self.create(op)

    async def create(
        self,
        op: protocol.JobCreate,
        *,
        creator: Creator | None = None,
        beside: Callable[[Job], tuple[EventDraft, ...]] | None = None,
    ) -> Job:
        """Store a job; at the limit, the oldest that has ended makes place.

        Args:
            op: what is wanted.
            creator: the session that asks for it; None for a person.
            beside: makes what is stored together with the job, or not at all.

        Raises:
            UsageError: it cannot run, or there is no place for it.
        """
        build = self._planned(op, creator)
        async with self._creating:
            ended = await self._in_the_way()
            if ended:
                await self._parts.store.append(EventDraft("", protocol.JobsDropped(job_ids=ended)))
            return await self._parts.store.create_job(build, beside=beside)

    def _planned(self, op: protocol.JobCreate, creator: Creator | None) -> Callable[[int], Job]:
        parts = self._parts
        return planned_job(
            op, assignment=parts.assignment, now_ms=parts.clock_ms(), creator=creator
        )

    async def _in_the_way(self) -> tuple[int, ...]:
        """Return the ended jobs that make place for one more. Raises UsageError at the limit."""
        limit = self._parts.settings.jobs.limit
        beyond = await self._parts.store.job_runs.count_jobs() - limit + 1
        if beyond <= 0:
            return ()
        ended = await self._parts.store.job_runs.ended_jobs(beyond)
        if len(ended) < beyond:
            raise UsageError(
                f"{limit} jobs are stored, and none of them has ended.",
                "Stop one, or raise jobs.limit.",
            )
        return ended

    async def check(self, session: Session, op: JobOp) -> None:
        """Refuse what `carry_out` would refuse, and do nothing. Raises UsageError."""
        match op:
            case protocol.JobCreate():
                op = replace(op, account=session.account)
                self._planned(op, Creator(session.session_id))
                await self._in_the_way()
            case protocol.JobList(limit=limit):
                _check_limit(limit)
            case protocol.JobStop(job_id=job_id):
                await self._records.find(job_id)
            case _:
                assert_never(op)

    async def carry_out(self, session: Session, op: JobOp) -> protocol.Reply:
        """Do what a session asks of the jobs. Raises UsageError."""
        match op:
            case protocol.JobCreate():
                op = replace(op, account=session.account)
                job = await self.create(op, creator=Creator(session.session_id))
                return protocol.Reply(submission_id="", job=job)
            case protocol.JobList(query=query, limit=limit):
                return protocol.Reply(submission_id="", jobs=await self.list(query, limit))
            case protocol.JobStop(job_id=job_id):
                return protocol.Reply(submission_id="", job=await self.stop(job_id))
            case _:
                assert_never(op)

    # --- looking ----------

    async def list(self, query: str, limit: int) -> tuple[Job, ...]:
        """List jobs, newest first. Raises UsageError for a limit outside 1 to 50."""
        _check_limit(limit)
        return await self._parts.store.jobs(query=query, limit=limit)

    async def queue(self, op: protocol.JobQueue) -> JobPage:
        """Return a page of the queue. Raises UsageError for a limit outside 1 to 200."""
        if not 1 <= op.limit <= PAGE_LIMIT:
            raise UsageError(f"limit is {op.limit}.", f"Use 1 to {PAGE_LIMIT}.")
        return await self._parts.store.job_pages.page(
            query=op.query, limit=op.limit, after=op.after
        )

    async def history(self, job_id: int, limit: int) -> tuple[Job, tuple[RunRecord, ...]]:
        """List the runs of a job, newest first. Raises UsageError."""
        if not 1 <= limit <= LIST_LIMIT * 4:
            raise UsageError(f"limit is {limit}.", f"Use 1 to {LIST_LIMIT * 4}.")
        job = await self._records.find(job_id)
        return job, await self._parts.store.job_runs.runs(job_id, limit=limit)

    async def read(self, job_id: int) -> Job:
        """Take a job's result as read. Raises UsageError when there is no such job."""
        now_ms = self._parts.clock_ms()
        job, _ = await self._records.change(job_id, lambda stored: read(stored, now_ms), "read")
        await self.delivery.withdraw(job_id)
        return job

    # --- moving ----------

    async def edit(self, op: protocol.JobEdit) -> Job:
        """Change what a job does and when. Raises UsageError when it cannot be changed."""
        now_ms = self._parts.clock_ms()
        op = checked_edit(op)
        await self._check_no_campaign(op.job_id, "changed")
        return await self._move(
            op.job_id, lambda stored, _: edited(stored, op, now_ms), "changed by the operator", None
        )

    async def pause(self, job_id: int) -> Job:
        """Keep a job from running. Raises UsageError when it cannot be paused."""
        return await self._move(job_id, paused, "paused", JobStatus.PAUSED)

    async def resume(self, job_id: int) -> Job:
        """Let a paused job run again. Raises UsageError when it is not paused."""
        return await self._move(job_id, resumed, "resumed", JobStatus.ACTIVE)

    async def run_now(self, job_id: int) -> Job:
        """Make a job due at once. Raises UsageError while it runs or waits for a review."""
        await self._check_no_campaign(job_id, "run again")
        job = await self._move(job_id, run_now, "run by the operator", None)
        self.scheduler.ring_now()
        return job

    async def _check_no_campaign(self, job_id: int, what: str) -> None:
        if (await self._records.find(job_id)).type is JobType.CAMPAIGN:
            raise UsageError(
                f"Job {job_id} is a campaign, which cannot be {what}.",
                "Pause, resume or stop it, or begin another.",
            )

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
        was: list[Job] = []

        def closing(before: Job, _: Job) -> tuple[EventDraft, ...]:
            was[:] = [before]
            if before.status is not JobStatus.AWAITING_REVIEW:
                return ()
            checkpoint = review_rules.checkpoint_of(before)
            closed = protocol.QuestionClosed(
                question_id=checkpoint.question_id, reason=protocol.CloseReason.JOB_STOPPED
            )
            return (EventDraft(checkpoint.session_id, closed),)

        job, changed = await self._records.change(
            job_id,
            lambda stored: None if stored.status is JobStatus.STOPPED else stopped(stored, now_ms),
            "stopped by the operator",
            beside=closing,
        )
        if changed:
            await self._runs.cancel_session(was[0], "its job was stopped")
            await self.reviews.close_stopped(was[0])
        return job


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= LIST_LIMIT:
        raise UsageError(f"limit is {limit}.", f"Use 1 to {LIST_LIMIT}.")
