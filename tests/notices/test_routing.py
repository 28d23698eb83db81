"""What a tap and Send do, for every kind and state of session (CONTRACTS 1.14)."""

import pytest

from agent.notices.routing import Send, Tap, continuation, send, tap
from agent.records import Question, Session, SessionKind, SessionState, TargetPresentation

HOME, AGENT, GENIE = SessionKind.HOME, SessionKind.AGENT, SessionKind.GENIE
RUNNING, WAITING = SessionState.RUNNING, SessionState.WAITING_FOR_USER
HIDDEN, ATTACHED = TargetPresentation.DETACHED_HIDDEN, TargetPresentation.ATTACHED


def session(
    state: SessionState,
    kind: SessionKind = HOME,
    presentation: TargetPresentation = ATTACHED,
    **more: str,
) -> Session:
    return Session(
        session_id="s",
        goal="g",
        created_ms=1,
        kind=kind,
        state=state,
        presentation=presentation,
        **more,
    )


def asked(text: str = "Which?") -> Question:
    return Question(question_id="q", session_id="s", text=text, asked_ms=1)


@pytest.mark.parametrize(
    ("one", "question", "opens"),
    [
        (session(WAITING), asked(), Tap.QUESTION),
        (session(WAITING), asked(" "), Tap.DETAIL),
        (session(WAITING), None, Tap.DETAIL),
        (session(SessionState.COMPLETED), None, Tap.RESULT),
        (session(SessionState.FAILED, AGENT), None, Tap.RESULT),
        (session(SessionState.CANCELLED, GENIE), None, Tap.RESULT),
        (session(RUNNING, target_package="a.b", presentation=HIDDEN), None, Tap.SHOW_TARGET),
        (session(RUNNING, target_package="a.b"), None, Tap.ATTACH_TARGET),
        (session(RUNNING, AGENT), None, Tap.DETAIL),
        (session(SessionState.CREATED), None, Tap.START),
        (session(SessionState.CREATED, AGENT), None, Tap.DETAIL),
        (session(SessionState.QUEUED), None, Tap.DETAIL),
    ],
)
def test_a_tap_opens_what_the_session_needs(
    one: Session, question: Question | None, opens: Tap
) -> None:
    assert tap(one, question) is opens


@pytest.mark.parametrize(
    "state", [SessionState.COMPLETED, SessionState.FAILED, SessionState.CANCELLED]
)
def test_send_is_that_of_the_anchor(state: SessionState) -> None:
    assert send(session(state)) is Send.NEW_HOME_SESSION
    assert send(session(state, AGENT)) is Send.RESUME_PARENT


def test_what_is_gone_on_with_is_bounded() -> None:
    text = continuation(
        session(SessionState.COMPLETED, latest_result="r" * 5000), ["Trace: " + "t" * 5000], "now"
    )
    assert text.startswith("now\n\n") and len(text) < 2600
