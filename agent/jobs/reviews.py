"""Close the reviews of jobs' actions: approved, denied, expired, or left by a dead core.

`agent.loop.acting.action_review` asks, `agent.jobs.review_rules` has the rules. Invariants: an
answer, the claim of the job and the start of its session are one append, so the first answer counts
and none counts twice; an approved action that a restart finds under way is not done again.
"""

import logging
from collections.abc import Iterable

from agent import protocol
from agent.errors import ErrorKind, UsageError, WrongStateError
from agent.jobs import history, review_rules
from agent.jobs.records import JobRecords, changing
from agent.jobs.runs import OnRunEnd, Runs
from agent.jobs.schedule import failed
from agent.records import (
    ActionOutcome,
    Job,
    JobStatus,
    Question,
    RunOutcome,
    RunRecord,
    SessionState,
)
from agent.safety.approval import is_yes, typed_instead
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.turns.job_turns import JobTurns
from agent.store.store import EventDraft

RESTARTED = "core_restarted"
_SILENCE = f"{review_rules.UNREVIEWED}, and silence is no"
_log = logging.getLogger(__name__)


class Reviews:
    """The reviews of one core's jobs."""

    def __init__(
        self,
        parts: Services,
        job_turns: JobTurns,
        records: JobRecords,
        runs: Runs,
        on_run_end: OnRunEnd,
    ) -> None:
        self._parts = parts
        self._job_turns = job_turns
        self._records = records
        self._runs = runs
        self._on_run_end = on_run_end
        self.takes_runs_on = False
        """Whether a run whose review expired continues: not in a core that serves one command."""
        self._asked: dict[str, tuple[int, str]] = {}
        """Of each question that a job waits for: the job, and the session."""

    # --- following ----------

    def on_commit(self, events: Iterable[protocol.Event]) -> None:
        """Notice jobs that wait, and questions and sessions that went without an answer."""
        for event in events:
            match event.msg:
                case protocol.JobChanged(job=job):
                    self._note(job)
                case protocol.QuestionClosed(question_id=question_id, reason=reason):
                    self._lost(question_id, reason)
                case protocol.SessionsDeleted(session_ids=gone):
                    for question_id, (_, session_id) in tuple(self._asked.items()):
                        if session_id in gone:
                            self._lost(question_id, "its session was deleted")
                case _:
                    pass

    def _note(self, job: Job) -> None:
        if job.status is JobStatus.AWAITING_REVIEW:
            checkpoint = review_rules.checkpoint_of(job)
            self._asked[checkpoint.question_id] = (job.id, checkpoint.session_id)
            return
        for question_id in [q for q, (job_id, _) in self._asked.items() if job_id == job.id]:
            del self._asked[question_id]

    def _lost(self, question_id: str, reason: str) -> None:
        asked = self._asked.get(question_id)
        if asked is not None:
            self._parts.supervisor.start(
                self._close(asked[0], question_id, reason), f"end of a review of job {asked[0]}"
            )

    # --- answering ----------

    async def answer(self, question: Question, text: str, submission_id: str, by: str) -> None:
        """Approve or deny a job's action; only a plain yes is a yes.

        Raises:
            UsageError: the answer wants another action than the one that was shown.
            WrongStateError: it was decided before, has expired, or is not what was shown.
        """
        assert question.review is not None, "a review's question has a ticket"
        if typed_instead(text) is not None:
            raise UsageError(
                "A job's action can only be approved unchanged.", "Approve or deny it."
            )
        job_id = question.review.job_id
        # Whoever answers at once may be faster than the storing of the job that waits.
        await self._runs.wait_until_stored(job_id)
        now_ms = self._parts.clock_ms()
        answered = EventDraft(
            question.session_id,
            protocol.QuestionAnswered(
                question_id=question.question_id, answer=text, answered_by=by
            ),
            submission_id,
        )
        if is_yes(text):
            await self._approve(job_id, question, answered, now_ms)
        else:
            await self._deny(job_id, question, answered, now_ms)

    async def _approve(
        self, job_id: int, question: Question, answered: EventDraft, now_ms: int
    ) -> None:
        live = await self._parts.registry.get(question.session_id)
        async with self._records.held(job_id) as job:
            waiting = review_rules.approving(job, question, now_ms)
            run = history.resumed_run(await self._run_of(job))
            result = self._runs.expect(live.session_id, question.call_id)
            try:
                await self._job_turns.resume(
                    live,
                    self._runs.errand_after(waiting),
                    answered,
                    changing(waiting, "its action was approved"),
                    EventDraft("", protocol.RunChanged(run=run)),
                    reason="its action was approved",
                )
            except BaseException:
                result.close()
                raise
        self._parts.supervisor.start(
            self._runs.resume(waiting, run, live, result), f"run of job {job_id}"
        )

    async def _deny(
        self, job_id: int, question: Question, answered: EventDraft, now_ms: int
    ) -> None:
        live = await self._parts.registry.get(question.session_id)
        async with self._records.held(job_id) as job, live.lock:
            after = review_rules.denied(job, question, now_ms)
            run = await self._measured(job, live)
            run = history.ended_run(run, RunOutcome.DENIED, now_ms, why=after.last_result)
            await self._parts.registry.append(
                answered,
                changing(after, "its action was denied"),
                EventDraft("", protocol.RunChanged(run=run)),
                *live.drafts(*_ending(live, job, question.call_id, "the operator refused it")),
            )
        self._on_run_end(after, run)

    async def _close(self, job_id: int, question_id: str, reason: str) -> None:
        """Continue or end the run of a job whose review ended without an answer."""
        now_ms = self._parts.clock_ms()
        async with self._records.held(job_id) as job:
            checkpoint = review_rules.checkpoint_of(job)
            waits = job.status is JobStatus.AWAITING_REVIEW
            if not waits or checkpoint.question_id != question_id:
                return
            if reason == protocol.CloseReason.EXPIRED and await self._continues_unreviewed(
                job, now_ms
            ):
                return
            after = review_rules.unanswered(job, reason, now_ms)
            outcome = (
                RunOutcome.EXPIRED
                if after.last_result.startswith(review_rules.TIMEOUT)
                else RunOutcome.CANCELLED
            )
            run = history.ended_run(await self._run_of(job), outcome, now_ms, why=after.last_result)
            drafts = [changing(after, reason), EventDraft("", protocol.RunChanged(run=run))]
            try:
                live = await self._parts.registry.get(checkpoint.session_id)
            except UsageError:
                await self._parts.registry.append(*drafts)
            else:
                async with live.lock:
                    run = history.ended_run(
                        await self._measured(job, live), outcome, now_ms, why=after.last_result
                    )
                    drafts[1] = EventDraft("", protocol.RunChanged(run=run))
                    if live.is_idle and reason == protocol.CloseReason.EXPIRED:
                        drafts += live.drafts(*_ending(live, job, checkpoint.call_id, _SILENCE))
                    await self._parts.registry.append(*drafts)
        self._on_run_end(after, run)

    async def _continues_unreviewed(self, job: Job, now_ms: int) -> bool:
        """Continue a run whose review has expired, once; return whether it continues.

        Its model reads that nobody reviewed the action, and may finish without it.
        """
        checkpoint = review_rules.checkpoint_of(job)
        if not self.takes_runs_on or not review_rules.has_expired(job, now_ms):
            return False
        try:
            live = await self._parts.registry.get(checkpoint.session_id)
        except UsageError:
            return False
        events = history.of_job(await self._parts.registry.events(live.session_id), job.id)
        if history.lapses(events) > 1:
            return False
        queued = review_rules.review_expired(job, now_ms)
        running = review_rules.resumed(queued, now_ms)
        run = history.resumed_run(await self._run_of(job))
        try:
            await self._job_turns.resume(
                live,
                self._runs.errand_after(job, approved=False),
                changing(queued, f"{review_rules.UNREVIEWED}: the run continues without it"),
                changing(running, "continues after a review"),
                EventDraft("", protocol.RunChanged(run=run)),
                *live.drafts(_not_done(live, job, checkpoint.call_id, _SILENCE)),
                reason="nobody reviewed its action in time",
            )
        except WrongStateError:
            return False
        self._parts.supervisor.start(self._runs.resume(running, run, live), f"run of job {job.id}")
        return True

    async def close_stopped(self, job: Job) -> None:
        """Store the end of the run that a stopped job waited with."""
        if job.status is JobStatus.AWAITING_REVIEW:
            run = await self.close_run(job, RunOutcome.CANCELLED, "Its job was stopped.")
            if run is not None:
                await self._parts.store.append(EventDraft("", protocol.RunChanged(run=run)))

    # --- after a restart ----------

    async def recover(self) -> None:
        """Close or keep the reviews that a dead core left. Raises StoreError."""
        for job in await self._parts.store.job_runs.open_jobs():
            self._note(job)
            checkpoint = review_rules.checkpoint_of(job)
            match job.status:
                case JobStatus.AWAITING_REVIEW:
                    if self._parts.questions.find(checkpoint.question_id) is None:
                        self._lost(checkpoint.question_id, "its question is gone")
                case JobStatus.WAITING:
                    await self._repair(job, RunOutcome.UNKNOWN)
                case _:
                    await self._repair(job, RunOutcome.RESTARTED)

    async def take_back(self, job: Job) -> bool:
        """Store how a run ended if its session ended before a dead core could store it.

        Returns:
            Whether it had: it met its goal and must not run again, or it waits for a review.
        """
        run = await self._run_of(job)
        if not run.session_id:
            return False
        question = self._runs.review_of(run.session_id, job.id)
        if question is not None:
            await self._runs.park(job, run, question)
            return True
        try:
            live = await self._parts.registry.get(run.session_id)
        except UsageError:
            return False
        # A session that was still at work has been ended as failed by its own recovery.
        if live.record.state is not SessionState.COMPLETED:
            return False
        await self._runs.settle(job, run, live)
        return True

    async def close_run(self, job: Job, outcome: RunOutcome, why: str) -> RunRecord | None:
        """Make the record of the run that a dead core left open; None when there is none."""
        runs = await self._parts.store.job_runs.runs(job.id, limit=1)
        if not runs or runs[0].ended_at:
            return None
        return history.ended_run(runs[0], outcome, self._parts.clock_ms(), why=why)

    async def _repair(self, job: Job, outcome: RunOutcome) -> None:
        now_ms = self._parts.clock_ms()
        began = await self._has_begun(job)
        why = "The core ended under it." if began else "The core ended before it went on."
        run = await self.close_run(job, outcome, why)

        def rule(stored: Job) -> Job | None:
            if stored.status is not job.status:
                return None
            if outcome is RunOutcome.UNKNOWN:
                return review_rules.unknown(stored, now_ms, began=began)
            return failed(stored, RESTARTED, now_ms)

        after, changed = await self._records.change(
            job.id,
            rule,
            outcome.value,
            beside=lambda *_: [EventDraft("", protocol.RunChanged(run=run))] if run else [],
        )
        if changed and run is not None:
            self._on_run_end(after, run)

    async def _has_begun(self, job: Job) -> bool:
        """Return whether a turn began after the last approval of a job; True if unknown."""
        checkpoint = review_rules.checkpoint_of(job)
        try:
            events = await self._parts.registry.events(checkpoint.session_id)
        except UsageError:
            return True
        began = True
        for event in events:
            match event.msg:
                case protocol.QuestionAnswered(question_id=checkpoint.question_id):
                    began = False
                case protocol.TaskStarted():
                    began = True
                case _:
                    pass
        return began

    # --- its record ----------

    async def _run_of(self, job: Job) -> RunRecord:
        """Return the newest run of a job."""
        runs = await self._parts.store.job_runs.runs(job.id, limit=1)
        if runs:
            return runs[0]
        _log.warning("Job %d has no record of its run", job.id)
        return history.new_run(job, self._parts.clock_ms())

    async def _measured(self, job: Job, live: LiveSession) -> RunRecord:
        events = history.of_job(await self._parts.registry.events(live.session_id), job.id)
        return history.measured(await self._run_of(job), live.record, events)


def _not_done(live: LiveSession, job: Job, call_id: str, why: str) -> protocol.ToolCallFinished:
    said = f"BLOCKED: {review_rules.confirmation_of(job).tool} was not done: {why}."
    return protocol.ToolCallFinished(
        step=live.record.last_step, call_id=call_id, outcome=ActionOutcome.FAILED, text=said
    )


def _ending(live: LiveSession, job: Job, call_id: str, why: str) -> tuple[protocol.EventMsg, ...]:
    """Return the end of the call that was reviewed, and of the session if a job opened it."""
    finished = _not_done(live, job, call_id, why)
    if not live.record.job_id or not live.is_idle:
        return (finished,)
    return (
        finished,
        protocol.ErrorEvent(
            message=f"The action of job {job.id} was not done: {why}.",
            kind=ErrorKind.GOAL,
            remedy=f"Run it again if it is still wanted: switchboard jobs run {job.id}",
        ),
        *live.moving(SessionState.CANCELLED, why),
    )
