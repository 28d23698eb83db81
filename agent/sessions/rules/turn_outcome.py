"""How a turn ends: from what its task returned or raised to the events and the state. Pure.

`agent.sessions.turns.turn_closing` stores them. Invariants: an ending closes its turn with
exactly one TaskComplete or TurnAborted; what may work another time leaves the session idle, to be
resumed; what nobody watches fails instead of waiting for somebody.
"""

import logging
from dataclasses import dataclass, replace

from agent.errors import (
    AdbError,
    DeviceLostError,
    DeviceTimeoutError,
    ErrorKind,
    ModelError,
    StoreError,
    SwitchboardError,
)
from agent.loop.task_context import Following, TurnEnd
from agent.protocol import (
    AbortReason,
    ErrorEvent,
    EventMsg,
    RequestUserInput,
    ResultPublished,
    TaskComplete,
    TurnAborted,
    WarningEvent,
)
from agent.records import SessionState
from agent.sessions.registry.live_session import Turn, error_event
from agent.state.event_text import completed_reason
from agent.text import one_line

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ending:
    """The events to store, in order, and the session's next state."""

    msgs: tuple[EventMsg, ...]
    state: SessionState
    reason: str
    completed: bool = False
    following: Following = Following.NOTHING
    recovers: bool = False  # The same turn may be tried again without a person.
    stopped: bool = False  # A stop ended it, whether it had begun or not.


def ended(turn: Turn, end: TurnEnd) -> Ending:
    complete = TaskComplete(turn_id=turn.turn_id, last_agent_message=end.message)
    if end.completed and end.following is not Following.NOTHING:
        return Ending(
            (complete,), SessionState.RUNNING, "", completed=True, following=end.following
        )
    if end.completed:
        return Ending(
            (ResultPublished(text=end.message, result=end.result, sources=end.sources), complete),
            SessionState.COMPLETED,
            end.reason or completed_reason(end.verification),
            completed=True,
        )
    if end.review is not None:
        # The call that it is about stays open: what is decided resolves it.
        return Ending(
            (RequestUserInput(question=end.review), _aborted(turn, AbortReason.AWAITING_REVIEW)),
            SessionState.WAITING_FOR_USER,
            "a job's action waits for a review",
        )
    message = end.message or "The task ended without saying why."
    return Ending(
        (ErrorEvent(message=message, kind=ErrorKind.GOAL), complete),
        SessionState.FAILED,
        "the goal cannot be met",
    )


def failed(turn: Turn, error: SwitchboardError) -> Ending:
    """End a turn whose task raised an error of ours."""
    if may_work_later(error) and not turn.background:
        return Ending(
            (error_event(error, retryable=True), _aborted(turn, AbortReason.FAILED)),
            SessionState.WAITING_FOR_USER,
            "it could not continue; resume to try again",
            recovers=True,
        )
    complete = TaskComplete(turn_id=turn.turn_id)
    return Ending((error_event(error), complete), SessionState.FAILED, "it cannot continue")


def raised(turn: Turn, error: Exception) -> Ending:
    """End a turn whose task raised, or that could not even start."""
    if isinstance(error, SwitchboardError):
        ending = failed(turn, error)
    else:
        _log.exception("Turn %s broke", turn.turn_id, exc_info=error)
        ending = broken(turn, error)
    if turn.started:
        return ending
    # It never started, so nothing of it can be over.
    msgs = tuple(m for m in ending.msgs if not isinstance(m, TaskComplete | TurnAborted))
    return replace(ending, msgs=msgs)


def late(turn: Turn) -> Ending:
    """End a turn that used up its time."""
    message = f"The turn ran longer than its {turn.deadline_s:g} s."
    error = ErrorEvent(message=message, kind=ErrorKind.GOAL, remedy="Ask for less, or resume it.")
    return Ending(
        (error, _aborted(turn, AbortReason.BUDGET_LIMITED)), SessionState.FAILED, "out of time"
    )


def broken(turn: Turn, error: Exception) -> Ending:
    """End a turn whose task raised what no task should: a defect of ours."""
    message = one_line(f"The task broke: {type(error).__name__}: {error}.", 1000)
    event = ErrorEvent(
        message=message, kind=ErrorKind.INTERNAL, remedy="This is a defect: report it, then resume."
    )
    return Ending(
        (event, TaskComplete(turn_id=turn.turn_id)), SessionState.FAILED, "the task broke"
    )


def may_work_later(error: SwitchboardError) -> bool:
    """Return whether the same turn may work later, also without a person (CONTRACTS 1.10)."""
    if isinstance(error, ModelError):
        return error.retryable
    return isinstance(error, DeviceLostError | DeviceTimeoutError | AdbError | StoreError)


def end_of_review(turn: Turn, ending: Ending, state: SessionState) -> Ending:
    """End a turn that only read its session: the session stays as it is, whatever it came to."""
    if ending.completed:
        msgs: tuple[EventMsg, ...] = (TaskComplete(turn_id=turn.turn_id),)
    else:
        said = [msg.message for msg in ending.msgs if isinstance(msg, ErrorEvent)]
        why = said[0] if said else ending.reason
        warning = WarningEvent(message=f"The {turn.kind} came to nothing: {why}")
        msgs = (warning, _aborted(turn, AbortReason.FAILED))
    return Ending(msgs, state, "", completed=ending.completed)


def _aborted(turn: Turn, reason: AbortReason) -> TurnAborted:
    return TurnAborted(turn_id=turn.turn_id, reason=reason)
