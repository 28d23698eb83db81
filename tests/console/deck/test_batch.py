"""One act on several sessions: plans, what came of them, and how they are taken back; pure."""

from hypothesis import given
from hypothesis import strategies as st

from agent import protocol
from agent.state.reducer import reduce
from console.screens.deck import batch
from console.screens.deck.batch import (
    Act,
    inverse,
    plan_answer,
    plan_for,
    result_words,
    same_question,
)
from console.screens.deck.dismissing import end_key, read_sessions
from console.screens.deck.panes import LEAST_LEFT, LEAST_MIDDLE, LEAST_RIGHT, widths
from tests.console.fakes import FakeCore
from tests.console.fifty import play
from widgets.lists.row_marks import Marks


def fifty() -> FakeCore:
    core = FakeCore()
    play(core)
    return core


STATE = fifty().state
IDS = st.lists(st.sampled_from(sorted(STATE.sessions)), unique=True)
PLANNED = [act for act in Act if act not in (Act.BEGIN, Act.ANSWER)]


@given(st.sampled_from(PLANNED), IDS)
def test_every_session_of_a_plan_gets_an_op_or_a_reason(act: Act, ids: list[str]) -> None:
    plan = plan_for(act, ids, STATE, text="go -on")
    assert len(plan.steps) + len(plan.skipped) == len(ids)
    assert [step.session_id for step in plan.steps] == [
        one for one in ids if one in {step.session_id for step in plan.steps}
    ]


def test_a_stop_leaves_out_what_is_not_running_and_says_so() -> None:
    plan = plan_for(Act.STOP, ["s10", "s45", "s35"], STATE)
    assert [step.op for step in plan.steps] == [protocol.Interrupt(session_id="s10")]
    assert plan.count_words == "1 of 3"
    assert result_words(plan, ()).startswith("Stopped 1 of 3 sessions. Not ")
    assert "is not running" in result_words(plan, ())


def test_what_failed_is_told_beside_what_was_left_out() -> None:
    plan = plan_for(Act.PAUSE, ["s10", "s11", "s25"], STATE)
    said = result_words(plan, [(plan.steps[0], "The core is busy.")])
    assert said.startswith("Paused 1 of 3 sessions.")
    assert "“Turn on Bluetooth 10”: The core is busy." in said
    assert "is paused already" in said


def test_one_text_starts_drafts_and_steers_the_rest() -> None:
    plan = plan_for(Act.WRITE, ["s10", "s45", "s35"], STATE, text="hurry")
    assert [step.op for step in plan.steps] == [
        protocol.UserInput(session_id="s10", text="hurry"),
        protocol.SessionStart(session_id="s45", prompt="hurry"),
    ]


@given(st.lists(st.sampled_from(["a", "b", "c"]), unique=True), st.text("abc-# ", max_size=12))
def test_tags_stay_unique_and_what_a_minus_names_is_gone(tags: list[str], typed: str) -> None:
    changed = batch.changed_tags(tags, typed)
    assert len(set(changed)) == len(changed)
    assert not {w[1:].lstrip("#") for w in typed.split() if w.startswith("-")} & set(changed)


def test_one_answer_reaches_the_same_question_only() -> None:
    asked = STATE.questions["q10"]
    plan = plan_answer(asked, "Ben Adams", ["s10", "s11", "s20", "s30"], STATE)
    assert [step.session_id for step in plan.steps] == ["s10", "s11"]
    assert [one.why for one in plan.skipped] == ["has another question", "has no open question"]


def test_approvals_of_different_effects_are_not_the_same_question() -> None:
    assert not same_question(STATE.questions["a20"], STATE.questions["a21"])
    assert same_question(STATE.questions["q10"], STATE.questions["q11"])


def test_a_pause_is_taken_back_by_resuming_what_was_paused() -> None:
    plan = plan_for(Act.PAUSE, ["s10", "s11"], STATE)
    core = fifty()
    for step in plan.steps:
        core.tell(protocol.SessionFlagsChanged(paused=True), step.session_id)
    back = inverse(plan, STATE, core.state)
    assert back is not None
    assert [step.op for step in back.steps] == [
        protocol.SessionResume(session_id="s10"),
        protocol.SessionResume(session_id="s11"),
    ]


