"""What the facts of every run must show, whatever operators did."""

from agent import protocol
from agent.records import SessionState
from agent.sessions.registry.transitions import may_move
from agent.state.reducer import fold_session


def story(events: list[protocol.Event]) -> str:
    """Return a session's facts in a few words each, for a failure to show."""
    words = (f"{type(event.msg).__name__} {getattr(event.msg, 'state', '')}" for event in events)
    return "; ".join(words)


def check_facts(events: list[protocol.Event]) -> None:
    """Read a session's facts one by one, as a stranger would."""
    session = None
    generation = 0
    open_turn = ""
    resuming = False
    review_turns: set[str] = set()
    for event in events:
        before = session
        session = fold_session(session, event)
        assert session is not None
        match event.msg:
            case protocol.SessionConfigured():
                assert before is None
            case protocol.SessionContinued(generation=later):
                resuming = later > generation
                generation = later
            case protocol.SessionStateChanged(state=state):
                assert before is not None
                allowed = may_move(before.state, state, resuming=resuming)
                assert allowed, (before.state, state)
                resuming = False
            case protocol.TaskStarted(turn_id=turn_id, kind="review" | "compact"):
                # It reads the session, which stays where it is; one that died is not told of.
                review_turns.add(turn_id)
                assert not open_turn, story(events)
            case protocol.TaskComplete(turn_id=turn_id) | protocol.TurnAborted(turn_id=turn_id) if (
                turn_id in review_turns
            ):
                assert before is not None and session.state is before.state
                review_turns.remove(turn_id)
            case protocol.TaskStarted(turn_id=turn_id):
                assert not open_turn, story(events)
                assert session.state is SessionState.RUNNING
                open_turn = turn_id
            case protocol.TaskComplete(turn_id=turn_id) | protocol.TurnAborted(turn_id=turn_id):
                assert turn_id == open_turn, "an end without its start"
                open_turn = ""
            case protocol.AgentMessage(text=text):
                assert open_turn, story(events)
                assert text != "never stored" or session.state is SessionState.RUNNING
            case _:
                pass
        assert session is not None
        if session.state.is_terminal:
            assert not session.paused and not session.lost
