"""Controllers of the Deck over a `State` and a recorder of ops: no app, no screen, no core."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from agent.protocol import (
    Interrupt,
    NoticeSend,
    Op,
    Reply,
    SessionCancel,
    SessionConfigured,
    SessionCreate,
    SessionPause,
    SessionResume,
    SessionStateChanged,
    SessionVerify,
    SteerEdit,
    SteerWithdraw,
    TargetControl,
    TargetObserved,
    UserMessage,
)
from agent.records import (
    DeviceState,
    GoalVerdict,
    Question,
    QuestionKind,
    Session,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
)
from agent.state.reducer import Item, SessionView, State
from console.input.gate import Wait
from console.input.pending import PendingOps
from console.keys import actions
from console.keys.two_acts import TwoActs
from console.screens.deck.beginning import BeginController
from console.screens.deck.following import FollowController
from console.screens.deck.session_control import SessionController
from console.screens.deck.targets import TargetController
from tests.console.fakes import FakeCore, phone
from widgets.questions.composer import Composer, Mode, Purpose


class Recorder:
    """Takes ops, lines and work, and does the work when it is told to."""

    def __init__(self, reply: Reply | None = None) -> None:
        self.sent: list[Op] = []
        self.said: list[str] = []
        self.reply = reply
        self.begins_with = ""
        self.tool_servers: tuple[str, ...] = ()
        self.pending = PendingOps()
        self.two_acts = TwoActs(lambda: 0.0)
        self._work: list[Coroutine[Any, Any, Any]] = []

    def request(self, op: Op, *, done: str = "") -> None:
        self.pending.note(op)
        self.sent.append(op)

    async def ask(self, op: Op) -> Reply | None:
        self.sent.append(op)
        return self.reply

    def say(self, text: str, *, tone: str = "information") -> None:
        self.said.append(text)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        self._work.append(work)

    async def run(self) -> None:
        while self._work:
            await self._work.pop(0)


class Desk:
    """What a controller sees of the Deck, made of a state."""

    def __init__(self, state: State, selected: str, reply: Reply | None = None) -> None:
        self.state, self.selected = state, selected
        self.ops = Recorder(reply)
        self.at = ""
        self.written = ""
        self.notes_back = False
        self.pointed: Item | None = None
        self.coming = ""
        self.answers = True

    def select(self, session_id: str) -> None:
        self.selected = session_id

    def view(self) -> SessionView | None:
        return self.state.sessions.get(self.selected)

    def open_questions(self) -> list[Question]:
        return [q for q in self.state.questions.values() if q.session_id == self.selected]

    def pointed_item(self) -> Item | None:
        return self.pointed

    def look_at_new(self, session_id: str) -> None:
        self.selected = self.coming = session_id

    def key_of(self, action_id: str) -> str:
        return actions.BY_ID[action_id].keys[0]

    def refresh_all(self) -> None:
        pass

    def leave_note(self) -> bool:
        asked, self.notes_back = self.notes_back, False
        return asked

    def go_to_card(self) -> None:
        self.at = "card"

    def go_to_composer(self) -> None:
        self.at = "composer"

    def go_to_transcript(self) -> None:
        self.at = "transcript"

    def write(self, text: str, *, over: bool = False) -> bool:
        if self.written and not over:
            return False
        self.written = text
        return True

    def give_back(self, purpose: Purpose, text: str) -> bool:
        self.written = text
        return False

    def answer_later(self) -> None:
        self.answers = False


def played(*, state: SessionState = SessionState.RUNNING, package: str = "org.notes") -> FakeCore:
    core = FakeCore()
    session = Session(
        session_id="s1", goal="Sort the notes", created_ms=1, serial="p", target_package=package
    )
    core.tell(SessionConfigured(session=session), "s1")
    core.tell(SessionStateChanged(state=state), "s1")
    return core


def hint(core: FakeCore, message_id: str, text: str) -> None:
    core.tell(UserMessage(message_id=message_id, text=text, steer=True), "s1")


def observed(core: FakeCore, runtime: TargetRuntime) -> None:
    core.tell(
        TargetObserved(presentation=TargetPresentation.DETACHED_HIDDEN, runtime=runtime, display=2),
        "s1",
    )


# --- apps of sessions ----------


@pytest.mark.parametrize(
    ("runtime", "can"),
    [
        (TargetRuntime.DETACHED_HIDDEN, {"target.show", "target.attach"}),
        (TargetRuntime.DETACHED_SHOWN, {"target.hide", "target.attach"}),
        (TargetRuntime.ATTACHED, {"target.show", "target.hide"}),
    ],
)
def test_an_app_can_go_where_it_is_not(runtime: TargetRuntime, can: set[str]) -> None:
    core = played()
    observed(core, runtime)
    targets = TargetController(Desk(core.state, "s1"))
    ids = ("target.show", "target.hide", "target.attach")
    assert {one for one in ids if targets.can(one)} == can
    assert all(targets.owns(one) for one in ids)


async def test_where_an_app_went_is_said_as_the_core_observed_it() -> None:
    result = TargetResult(status=TargetStatus.OK, runtime=TargetRuntime.ATTACHED)
    desk = Desk(played().state, "s1", Reply(submission_id="x", target=result))
    TargetController(desk).do_target_attach()
    await desk.ops.run()
    assert desk.ops.sent == [TargetControl(session_id="s1", action=TargetAction.ATTACH)]
    assert desk.ops.said == ["org.notes is on the phone's main display."]


async def test_what_failed_is_said_once_and_nothing_of_the_app() -> None:
    desk = Desk(played().state, "s1", reply=None)
    TargetController(desk).do_target_hide()
    await desk.ops.run()
    assert desk.ops.said == []


def test_a_session_without_an_app_sends_nothing() -> None:
    desk = Desk(played(package="").state, "s1")
    TargetController(desk).do_target_show()
    desk.selected = "none such"
    TargetController(desk).do_target_show()
    assert desk.ops.sent == []
    assert [line.split(".")[0] for line in desk.ops.said] == [
        "This session has no app of its own on a phone",
        "No session here",
    ]


@pytest.mark.parametrize(
    ("state", "asks", "at"),
    [
        (SessionState.RUNNING, True, "card"),
        (SessionState.RUNNING, False, "transcript"),
        (SessionState.CREATED, False, "composer"),
        (SessionState.COMPLETED, False, "transcript"),
    ],
)
async def test_a_tap_goes_to_what_a_session_wants(state: SessionState, asks: bool, at: str) -> None:
    core = played(state=state)
    observed(core, TargetRuntime.DETACHED_HIDDEN)
    desk = Desk(core.state, "s1")
    if asks:
        question = Question(
            question_id="q1", session_id="s1", kind=QuestionKind.QUESTION, text="Which?", asked_ms=1
        )
        core.state.questions["q1"] = question
    TargetController(desk).tap()
    await desk.ops.run()
    assert desk.at == at
    shows = state is SessionState.RUNNING and not asks
    assert bool(desk.ops.sent) == shows


# --- hints and follow-ups ----------


def test_the_hint_under_the_cursor_is_meant_else_the_newest_that_waits() -> None:
    core = played()
    hint(core, "m1", "left")
    hint(core, "m2", "right")
    desk = Desk(core.state, "s1")
    follow = FollowController(desk)
    follow.do_steer_withdraw()
    view = desk.view()
    assert view is not None
    desk.pointed = view.transcript.items[-2]
    follow.do_steer_withdraw()
    assert desk.ops.sent == [
        SteerWithdraw(session_id="s1", message_id="m2"),
        SteerWithdraw(session_id="s1", message_id="m1"),
    ]


async def test_a_hint_is_changed_in_the_composer_and_kept_when_a_step_was_quicker() -> None:
    core = played()
    hint(core, "m1", "left")
    desk = Desk(core.state, "s1", reply=None)
    follow = FollowController(desk)
    follow.do_steer_edit()
    purpose = Purpose(Mode.EDIT, "s1/m1")
    assert follow.purpose() == (purpose, ())
    assert (desk.written, desk.at) == ("left", "composer")
    desk.written = ""
    follow.send(Composer.Sent(purpose, "straight on", ""))
    assert follow.purpose() is None
    await desk.ops.run()
    assert desk.ops.sent == [SteerEdit(session_id="s1", message_id="m1", text="straight on")]
    assert desk.written == "straight on"


def test_what_was_begun_for_one_session_is_not_asked_for_at_another() -> None:
    core = played(state=SessionState.COMPLETED)
    desk = Desk(core.state, "s1")
    follow = FollowController(desk)
    follow.do_notice_send()
    assert follow.purpose() is not None
    desk.notes_back = True
    assert follow.purpose() is None
    assert follow.back()
    assert follow.purpose() is not None
    desk.selected = "s2"
    assert follow.purpose() is None
    desk.selected = "s1"
    assert follow.purpose() is None
    assert not follow.back()


async def test_a_session_that_follows_is_looked_at_before_its_first_event() -> None:
    core = played(state=SessionState.COMPLETED)
    desk = Desk(core.state, "s1", Reply(submission_id="x", session_id="s2"))
    follow = FollowController(desk)
    follow.do_notice_send()
    follow.send(Composer.Sent(Purpose(Mode.NEXT, "s1"), "and the next", ""))
    await desk.ops.run()
    assert desk.ops.sent == [NoticeSend(session_id="s1", text="and the next")]
    assert (desk.selected, desk.coming) == ("s2", "s2")


# --- beginning a session ----------


async def test_the_keys_after_a_goal_are_for_its_session_before_it_is_there() -> None:
    desk = Desk(played().state, "s1", Reply(submission_id="x", session_id="s2"))
    begin = BeginController(desk)
    begin.do_session_new()
    assert (begin.begins, desk.at, desk.answers) == (True, "composer", False)
    begin.begin("Water the plants", "")
    assert begin.is_awaited and begin.comes_too_early()
    begin.stop_awaited()
    await desk.ops.run()
    [made, stopped] = desk.ops.sent
    assert isinstance(made, SessionCreate)
    assert (made.goal, made.start) == ("Water the plants", True)
    assert stopped == Interrupt(session_id="s2")
    assert (desk.selected, desk.coming) == ("s2", "s2")
    assert not begin.is_awaited


async def test_a_refused_goal_is_given_back_and_begun_once_when_it_is_sent_again() -> None:
    desk = Desk(played().state, "s1", reply=None)
    begin = BeginController(desk)
    begin.begin("Water the plants", "p")
    await desk.ops.run()
    assert (desk.selected, desk.written, begin.begins) == ("s1", "Water the plants", True)
    desk.selected = "s3"
    begin.begin("Water the plants", "p")
    desk.selected = "s1"
    await desk.ops.run()
    first, second = desk.ops.sent
    assert isinstance(first, SessionCreate) and first == second
    # Who looked elsewhere meanwhile stays there.
    assert desk.selected == "s1"


async def test_a_goal_for_phones_with_a_tag_that_none_has_sends_nothing() -> None:
    core = played()
    core.state.devices["p9"] = phone("p9", tags=("lab",), state=DeviceState.OFFLINE)
    desk = Desk(core.state, "s1")
    begin = BeginController(desk)
    begin.begin("#lab water the plants", "")
    await desk.ops.run()
    assert desk.ops.sent == []
    assert desk.ops.said[0] == "No phone with the tag #lab is online."
    assert desk.written == "#lab water the plants"


async def test_a_draft_is_held_with_its_app_and_goal_apart() -> None:
    desk = Desk(played().state, "s1", Reply(submission_id="x", session_id="d1"))
    begin = BeginController(desk)
    begin.do_session_new()
    begin.switch()
    assert begin.drafts
    begin.draft(" org.notes  buy milk ", "p")
    await desk.ops.run()
    [made] = desk.ops.sent
    assert isinstance(made, SessionCreate)
    assert (made.target_package, made.goal, made.serial) == ("org.notes", "buy milk", "p")
    assert (made.start, made.hold) == (False, True)


def test_earlier_goals_are_told_once_the_newest_first_and_no_subtasks() -> None:
    core = played()
    for number, goal in enumerate(("one", "two", "one", "part"), 2):
        parent = "s1" if goal == "part" else ""
        session = Session(session_id=f"s{number}", goal=goal, created_ms=number, parent_id=parent)
        core.tell(SessionConfigured(session=session), f"s{number}")
    begin = BeginController(Desk(core.state, "s1"))
    assert begin.earlier_goals() == ["one", "two", "Sort the notes"]


# --- the selected session ----------


def control(desk: Desk) -> SessionController:
    return SessionController(desk, BeginController(desk))


@pytest.mark.parametrize(
    ("state", "word", "can"),
    [
        (SessionState.CREATED, "start", {"session.pause", "session.cancel"}),
        (SessionState.RUNNING, "pause", {"session.pause", "session.cancel", "session.stop"}),
        (
            SessionState.COMPLETED,
            "resume",
            {"session.pause", "session.confirm", "session.wrong"},
        ),
    ],
)
def test_what_can_be_done_with_a_session_is_said_by_its_state(
    state: SessionState, word: str, can: set[str]
) -> None:
    acts = control(Desk(played(state=state).state, "s1"))
    owned = {one.id for one in actions.ACTIONS if acts.owns(one.id)}
    assert {one for one in owned if acts.can(one)} == can
    assert acts.word(actions.BY_ID["session.pause"]) == word


def test_a_second_pause_before_the_answer_asks_for_the_opposite() -> None:
    desk = Desk(played().state, "s1")
    acts = control(desk)
    acts.do_session_pause()
    assert acts.word(actions.BY_ID["session.pause"]) == "resume"
    acts.do_session_pause()
    assert desk.ops.sent == [SessionPause(session_id="s1"), SessionResume(session_id="s1")]


def test_ending_takes_two_presses_and_names_the_children() -> None:
    core = played()
    part = Session(session_id="s2", goal="A part", created_ms=2, parent_id="s1")
    core.tell(SessionConfigured(session=part), "s2")
    desk = Desk(core.state, "s1")
    acts = control(desk)
    acts.do_session_cancel()
    assert desk.ops.sent == []
    assert desk.ops.two_acts.sentence.endswith("again ends “Sort the notes” and its child")
    acts.do_session_cancel()
    assert desk.ops.sent == [SessionCancel(session_id="s1")]


def test_only_what_has_ended_well_is_judged() -> None:
    desk = Desk(played().state, "s1")
    control(desk).do_session_confirm()
    assert desk.ops.sent == []
    desk = Desk(played(state=SessionState.COMPLETED).state, "s1")
    control(desk).do_session_wrong()
    assert desk.ops.sent == [SessionVerify(session_id="s1", verdict=GoalVerdict.NOT_MET)]
