"""A session as scripts written for `codex android sessions` know it (CONTRACTS 1.3), pure.

Not the record (`agent.records.Session`). Invariants: the bridge's fields have its names, types and
numbers; what Switchboard adds has a name that the bridge does not use; a field is never left out.
"""

import json
from collections.abc import Iterable
from typing import Any

from agent import protocol
from agent.records import DeviceInfo, Question, QuestionKind, Session, SessionKind, SessionState
from agent.sessions.rules.presentation import shown_runtime
from agent.text import one_line

STATE_NUMBERS = {
    SessionState.CREATED: 1,
    SessionState.RUNNING: 2,
    SessionState.WAITING_FOR_USER: 3,
    SessionState.COMPLETED: 4,
    SessionState.CANCELLED: 5,
    SessionState.FAILED: 6,
    SessionState.QUEUED: 7,
}
"""The framework's numbers (CONTRACTS 1.4)."""

TIMELINE_EVENTS = 12
_LINE_LIMIT_CHARS = 1000


def held_by(session: Session, devices: Iterable[DeviceInfo]) -> str:
    """Return who drives the phone that a queued session waits for; empty where nobody is known."""
    if session.state is not SessionState.QUEUED or not session.serial:
        return ""
    return next((info.driver for info in devices if info.serial == session.serial), "")


def session_object(
    session: Session, question: Question | None = None, devices: Iterable[DeviceInfo] = ()
) -> dict[str, Any]:
    """Return a session as the bridge gives it.

    Args:
        session: the record.
        question: what is asked in it or in a child of it, if the caller knows.
        devices: as they are now, if the caller knows.
    """
    thread = thread_id(session)
    return {
        "sessionId": session.session_id,
        "parentSessionId": session.parent_id or None,
        "kind": session.kind.value,
        "anchor": "HOME" if session.kind is SessionKind.HOME else "AGENT",
        "state": STATE_NUMBERS[session.state],
        "stateLabel": session.state.value,
        "targetPackage": session.target_package or None,
        "targetPresentation": session.presentation.value,
        "targetRuntime": shown_runtime(session).value,
        "latestQuestion": question.shown if question else session.latest_question or None,
        "latestResult": session.latest_result or None,
        "latestError": session.latest_error or None,
        "latestTrace": session.latest_trace or None,
        "model": session.model or None,
        "reasoningEffort": session.reasoning_effort,
        "threadId": thread or None,
        "attachable": bool(thread),
        # What follows is Switchboard's own.
        "goal": session.goal,
        "title": session.title,
        "serial": session.serial or None,
        "questionSpeaker": question.speaker.value if question else None,
        "questionId": question.question_id if question else None,
        "requiredPresentation": session.required_presentation.value,
        "generation": session.generation,
        "paused": session.paused,
        "held": session.held,
        "lost": session.lost,
        "driver": session.driver or None,
        "heldBy": held_by(session, devices) or None,
        "needs": session.needs or None,
        "account": session.account or None,
        "waitsFor": session.waits_for or None,
        "kept": session.kept,
        "steps": session.steps,
        "maxSteps": session.max_steps,
        "maxSeconds": session.budget.seconds,
        "maxTokens": session.budget.tokens,
        "maxCostUsd": session.budget.cost_usd,
        "autonomy": session.autonomy.value,
        "allowances": [
            {
                "kind": one.verb.value,
                "limit": one.limit,
                "used": one.used,
                "currency": one.currency or None,
                "recipients": list(one.recipients),
            }
            for one in session.allowances
        ],
        "letThrough": list(session.let_through),
        "redacted": list(session.redacted),
        "dryRun": session.dry_run,
        "oneAct": session.one_act,
        "inputTokens": session.usage.input_tokens,
        "outputTokens": session.usage.output_tokens,
        "verifiedBy": session.verified_by.value if session.state.is_terminal else None,
        "verdict": session.verdict.value if session.state.is_terminal else None,
        "result": json.loads(session.result_json) if session.result_json else None,
        "outputSchema": json.loads(session.output_schema) if session.output_schema else None,
        "jobId": session.job_id or None,
        "forkedFrom": session.forked_from or None,
        "createdMs": session.created_ms,
        "updatedMs": session.updated_ms,
    }


def thread_id(session: Session) -> str:
    """Name the conversation that a client can attach to; empty when there is none."""
    has_one = session.state is not SessionState.CREATED and not session.state.is_terminal
    return session.session_id if has_one else ""


def timeline(events: Iterable[protocol.Event]) -> list[str]:
    """Return the last twelve things that happened, each "Type: message"."""
    told = [line for line in map(_event_line, events) if line]
    return [one_line(line, _LINE_LIMIT_CHARS) for line in told[-TIMELINE_EVENTS:]]


def _event_line(event: protocol.Event) -> str:
    match event.msg:
        case (
            protocol.AgentMessage(text=text)
            | protocol.UserMessage(text=text)
            | protocol.ToolCallFinished(text=text)
        ):
            return f"Trace: {text}"
        case protocol.RequestUserInput(question=question):
            kind = "Policy" if question.kind is QuestionKind.APPROVAL else "Question"
            return f"{kind}: {question.shown}"
        case protocol.QuestionAnswered(answer=answer):
            return f"Answer: {answer or '(not kept)'}"
        case protocol.ResultPublished(text=text):
            return f"Result: {text}"
        case protocol.ErrorEvent(message=message) | protocol.WarningEvent(message=message):
            return f"Error: {message}"
        case protocol.TargetObserved(runtime=runtime):
            return f"Detached action: {runtime.value}"
        case _:
            return ""
