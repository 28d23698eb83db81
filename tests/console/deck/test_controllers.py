"""Controllers of the Deck over a `State` and a recorder of ops: no app, no screen, no core."""

from collections.abc import Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import WrongStateError
from agent.records import (
    Bounds,
    DeviceState,
    Element,
    GoalVerdict,
    Point,
    Question,
    QuestionKind,
    QuestionOption,
    QuestionPart,
    Session,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
    TargetStatus,
    UndoHow,
    UndoOffer,
)
from agent.state.reducer import Attention, AttentionKind, Item, SessionView, State
from console.input.gate import Wait
from console.input.pending import PendingOps
from console.input.stray_words import Hands, StrayWords
from console.keys import actions
from console.keys.two_presses import TwoPresses
from console.screens.deck.answering import QuestionController
from console.screens.deck.approving import ApprovalController
from console.screens.deck.following import FollowController
from console.screens.deck.session_control import SessionController, UndoController, offer_words
from console.screens.deck.session_start import BeginController
from console.screens.deck.targets import TargetController
from console.screens.device.wheel import WheelController
from console.screens.op_sender import Refused
from tests.console.fakes import FakeCore, phone
from widgets.lists.row_marks import Marks
from widgets.pictures.phone_pane import PhonePane
from widgets.questions.composer import Composer, Mode, Purpose
from widgets.questions.question_card import QuestionCard


class Recorder:
    """Takes ops, lines and work, and does the work when it is told to."""

    def __init__(self, reply: protocol.Reply | None = None) -> None:
        self.sent: list[protocol.Op] = []
        self.said: list[str] = []
        self.core: Any = self
        self.found: object = None
        self.reply = reply
        self.begins_with = ""
        self.tool_servers: tuple[str, ...] = ()
        self.seen: frozenset[str] = frozenset()
        self.reminders: list[Attention] = []
        self.pending = PendingOps()
        self.two_presses = TwoPresses(lambda: 0.0)
        self.stray_words = StrayWords(lambda: Hands.NOWHERE, lambda _: None)
        self._work: list[Coroutine[Any, Any, Any]] = []

    def request(self, op: protocol.Op, *, done: str = "", refused: Refused | None = None) -> None:
        self.pending.note(op)
        self.sent.append(op)

    async def ask(self, op: protocol.Op) -> protocol.Reply | None:
        self.sent.append(op)
        return self.reply

    async def look_up(self, query: object) -> object:
        return self.found

    def say(self, text: str, *, tone: str = "information") -> None:
        self.said.append(text)

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        self._work.append(work)

    def show_reminder(self, one: Attention) -> None:
        self.reminders.append(one)

    async def run(self) -> None:
        while self._work:
            await self._work.pop(0)


class Desk:
    """What a controller sees of the Deck, made of a state."""

    def __init__(self, state: State, selected: str, reply: protocol.Reply | None = None) -> None:
        self.state, self.selected = state, selected
        self.ops = Recorder(reply)
        self.at = ""
        self.written = ""
        self.notes_back = False
        self.pointed: Item | None = None
        self.coming = ""
        self.answers = True
        self.is_card_ready = True
        self.pointed_waiting: Attention | None = None
        self.back: tuple[Purpose, str, str] = (Purpose(Mode.NONE, ""), "", "")

    def select(self, session_id: str) -> None:
        self.selected = session_id

    def view(self) -> SessionView | None:
        return self.state.sessions.get(self.selected)

    def open_questions(self) -> list[Question]:
        return [q for q in self.state.questions.values() if q.session_id == self.selected]

    @property
    def shown_question(self) -> Question | None:
        return next(iter(self.open_questions()), None)

    @property
    def is_at_card(self) -> bool:
        return self.at == "card"

    @property
    def is_in_queue(self) -> bool:
        return self.at == "queue"

    def pointed_item(self) -> Item | None:
        return self.pointed

    def look_at_new(self, session_id: str) -> None:
        self.selected = self.coming = session_id

    def key_of(self, action_id: str) -> str:
        return actions.BY_ID[action_id].keys[0]

    def refresh_all(self) -> None:
        pass

    def show_footer(self) -> None:
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

    def give_back(self, purpose: Purpose, text: str, choice: str = "") -> bool:
        self.written = text
        return False

    def returned(self, purpose: Purpose, text: str, why: str) -> None:
        self.back = purpose, text, why

    def answer_later(self) -> None:
        self.answers = False


