"""The pure rules: roll-up, the guards of transitions, staging, and what an answer counts as."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import protocol
from agent.errors import UsageError, WrongStateError
from agent.records import Question, QuestionOption, Session, SessionState, TimeSplit, Usage
from agent.sessions.registry.transitions import MOVES, RESUMES, check_move, may_move
from agent.sessions.rules.answers import read_answer
from agent.sessions.rules.rollup import counting, guarded, rollup, summary
from agent.sessions.rules.turn_input import stage

CREATED, QUEUED, RUNNING = SessionState.CREATED, SessionState.QUEUED, SessionState.RUNNING
WAITING = SessionState.WAITING_FOR_USER
COMPLETED, FAILED = SessionState.COMPLETED, SessionState.FAILED
CANCELLED = SessionState.CANCELLED
STATES = st.sampled_from(list(SessionState))


def a_session(state: SessionState = CREATED, *, generation: int = 0, **more: Any) -> Session:
    return Session(
        session_id="s", goal="tidy up", created_ms=1, state=state, generation=generation, **more
    )


# --- roll-up ----------


@pytest.mark.parametrize(
    ("states", "rolled"),
    [
        ({WAITING, FAILED}, WAITING),
        ({RUNNING, FAILED}, RUNNING),
        ({QUEUED, COMPLETED}, RUNNING),
        ({FAILED, COMPLETED}, FAILED),
        ({COMPLETED, CANCELLED}, COMPLETED),
        ({CANCELLED}, CANCELLED),
        (set(), CREATED),
        ({CREATED}, CREATED),
    ],
)
def test_roll_up_vectors(states: set[SessionState], rolled: SessionState) -> None:
    assert rollup(states) is rolled


@given(st.lists(STATES))
def test_roll_up_is_terminal_only_when_no_child_is_under_way(states: list[SessionState]) -> None:
    under_way = {WAITING, RUNNING, QUEUED} & set(states)
    assert not (rollup(states).is_terminal and under_way)


def test_guard_a_running_parent_that_rolls_up_to_created_stays_running() -> None:
    assert guarded(RUNNING, CREATED) is RUNNING
    assert guarded(WAITING, QUEUED) is WAITING


def test_guard_a_completed_parent_that_rolls_up_to_running_stays_completed() -> None:
    assert guarded(COMPLETED, RUNNING) is COMPLETED


@given(STATES, STATES)
def test_a_guarded_roll_up_is_a_move_that_the_table_has(
    parent: SessionState, rolled: SessionState
) -> None:
    after = guarded(parent, rolled)
    if after not in {parent, CREATED}:
        assert may_move(parent, after)


def test_only_children_of_the_parents_generation_or_later_count() -> None:
    parent = a_session(RUNNING, generation=1)
    old, new = a_session(FAILED, generation=0), a_session(RUNNING, generation=2)
    assert counting((old, new), parent) == (new,)


def test_children_of_a_plan_that_was_replaced_count_no_more_whatever_becomes_of_them() -> None:
    old, new = (
        msgspec.structs.replace(a_session(FAILED, generation=3), session_id=name)
        for name in ("old", "new")
    )
    parent = a_session(RUNNING, generation=1, part_ids=("new",))
    assert counting((old, new), parent) == (new,)


def test_the_summary_of_a_parent_names_each_part_and_its_outcome() -> None:
    done = a_session(COMPLETED, title="Read the mail", latest_result="2 new\nletters", serial="p1")
    failed = a_session(FAILED, title="Pay", latest_error="no card")
    assert summary((done, failed)) == (
        "1 of 2 parts done.\nRead the mail (p1): 2 new letters (unverified)\nPay: failed: no card"
    )


# --- transitions ----------


@given(STATES, STATES)
def test_no_move_leaves_a_terminal_state_without_a_resume(
    before: SessionState, after: SessionState
) -> None:
    if before.is_terminal:
        assert not may_move(before, after)


def test_a_resume_leaves_every_terminal_state_and_only_towards_work() -> None:
    assert set(RESUMES) == {state for state in SessionState if state.is_terminal}
    for after in RESUMES.values():
        assert after == {QUEUED, RUNNING}


def test_every_state_has_its_moves_and_every_unsettled_one_can_be_cancelled() -> None:
    assert set(MOVES) == set(SessionState)
    assert all(CANCELLED in MOVES[state] for state in SessionState if not state.is_terminal)


def test_a_refused_move_says_how_to_go_on() -> None:
    with pytest.raises(WrongStateError, match="Resume session s first"):
        check_move(a_session(FAILED), RUNNING)


# --- staging ----------


def events(*msgs: protocol.EventMsg) -> list[protocol.Event]:
    return [protocol.Event(event_id=n, seq=n, ts_ms=n, msg=msg) for n, msg in enumerate(msgs, 1)]


STEP = protocol.StepCompleted(step=1, time=TimeSplit(), usage=Usage())
FREE_STEP = protocol.StepCompleted(step=1, time=TimeSplit(), usage=Usage(), counted=False)
STOPPED = protocol.TurnAborted(turn_id="t", reason=protocol.AbortReason.INTERRUPTED)
PROMPT = protocol.UserMessage(text="the other thing", message_id="m1")


def test_a_first_turn_is_staged_with_the_goal() -> None:
    staged = stage([])
    assert (staged.asks_goal, staged.steps_before, staged.steering) == (True, 0, ())


def test_a_turn_after_a_stop_keeps_its_prompt_and_its_used_steps() -> None:
    staged = stage(events(STEP, PROMPT, STEP, FREE_STEP, STOPPED))
    assert (staged.asks_goal, staged.steps_before) == (False, 1)


def test_a_turn_after_a_finished_one_or_in_a_new_generation_begins_the_goal_afresh() -> None:
    done = protocol.TaskComplete(turn_id="t")
    assert stage(events(PROMPT, STEP, done)).asks_goal
    again = protocol.SessionContinued(generation=1, after_step=1)
    staged = stage(events(PROMPT, STEP, STOPPED, again))
    assert (staged.asks_goal, staged.steps_before) == (True, 1)


def test_hints_that_no_step_applied_are_staged_again() -> None:
    first = protocol.UserMessage(text="left", message_id="m1", steer=True)
    second = protocol.UserMessage(text="right", message_id="m2", steer=True)
    applied = protocol.SteerApplied(message_id="m1", step=1)
    staged = stage(events(first, second, applied, STOPPED))
    assert [hint.text for hint in staged.steering] == ["right"]


# --- answers ----------


def asking(*labels: str, secret: bool = False) -> Question:
    options = tuple(QuestionOption(label=label) for label in labels)
    return Question(
        question_id="q", session_id="s", text="Which?", asked_ms=1, options=options, secret=secret
    )


def test_an_option_counts_in_the_askers_spelling_and_free_text_as_it_is() -> None:
    assert read_answer(asking("Yes", "No"), " yes ").text == "Yes"
    assert read_answer(asking("Yes", "No"), "ask me later").text == "ask me later"
    assert read_answer(asking("Hunter2", secret=True), " hunter2 ").text == " hunter2 "


@pytest.mark.parametrize("answer", ["", " \n ", "\udc80", "x" * 10_001])
def test_an_answer_with_nothing_usable_in_it_is_refused(answer: str) -> None:
    with pytest.raises(UsageError):
        read_answer(asking(), answer)
