"""What is known of a call without a result: whether it may have been done, or waited only."""

import pytest

from agent import protocol
from agent.loop.turn.unfinished_call import Lost, what_became_of
from agent.records import Question, QuestionKind

ASKED = protocol.RequestUserInput(
    question=Question(question_id="q", session_id="s", text="Which?", asked_ms=1, call_id="c")
)
ENDED = protocol.TurnAborted(turn_id="t", reason=protocol.AbortReason.INTERRUPTED)
BEGUN = protocol.TaskStarted(turn_id="t-2")
ANSWERED = protocol.QuestionAnswered(question_id="q", answer="this")
APPROVAL = protocol.RequestUserInput(
    question=Question(
        question_id="a",
        session_id="s",
        text="May I?",
        asked_ms=1,
        call_id="c",
        kind=QuestionKind.APPROVAL,
    )
)
APPROVED = protocol.QuestionAnswered(question_id="a", answer="Approve")
DENIED = protocol.QuestionAnswered(question_id="a", answer="Deny")
CLOSED = protocol.QuestionClosed(question_id="q", reason="superseded by a new message")
EXPIRED = protocol.QuestionClosed(question_id="q", reason=protocol.CloseReason.EXPIRED)


@pytest.mark.parametrize(
    ("history", "known"),
    [
        ((), Lost.UNKNOWN),
        ((ASKED,), Lost.WAITED),
        ((ASKED, ENDED), Lost.WAITED),
        ((ASKED, ANSWERED), Lost.UNKNOWN),
        ((ASKED, CLOSED), Lost.REFUSED),
        ((ASKED, EXPIRED, ENDED), Lost.REFUSED),
        ((ASKED, ENDED, EXPIRED), Lost.REFUSED),
        ((APPROVAL, APPROVED), Lost.UNKNOWN),
        ((APPROVAL, DENIED), Lost.REFUSED),
        ((APPROVAL, APPROVED, ASKED, ENDED), Lost.WAITED),
        ((ASKED, ENDED, BEGUN, ANSWERED), Lost.WAITED),
    ],
)
def test_a_call_that_waited_until_its_turn_ended_did_nothing(
    history: tuple[protocol.EventMsg, ...], known: Lost
) -> None:
    events = [
        protocol.Event(event_id=at, session_id="s", seq=at, ts_ms=at, msg=msg)
        for at, msg in enumerate(history, 1)
    ]
    assert what_became_of(events, "c").lost is known


def test_a_refusal_says_that_nothing_was_done_or_who_said_no() -> None:
    def told(*history: protocol.EventMsg) -> str:
        events = [
            protocol.Event(event_id=at, session_id="s", seq=at, ts_ms=at, msg=msg)
            for at, msg in enumerate(history, 1)
        ]
        return what_became_of(events, "c").told

    assert "Nothing was done" in told(ASKED, CLOSED, ENDED)
    assert "Nobody answered in time" in told(ASKED, EXPIRED, ENDED)
    assert "The operator rejected this" in told(APPROVAL, DENIED)
