"""Folding many events at once is folding each of them, whatever they are."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol import (
    AgentMessage,
    Event,
    EventMsg,
    QuestionAnswered,
    RequestUserInput,
    SessionConfigured,
    SessionRolledBack,
    SessionsDeleted,
    SessionStateChanged,
    ShutdownComplete,
    StepStarted,
    TaskComplete,
    TaskStarted,
)
from agent.records import Question, Session, SessionState
from agent.state.reducer import State, reduce, reduce_all
from tests.runtime.test_protocol import values_of

MSGS = st.sampled_from(
    [
        TaskStarted(turn_id="t"),
        TaskComplete(turn_id="t"),
        StepStarted(step=1),
        AgentMessage(step=1, text="hello"),
        RequestUserInput(question=Question(question_id="q", session_id="a", text="?", asked_ms=1)),
        QuestionAnswered(question_id="q", answer="yes"),
        SessionStateChanged(state=SessionState.FAILED, reason="no"),
        SessionRolledBack(turns=1, from_seq=2),
        SessionsDeleted(session_ids=("a",)),
        ShutdownComplete(),
    ]
)


@settings(max_examples=80, deadline=None)
@given(told=st.lists(st.tuples(st.sampled_from(["a", "b", ""]), MSGS), max_size=25))
def test_folding_all_is_folding_each(told: list[tuple[str, EventMsg]]) -> None:
    begun: list[tuple[str, EventMsg]] = [
        (name, SessionConfigured(session=Session(session_id=name, goal="g", created_ms=1)))
        for name in ("a", "b")
    ]
    seqs: dict[str, int] = {}
    events: list[Event] = []
    for event_id, (name, msg) in enumerate([*begun, *told], 1):
        seqs[name] = seqs.get(name, 0) + 1
        seq = seqs[name] if name else 0
        events.append(Event(event_id=event_id, session_id=name, seq=seq, ts_ms=event_id, msg=msg))
    each = State()
    for event in events:
        each = reduce(each, event)
    assert reduce_all(State(), events) == each
    half = reduce_all(State(), events[: len(events) // 2])
    assert reduce_all(half, events) == each


@pytest.mark.parametrize("kind", get_args(EventMsg), ids=lambda kind: kind.__name__)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_every_kind_of_event_is_folded_alike(kind: type[EventMsg], data: st.DataObject) -> None:
    session = Session(session_id="a", goal="g", created_ms=1)
    question = Question(question_id="q", session_id="a", text="?", asked_ms=1)
    begun = (SessionConfigured(session=session), RequestUserInput(question=question))
    first = reduce_all(
        State(),
        [
            Event(event_id=at, session_id="a", seq=at, ts_ms=at, msg=msg)
            for at, msg in enumerate(begun, 1)
        ],
    )
    msg = data.draw(values_of(kind))
    event = Event(event_id=3, session_id="a", seq=3, ts_ms=3, msg=msg)
    assert reduce_all(first, (event,)) == reduce(first, event)
