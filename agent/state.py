"""A pure reducer: fold events into what an operator sees. No I/O, no clock.

`fold_session` is the session record itself; the store keeps its result beside the events and the
runtime keeps it in memory, so both are what replaying the events gives.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from agent.protocol import (
    AgentMessage,
    DeviceChanged,
    ErrorEvent,
    Event,
    EventMsg,
    JobChanged,
    ObservationRecorded,
    PlanUpdate,
    QuestionAnswered,
    QuestionClosed,
    RequestUserInput,
    ResultPublished,
    SessionAssigned,
    SessionConfigured,
    SessionContinued,
    SessionFlagsChanged,
    SessionStateChanged,
    ShutdownComplete,
    SteerApplied,
    StepCompleted,
    StepStarted,
    StreamError,
    TaskComplete,
    TaskStarted,
    ToolCallFinished,
    ToolCallRequested,
    TurnAborted,
    UserMessage,
    WarningEvent,
)
from agent.records import Session


def fold_session(session: Session | None, event: Event) -> Session | None:
    """Fold one event into the record of its session.

    Args:
        session: the record before the event; None before the session's first event.
        event: an event of that session, or of no session, which changes nothing.

    Returns:
        The record after the event; None when the session's first event is missing.
    """
    if isinstance(event.msg, SessionConfigured):
        return replace(event.msg.session, updated_ms=event.ts_ms)
    if session is None or event.session_id != session.session_id:
        return session
    return replace(_fold_fact(session, event.msg), updated_ms=event.ts_ms)


def _fold_fact(session: Session, msg: EventMsg) -> Session:
    match msg:
        case SessionStateChanged(state=state):
            return replace(session, state=state)
        case SessionFlagsChanged(paused=paused, held=held, lost=lost):
            return replace(session, paused=paused, held=held, lost=lost)
        case SessionAssigned(serial=serial):
            return replace(session, serial=serial)
        case SessionContinued(generation=generation):
            return replace(session, generation=generation)
        case TaskStarted(turn_id=turn_id):
            return replace(session, turn_id=turn_id)
        case TaskComplete() | TurnAborted():
            return replace(session, turn_id="")
        case StepCompleted(time=time, usage=usage, counted=counted):
            return replace(
                session,
                steps=session.steps + int(counted),
                time=session.time.plus(time),
                usage=session.usage.plus(usage),
            )
        case PlanUpdate(plan=plan):
            return replace(session, plan=plan)
        case RequestUserInput(question=question):
            return replace(session, latest_question=question.text)
        case ResultPublished(text=text):
            return replace(session, latest_result=text)
        case ErrorEvent(message=message):
            return replace(session, latest_error=message)
        case AgentMessage(text=text):
            return replace(session, latest_trace=text)
        case (
            SessionConfigured()
            | UserMessage()
            | SteerApplied()
            | StepStarted()
            | ObservationRecorded()
            | ToolCallRequested()
            | ToolCallFinished()
            | QuestionAnswered()
            | QuestionClosed()
            | WarningEvent()
            | StreamError()
            | DeviceChanged()
            | JobChanged()
            | ShutdownComplete()
        ):
            return session
        case _:
            assert_never(msg)
