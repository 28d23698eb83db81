"""Tell facts in a sentence each: those that are no step, message or question of their own, pure.

Not the transcript that they stand in (`agent.transcript`). Invariant: a fact that says nothing to a
reader gives an empty sentence, and every other one its words.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias, assert_never

from agent.protocol import (
    AbortReason,
    AdbServerChanged,
    BudgetExtended,
    CommitmentChanged,
    DeviceChanged,
    ErrorEvent,
    HistoryCompacted,
    JobChanged,
    JobsDropped,
    NoticePosted,
    NoticeWithdrawn,
    PlanUpdate,
    RecoveryScheduled,
    ResultPublished,
    ReviewPublished,
    RouteGiven,
    RunChanged,
    SessionAssigned,
    SessionConfigured,
    SessionContinued,
    SessionDeferred,
    SessionFlagsChanged,
    SessionKept,
    SessionPruned,
    SessionsDeleted,
    SessionStateChanged,
    ShutdownComplete,
    StreamError,
    Target,
    TargetObserved,
    TargetsPlanned,
    TaskComplete,
    TaskStarted,
    TurnAborted,
    WarningEvent,
    WatcherChanged,
    WheelActed,
    WheelHandedBack,
    WheelTaken,
)
from agent.records import (
    ActionOutcome,
    SessionState,
)


class Tone(StrEnum):
    """How a notice should sound."""

    INFO = "info"
    RESULT = "result"
    WARNING = "warning"
    ERROR = "error"


Untold: TypeAlias = (
    SessionConfigured
    | SessionStateChanged
    | SessionFlagsChanged
    | SessionAssigned
    | SessionContinued
    | SessionDeferred
    | TargetsPlanned
    | RouteGiven
    | TargetObserved
    | RecoveryScheduled
    | ReviewPublished
    | HistoryCompacted
    | TaskStarted
    | TaskComplete
    | TurnAborted
    | PlanUpdate
    | ResultPublished
    | ErrorEvent
    | WarningEvent
    | StreamError
    | BudgetExtended
    | SessionKept
    | SessionPruned
    | SessionsDeleted
    | NoticePosted
    | NoticeWithdrawn
    | DeviceChanged
    | AdbServerChanged
    | WheelTaken
    | WheelActed
    | WheelHandedBack
    | JobChanged
    | RunChanged
    | JobsDropped
    | WatcherChanged
    | CommitmentChanged
    | ShutdownComplete
)
_ABORTED = {
    AbortReason.INTERRUPTED: "Stopped; it can be resumed.",
    AbortReason.REPLACED: "Replaced by a newer turn.",
    AbortReason.BUDGET_LIMITED: "Stopped: the budget is used up.",
    AbortReason.CANCELLED: "Cancelled.",
    AbortReason.FAILED: "It could not go on; it can be resumed.",
    AbortReason.AWAITING_REVIEW: "Its job waits until the action has been reviewed.",
    AbortReason.RECOVERED: "The core ended under this turn; it can be resumed.",
}


def sentence(msg: Untold) -> tuple[Tone, str, str]:
    """Tell a fact in a sentence; empty when it says nothing to a reader of the transcript."""
    match msg:
        case ResultPublished(text=text):
            return Tone.RESULT, text, ""
        case ErrorEvent(message=text, remedy=remedy):
            return Tone.ERROR, text, remedy
        case WarningEvent(message=text):
            return Tone.WARNING, text, ""
        case StreamError(message=text, attempt=attempt, delay_ms=delay_ms):
            again = f"Attempt {attempt} failed; trying again in {max(1, round(delay_ms / 1000))} s."
            return Tone.WARNING, text, again
        case BudgetExtended(kind=kind, amount=amount):
            return Tone.INFO, f"The budget was extended by {amount:g} {kind.value}.", ""
        case TurnAborted(reason=reason):
            return Tone.WARNING, _ABORTED[reason], ""
        case SessionStateChanged(state=SessionState.FAILED, reason=reason):
            return Tone.ERROR, reason or "Failed.", ""
        case SessionStateChanged(state=SessionState.CANCELLED, reason=reason):
            return Tone.WARNING, reason or "Cancelled.", ""
        case WheelActed(said=said, outcome=outcome, detail=detail):
            tone = Tone.INFO if outcome is ActionOutcome.DONE else Tone.WARNING
            return tone, f"Operator: {said} ({outcome.value})", detail
        case WheelHandedBack(note=note):
            return Tone.INFO, "The operator handed the wheel back.", note
        case SessionFlagsChanged(lost=lost, reason=reason):
            return (Tone.WARNING if lost else Tone.INFO), reason, ""
        case SessionContinued(after_step=step, reason=reason):
            return Tone.INFO, reason or f"Continued after step {step}.", ""
        case SessionDeferred(state=SessionState.QUEUED, reason=reason):
            return Tone.INFO, reason, ""
        case SessionDeferred(state=state):
            return Tone.INFO, f"It becomes {state} once nobody drives it any more.", ""
        case RouteGiven(origin=origin, deeds=deeds):
            said = f"Goes by the {len(deeds)} deeds of session {origin}"
            return Tone.INFO, f"{said}, and asks its model where the screen is another.", ""
        case TargetsPlanned(targets=targets, reason=reason):
            parts = "; ".join(_part(target) for target in targets)
            return Tone.INFO, f"Delegates: {parts}", reason
        case TargetObserved(runtime=runtime, message=message):
            return Tone.INFO, message or f"Its app is {runtime.value}.", ""
        case RecoveryScheduled(attempt=attempt, limit=limit, reason=reason):
            return Tone.WARNING, f"{reason} Trying again by itself, {attempt} of {limit}.", ""
        case ReviewPublished(review=review):
            found = "; ".join(finding.title for finding in review.findings)
            return Tone.RESULT, f"Review: {found or review.explanation}", review.explanation
        case HistoryCompacted():
            return Tone.INFO, "What the model remembers was replaced by a summary.", ""
        case SessionPruned(reason=reason):
            return Tone.INFO, reason or "Its frames were dropped.", ""
        case SessionAssigned(serial=serial):
            return Tone.INFO, f"Works on {serial}." if serial else "", ""
        case (
            SessionConfigured()
            | SessionStateChanged()
            | TaskStarted()
            | TaskComplete()
            | PlanUpdate()
            | SessionKept()
            | SessionsDeleted()
            | WheelTaken()
            | NoticePosted()
            | NoticeWithdrawn()
            | DeviceChanged()
            | AdbServerChanged()
            | JobChanged()
            | RunChanged()
            | JobsDropped()
            | WatcherChanged()
            | CommitmentChanged()
            | ShutdownComplete()
        ):
            return Tone.INFO, "", ""
        case _:
            assert_never(msg)


def _part(target: Target) -> str:
    where = " in ".join(filter(None, (target.serial, target.package)))
    return f"{target.objective} ({where})" if where else target.objective
