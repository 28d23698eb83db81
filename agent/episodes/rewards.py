"""What a step is worth: the task's end alone, or each of its requirements as it is met.

Shaped rewards are the differences of a potential (Ng, Harada, Russell 1999, "Policy invariance
under reward transformations"), the share of the requirements that did not hold at the start and now
do. Invariants: they sum to 1 once the task is done, whatever was done and undone on the way; what
is broken is paid back.
"""

from enum import StrEnum

from agent.errors import UsageError
from agent.exercises.exercise import Exercise, Record, State, requirements

RECORD = Record(finished=True, result="", approvals=("the agent's own",))
"""Whoever acts in an episode is the operator too: nothing is asked, and nothing claimed."""
_FAILS = (LookupError, TypeError, ValueError, AttributeError)
_MISTYPED = (KeyError, TypeError, AttributeError)
"""What reading a place raises that no phone has; a list may be shorter than it will be."""


class Rewards(StrEnum):
    """When a step pays."""

    SPARSE = "sparse"
    """1 on the step that does the task, else 0."""
    SHAPED = "shaped"
    """A share for each requirement of the task as it is met; less than nothing as one is broken."""


def check_checker(task: Exercise, start: State) -> None:
    """Raise UsageError for a checker that reads what the phone does not have.

    Args:
        start: the task's starting state.
    """
    for part in requirements(task.check):
        try:
            part(start, start, RECORD)
        except _MISTYPED as error:
            raise UsageError(
                f"The checker of {task.name!r} reads what the phone does not have: "
                f"{type(error).__name__}: {error}.",
                "Correct it: switchboard phone state --json shows what there is.",
            ) from error
        except _FAILS:
            continue  # what it looks for may come


def is_done(task: Exercise, before: State, after: State) -> bool:
    """Return whether a task's checker passes; one that fails by itself does not."""
    try:
        return not task.check(before, after, RECORD)
    except _FAILS:
        return False


class Progress:
    """How far a task is done, from one step to the next.

    Args:
        start: the task's starting state.
    """

    def __init__(self, task: Exercise, start: State) -> None:
        self._parts = requirements(task.check)
        self._start = start
        self._held = self._met(start)
        self._paid = 0.0

    def reward(self, after: State, *, done: bool) -> float:
        """Return what the step that led to a state is worth."""
        open_at_start = len(self._parts) - self._held
        share = (self._met(after) - self._held) / max(open_at_start, 1)
        # The whole may be more than its parts, and parts alone are not the whole.
        worth = 1.0 if done else min(share, 1.0 - 1.0 / (open_at_start + 1))
        gain, self._paid = worth - self._paid, worth
        return gain

    def _met(self, after: State) -> int:
        return sum(self._holds(part, after) for part in range(len(self._parts)))

    def _holds(self, part: int, after: State) -> bool:
        try:
            return not self._parts[part](self._start, after, RECORD)
        except _FAILS:
            return False
