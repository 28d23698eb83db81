"""Run a claimed job to its outcome, in a session that nobody may be watching.

Not the claim (`agent.jobs.job_scheduler`) and not the review (`agent.jobs.reviews`). Invariants: a
run observes and controls, and never acts unreviewed; a run whose job was stopped, repaired or
claimed again leaves its own record and no trace in the job's; what a run came to is stored with its
record.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, assert_never

from msgspec.structs import replace

from agent import protocol
from agent.errors import StoreError, SwitchboardError
from agent.jobs import history, review_rules
from agent.jobs.records import JobRecords, changing
from agent.jobs.schedule import failed, given_up, is_same_run, succeeded
from agent.jobs.session_start import RUN_LIMIT_S, RUN_LIMIT_STEPS, SessionStarter
from agent.jobs.tool_calls import call_of
from agent.records import Job, JobType, Question, RunOutcome, RunRecord
from agent.safety.review_binding import read_params
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.live_session import Errand, LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.turns.job_turns import JobTurns
from agent.state.commit import Commit
from agent.store.store import EventDraft, Store
from agent.text import one_line

_LEAST_S = 15.0  # What an approved action is given, however much of its time the run has used up.
_STORING_S = 2.0  # How long a closing core waits for runs that only have to be stored.
_log = logging.getLogger(__name__)

OnRunEnd = Callable[[Job, RunRecord], None]
"""Called with each run that has ended, and its job as it then is."""


class CallResult:
    """Waits until the result of a call is stored: services do not see the inside of steps."""

    def __init__(self, store: Store, session_id: str, call_id: str) -> None:
        self.arrived = asyncio.Event()
        self._call = (session_id, call_id)
        self.close = store.subscribe(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        for event in commit.events:
            match event.msg:
                case protocol.ToolCallFinished(call_id=call_id):
                    if (event.session_id, call_id) == self._call:
                        self.arrived.set()
                case _:
                    pass


class _Past(NamedTuple):
    """What a run left in its session, read once where the run ends."""

    live: LiveSession
    events: Sequence[protocol.Event]  # Those of its prompt.


class Runs:
    """The runs under way in this core."""

    def __init__(
        self,
        parts: Services,
        operations: Operations,
        job_turns: JobTurns,
        records: JobRecords,
        on_run_end: OnRunEnd,
    ) -> None:
        self._parts = parts
        self._operations = operations
        self._starter = SessionStarter(parts, operations, job_turns)
        self._records = records
        self.on_run_end = on_run_end
        self._sessions: dict[int, str] = {}
        self._under_way: dict[int, asyncio.Event] = {}

    async def run(self, job: Job, run: RunRecord) -> None:
        """Carry out one claimed job and store its result. Raises StoreError."""
        await self._store_failure_of(job, run, self._carry_out(job, run))

    async def _store_failure_of(self, job: Job, run: RunRecord, work: Awaitable[None]) -> None:
        """Do the work of a run, and store what breaks it as its failure. Raises StoreError."""
        over = self._under_way[job.id] = asyncio.Event()
        try:
            await work
        except StoreError:
            raise
        except SwitchboardError as error:
            await self._fail(job, run, f"job_error:{type(error).__name__}: {error}")
        except Exception as error:
            _log.exception("Job %d broke", job.id)
            await self._fail(job, run, f"job_crash:{type(error).__name__}: {error}")
        finally:
            over.set()
            if self._under_way.get(job.id) is over:
                del self._under_way[job.id]

    async def finish(self) -> None:
        """Let runs that no longer wait for their session store their result; bounded."""
        try:
            async with asyncio.timeout(_STORING_S):
                for job_id, over in tuple(self._under_way.items()):
                    if job_id not in self._sessions:
                        await over.wait()
        except TimeoutError:
            _log.warning("A run was not stored in time; the next start sees to it")

    async def wait_until_stored(self, job_id: int) -> None:
        """Wait until the end of a run of this core is stored."""
        over = self._under_way.get(job_id)
        if over is not None:
            await over.wait()

    async def cancel_session(self, job: Job, reason: str) -> None:
        """Cancel the session of a run under way, or of one that waits for a review.

        Args:
            job: as it was before it was stopped.
            reason: why, for people.
        """
        session_id = self._sessions.get(job.id) or review_rules.checkpoint_of(job).session_id
        if session_id:
            try:
                await self._operations.cancel(session_id, reason=reason)
            except SwitchboardError as error:
                _log.info("The session of job %d could not be ended: %s", job.id, error)

    # --- the kinds of jobs ----------

    async def _carry_out(self, job: Job, run: RunRecord) -> None:
        match job.type:
            case JobType.HEARTBEAT:
                await self._succeed(job, run, "heartbeat")
            case JobType.SYSTEM_EVENT:
                await self._succeed(job, run, "system_event_recorded")
            case JobType.AGENT_TURN:
                await self._agent_turn(job, run)
            case JobType.CAMPAIGN:
                await self._fail(job, run, "a campaign has no runs of its own")
            case _:
                assert_never(job.type)

    async def _agent_turn(self, job: Job, run: RunRecord) -> None:
        try:
            live = await self._starter.start(job)
        except StoreError:
            raise
        except SwitchboardError as error:
            await self._fail(job, run, f"task_start_failed: {error}")
            return
        run = replace(run, session_id=live.session_id)
        await self._parts.registry.append(EventDraft("", protocol.RunChanged(run=run)))
        await self._follow(job, run, live)

    # --- after a review ----------

    def errand_after(self, job: Job, *, approved: bool = True) -> Errand:
        """Return the errand of a run after a review, with what is left of its bounds.

        Args:
            job: as it waited for the review.
            approved: whether the action that was reviewed may be done.
        """
        from agent.loop.task_context import Grant

        checkpoint = review_rules.checkpoint_of(job)
        left_s = RUN_LIMIT_S - checkpoint.worked_ms / 1000
        grant = Grant(call_id=checkpoint.call_id, screen_digest=checkpoint.screen_digest)
        return Errand(
            job_id=job.id,
            deadline_s=max(left_s, _LEAST_S),
            max_steps=RUN_LIMIT_STEPS,
            grant=grant if approved else None,
            call=call_of(job.payload_json),
        )

    async def resume(
        self, job: Job, run: RunRecord, live: LiveSession, result: CallResult | None = None
    ) -> None:
        """Follow a run whose session was started again after a review.

        Args:
            result: of the approved call, which is stored first; None if nobody reviewed it.
        """
        await self._store_failure_of(job, run, self._resume(job, run, live, result))

    async def _resume(
        self, job: Job, run: RunRecord, live: LiveSession, result: CallResult | None
    ) -> None:
        if result is not None:
            self._sessions[job.id] = live.session_id
            try:
                if await self._has_arrived(live, result):
                    job = await self._bind(job)
            finally:
                result.close()
        await self._follow(job, run, live)

    def expect(self, session_id: str, call_id: str) -> CallResult:
        """Listen for the result of a call, from before its session is started."""
        return CallResult(self._parts.store, session_id, call_id)

    async def _has_arrived(self, live: LiveSession, result: CallResult) -> bool:
        idle = asyncio.ensure_future(self._operations.until_idle(live))
        done = asyncio.ensure_future(result.arrived.wait())
        try:
            await asyncio.wait({idle, done}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            idle.cancel()
            done.cancel()
        return result.arrived.is_set()

    async def _bind(self, job: Job) -> Job:
        """Store that the approved action has a result, and that the run continues."""
        now_ms = self._parts.clock_ms()

        def rule(stored: Job) -> Job | None:
            if not is_same_run(stored, job):
                return None
            queued = review_rules.resuming(stored, review_rules.RESOLVED, now_ms)
            return review_rules.resumed(queued, now_ms)

        bound, changed = await self._records.change(
            job.id,
            rule,
            "continues after a review",
            beside=lambda before, _: [
                changing(
                    review_rules.resuming(before, review_rules.RESOLVED, now_ms),
                    "its action was reviewed",
                )
            ],
        )
        return bound if changed else job

    # --- the end of a run ----------

    async def _follow(self, job: Job, run: RunRecord, live: LiveSession) -> None:
        """Wait for the session to end, or to stop before an action, and store which."""
        self._sessions[job.id] = live.session_id
        try:
            await self._operations.until_idle(live)
        finally:
            self._sessions.pop(job.id, None)
        await self.settle(job, run, live)

    async def settle(self, job: Job, run: RunRecord, live: LiveSession) -> None:
        """Store the end of a job's run, or its wait for a review, once its session is idle."""
        question = self.review_of(live.session_id, job.id)
        if question is not None:
            await self.park(job, run, question)
            return
        events = history.of_job(await self._parts.registry.events(live.session_id), job.id)
        past = _Past(live, events)
        outcome, why = history.judged(live.record, events)
        if outcome is RunOutcome.FINISHED:
            await self._succeed(job, run, live.record.latest_result, past=past)
        elif outcome is not RunOutcome.CANCELLED and history.lapses(events):
            # It is not tried again at once: who did not look before is not asked all night.
            await self._end(
                job,
                run,
                lambda stored, now_ms: given_up(stored, f"{review_rules.TIMEOUT}: {why}", now_ms),
                outcome=RunOutcome.EXPIRED,
                why=one_line(why, 2000),
                past=past,
            )
        else:
            await self._fail(job, run, one_line(why, 2000), outcome=outcome, past=past)

    def review_of(self, session_id: str, job_id: int) -> Question | None:
        """Return the open question of a session that a job's review is."""
        asked = self._parts.questions.of(session_id)
        return next((q for q in asked if q.review and q.review.job_id == job_id), None)

    async def park(self, job: Job, run: RunRecord, question: Question) -> None:
        """Store that a job waits for a review."""
        now_ms = self._parts.clock_ms()
        events = history.of_job(await self._parts.registry.events(question.session_id), job.id)
        params = read_params(_arguments(events, question.call_id))
        live = await self._parts.registry.get(question.session_id)
        run = history.parked(history.measured(run, live.record, events))
        spent_ms = history.worked_ms(events)
        _, kept = await self._records.change(
            job.id,
            lambda stored: (
                review_rules.awaiting(stored, question, params, run, spent_ms, now_ms)
                if is_same_run(stored, job)
                else None
            ),
            review_rules.CONFIRMATION_REQUIRED,
            beside=lambda *_: [EventDraft("", protocol.RunChanged(run=run))],
        )
        if not kept:
            await self._note_late(job, run)
            await self._operations.cancel(live.session_id, reason="its job was stopped")

    async def _succeed(
        self, job: Job, run: RunRecord, result: str, *, past: _Past | None = None
    ) -> None:
        # A core that died then leaves it to the next one to say so.
        ended_ms = history.ended_ms(past.events) if past is not None else 0
        await self._end(
            job,
            run,
            lambda stored, now_ms: succeeded(stored, result, now_ms, ended_ms=ended_ms),
            outcome=RunOutcome.FINISHED,
            result=result,
            past=past,
        )

    async def _fail(
        self,
        job: Job,
        run: RunRecord,
        reason: str,
        *,
        outcome: RunOutcome = RunOutcome.ERROR,
        past: _Past | None = None,
    ) -> None:
        await self._end(
            job,
            run,
            lambda stored, now_ms: failed(stored, reason, now_ms),
            outcome=outcome,
            why=reason,
            past=past,
        )

    async def _end(
        self,
        job: Job,
        run: RunRecord,
        rule: Callable[[Job, int], Job],
        *,
        outcome: RunOutcome,
        result: str = "",
        why: str = "",
        past: _Past | None = None,
    ) -> None:
        now_ms = self._parts.clock_ms()
        if past is not None:
            run = history.measured(run, past.live.record, past.events)
        ended = history.ended_run(run, outcome, now_ms, result=result, why=why)
        reason = "finished" if outcome is RunOutcome.FINISHED else "failed"
        after, kept = await self._records.change(
            job.id,
            lambda stored: (
                _with_surface(rule(review_rules.undone(stored, now_ms), now_ms), ended)
                if is_same_run(stored, job)
                else None
            ),
            reason,
            beside=lambda *_: [EventDraft("", protocol.RunChanged(run=ended))],
        )
        if kept:
            self.on_run_end(after, ended)
        else:
            await self._note_late(job, run)

    async def _note_late(self, job: Job, run: RunRecord) -> None:
        """Store the end of a run whose job went its own way meanwhile."""
        _log.info("A late result of job %d was not kept", job.id)
        why = "Its job was stopped, or taken back, before it ended; the result was not kept."
        late = history.ended_run(run, RunOutcome.CANCELLED, self._parts.clock_ms(), why=why)
        await self._parts.registry.append(EventDraft("", protocol.RunChanged(run=late)))


def _with_surface(job: Job, run: RunRecord) -> Job:
    return replace(job, last_surface_id=run.serial[:160] or job.last_surface_id)


def _arguments(events: Sequence[protocol.Event], call_id: str) -> str:
    for event in reversed(events):
        if isinstance(event.msg, protocol.ToolCallRequested) and event.msg.call_id == call_id:
            return event.msg.arguments
    return "{}"
