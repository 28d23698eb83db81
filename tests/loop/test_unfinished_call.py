"""What is known of a call without a result: whether it may have been done, or waited only."""

from __future__ import annotations

import pytest

from agent import protocol
from agent.loop.turn.unfinished_call import Lost, what_became_of
from agent.records import Question

ASKED = protocol.RequestUserInput(
    question=Question(question_id="q", session_id="s", text="Which?", asked_ms=1, call_id="c")
)
ENDED = protocol.TurnAborted(turn_id="t", reason=protocol.AbortReason.INTERRUPTED)
BEGUN = protocol.TaskStarted(turn_id="t-2")
ANSWERED = protocol.QuestionAnswered(question_id="q", answer="this")
CLOSED = protocol.QuestionClosed(question_id="q", reason="superseded by a new message")


@pytest.mark.parametrize(
    ("history", "known"),
    [
        ((), Lost.UNKNOWN),
        ((ASKED,), Lost.WAITED),
        ((ASKED, ENDED), Lost.WAITED),
        ((ASKED, ANSWERED), Lost.UNKNOWN),
        ((ASKED, CLOSED), Lost.UNKNOWN),
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
    assert what_became_of(events, "c") is known
