"""What may be wrong with the phone that an exercise is done on: a worn panel, a slow app.

Everything here goes by counting or by a seed, so that two trials meet the same phone. Invariant:
what a condition did to a phone is taken back when its trial ends.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from enum import StrEnum
from itertools import count
from random import Random
from typing import assert_never

from agent.exercises.exercise import Exercise
from virtual_phone.phone import Phone

LOST_ONE_IN = 3
LATE_S = (0.4, 1.3)
"""How long a slow app takes to do what was clicked: longer than one look, shorter than a wait."""


class Condition(StrEnum):
    WORN = "worn"  # Every third click is lost, from the second on.
    SLOW = "slow"  # A click takes effect between 0.4 and 1.3 seconds later.


@dataclass(frozen=True, kw_only=True)
class Prepared(Exercise):
    """An exercise whose phone is changed in this process, after its scenario began."""

    prepare: Callable[[Phone], None]


def under(exercise: Exercise, condition: Condition) -> Exercise:
    """Return an exercise as it is on such a phone; its name says so."""

    def prepare(phone: Phone) -> None:
        phone.touch.clicks = _clicks(phone, condition, seed=exercise.name)

    fields = {one.name: getattr(exercise, one.name) for one in dataclass_fields(Exercise)}
    return Prepared(**{**fields, "name": f"{exercise.name}@{condition}"}, prepare=prepare)


@contextmanager
def taken_back(phone: Phone) -> Iterator[None]:
    """Let a phone react as it should when the trial is over."""
    try:
        yield
    finally:
        phone.touch.clicks = lambda click: click()


def _clicks(
    phone: Phone, condition: Condition, *, seed: str
) -> Callable[[Callable[[], None]], None]:
    match condition:
        case Condition.WORN:
            clicks = count(1)
            return lambda click: None if next(clicks) % LOST_ONE_IN == 2 else click()
        case Condition.SLOW:
            chance = Random(seed)
            return lambda click: phone.after(chance.uniform(*LATE_S), click)
        case _:
            assert_never(condition)
