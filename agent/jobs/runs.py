"""Run a claimed job to its outcome, in a session that nobody may be watching.

Not the claim (`agent.jobs.wake`). Invariants: a run observes and controls, and never acts: one
that wanted to is `awaiting_review`, whatever its session came to; a run whose job was stopped,
repaired or claimed again leaves no trace in the record.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import assert_never

from agent.errors import StoreError, SwitchboardError
from agent.jobs.creation import SESSION_PREFIX
from agent.jobs.records import JobRecords
from agent.jobs.schedule import blocked, failed, is_same_run, succeeded
from agent.protocol import Event, SessionCreate, ToolCallFinished, ToolCallRequested
from agent.records import Job, JobType, SessionState
from agent.sessions.creation import planned_sessions
from agent.sessions.live import LiveSession
from agent.sessions.operations import Operations
from agent.sessions.parts import Parts
from agent.text import one_line

RUN_LIMIT_S = 300.0
RUN_LIMIT_STEPS = 25
CONFIRMATION_REQUIRED = "background.confirmation_required"
"""What the loop answers a state-changing tool in the background (CONTRACTS 2.4)."""
_log = logging.getLogger(__name__)

Outcome = Callable[[Job, int], Job]
"""Make the record that a run leaves behind, from the job as it is stored and the time."""


class Runs:
    """The runs under way in this core."""

    def __init__(self, parts: Parts, operations: Operations, records: JobRecords) -> None:
        self._parts = parts
        self._operations = operations
        self._records = records
        self._sessions: dict[int, str] = {}

    async def run(self, job: Job) -> None:
        """Carry out one claimed job and store what came of it. Raises StoreError."""
        try:
            outcome, reason = await self._carry_out(job)
        except SwitchboardError as error:
            outcome, reason = _failing(f"job_error:{type(error).__name__}: {error}"), "failed"
        except Exception as error:
            _log.exception("Job %d broke", job.id)
            outcome, reason = _failing(f"job_crash:{type(error).__name__}: {error}"), "failed"
        now_ms = self._parts.clock_ms()
        _, kept = await self._records.change(
            job.id,
            lambda stored: outcome(stored, now_ms) if is_same_run(stored, job) else None,
            reason,
        )
        if not kept:
            _log.info("A late result of job %d was not kept", job.id)

    async def end(self, job_id: int, reason: str) -> None:
        """Cancel the session of a run under way, if there is one."""
        session_id = self._sessions.get(job_id)
        if session_id is not None:
            await self._operations.cancel(session_id, reason=reason)

    async def _carry_out(self, job: Job) -> tuple[Outcome, str]:
        match job.type:
            case JobType.HEARTBEAT:
                return _succeeding("heartbeat"), "finished"
            case JobType.SYSTEM_EVENT:
                return _succeeding("system_event_recorded"), "finished"
            case JobType.AGENT_TURN:
                return await self._agent_turn(job)
            case _:
                assert_never(job.type)

    async def _agent_turn(self, job: Job) -> tuple[Outcome, str]:
        try:
            live, after_seq = await self._open(job)
        except StoreError:
            raise
        except SwitchboardError as error:
            return _failing(f"task_start_failed: {error}"), "failed"
        self._sessions[job.id] = live.session_id
        try:
            await self._operations.until_idle(live)
        finally:
            self._sessions.pop(job.id, None)
        tool = _blocked_tool(
            await self._parts.store.session_events(live.session_id, after_seq=after_seq)
        )
        if tool is not None:
            result = f"{CONFIRMATION_REQUIRED}: {tool} in session {live.session_id}"
            return partial(_blocking, result), "awaiting_review"
        record = live.record
        if record.state is SessionState.COMPLETED:
            return _succeeding(record.latest_result), "finished"
        why = record.latest_error if record.state is SessionState.FAILED else ""
        return _failing(one_line(why) or f"session {record.state.lower()}"), "failed"

    async def _open(self, job: Job) -> tuple[LiveSession, int]:
        """Send a session off for a job; gives it, and the seq after which the run's events are."""
        if job.session_target.startswith(SESSION_PREFIX):
            session_id = job.session_target.removeprefix(SESSION_PREFIX)
            before = await self._parts.book.get(session_id)
            events = await self._parts.book.events(before.session_id)
            live = await self._operations.prompt_in_background(
                before.session_id,
                job.prompt,
                deadline_s=RUN_LIMIT_S,
                max_steps=RUN_LIMIT_STEPS,
            )
            return live, events[-1].seq
        serial = job.payload_json.get("serial", "")
        planned = planned_sessions(
            SessionCreate(
                goal=job.prompt, title=job.title, serial=serial if isinstance(serial, str) else ""
            ),
            settings=self._parts.settings,
            assignment=self._parts.assignment,
            now_ms=self._parts.clock_ms(),
            job_id=job.id,
        )
        await self._operations.enter(
            planned,
            start=True,
            background=True,
            deadline_s=RUN_LIMIT_S,
            max_steps=RUN_LIMIT_STEPS,
        )
        return await self._parts.book.get(planned[0].session_id), 0


def _blocked_tool(events: tuple[Event, ...]) -> str | None:
    """Name the first tool that was refused because nobody had reviewed it."""
    tools: dict[str, str] = {}
    for event in events:
        match event.msg:
            case ToolCallRequested(call_id=call_id, tool=tool):
                tools[call_id] = tool
            case ToolCallFinished(call_id=call_id, text=text) if CONFIRMATION_REQUIRED in text:
                return tools.get(call_id, "an action")
            case _:
                pass
    return None


def _succeeding(result: str) -> Outcome:
    return lambda stored, now_ms: succeeded(stored, result, now_ms)


def _failing(reason: str) -> Outcome:
    return lambda stored, now_ms: failed(stored, reason, now_ms)


def _blocking(reason: str, stored: Job, now_ms: int) -> Job:
    return blocked(stored, reason, now_ms)
