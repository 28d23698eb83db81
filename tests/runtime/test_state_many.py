"""Folding many events at once is folding each of them, whatever they are."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.records import Question, Session, SessionState
from agent.state.reducer import State, reduce, reduce_all
from tests.runtime.test_protocol import values_of

MSGS = st.sampled_from(
    [
        protocol.TaskStarted(turn_id="t"),
        protocol.TaskComplete(turn_id="t"),
        protocol.StepStarted(step=1),
        protocol.AgentMessage(step=1, text="hello"),
        protocol.RequestUserInput(
            question=Question(question_id="q", session_id="a", text="?", asked_ms=1)
        ),
        protocol.QuestionAnswered(question_id="q", answer="yes"),
        protocol.SessionStateChanged(state=SessionState.FAILED, reason="no"),
        protocol.SessionRolledBack(turns=1, from_seq=2),
        protocol.SessionsDeleted(session_ids=("a",)),
        protocol.ShutdownComplete(),
    ]
)


@settings(max_examples=80, deadline=None)
@given(told=st.lists(st.tuples(st.sampled_from(["a", "b", ""]), MSGS), max_size=25))
def test_folding_all_is_folding_each(told: list[tuple[str, protocol.EventMsg]]) -> None:
    begun: list[tuple[str, protocol.EventMsg]] = [
        (name, protocol.SessionConfigured(session=Session(session_id=name, goal="g", created_ms=1)))
        for name in ("a", "b")
    ]
    seqs: dict[str, int] = {}
    events: list[protocol.Event] = []
    for event_id, (name, msg) in enumerate([*begun, *told], 1):
        seqs[name] = seqs.get(name, 0) + 1
        seq = seqs[name] if name else 0
        events.append(
            protocol.Event(event_id=event_id, session_id=name, seq=seq, ts_ms=event_id, msg=msg)
        )
    each = State()
    for event in events:
        each = reduce(each, event)
    assert reduce_all(State(), events) == each
    half = reduce_all(State(), events[: len(events) // 2])
    assert reduce_all(half, events) == each


@pytest.mark.parametrize("kind", get_args(protocol.EventMsg), ids=lambda kind: kind.__name__)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_every_kind_of_event_is_folded_alike(
    kind: type[protocol.EventMsg], data: st.DataObject
) -> None:
    session = Session(session_id="a", goal="g", created_ms=1)
    question = Question(question_id="q", session_id="a", text="?", asked_ms=1)
    begun = (
        protocol.SessionConfigured(session=session),
        protocol.RequestUserInput(question=question),
    )
    first = reduce_all(
        State(),
        [
            protocol.Event(event_id=at, session_id="a", seq=at, ts_ms=at, msg=msg)
            for at, msg in enumerate(begun, 1)
        ],
    )
    msg = data.draw(values_of(kind))
    event = protocol.Event(event_id=3, session_id="a", seq=3, ts_ms=3, msg=msg)
    assert reduce_all(first, (event,)) == reduce(first, event)
