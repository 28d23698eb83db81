"""Repair what a dead core left: turns that no process runs.

Resuming them is up to the operator or the setting. Invariants: an open turn gets one TurnAborted,
however often the core dies; no session appears to be running when it is not; an open question stays
open, because its answer resumes the session; an interrupted review turn among the newest events is
closed without changing its session.
"""

from agent.errors import ErrorKind, UsageError
from agent.loop.task_context import TaskKind
from agent.protocol import (
    AbortReason,
    CloseReason,
    ErrorEvent,
    EventMsg,
    QuestionClosed,
    TargetObserved,
    TaskComplete,
    TaskStarted,
    TurnAborted,
)
from agent.records import SessionState, TargetRuntime
from agent.sessions.registry.live_session import LiveSession
from agent.sessions.registry.services import Services
from agent.sessions.rules.answers import expired

_IDLE = "the core was restarted; it can be resumed"
_NEWEST_FACTS = 2000
"""How far back an unended review turn is looked for: it takes one call of a model."""
_REVIEW_TURNS = frozenset(kind.value for kind in TaskKind if kind.is_review_turn)
_UNDER_WAY = frozenset({SessionState.QUEUED, SessionState.RUNNING})


async def recover(parts: Services) -> tuple[LiveSession, ...]:
    """Make every session idle whose turn died with its core.

    Returns:
        The sessions that were running, or about to run, and wait neither for an answer nor, paused,
        for the operator.

    Raises:
        StoreError: the repair could not be stored.
    """
    await _close_review_turns(parts)
    resumable: list[LiveSession] = []
    for live in parts.registry.active():
        if await repair(parts, live):
            resumable.append(live)
    return tuple(resumable)


async def repair(parts: Services, live: LiveSession) -> bool:
    """Make a session idle whose turn died with its core.

    Returns:
        Whether it was running, or about to run, and does not wait for the operator.

    Raises:
        StoreError: the repair could not be stored.
    """
    if live.delegates:
        await _close_plan(parts, live)
        return False
    was_under_way = live.record.state in _UNDER_WAY
    if not was_under_way and not live.record.turn_id:
        return False
    was_paused = live.record.paused
    await parts.registry.append(*live.drafts(*_repair(parts, live)))
    return was_under_way and not was_paused and not live.record.state.is_terminal


async def _close_review_turns(parts: Services) -> None:
    """Close reviews and compactions that died with their core, leaving their sessions unchanged.

    A settled session's record does not show them, so they are found among the newest events.
    """
    last = await parts.store.last_event_id()
    newest = await parts.store.events(after=max(last - _NEWEST_FACTS, 0), limit=_NEWEST_FACTS)
    unended: dict[str, str] = {}
    for event in newest:
        match event.msg:
            case TaskStarted(turn_id=turn_id, kind=kind) if kind in _REVIEW_TURNS:
                unended[turn_id] = event.session_id
            case TaskComplete(turn_id=turn_id) | TurnAborted(turn_id=turn_id):
                unended.pop(turn_id, None)
            case _:
                pass
    for turn_id, session_id in unended.items():
        try:
            live = await parts.registry.get(session_id)
        except UsageError:
            continue  # it was deleted since
        if parts.is_elsewhere(live.record):
            continue
        aborted = TurnAborted(turn_id=turn_id, reason=AbortReason.RECOVERED)
        await parts.registry.append(*live.drafts(aborted))


async def _close_plan(parts: Services, live: LiveSession) -> None:
    """End the plan turn of a parent whose core died after storing the children."""
    if live.record.turn_id:
        aborted = TurnAborted(turn_id=live.record.turn_id, reason=AbortReason.RECOVERED)
        await parts.registry.append(*live.drafts(aborted))


def _repair(parts: Services, live: LiveSession) -> tuple[EventMsg, ...]:
    record = live.record
    aborted: tuple[EventMsg, ...] = ()
    if record.turn_id:
        aborted = (TurnAborted(turn_id=record.turn_id, reason=AbortReason.RECOVERED),)
    if record.for_job:
        return (*_closing(parts, live, expired_only=False), *aborted, *_failing(live))
    return (
        *_closing(parts, live, expired_only=True),
        *aborted,
        *_missing(live),
        *live.flagging(paused=False, lost=False, reason="the core was restarted"),
        *live.moving(SessionState.WAITING_FOR_USER, _IDLE),
    )


def _missing(live: LiveSession) -> tuple[EventMsg, ...]:
    """Record that a session's display is gone with the core that opened it."""
    record = live.record
    if not record.presentation.is_detached or record.target_runtime is TargetRuntime.MISSING:
        return ()
    return (TargetObserved(presentation=record.presentation, runtime=TargetRuntime.MISSING),)


def _failing(live: LiveSession) -> tuple[EventMsg, ...]:
    """Return the end of a job's session; the job itself retries in a new one."""
    error = ErrorEvent(
        message="The core was restarted while a job ran here.",
        kind=ErrorKind.INTERNAL,
        remedy="The job says what became of it, and runs again if it may.",
    )
    return (
        error,
        *live.flagging(paused=False, lost=False),
        *live.moving(SessionState.FAILED, "the core was restarted"),
    )


def _closing(parts: Services, live: LiveSession, *, expired_only: bool) -> tuple[EventMsg, ...]:
    now_ms = parts.clock_ms()
    closing: list[EventMsg] = []
    for question in parts.questions.of(live.session_id):
        if 0 < question.deadline_ms <= now_ms:
            closing.append(expired(question, now_ms))
        elif not expired_only:
            reason = CloseReason.CORE_RESTARTED
            closing.append(QuestionClosed(question_id=question.question_id, reason=reason))
    return tuple(closing)
