"""The operator who looks elsewhere is called once for each thing, and never with foreign codes."""

import pytest

from agent import records
from agent.state.reducer import SessionView, State, attention
from console.terminal.terminal_notify import (
    AWAY_S,
    Presence,
    TerminalNotifier,
    terminal_notice,
    through,
)
from tests.console.fakes import phone


class Called:
    """What was rung and written, on a clock that only a test moves."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.bells = 0
        self.written: list[str] = []
        self._calling = TerminalNotifier(self._ring, self.written.append, lambda: self.now_s)

    def _ring(self) -> None:
        self.bells += 1

    def look(self, state: State, *, is_here: bool = False) -> tuple[int, int]:
        self._calling.look(state, attention(state), is_here=is_here)
        return self.bells, len(self.written)


def notice(token: str = "n-1", title: str = "Finished it", text: str = "") -> records.Notice:
    return records.Notice(
        token=token, session_id="s", kind=records.NoticeKind.COMPLETED, title=title, text=text
    )


def question(
    question_id: str = "q", kind: records.QuestionKind = records.QuestionKind.QUESTION
) -> records.Question:
    return records.Question(
        question_id=question_id, session_id="s", text="Which?", asked_ms=1, kind=kind
    )


def test_each_question_rings_and_each_notice_is_told_once_and_only_to_who_looks_elsewhere() -> None:
    called = Called()
    state = State(questions={"q": question()}, notices={"s": notice()})
    assert called.look(State()) == (0, 0)
    assert called.look(state) == (1, 1)
    assert called.look(state) == (1, 1)
    newer = State(questions={"q": question(), "r": question("r")}, notices={"s": notice("n-2")})
    assert called.look(newer, is_here=True) == (1, 1)
    assert called.look(newer) == (1, 1)


def of_session(**changed: object) -> State:
    session = records.Session(session_id="s", goal="g", created_ms=1, **changed)  # type: ignore[arg-type]
    return State(sessions={"s": SessionView(session=session)})


DUE = records.Commitment(
    id=1,
    title="Call",
    description="",
    trigger_type=records.TriggerType.TIME,
    trigger_spec_json={},
    due_at=1,
    expires_at=0,
    status=records.CommitmentStatus.FIRED,
    confidence=1.0,
    evidence_json={},
    created_at=1,
    updated_at=1,
)
WAITS = {
    "a question": State(questions={"q": question()}),
    "an approval": State(questions={"q": question(kind=records.QuestionKind.APPROVAL)}),
    "a lost phone": of_session(state=records.SessionState.RUNNING, lost=True),
    "a failure": of_session(state=records.SessionState.FAILED),
    "a phone that has to be allowed": State(
        devices={
            "p": phone("p", state=records.DeviceState.UNAUTHORIZED, note="Allow USB debugging.")
        }
    ),
    "a commitment": State(commitments={1: DUE}),
}


@pytest.mark.parametrize("state", WAITS.values(), ids=WAITS.keys())
def test_whatever_waits_rings_once(state: State) -> None:
    called = Called()
    assert [called.look(one)[0] for one in (State(), state, state)] == [0, 1, 1]


def test_what_is_lost_again_and_again_rings_once_a_minute_at_most() -> None:
    called = Called()
    lost = of_session(state=records.SessionState.RUNNING, lost=True)
    for _ in range(5):
        called.look(lost)
        called.now_s += 3.0
        called.look(State())
    assert called.bells == 1
    called.now_s += 61.0
    called.look(State())
    assert called.look(lost)[0] == 2


def test_where_the_terminal_tells_no_focus_keys_tell_who_looks_here() -> None:
    now_s = 0.0
    presence = Presence(lambda: now_s)
    assert presence.is_here(has_focus=True)
    now_s = AWAY_S
    assert not presence.is_here(has_focus=True)
    presence.touch()
    assert presence.is_here(has_focus=True)
    now_s = 2 * AWAY_S
    presence.tell_focus()
    assert presence.is_here(has_focus=True)
    assert not presence.is_here(has_focus=False)


def test_what_a_phone_or_a_model_wrote_cannot_leave_the_notice() -> None:
    said = terminal_notice(notice(title="9;4;Finished\x1b\\\x07\x9c", text="a\nb\x1b[2J"))
    body = said.removeprefix("\x1b]9;").removesuffix("\x1b\\")
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in body)
    assert "Finished" in body


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"TERM": "xterm-256color"}, "\x1b]9;hi\x1b\\"),
        ({"TERM": "tmux-256color", "TMUX": "/s,1,0"}, "\x1bPtmux;\x1b\x1b]9;hi\x1b\x1b\\\x1b\\"),
        ({"TERM": "screen", "STY": "1.x"}, "\x1bP\x1b]9;hi\x07\x1b\\"),
    ],
)
def test_a_notice_gets_past_what_stands_before_the_terminal(
    environ: dict[str, str], wanted: str
) -> None:
    assert through(environ, "\x1b]9;hi\x1b\\") == wanted
