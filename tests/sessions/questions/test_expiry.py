"""What an expiry says: which limit was over, whose it was, and how late that was noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.records import Question
from agent.sessions.rules.answers import expired
from agent.state.event_text import closed_words
from agent.text import lasting

times = st.integers(0, 10**12)
SECOND_MS, MINUTE_MS, HOUR_MS = 1000, 60_000, 3_600_000


def asked(asked_ms: int, deadline_ms: int) -> Question:
    return Question(
        question_id="q-1", session_id="s", text="Pay?", asked_ms=asked_ms, deadline_ms=deadline_ms
    )


@given(times, times, times)
def test_the_limit_is_the_question_s_own_where_it_is_over(
    asked_ms: int, limit_ms: int, waited_ms: int
) -> None:
    question = asked(asked_ms, asked_ms + limit_ms if limit_ms else 0)
    closed = expired(question, asked_ms + waited_ms, by="run")
    own = 0 < question.deadline_ms <= asked_ms + waited_ms
    assert closed.limit_ms == (limit_ms if own else waited_ms)
    assert closed.late_ms == (waited_ms - limit_ms if own else 0)
    assert closed.closed_by == ("" if own else "run")


def test_a_clock_that_was_set_back_gives_no_limit_below_zero() -> None:
    assert expired(asked(5000, 0), 1000).limit_ms == 0


@pytest.mark.parametrize(
    ("deadline_ms", "now_ms", "by", "said"),
    [
        (8 * SECOND_MS, 8 * SECOND_MS, "", "waited 8 s, the question's own limit"),
        (
            600 * SECOND_MS,
            4 * SECOND_MS,
            "run (process 7)",
            "waited 4 s, the limit of run (process 7)",
        ),
        (
            8 * SECOND_MS,
            24 * SECOND_MS,
            "",
            "waited 8 s, the question's own limit, noticed 16 s later",
        ),
    ],
)
def test_it_is_said_in_one_line(deadline_ms: int, now_ms: int, by: str, said: str) -> None:
    question = asked(1_000_000, 1_000_000 + deadline_ms)
    closed = expired(question, 1_000_000 + now_ms, by=by)
    assert closed_words(closed) == f"no answer in time; silence is no ({said})"


@pytest.mark.parametrize(
    ("duration_ms", "said"),
    [
        (-5, "0 ms"),
        (340, "340 ms"),
        (8 * SECOND_MS, "8 s"),
        (90 * SECOND_MS, "90 s"),
        (150 * SECOND_MS, "2.5 min"),
        (36 * HOUR_MS, "36 h"),
        (72 * HOUR_MS, "3 days"),
    ],
)
def test_a_duration_has_one_unit(duration_ms: int, said: str) -> None:
    assert lasting(duration_ms) == said
