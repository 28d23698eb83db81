"""Compare two sessions: the first step where they part, and what is alike until then. Pure.

Two actions are alike when they do the same thing to the same element; where on the screen it stood
and what the model said beside it do not count.
"""

import json
from typing import NamedTuple

from console.report.recorded import RecordedAction, RecordedSession


class Pair(NamedTuple):
    """What both sessions did in the same place of their order; None where one had ended."""

    left: RecordedAction | None
    right: RecordedAction | None

    @property
    def is_alike(self) -> bool:
        """Whether both did the same."""
        return (
            self.left is not None
            and self.right is not None
            and identity(self.left) == identity(self.right)
        )


class Parting(NamedTuple):
    """Two sessions side by side."""

    pairs: tuple[Pair, ...]
    at: int  # The index of the first pair that differs; the number of pairs when none does.

    @property
    def is_same(self) -> bool:
        """Whether both did the same throughout."""
        return self.at == len(self.pairs)


def compare(left: RecordedSession, right: RecordedSession) -> Parting:
    """Lay the actions of two sessions side by side."""
    mine, theirs = _acts(left), _acts(right)
    longest = max(len(mine), len(theirs))
    pairs = tuple(
        Pair(mine[at] if at < len(mine) else None, theirs[at] if at < len(theirs) else None)
        for at in range(longest)
    )
    at = next((at for at, pair in enumerate(pairs) if not pair.is_alike), longest)
    return Parting(pairs, at)


def _acts(told: RecordedSession) -> list[RecordedAction]:
    # Plans and questions are words; what was done to the phone is what can be compared.
    return [act for act in told.acts if act.kind == "action"]


def identity(act: RecordedAction) -> tuple[str, ...]:
    """Name what an action is, whatever number its element had then."""
    given = _arguments(act.arguments)
    if act.element is not None:
        given.pop("element", None)
        element = act.element
        about = (element.package, element.resource_id, element.class_name, element.label)
    else:
        about = ("", "", "", "")
    # What a model says it expects is no part of what it does.
    for comment in ("expected", "thought", "reason"):
        given.pop(comment, None)
    return (act.tool, *about, json.dumps(given, sort_keys=True, ensure_ascii=False))


def _arguments(text: str) -> dict[str, object]:
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return {"": text}
    return given if isinstance(given, dict) else {"": text}
