"""The Deck's session list: order, groups, columns, filter; without a screen."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from textual.content import Content

from agent.protocol import (
    DeviceChanged,
    RequestUserInput,
    SessionDismissed,
    SessionStateChanged,
    StepStarted,
)
from agent.records import Effect, EffectVerb, Question, QuestionKind, SessionState, Stated, Subject
from agent.state.attention import tree
from tests.console.fakes import FakeCore, phone
from tests.console.fifty import SESSIONS, play
from tests.console.script import ask, configure, run, step
from widgets.base.rows import Row
from widgets.lists.session_list import Look, listed_sessions, matches, session_rows
from widgets.lists.session_order import NO_TAG, Group, Listed, Sort, next_of, ordered
from widgets.lists.session_rows import step_words


def fifty() -> FakeCore:
    core = FakeCore()
    play(core)
    return core


STATE = fifty().state
NOW_MS = fifty().now_ms


def text(row: Row) -> str:
    return "\n".join(
        "".join(part for part, _ in (*line.left, ("  ", ""), *line.right)) for line in row.lines
    )


@given(sort=st.sampled_from(Sort), group=st.sampled_from(Group))
def test_every_session_is_listed_once_whatever_the_order(sort: Sort, group: Group) -> None:
    listed = ordered(STATE, sort, group, now_ms=NOW_MS)
    ids = [one.view.session.session_id for one in listed if one.view is not None]
    assert sorted(ids) == sorted(STATE.sessions) and len(ids) == SESSIONS
    headings = [one for one in listed if one.view is None]
    assert sum(one.members for one in headings) == (0 if group is Group.TREE else SESSIONS)


@given(sort=st.sampled_from(Sort))
def test_in_a_tree_a_subtask_stands_under_its_session(sort: Sort) -> None:
    listed = ordered(STATE, sort, Group.TREE, now_ms=NOW_MS)
    ids = [one.view.session.session_id for one in listed if one.view is not None]
    at = ids.index("s1")
    assert set(ids[at + 1 : at + 9]) == {f"s{number}" for number in range(2, 10)}
    assert all(one.depth == 1 for one in listed[at + 1 : at + 9])


def test_by_default_those_that_ask_come_first_with_what_they_are_part_of() -> None:
    core = fifty()
    ask(core, "s5", "first", "Which?")
    early = replace(core.state.questions["first"], asked_ms=1)
    state = replace(core.state, questions={**core.state.questions, "first": early})
    listed = ordered(state, Sort.ASKING, Group.TREE, now_ms=NOW_MS)
    ids = [one.view.session.session_id for one in listed if one.view is not None]
    assert ids[:2] == ["s1", "s5"], "a parent comes with its subtask that has waited longest"
    assert ids[9:24] == [f"s{number}" for number in range(10, 25)], "then the oldest questions"
    assert ordered(core.state, Sort.LIVE, Group.TREE, now_ms=NOW_MS) == [
        Listed(view, depth) for depth, view in tree(core.state)
    ]


def test_a_subtask_that_asks_shows_what_it_would_do_in_the_place_of_its_title() -> None:
    core = fifty()
    question = Question(
        question_id="q",
        session_id="s2",
        kind=QuestionKind.APPROVAL,
        text="May I do this?",
        asked_ms=core.now_ms,
        subject=Subject(
            action="click_element",
            effect=Effect(verb=EffectVerb.SEND, recipient=Stated(text="Ana")),
        ),
    )
    core.tell(RequestUserInput(question=question), "s2")
    look = Look(width=60, height=20)
    rows = session_rows(core.state, look, now_ms=NOW_MS, asking=frozenset({"s2"}))
    [row] = [row for row in rows if row.key == "s2"]
    assert "Pixel" in text(row) and "Send Ana" in text(row) and "Install" not in text(row)


def test_sessions_of_one_title_are_told_apart_by_their_phones() -> None:
    core = FakeCore()
    for n in range(4):
        core.tell(DeviceChanged(device=phone(f"phone-{n}", model="Pixel")))
        configure(core, f"s{n}", "Install the update", serial=f"phone-{n}")
    configure(core, "other", "Read the news", serial="phone-1")
    look = Look(width=44, height=3)
    rows = session_rows(core.state, look, now_ms=NOW_MS, asking=frozenset())
    alike = {text(row).partition("Install")[0] for row in rows if row.key != "other"}
    assert len(alike) == 4
    assert "Pixel" not in next(text(row) for row in rows if row.key == "other")


def test_groups_by_state_begin_with_who_asks() -> None:
    listed = ordered(STATE, Sort.LIVE, Group.STATE, now_ms=NOW_MS)
    headings = [one.heading for one in listed if one.view is None]
    assert headings[:3] == ["asks you", "paused", "running"]


def test_groups_by_tag_end_with_what_has_none() -> None:
    listed = ordered(STATE, Sort.LIVE, Group.TAG, now_ms=NOW_MS)
    assert [one.heading for one in listed if one.view is None] == ["nightly", NO_TAG]


@given(st.integers(min_value=20, max_value=200), st.integers(min_value=5, max_value=60))
def test_a_subtasks_row_begins_with_its_phone_at_every_size(width: int, height: int) -> None:
    rows = session_rows(STATE, Look(width=width, height=height), now_ms=NOW_MS, asking=frozenset())
    for row in rows:
        session = STATE.sessions[row.key].session
        if session.parent_id:
            words = "".join(part for part, _ in row.lines[0].left).split()
            assert words[1] == "Pixel", words


def test_a_list_that_is_too_long_takes_one_line_a_row() -> None:
    rows = session_rows(STATE, Look(width=44, height=20), now_ms=NOW_MS, asking=frozenset())
    assert {len(row.lines) for row in rows} == {1}
    roomy = session_rows(STATE, Look(width=44, height=200), now_ms=NOW_MS, asking=frozenset())
    assert 2 in {len(row.lines) for row in roomy}


def test_the_columns_of_wide_rows_stand_under_each_other() -> None:
    rows = session_rows(STATE, Look(width=90, height=20), now_ms=NOW_MS, asking=frozenset())
    ends = {
        Content("".join(part for part, _ in row.lines[0].right).replace("new ", "")).cell_length
        for row in rows
    }
    assert len(ends) == 1


def test_a_marked_row_and_a_heading_can_be_told_without_colour() -> None:
    look = Look(marked=frozenset({"s10"}), group=Group.PHONE)
    rows = session_rows(STATE, look, now_ms=NOW_MS, asking=frozenset())
    assert [row.key for row in rows if text(row).startswith("✔")] == ["s10"]
    assert sum(row.is_heading for row in rows) == 13
    assert text(next(row for row in rows if row.is_heading)).split() == ["Pixel", "1", "5"]


def test_a_filter_knows_phones_and_tags() -> None:
    def found(wanted: str) -> set[str]:
        return {key for key, view in STATE.sessions.items() if matches(view, wanted, STATE)}

    assert found("#night") == {f"s{n}" for n in range(12, SESSIONS + 1) if n % 3 == 0}
    assert found("@phone-3 update") == {"s4"}
    assert found("#night @phone-1 alarm") <= found("#night")
    assert found("nothing of the kind") == set()


def test_what_was_dismissed_is_listed_only_when_it_is_asked_for() -> None:
    core = FakeCore()
    configure(core, "s1", "read the news")
    core.tell(SessionStateChanged(state=SessionState.COMPLETED), "s1")
    core.tell(SessionDismissed(dismissed=True), "s1")
    assert listed_sessions(core.state, Look(), now_ms=1) == []
    assert listed_sessions(core.state, Look(wanted="news"), now_ms=1) == []
    assert len(listed_sessions(core.state, Look(wanted="dismissed news"), now_ms=1)) == 1


def test_a_step_is_told_against_its_limit_in_plain_words() -> None:
    core = FakeCore()
    configure(core, "s1", "read", max_steps=30)
    run(core, "s1")
    assert step_words(core.state.sessions["s1"]) == []
    step(core, "s1", 1)
    view = core.state.sessions["s1"]
    assert step_words(view) == ["step 1 of 30"]
    core.tell(StepStarted(step=2), "s1")
    assert step_words(core.state.sessions["s1"]) == ["step 2", "1 of 30 used"]


def test_the_next_choice_comes_round() -> None:
    seen = [Sort.ASKING]
    while (chosen := next_of(seen[-1], Sort)) is not Sort.ASKING:
        seen.append(chosen)
    assert seen == list(Sort)
