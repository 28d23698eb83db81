"""The operator who looks elsewhere is called once for each thing, and never with foreign codes."""

from __future__ import annotations

from agent.records import Notice, NoticeKind, Question
from agent.state import State
from console.calling import Calling, terminal_notice


def notice(token: str = "n-1", title: str = "Finished it", text: str = "") -> Notice:
    return Notice(token=token, session_id="s", kind=NoticeKind.COMPLETED, title=title, text=text)


def test_each_question_rings_and_each_notice_is_told_once_and_only_out_of_focus() -> None:
    rung: list[str] = []
    written: list[str] = []
    calling = Calling(lambda: rung.append("bell"), written.append)
    question = Question(question_id="q", session_id="s", text="Which?", asked_ms=1)
    state = State(questions={"q": question}, notices={"s": notice()})
    calling.look(State(), has_focus=False)
    calling.look(state, has_focus=False)
    calling.look(state, has_focus=False)
    assert (rung, len(written)) == (["bell"], 1)
    newer = State(questions={"q": question}, notices={"s": notice("n-2")})
    calling.look(newer, has_focus=True)
    calling.look(newer, has_focus=False)
    assert (rung, len(written)) == (["bell"], 1)


def test_what_a_phone_or_a_model_wrote_cannot_leave_the_notice() -> None:
    said = terminal_notice(notice(title="9;4;Finished\x1b\\\x07\x9c", text="a\nb\x1b[2J"))
    body = said.removeprefix("\x1b]9;").removesuffix("\x1b\\")
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in body)
    assert "Finished" in body
