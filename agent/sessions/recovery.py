"""Bring order into what a dead core left: turns that nobody runs any more.

Not the resuming of them, which is the operator's (or the setting's) decision. Invariants: a turn
that was open gets its TurnAborted once, however often the core dies; no session claims to be at
work when none is; an open question stays open, for its answer resumes the session.
"""

from __future__ import annotations

from agent.errors import ErrorKind
from agent.protocol import (
    AbortReason,
    ErrorEvent,
    EventMsg,
    QuestionClosed,
    TargetObserved,
    TurnAborted,
)
from agent.records import SessionState, TargetRuntime
from agent.sessions.live import LiveSession
from agent.sessions.parts import Parts
from agent.sessions.questions import NO_ANSWER

_IDLE = "the core was restarted; resume to go on"
_UNDER_WAY = frozenset({SessionState.QUEUED, SessionState.RUNNING})


async def recover(parts: Parts) -> tuple[LiveSession, ...]:
    """Make every session idle whose turn died with the core that ran it.

    Returns:
        The sessions that were at work, or about to be, and wait for nobody: neither for an answer
        nor, paused, for the operator.

    Raises:
        StoreError: the repair could not be stored.
    """
    resumable: list[LiveSession] = []
    for live in parts.book.active():
        if live.delegates:
            await _close_plan(parts, live)
            continue
        was_under_way = live.record.state in _UNDER_WAY
        if not was_under_way and not live.record.turn_id:
            continue
        was_paused = live.record.paused
        await parts.book.append(*live.drafts(*_repair(parts, live)))
        if was_under_way and not was_paused and not live.record.state.is_terminal:
            resumable.append(live)
    return tuple(resumable)


async def _close_plan(parts: Parts, live: LiveSession) -> None:
    """End the plan turn of a parent whose core died after its children had been stored."""
    if live.record.turn_id:
        aborted = TurnAborted(turn_id=live.record.turn_id, reason=AbortReason.RECOVERED)
        await parts.book.append(*live.drafts(aborted))


def _repair(parts: Parts, live: LiveSession) -> tuple[EventMsg, ...]:
    record = live.record
    aborted: tuple[EventMsg, ...] = ()
    if record.turn_id:
        aborted = (TurnAborted(turn_id=record.turn_id, reason=AbortReason.RECOVERED),)
    if record.job_id:
        return (*_closing(parts, live, expired_only=False), *aborted, *_failing(live))
    return (
        *_closing(parts, live, expired_only=True),
        *aborted,
        *_missing(live),
        *live.flagging(paused=False, lost=False, reason="the core was restarted"),
        *live.moving(SessionState.WAITING_FOR_USER, _IDLE),
    )


def _missing(live: LiveSession) -> tuple[EventMsg, ...]:
    """Say that a display of the session's own went with the core that had opened it."""
    record = live.record
    if not record.presentation.is_detached or record.target_runtime is TargetRuntime.MISSING:
        return ()
    return (TargetObserved(presentation=record.presentation, runtime=TargetRuntime.MISSING),)


def _failing(live: LiveSession) -> tuple[EventMsg, ...]:
    """Give the end of a job's session: the job itself tries again, in a new one."""
    error = ErrorEvent(
        message="The core was restarted while a job ran here.",
        kind=ErrorKind.INTERNAL,
        remedy="The job runs again by itself.",
    )
    return (
        error,
        *live.flagging(paused=False, lost=False),
        *live.moving(SessionState.FAILED, "the core was restarted"),
    )


def _closing(parts: Parts, live: LiveSession, *, expired_only: bool) -> tuple[EventMsg, ...]:
    now_ms = parts.clock_ms()
    return tuple(
        QuestionClosed(question_id=question.question_id, reason=NO_ANSWER)
        for question in parts.questions.of(live.session_id)
        if not expired_only or 0 < question.deadline_ms <= now_ms
    )
