"""Answers: what counts as one, and how several questions share one text (CONTRACTS 1.11)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.records import Question, QuestionOption, QuestionPart
from agent.sessions.rules.answers import (
    checked_parts,
    checked_text,
    read_answer,
    shown_text,
    split_text,
    to_store,
)

Q1 = QuestionPart(
    part_id="q1",
    header="Place",
    text="Where?",
    options=(QuestionOption(label="Home", description="the flat"), QuestionOption(label="Work")),
)
Q2 = QuestionPart(part_id="q2", text="When?")
PIN = QuestionPart(part_id="pin", text="PIN?", secret=True)


def asking(*parts: QuestionPart) -> Question:
    secret = any(part.secret for part in parts)
    return Question(
        question_id="q", session_id="s", text="…", asked_ms=1, parts=parts, secret=secret
    )


def test_vector_answers_two_questions_and_a_text_that_splits() -> None:
    assert read_answer(asking(Q1, Q2), "x\n\ny").by_part == {"q1": ("x",), "q2": ("y",)}


def test_vector_answers_two_questions_and_a_text_that_does_not_split() -> None:
    assert read_answer(asking(Q1, Q2), "x").by_part == {"q1": ("x",)}


def test_blank_lines_may_hold_spaces_and_come_from_another_system() -> None:
    assert read_answer(asking(Q1, Q2), "x\r\n \t\r\n\r\ny\r\n").by_part == {
        "q1": ("x",),
        "q2": ("y",),
    }


def test_more_pieces_than_questions_stay_with_the_last() -> None:
    assert split_text((Q1, Q2), "a\n\nb\n\nc") == {"q1": ("a",), "q2": ("b\n\nc",)}


def test_answers_by_id_take_the_askers_spelling_and_may_leave_some_out() -> None:
    answer = read_answer(asking(Q1, Q2), answers={"q1": ("home",)})
    assert answer.by_part == {"q1": ("Home",)} and answer.text == "Home"


def test_an_answer_to_what_was_not_asked_is_refused_with_the_ids_there_are() -> None:
    with pytest.raises(UsageError) as refused:
        read_answer(asking(Q1, Q2), answers={"q7": ("x",)})
    assert "q1, q2" in refused.value.remedy


@pytest.mark.parametrize("answers", [{}, {"q1": ()}, {"q1": (" ",), "q2": ("\n",)}])
def test_answers_with_nothing_in_them_are_refused(answers: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(UsageError):
        read_answer(asking(Q1, Q2), "", answers)


def test_one_question_takes_an_answer_by_any_id() -> None:
    single = Question(question_id="q", session_id="s", text="Where?", asked_ms=1)
    assert read_answer(single, answers={"q": ("there",)}).text == "there"


def test_of_a_secret_part_nothing_is_stored_and_the_rest_is() -> None:
    question = asking(Q2, PIN)
    answer = read_answer(question, "at nine\n\n4711")
    kept = to_store(question, answer)
    assert answer.by_part["pin"] == ("4711",)
    assert kept.by_part == {"q2": ("at nine",)} and "4711" not in repr(kept)


def test_several_questions_are_shown_as_the_android_agent_shows_them() -> None:
    assert shown_text((Q1, Q2)) == ("Place:\nWhere?\nOptions:\n- Home: the flat\n- Work\n\nWhen?")


def test_questions_that_cannot_be_told_apart_are_refused() -> None:
    for parts in ((), (Q1, Q1), (Q1,) * 11, (QuestionPart(part_id="a", text=" "),)):
        with pytest.raises(UsageError):
            checked_parts(parts)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60), st.integers(1, 4))
def test_sharing_out_a_text_invents_nothing_and_answers_the_first_first(
    text: str, count: int
) -> None:
    parts = tuple(QuestionPart(part_id=f"p{n}", text="?") for n in range(count))
    shared = split_text(parts, text)
    assert list(shared) == [part.part_id for part in parts[: len(shared)]]
    assert all(piece in text for given in shared.values() for piece in given)
    assert bool(shared) == bool(text.strip())


@pytest.mark.parametrize("text", ["\x01\x02", "\x1b[31m", "\u200b\n\x00", "\x1b]0;title\x07 "])
def test_what_no_screen_would_show_is_no_text(text: str) -> None:
    with pytest.raises(UsageError, match="The goal is only control characters"):
        checked_text(text, "The goal")


def test_a_text_that_holds_a_control_character_is_kept_as_it_is() -> None:
    assert checked_text("look\x07 at it\n", "The goal") == "look\x07 at it\n"
