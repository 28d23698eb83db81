"""Start a session for a run: a new one, the job's standing one, or one that is named.

`agent.jobs.runs` follows it. A job whose target is `main` has one standing session,
that of its newest run: each run goes on in it, so the agent knows what it found before. Invariants:
a session that a person has ended, drives or is asked something in is left to that person, and one
that a run did not see to its end may have a call open: the job then gets a new one; each run has
the budget of a run, whatever the session used before.
"""

from dataclasses import replace
from typing import Any

from agent.errors import UsageError
from agent.jobs.creation import MAIN, SESSION_PREFIX
from agent.jobs.device_selection import is_still_fit, others_too, place
from agent.jobs.tool_calls import CONTINUES, call_of, output_schema_of, requires_of
from agent.protocol import BudgetExtended, SessionCreate
from agent.records import Budget, BudgetKind, Job, RunOutcome, Session, SessionState
from agent.sessions.lifecycle.operations import Operations
from agent.sessions.registry.live_session import Errand, LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.creation import planned_sessions
from agent.sessions.turns.job_turns import JobTurns

RUN_LIMIT_S = 300.0
RUN_LIMIT_STEPS = 25
STANDING_STEPS = 500
"""After so many steps a standing session has a past that is long enough: a new one takes its place.
"""
_RUNS_LOOKED_AT = 8
_MOST_JOBS_BACK = 8
_SEEN_TO_THE_END = frozenset(
    {RunOutcome.FINISHED, RunOutcome.FAILED, RunOutcome.STEP_LIMIT, RunOutcome.NO_PROGRESS}
)
_ENDED_WELL = frozenset({SessionState.COMPLETED, SessionState.FAILED})


class SessionStarter:
    """Starts the sessions of one core's runs."""

    def __init__(self, parts: Services, operations: Operations, job_turns: JobTurns) -> None:
        self._parts = parts
        self._operations = operations
        self._job_turns = job_turns

    async def start(self, job: Job) -> LiveSession:
        """Start a session for a run of a job. Raises SwitchboardError if none can be started."""
        errand = Errand(
            job_id=job.id,
            deadline_s=RUN_LIMIT_S,
            max_steps=RUN_LIMIT_STEPS,
            call=call_of(job.payload_json),
            output_schema=output_schema_of(job.payload_json),
            requires=requires_of(job.payload_json),
        )
        if job.session_target.startswith(SESSION_PREFIX):
            session_id = job.session_target.removeprefix(SESSION_PREFIX)
            return await self._job_turns.prompt(session_id, job.prompt, errand)
        errand = replace(errand, others=others_too(job))
        standing = await self._main_session(job)
        if standing is not None:
            more = _topping_up(standing.record, self._budget())
            return await self._job_turns.prompt(standing.session_id, job.prompt, errand, *more)
        account = job.payload_json.get("account", "")
        planned = planned_sessions(
            SessionCreate(
                goal=job.prompt,
                title=job.title,
                serial=await place(job, self._parts),
                account=account if isinstance(account, str) else "",
                budget=self._budget(),
                output_schema=errand.output_schema,
                requires=errand.requires,
            ),
            settings=self._parts.settings,
            assignment=self._parts.assignment,
            now_ms=self._parts.clock_ms(),
            job_id=job.id,
        )
        await self._operations.enter(planned, start=True, errand=errand)
        return await self._parts.registry.get(planned[0].session_id)

    def _budget(self) -> Budget:
        """Return what one run may use."""
        jobs, run = self._parts.settings.jobs, self._parts.settings.run
        return Budget(
            seconds=run.max_seconds,
            tokens=jobs.max_tokens or run.max_tokens,
            cost_usd=jobs.max_cost_usd or run.max_cost_usd,
        )

    # --- the standing session ----------

    async def _main_session(self, job: Job) -> LiveSession | None:
        """Return the session that a `main` job goes on in; None when it is to have a new one."""
        if job.session_target != MAIN:
            return None
        session_id = await self._newest_session(job.id, job.payload_json)
        if not session_id:
            return None
        try:
            live = await self._parts.registry.get(session_id)
        except UsageError:
            return None
        record = live.record
        is_free = live.is_idle or (record.state in _ENDED_WELL and live.turn is None)
        is_ours = not (live.in_tree or record.held or record.driver or record.paused)
        is_long = record.last_step >= STANDING_STEPS
        if not is_free or not is_ours or is_long or self._parts.questions.of(session_id):
            return None
        fit = await is_still_fit(job, self._parts, record.serial)
        return live if fit else None

    async def _newest_session(self, job_id: int, payload: dict[str, Any]) -> str:
        """Find the session of the newest run, of this job or of the one that it continues."""
        for _ in range(_MOST_JOBS_BACK):
            for run in await self._parts.store.job_runs.runs(job_id, limit=_RUNS_LOOKED_AT):
                if run.session_id:
                    return run.session_id if run.outcome in _SEEN_TO_THE_END else ""
            before = payload.get(CONTINUES)
            found = await self._parts.store.job(before) if isinstance(before, int) else None
            if found is None:
                return ""
            job_id, payload = found.id, found.payload_json
        return ""


def _topping_up(session: Session, share: Budget) -> tuple[BudgetExtended, ...]:
    """Return what lets a session use a run's share, beyond what it has used so far."""
    time, usage = session.time, session.usage
    spent_s = (time.observe_ms + time.model_ms + time.act_ms + time.settle_ms) / 1000
    rows = (
        (BudgetKind.SECONDS, session.budget.seconds, spent_s, share.seconds),
        (
            BudgetKind.TOKENS,
            session.budget.tokens,
            usage.input_tokens + usage.output_tokens,
            share.tokens,
        ),
        (BudgetKind.MONEY, session.budget.cost_usd, usage.cost_usd, share.cost_usd),
    )
    return tuple(
        BudgetExtended(kind=kind, amount=spent + part - limit)
        for kind, limit, spent, part in rows
        if limit and part and spent + part > limit
    )
