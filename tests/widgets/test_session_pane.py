"""A session's pane says why it shows no steps."""

from textual.app import App, ComposeResult

from agent.records import Session, SessionState
from agent.state.reducer import SessionView
from widgets.transcript.session_pane import SessionPane


class Desk(App[None]):
    def compose(self) -> ComposeResult:
        yield SessionPane()


async def test_a_transcript_that_is_still_to_be_read_is_not_said_to_have_no_steps() -> None:
    app = Desk()
    async with app.run_test():
        pane = app.query_one(SessionPane)
        session = Session(
            session_id="s1", goal="look", created_ms=1, state=SessionState.RUNNING, steps=3
        )
        pane.show_view(SessionView(session=session, seq=9), devices={}, now_ms=1)
        assert pane.transcript.empty == "Reading its steps …"
        begun = Session(session_id="s2", goal="look", created_ms=1, state=SessionState.RUNNING)
        pane.show_view(SessionView(session=begun), devices={}, now_ms=1)
        assert pane.transcript.empty == "No steps yet."
