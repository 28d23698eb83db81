"""Make the record of a run from the events of its session: its times and its outcome. Pure.

Invariant: the record says what the session's own events say, and the reason for
an outcome stands in the diagnostics, never in a notification.
"""

from collections.abc import Sequence
from secrets import token_hex

from msgspec.structs import replace

from agent import protocol
from agent.records import Job, RunOutcome, RunRecord, RunStatus, Session, SessionState
from agent.sessions.rules.rollup import published

DIAGNOSTICS_LIMIT_CHARS = 2000
RESULT_LIMIT_CHARS = 4000
_OUT_OF_STEPS = "steps was reached"
_NO_PROGRESS = ("called no tool", "no progress")


def new_run(job: Job, now_ms: int) -> RunRecord:
    return RunRecord(
        run_id=f"run-{token_hex(6)}",
        job_id=job.id,
        due_at=job.next_run_at,
        started_at=now_ms,
        attempt=job.failure_count + 1,
    )


def parked(run: RunRecord) -> RunRecord:
    """Return the record of a run that waits for a review."""
    return replace(run, status=RunStatus.AWAITING_REVIEW, reviews=run.reviews + 1)


def resumed_run(run: RunRecord) -> RunRecord:
    """Return the record of a run that continues after a review."""
    return replace(run, status=RunStatus.RUNNING)


def ended_run(
    run: RunRecord, outcome: RunOutcome, now_ms: int, *, result: str = "", why: str = ""
) -> RunRecord:
    return replace(
        run,
        status=RunStatus.ENDED,
        ended_at=now_ms,
        outcome=outcome,
        result=result[:RESULT_LIMIT_CHARS],
        diagnostics=why[:DIAGNOSTICS_LIMIT_CHARS] or run.diagnostics,
    )


def of_job(events: Sequence[protocol.Event], job_id: int) -> Sequence[protocol.Event]:
    """Keep what belongs to the newest prompt of a job in a session."""
    for at in range(len(events) - 1, -1, -1):
        msg = events[at].msg
        if isinstance(msg, protocol.UserMessage) and msg.job_id == job_id:
            return events[at:]
    return events


def ended_ms(events: Sequence[protocol.Event]) -> int:
    """Return when the last turn among events ended; 0 where none did."""
    ends = (
        e.ts_ms
        for e in reversed(events)
        if isinstance(e.msg, protocol.TaskComplete | protocol.TurnAborted)
    )
    return next(ends, 0)


def measured(run: RunRecord, session: Session, events: Sequence[protocol.Event]) -> RunRecord:
    """Add up what a run took, from the events of its prompt."""
    run = replace(run, session_id=session.session_id, serial=session.serial, steps=0)
    run = replace(
        run,
        verified_by=session.verified_by,
        verdict=session.verdict,
        result_json=session.result_json,
        sources=published(events) if session.result_json else (),
    )
    run = replace(run, time=type(run.time)(), usage=type(run.usage)(), waited_ms=0, reviewed_ms=0)
    asked: dict[str, int] = {}
    began_ms = 0
    for event in events:
        match event.msg:
            case protocol.TaskStarted() if not began_ms:
                began_ms = event.ts_ms
                run = replace(run, waited_ms=max(event.ts_ms - run.started_at, 0))
            case protocol.StepCompleted(time=time, usage=usage, counted=counted):
                run = replace(
                    run,
                    steps=run.steps + int(counted),
                    time=run.time.plus(time),
                    usage=run.usage.plus(usage),
                )
            case protocol.RequestUserInput(question=question) if question.review is not None:
                asked[question.question_id] = event.ts_ms
            case (
                protocol.QuestionAnswered(question_id=ended)
                | protocol.QuestionClosed(question_id=ended)
            ):
                since_ms = asked.pop(ended, event.ts_ms)
                run = replace(run, reviewed_ms=run.reviewed_ms + max(event.ts_ms - since_ms, 0))
            case _:
                pass
    return run


def lapses(events: Sequence[protocol.Event]) -> int:
    """Count the reviews of a run that nobody answered in time."""
    asked: set[str] = set()
    count = 0
    for event in events:
        match event.msg:
            case protocol.RequestUserInput(question=question) if question.review is not None:
                asked.add(question.question_id)
            case protocol.QuestionClosed(question_id=closed, reason=reason) if closed in asked:
                count += reason == protocol.CloseReason.EXPIRED
            case _:
                pass
    return count


def worked_ms(events: Sequence[protocol.Event]) -> int:
    """Return how long the turns of a run were open, in milliseconds."""
    total = since = 0
    for event in events:
        match event.msg:
            case protocol.TaskStarted():
                since = event.ts_ms
            case protocol.TaskComplete() | protocol.TurnAborted():
                total, since = total + (event.ts_ms - since if since else 0), 0
            case _:
                pass
    return max(total, 0)


def judged(session: Session, events: Sequence[protocol.Event]) -> tuple[RunOutcome, str]:
    """Return what a session came to for its job, and why; only a goal that was met is finished."""
    if session.state is SessionState.COMPLETED:
        return RunOutcome.FINISHED, ""
    why = session.latest_error if session.state is SessionState.FAILED else ""
    if session.state is SessionState.CANCELLED:
        return RunOutcome.CANCELLED, why or "its session was cancelled"
    late = any(
        isinstance(event.msg, protocol.TurnAborted)
        and event.msg.reason is protocol.AbortReason.BUDGET_LIMITED
        for event in events[-8:]
    )
    said = next(
        (e.msg.message for e in reversed(events) if isinstance(e.msg, protocol.ErrorEvent)), why
    )
    why = why or said or f"its session is {session.state.lower()}"
    if late:
        return RunOutcome.DURATION_LIMIT, why
    if _OUT_OF_STEPS in why:
        return RunOutcome.STEP_LIMIT, why
    if any(mark in why for mark in _NO_PROGRESS):
        return RunOutcome.NO_PROGRESS, why
    return RunOutcome.FAILED, why
