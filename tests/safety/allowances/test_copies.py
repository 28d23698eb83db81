"""An allowance belongs to one session: its copies have none."""

import pytest

from agent.protocol import Event, SessionConfigured
from agent.records import Session
from agent.safety.allowances.parsing import parse_allowance
from agent.sessions.rules.fork import Fork, copied


@pytest.mark.parametrize("forked", [None, Fork("s-1", 1)])
def test_a_fork_and_an_import_have_no_allowance(forked: Fork | None) -> None:
    session = Session(
        session_id="s-1", goal="x", created_ms=1, allowances=(parse_allowance("send:3:Ana"),)
    )
    configured = Event(
        event_id=1, session_id="s-1", seq=1, ts_ms=1, msg=SessionConfigured(session=session)
    )
    first = copied(
        (configured,), "s-2", new_question_id=lambda: "q", reason="copied", forked=forked
    )[0].msg
    assert isinstance(first, SessionConfigured)
    assert first.session.session_id == "s-2" and first.session.allowances == ()
