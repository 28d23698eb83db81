"""Read a part of what is stored: windows of a long session, pages of a list, whole trees."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent import protocol
from agent.records import Session
from agent.state.reducer import State, reduce, with_session


@settings(max_examples=30, deadline=None)
@given(at=st.integers(1, 8))
def test_a_session_brought_in_late_looks_as_if_it_had_been_there(at: int) -> None:
    session = Session(session_id="s", goal="g", created_ms=1)
    msgs = [protocol.SessionConfigured(session=session), protocol.TaskStarted(turn_id="t")]
    steps = [protocol.StepStarted(step=number) for number in range(1, 8)]
    events = [
        protocol.Event(event_id=seq, session_id="s", seq=seq, ts_ms=seq, msg=msg)
        for seq, msg in enumerate((*msgs, *steps), 1)
    ]
    whole = late = State()
    for event in events:
        whole = reduce(whole, event)
    late = with_session(State(event_id=at), events[:at])
    for event in events[at:]:
        late = reduce(late, event)
    assert late.sessions == whole.sessions
