"""What a goal names of what a screen says."""

import pytest

from agent.safety.unread.goal_words import GoalWords


@pytest.mark.parametrize("time", ["05:43", "5:05 PM", "17:05 Uhr", "17:05"])
def test_a_time_of_day_is_none_of_the_numbers_that_are_asked_for(time: str) -> None:
    goal = GoalWords(texts=("pay Tom 5 dollars",))
    assert not goal.named(f"Corner Cafe · −6.40 · {time}").numbers
    assert goal.named("5").numbers == {"5"}


def test_a_time_is_named_by_the_same_time_however_it_is_written() -> None:
    goal = GoalWords(texts=("set the alarm to 17:05",))
    assert goal.named("5:05 PM").numbers
    assert not goal.named("5:06 PM").numbers