def played(*, state: SessionState = SessionState.RUNNING, package: str = "org.notes") -> FakeCore:
    core = FakeCore()
    session = Session(
        session_id="s1", goal="Sort the notes", created_ms=1, serial="p", target_package=package
    )
    core.tell(protocol.SessionConfigured(session=session), "s1")
    core.tell(protocol.SessionStateChanged(state=state), "s1")
    return core


def hint(core: FakeCore, message_id: str, text: str) -> None:
    core.tell(protocol.UserMessage(message_id=message_id, text=text, steer=True), "s1")


def observed(core: FakeCore, runtime: TargetRuntime) -> None:
    core.tell(
        protocol.TargetObserved(
            presentation=TargetPresentation.DETACHED_HIDDEN, runtime=runtime, display=2
        ),
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
    desk = Desk(played().state, "s1", protocol.Reply(submission_id="x", target=result))
    TargetController(desk).do_target_attach()
    await desk.ops.run()
    assert desk.ops.sent == [protocol.TargetControl(session_id="s1", action=TargetAction.ATTACH)]
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
        protocol.SteerWithdraw(session_id="s1", message_id="m2"),
        protocol.SteerWithdraw(session_id="s1", message_id="m1"),
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
    assert desk.ops.sent == [
        protocol.SteerEdit(session_id="s1", message_id="m1", text="straight on")
    ]
    assert desk.back[:2] == (purpose, "straight on")


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
    desk = Desk(core.state, "s1", protocol.Reply(submission_id="x", session_id="s2"))
    follow = FollowController(desk)
    follow.do_notice_send()
    follow.send(Composer.Sent(Purpose(Mode.NEXT, "s1"), "and the next", ""))
    await desk.ops.run()
    assert desk.ops.sent == [protocol.NoticeSend(session_id="s1", text="and the next")]
    assert (desk.selected, desk.coming) == ("s2", "s2")


# --- beginning a session ----------


async def test_the_keys_after_a_goal_are_for_its_session_before_it_is_there() -> None:
    desk = Desk(played().state, "s1", protocol.Reply(submission_id="x", session_id="s2"))
    begin = BeginController(desk)
    begin.do_session_new()
    assert (begin.begins, desk.at, desk.answers) == (True, "composer", False)
    begin.begin("Water the plants", "")
    assert begin.is_awaited and begin.comes_too_early()
    begin.stop_awaited()
    await desk.ops.run()
    [made, stopped] = desk.ops.sent
    assert isinstance(made, protocol.SessionCreate)
    assert (made.goal, made.start) == ("Water the plants", True)
    assert stopped == protocol.Interrupt(session_id="s2")
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
    assert isinstance(first, protocol.SessionCreate) and first == second
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
    desk = Desk(played().state, "s1", protocol.Reply(submission_id="x", session_id="d1"))
    begin = BeginController(desk)
    begin.do_session_new()
    begin.switch()
    assert begin.drafts
    begin.draft(" org.notes  buy milk ", "p")
    await desk.ops.run()
    [made] = desk.ops.sent
    assert isinstance(made, protocol.SessionCreate)
    assert (made.target_package, made.goal, made.serial) == ("org.notes", "buy milk", "p")
    assert (made.start, made.hold) == (False, True)


def test_earlier_goals_are_told_once_the_newest_first_and_no_subtasks() -> None:
    core = played()
    for number, goal in enumerate(("one", "two", "one", "part"), 2):
        parent = "s1" if goal == "part" else ""
        session = Session(session_id=f"s{number}", goal=goal, created_ms=number, parent_id=parent)
        core.tell(protocol.SessionConfigured(session=session), f"s{number}")
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
        (SessionState.COMPLETED, "resume", {"session.pause", "session.confirm", "session.wrong"}),
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
    assert desk.ops.sent == [
        protocol.SessionPause(session_id="s1"),
        protocol.SessionResume(session_id="s1"),
    ]


def test_ending_takes_two_presses_and_names_the_children() -> None:
    core = played()
    part = Session(session_id="s2", goal="A part", created_ms=2, parent_id="s1")
    core.tell(protocol.SessionConfigured(session=part), "s2")
    desk = Desk(core.state, "s1")
    acts = control(desk)
    acts.do_session_cancel()
    assert desk.ops.sent == []
    assert desk.ops.two_presses.sentence.endswith("again ends “Sort the notes” and its child")
    acts.do_session_cancel()
    assert desk.ops.sent == [protocol.SessionCancel(session_id="s1")]


async def test_an_effect_is_taken_back_as_it_was_named_and_at_the_second_press_only() -> None:
    session = Session(session_id="s1", goal="Sort", created_ms=1, serial="p1")
    core = FakeCore()
    core.tell(protocol.SessionConfigured(session=session), "s1")
    desk = Desk(core.state, "s1")
    acts = UndoController(desk)
    element = Element(
        number=3, key="k", kind="btn", label="Undo", bounds=Bounds(left=0, top=0, right=1, bottom=1)
    )
    offer = UndoOffer(
        step=4,
        effect=2,
        how=UndoHow.APP_OFFER,
        element=element,
        what='item removed: "Tea"',
        says='Press "Undo".',
        until_ms=1_000_000,
    )
    assert offer_words(offer, 993_000) == (
        'take back step 4: item removed: "Tea". Press "Undo". (7 seconds left at most)'
    )
    desk.ops.found = ()
    acts.do_session_undo()
    await desk.ops.run()
    assert desk.ops.said == ["Nothing that it did can be taken back from the newest screen."]
    desk.ops.found = (offer,)
    acts.do_session_undo()
    await desk.ops.run()
    assert not desk.ops.sent and "b again: take back step 4" in desk.ops.two_presses.sentence
    acts.do_session_undo()
    assert desk.ops.sent == [protocol.UndoEffect(session_id="s1", step=4)]
    # What needs approval says so, and the second press gives it.
    desk.ops.found = (replace(offer, asks="Delete it?", until_ms=0),)
    for _ in range(2):
        acts.do_session_undo()
        await desk.ops.run()
    assert desk.ops.sent[-1] == protocol.UndoEffect(session_id="s1", step=4, approved=True)


def test_only_what_has_ended_well_is_judged() -> None:
    desk = Desk(played().state, "s1")
    control(desk).do_session_confirm()
    assert desk.ops.sent == []
    desk = Desk(played(state=SessionState.COMPLETED).state, "s1")
    control(desk).do_session_wrong()
    assert desk.ops.sent == [protocol.SessionVerify(session_id="s1", verdict=GoalVerdict.NOT_MET)]


# --- questions ----------


def question(core: FakeCore, number: int, session_id: str = "s1", **fields: Any) -> Question:
    made = Question(
        question_id=f"q{number}",
        session_id=session_id,
        kind=fields.pop("kind", QuestionKind.QUESTION),
        text=fields.pop("text", "Which?"),
        asked_ms=number,
        **fields,
    )
    core.state.questions[made.question_id] = made
    return made


def options(*labels: str) -> tuple[QuestionOption, ...]:
    return tuple(QuestionOption(label=label) for label in labels)


def answering(desk: Desk, *, marked: str = "", for_all: bool = False) -> QuestionController:
    marks = Marks()
    marks.toggle(marked)
    return QuestionController(desk, marks, lambda _question, _answer: for_all)


def three_that_ask() -> FakeCore:
    core = played()
    for number in (2, 3):
        session = Session(session_id=f"s{number}", goal="Another", created_ms=number)
        core.tell(protocol.SessionConfigured(session=session), f"s{number}")
    for number in (3, 1, 2):
        question(core, number, f"s{number}")
    return core


def test_the_oldest_question_comes_first_and_then_those_of_the_other_sessions() -> None:
    desk = Desk(three_that_ask().state, "")
    acts = answering(desk)
    seen = []
    for _ in range(4):
        acts.do_question_next()
        seen.append(desk.selected)
    assert seen == ["s1", "s2", "s3", "s1"]
    assert desk.at == "card"


def test_after_an_answer_elsewhere_those_that_were_left_for_later_stay_so() -> None:
    desk = Desk(three_that_ask().state, "")
    acts = answering(desk)
    acts.do_question_next()
    acts.do_question_next()
    desk.ops.request(protocol.UserInputAnswer(question_id="q2", answer="x"))
    desk.at = "transcript"
    acts.do_question_next()
    assert desk.selected == "s3"


def test_questions_of_marked_sessions_come_first() -> None:
    desk = Desk(three_that_ask().state, "")
    answering(desk, marked="s3").do_question_next()
    assert desk.selected == "s3"


def test_a_question_is_answered_once() -> None:
    core = played()
    question(core, 1, options=options("Left", "Right"))
    desk = Desk(core.state, "s1")
    acts = answering(desk)
    acts.answer_subject("q1", "2")
    acts.answer_subject("q1", "Left")
    # A number is the option with that number.
    assert desk.ops.sent == [protocol.UserInputAnswer(question_id="q1", answer="Right")]


def test_the_answers_to_several_parts_are_sent_together_and_the_last_can_be_taken_back() -> None:
    core = played()
    parts = (
        QuestionPart(part_id="a", text="Where?"),
        QuestionPart(part_id="b", text="Word?", secret=True),
        QuestionPart(part_id="c", text="When?"),
    )
    asked = question(core, 1, parts=parts)
    desk = Desk(core.state, "s1")
    acts = answering(desk)
    for answer in ("here", "plum", "now"):
        shown = acts.narrowed(asked)
        if answer == "now":
            assert acts.given_for(shown) == (("Where?", "here"), ("Word?", "•••"))
            acts.on_question_card_back(QuestionCard.Back())
            shown = acts.narrowed(asked)
            assert shown.header == "2 of 3"
            acts.answer(shown, "pear")
            shown = acts.narrowed(asked)
        acts.answer(shown, answer)
    given = {"a": ("here",), "b": ("pear",), "c": ("now",)}
    assert desk.ops.sent == [protocol.UserInputAnswer(question_id="q1", answers=given)]


@pytest.mark.parametrize(
    ("kind", "at", "reminds", "seen"),
    [
        (AttentionKind.WATCHER, "", True, False),
        (AttentionKind.FAILED, "transcript", False, True),
        (AttentionKind.QUESTION, "card", False, False),
    ],
)
def test_what_waits_is_gone_to_where_it_is_dealt_with(
    kind: AttentionKind, at: str, reminds: bool, seen: bool
) -> None:
    core = played()
    asked = question(core, 1) if kind is AttentionKind.QUESTION else None
    session_id = "" if reminds else "s1"
    one = Attention(
        kind=kind, key="it", since_ms=1, session_id=session_id, question=asked, number=7, text=""
    )
    desk = Desk(core.state, "")
    desk.pointed_waiting = one
    answering(desk).open_waiting()
    assert (desk.at, desk.ops.reminders == [one], "it" in desk.ops.seen) == (at, reminds, seen)


# --- approvals ----------


def approving(core: FakeCore) -> tuple[Desk, ApprovalController]:
    question(core, 1, kind=QuestionKind.APPROVAL, text="Send it", options=options("Approve", "No"))
    desk = Desk(core.state, "s1")
    return desk, ApprovalController(desk, answering(desk), WheelController(Seat(core.state)))


def test_approving_takes_a_look_at_the_card_first() -> None:
    desk, acts = approving(played())
    acts.do_question_approve()
    assert (desk.at, desk.ops.sent) == ("card", [])
    assert desk.ops.two_presses.sentence.endswith("again to approve: Send it")
    desk.is_card_ready = False
    acts.do_question_approve()
    assert desk.ops.sent == []
    desk.is_card_ready = True
    acts.do_question_approve()
    assert desk.ops.sent == [protocol.UserInputAnswer(question_id="q1", answer="Approve")]


@pytest.mark.parametrize(("reason", "answer"), [("too dear", "Deny: too dear"), ("", "Deny")])
def test_a_rejection_goes_with_its_reason(reason: str, answer: str) -> None:
    desk, acts = approving(played())
    acts.do_question_reject()
    assert acts.purpose() == (Purpose(Mode.REASON, "q1"), ())
    acts.reject("q1", reason)
    assert acts.purpose() is None
    assert desk.ops.sent == [protocol.UserInputAnswer(question_id="q1", answer=answer)]


def test_what_is_asked_against_a_question_is_asked_no_longer_once_it_is_closed() -> None:
    core = played()
    desk, acts = approving(core)
    acts.do_question_modify()
    assert acts.purpose() == (Purpose(Mode.MODIFY, "q1"), ())
    core.state.questions.clear()
    assert acts.purpose() is None
    assert not acts.forget()
    assert not acts.can("question.approve")
    acts.do_question_session()
    assert desk.ops.said == ["Nothing to approve."]


# --- the wheel ----------


class Seat:
    """A screen with a phone that can be driven, made of a state."""

    def __init__(self, state: State, reply: protocol.Reply | None = None) -> None:
        self.state = state
        self.ops = DrivingRecorder(reply)
        self.serial = "p"
        self.waits = False
        self.driven = False
        self.at = ""
        self.done: list[protocol.WheelGesture] = []

    def shown_serial(self) -> str:
        return self.serial

    def has_waiting_session(self) -> bool:
        return self.waits

    def show_driven(self, driven: bool, *, keeps_hands: bool = False) -> None:
        self.driven = driven

    def go_to_note(self) -> None:
        self.at = "note"

    def gesture_done(self, gesture: protocol.WheelGesture) -> None:
        self.done.append(gesture)

    def refresh_all(self) -> None:
        pass


class DrivingRecorder(Recorder):
    """Carries gestures out at once, unless the wheel was lost."""

    def __init__(self, reply: protocol.Reply | None = None) -> None:
        super().__init__(reply)
        self.core: Any = Driven(self.sent)


class Driven:
    """A core that takes gestures."""

    def __init__(self, sent: list[protocol.Op]) -> None:
        self._sent = sent
        self.lost = False

    async def request(self, op: protocol.Op) -> protocol.Reply:
        if self.lost:
            raise WrongStateError("The session was resumed: the wheel is not yours.")
        self._sent.append(op)
        return protocol.Reply(submission_id="x")


@pytest.fixture
def seat() -> Seat:
    core = played()
    core.state.devices["p"] = phone("p")
    return Seat(core.state, protocol.Reply(submission_id="x"))


async def test_nothing_is_sent_before_the_wheel_was_given(seat: Seat) -> None:
    wheel = WheelController(seat)
    tap = protocol.WheelTap(at=Point(x=0.5, y=0.5))
    wheel.send(tap)
    assert seat.ops.sent == []
    wheel.do_wheel_take()
    assert (wheel.serial, seat.driven) == ("", False)
    await seat.ops.run()
    assert (wheel.serial, seat.driven) == ("p", True)
    wheel.send(tap)
    await seat.ops.run()
    assert seat.ops.sent[1:] == [protocol.WheelAct(serial="p", gesture=tap)]
    assert seat.done == [tap]


async def test_typing_that_waits_is_sent_as_one_text_and_the_note_after_it(seat: Seat) -> None:
    wheel = WheelController(seat)
    wheel.do_wheel_take()
    await seat.ops.run()
    for letter in "milk":
        wheel.on_phone_pane_typed(PhonePane.Typed(letter))
    seat.waits = True
    wheel.leave()
    assert wheel.purpose() == (Purpose(Mode.NOTE, "p"), ())
    assert seat.at == "note"
    wheel.hand_back("bought")
    assert (wheel.purpose(), wheel.serial, seat.driven) == (None, "", False)
    await seat.ops.run()
    sent = seat.ops.sent[1:]
    assert protocol.WheelAct(serial="p", gesture=protocol.WheelText(text="milk")) in sent
    assert protocol.WheelHandBack(serial="p", note="bought") in sent
    assert seat.ops.said[-1].endswith("is handed back.")


async def test_a_wheel_that_was_lost_is_said_and_let_go_of(seat: Seat) -> None:
    wheel = WheelController(seat)
    wheel.do_wheel_take()
    await seat.ops.run()
    seat.ops.core.lost = True
    for _ in range(3):
        wheel.send(protocol.WheelTap(at=Point(x=0.1, y=0.1)))
    await seat.ops.run()
    assert seat.ops.said == ["The session was resumed: the wheel is not yours."]
    assert (wheel.serial, seat.driven, seat.done) == ("", False, [])


async def test_another_phone_than_the_driven_one_is_not_touched(seat: Seat) -> None:
    wheel = WheelController(seat)
    wheel.do_wheel_take()
    await seat.ops.run()
    seat.serial = "p2"
    wheel.send(protocol.WheelTap(at=Point(x=0.1, y=0.1)))
    assert "which is not the phone that is shown" in seat.ops.said[0]
    assert not wheel.can("device.drive")
