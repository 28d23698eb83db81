"""What takes two acts: the second counts for the same thing, and only in time."""

from time import monotonic

from console.keys.two_presses import ARMED_S, TwoPresses
from widgets.base.causality import Cause


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_second_act_in_time_does_it_and_a_third_begins_anew() -> None:
    clock = Clock()
    acts = TwoPresses(clock)
    assert not acts.confirm("session.cancel", "s1", "c again ends it")
    assert acts.sentence == "c again ends it"
    clock.now_s += ARMED_S - 0.1
    assert acts.confirm("session.cancel", "s1", "c again ends it")
    assert acts.sentence == ""
    assert not acts.confirm("session.cancel", "s1", "c again ends it")


def test_a_second_act_that_comes_too_late_is_a_first_one() -> None:
    clock = Clock()
    acts = TwoPresses(clock)
    assert not acts.confirm("session.cancel", "s1", "c again ends it")
    clock.now_s += ARMED_S
    assert acts.sentence == ""
    assert not acts.confirm("session.cancel", "s1", "c again ends it")


def test_a_second_act_that_was_pressed_in_time_counts_however_late_it_is_handled() -> None:
    clock = Clock()
    acts = TwoPresses(clock)
    assert not acts.confirm("session.cancel", "s1", "c again ends it")
    pressed_s = monotonic()
    clock.now_s += ARMED_S + 1.0
    # The footer is drawn meanwhile.
    assert acts.sentence == ""
    with Cause(pressed_s - 2.0).running():
        assert acts.confirm("session.cancel", "s1", "c again ends it")


def test_the_time_of_the_second_act_begins_when_it_is_said_what_it_does() -> None:
    clock = Clock()
    acts = TwoPresses(clock)
    with Cause(monotonic() - ARMED_S).running():
        assert not acts.confirm("session.cancel", "s1", "c again ends it")
    clock.now_s += ARMED_S - 0.1
    assert acts.sentence == "c again ends it"
    assert acts.confirm("session.cancel", "s1", "c again ends it")


def test_an_act_on_something_else_arms_that_and_no_longer_the_first() -> None:
    acts = TwoPresses(Clock())
    assert not acts.confirm("session.cancel", "s1", "c again ends s1")
    assert not acts.confirm("session.cancel", "s2", "c again ends s2")
    assert acts.sentence == "c again ends s2"
    assert not acts.confirm("session.pause", "s2", "p again resumes s2")
    assert acts.confirm("session.pause", "s2", "p again resumes s2")


def test_what_is_disarmed_is_forgotten() -> None:
    acts = TwoPresses(Clock())
    assert not acts.confirm("session.cancel", "s1", "c again ends it")
    acts.disarm()
    assert not acts.confirm("session.cancel", "s1", "c again ends it")