def test_resumed_sessions_that_were_paused_are_paused_again() -> None:
    plan = plan_for(Act.RESUME, ["s25", "s26"], STATE)
    core = fifty()
    for one in ("s25", "s26"):
        core.tell(protocol.SessionFlagsChanged(paused=False), one)
    back = inverse(plan, STATE, core.state)
    assert back is not None
    assert [step.op for step in back.steps] == [
        protocol.SessionPause(session_id="s25"),
        protocol.SessionPause(session_id="s26"),
    ]


def test_tags_are_taken_back_to_what_each_session_had() -> None:
    plan = plan_for(Act.TAG, ["s12", "s13"], STATE, text="bench -nightly")
    back = inverse(plan, STATE, STATE)
    assert back is not None
    assert [step.op for step in back.steps] == [
        protocol.SessionTag(session_id="s12", tags=("nightly",)),
        protocol.SessionTag(session_id="s13", tags=()),
    ]


def test_a_hint_is_taken_back_where_no_step_has_applied_it() -> None:
    plan = plan_for(Act.WRITE, ["s30", "s31"], STATE, text="hurry")
    core = fifty()
    event = core.tell(protocol.UserMessage(text="hurry", message_id="m1", steer=True), "s30")
    assert reduce(core.state, event) is core.state
    back = inverse(plan, STATE, core.state)
    assert back is not None
    assert [step.op for step in back.steps] == [
        protocol.SteerWithdraw(session_id="s30", message_id="m1")
    ]
    assert [one.why for one in back.skipped] == ["took it as a prompt"]


def test_what_cannot_be_taken_back_has_no_inverse() -> None:
    assert inverse(plan_for(Act.CANCEL, ["s10"], STATE), STATE, STATE) is None


def test_a_dismissal_is_taken_back() -> None:
    plan = plan_for(Act.DISMISS, ["s35"], STATE)
    back = inverse(plan, STATE, STATE)
    assert back is not None
    assert [s.op for s in back.steps] == [
        protocol.SessionDismiss(session_id="s35", dismissed=False)
    ]


def test_what_is_read_is_what_was_looked_at_and_no_failure_that_was_not() -> None:
    read = read_sessions(STATE, frozenset(), "s10")
    assert set(read) == {"s35", "s36", "s37", "s38"}
    failed = STATE.sessions["s39"].session
    assert "s39" in read_sessions(STATE, frozenset({end_key(failed)}), "s10")
    assert "s40" in read_sessions(STATE, frozenset(), "s40")


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("toggle"), st.sampled_from("abcdef")),
            st.tuples(st.just("span"), st.sampled_from("abcdef")),
            st.tuples(st.just("all"), st.just("")),
            st.tuples(st.just("keep"), st.sampled_from(["abc", "def", ""])),
        )
    )
)
def test_marks_are_always_of_what_is_listed_and_in_its_order(acts: list[tuple[str, str]]) -> None:
    marks, listed = Marks(), list("abcdef")
    for act, word in acts:
        match act:
            case "toggle":
                before = marks.ids
                marks.toggle(word)
                assert marks.ids ^ before == {word}
            case "span":
                marks.span(word, listed)
                assert word in marks.ids
            case "all":
                marks.mark_all(listed)
            case _:
                marks.keep(word)
                assert marks.ids <= set(word)
        assert list(marks.in_order(listed)) == sorted(marks.ids)


def test_a_range_goes_from_the_last_mark_either_way() -> None:
    marks = Marks()
    marks.toggle("d")
    marks.span("b", list("abcdef"))
    assert marks.ids == frozenset("bcd")


@given(st.integers(80, 400), st.integers(12, 120), st.integers(0, 1000), st.integers(0, 1000))
def test_no_column_is_ever_too_narrow_to_read(
    width: int, height: int, left: int, right: int
) -> None:
    fitting = widths(width, height, left, right)
    assert fitting.left >= LEAST_LEFT and fitting.right >= LEAST_RIGHT
    used = fitting.left + fitting.right if width >= 120 else max(fitting)
    assert width - used >= LEAST_MIDDLE
