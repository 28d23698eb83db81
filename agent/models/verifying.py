"""Choose who checks a claim of success: the same model, another one, rules, or nobody.

Not the looking (`agent.loop.verification`). Invariant: a model that cannot be had is an error
before the work begins, not at its end.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from agent.models.model import Model
from agent.records import GoalVerdict

SAME = "same"
OFF = "off"
_STATES = re.compile(r"(?: ?\[(?:(?P<switch>(?:UN)?CHECKED)|DISABLED|SELECTED)\])+$")


class SeenScreen(NamedTuple):
    """One stored screen, as rules read it."""

    package: str
    lines: Sequence[str]  # An element each: label, value and states.
    fields: Sequence[str]  # What its fields hold.


def without_states(line: str) -> str:
    """Return a line of a screen without the states that it ends in."""
    return _STATES.sub("", line)


def switch_state(line: str) -> bool | None:
    """Return whether a line of a screen shows a switch as on; None if it shows no switch."""
    found = _STATES.search(line)
    return None if found is None or not found["switch"] else found["switch"] == "CHECKED"


class Judged(NamedTuple):
    """What rules say of a goal."""

    verdict: GoalVerdict
    quotes: tuple[str, ...] = ()
    reason: str = ""


class Rules(Protocol):
    """Read screens by rules."""

    def __call__(
        self,
        goal: str,
        hints: Sequence[str],
        *,
        apps: Sequence[tuple[str, str]],
        screens: Sequence[SeenScreen],
        pressed: Sequence[str],
        before: int = 0,
    ) -> Judged:
        """Judge whether a goal is met.

        Args:
            goal: what the operator asked for.
            hints: what the operator said later.
            apps: package and label of what is installed.
            screens: what was seen, oldest first.
            pressed: labels of what was pressed with an effect, oldest first.
            before: how many of the screens were seen before the goal was given.
        """


class Verifying(msgspec.Struct, frozen=True, kw_only=True):
    """Who checks a claim of success; with neither a model nor rules: nobody."""

    model: Model | None = None
    rules: Rules | None = None
    is_same: bool = False
    """Whether the model is the one that does the work."""
    decided: bool = False
    """The work is one call that no model chose: its own result says what it came to."""
