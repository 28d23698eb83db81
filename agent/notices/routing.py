"""What a tap on a session and Send do, pure (CONTRACTS 1.14).

It does nothing itself. Invariant: no state and no kind of session is without an answer.
"""

from enum import StrEnum

from agent.records import Question, Session, SessionKind, SessionState
from agent.text import one_line

TIMELINE_LIMIT_CHARS = 1200
DETAILS_LIMIT_CHARS = 600


class Tap(StrEnum):
    """What opens when a session is tapped."""

    QUESTION = "question"
    RESULT = "result"
    SHOW_TARGET = "show_target"
    ATTACH_TARGET = "attach_target"
    START = "start"
    DETAIL = "detail"


class Send(StrEnum):
    """What Send does."""

    NEW_HOME_SESSION = "new_home_session"
    RESUME_PARENT = "resume_parent"  # Never one of its old children.


def tap(session: Session, question: Question | None) -> Tap:
    state = session.state
    if state is SessionState.WAITING_FOR_USER and question is not None and question.shown.strip():
        return Tap.QUESTION
    if state.is_terminal:
        return Tap.RESULT
    if state is SessionState.RUNNING and session.target_package:
        return Tap.SHOW_TARGET if session.presentation.is_detached else Tap.ATTACH_TARGET
    is_home_draft = session.kind is SessionKind.HOME and not session.parent_id
    if state is SessionState.CREATED and is_home_draft:
        return Tap.START
    return Tap.DETAIL


def send(session: Session) -> Send:
    return Send.NEW_HOME_SESSION if session.kind is SessionKind.HOME else Send.RESUME_PARENT


def continuation(session: Session, timeline: list[str], text: str) -> str:
    """Write the prompt that goes on from what a session came to."""
    outcome = session.latest_result or session.latest_error or session.state.value
    told = " | ".join(timeline)
    return "\n\n".join(
        (
            text.strip(),
            f"What came before: {one_line(session.goal, DETAILS_LIMIT_CHARS)}",
            f"It came to: {one_line(outcome, DETAILS_LIMIT_CHARS)}",
            f"Its last events: {one_line(told, TIMELINE_LIMIT_CHARS)}",
        )
    )
