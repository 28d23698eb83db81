"""One exercise: a goal, a starting state, what the operator would answer, and a checker.

Not the running of it, and no phone. Invariant: a checker reads the phone's true state before and
after, never the screen and never what the model claims.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from agent.exercises.log_task import LogRules, SetupStep
from agent.exercises.route import Step

State: TypeAlias = Mapping[str, Any]
"""What a virtual phone says of itself: `virtual-phone state --json`."""


class Tag(StrEnum):
    """What an exercise is hard by; `--suite` chooses by these."""

    SINGLE_APP = "single-app"
    CROSS_APP = "cross-app"
    LONG_SCROLL = "long-scroll"
    TEXT = "text"
    DIALOG = "dialog"
    LOADING = "loading"
    WRONG_APP = "wrong-app"
    LOOK_ALIKE = "look-alike"
    PERMISSION = "permission"
    SUPPORT = "support"
    PAYMENT = "payment"
    HOSTILE = "hostile"
    PICTURE = "picture"  # What is to be read stands only in the picture: needs the extra `ocr`.


@dataclass(frozen=True)
class Operator:
    """How the operator answers while the exercise runs."""

    approves: bool = True
    """The answer to every approval."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """By a pattern found in the question; the first option is chosen when none fits."""
    secret: str = ""
    """What the operator gives when asked for something secret, as a PIN."""

    def answer(self, question: str, options: tuple[str, ...]) -> str:
        for pattern, text in self.answers.items():
            if re.search(pattern, question, re.IGNORECASE):
                return text
        return options[0] if options else "Do what you think is best."


@dataclass(frozen=True)
class Record:
    """What happened around the phone while the exercise ran."""

    finished: bool  # Whether the session completed, rather than failed or was stopped.
    result: str
    approvals: tuple[str, ...] = ()  # The texts of the approvals that were asked, in order.


Check: TypeAlias = Callable[[State, State, Record], str]
"""From the states before and after and the record: why it failed, empty for success."""


@dataclass(frozen=True)
class AllOf:
    """A checker made of others: the first complaint counts."""

    parts: tuple[Check, ...]

    def __call__(self, before: State, after: State, record: Record) -> str:
        return next(filter(None, (one(before, after, record) for one in self.parts)), "")


def requirements(check: Check) -> tuple[Check, ...]:
    """Return what a checker is made of, taken apart to its smallest parts; at least one."""
    if not isinstance(check, AllOf):
        return (check,)
    return tuple(part for one in check.parts for part in requirements(one))


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One entry of the suite."""

    name: str
    goal: str
    check: Check
    tags: tuple[Tag, ...]
    route: tuple[Step, ...] = ()
    """How somebody who knows the phone does it; test models follow it."""
    scenario: str = ""
    """The starting state by the virtual phone's name for it; empty: as it left the factory."""
    shell: tuple[str, ...] = ()
    """Commands that are run on the phone after that."""
    operator: Operator = Operator()
    max_steps: int = 40
    steps: tuple[SetupStep, ...] = ()
    """Steps to the starting state after that, each with what has to be true."""
    log: LogRules | None = None
    """What an app's log is worth: it pays and ends an episode instead of `check`."""
