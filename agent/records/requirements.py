"""Define the requirements of a session: what its goal asks for, one by one.

The list is made once per goal and is what a claim of success is judged by. Invariants: numbers are
unique in a session and never used again; a withdrawn requirement stays in the list, marked.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec.structs import replace

from agent.records.record import Record


class RequirementKind(StrEnum):
    """What a requirement asks for."""

    CHANGE = "change"
    """Something is to be otherwise than it was, or to be done."""
    OPEN = "open"
    """Something is to be in front; nothing changes."""
    TELL = "tell"
    """The operator is to be told something that screens show."""
    KEEP = "keep"
    """What must not be touched, or limits the others: only, except, nothing else."""
    CONDITION = "condition"
    """What the others depend on or choose by: if, below 40, the newest."""
    ANY = "any"
    """Nobody has said what it asks for; a verdict on it may be any of those above."""
    PERSON = "person"
    """Only a person can judge it; the operator is asked."""


class RequirementOrigin(StrEnum):
    """Where a requirement comes from."""

    GOAL = "goal"
    HINT = "hint"
    """The operator said it while the work went on."""
    OPERATOR = "operator"
    """The operator wrote it into the list."""
    OPTION = "option"
    """It was given with the goal, by `--require`."""
    PLAN = "plan"
    """A plan for several phones handed it on: the goal's words for this phone, or a doubt."""


class Requirement(Record, frozen=True, kw_only=True):
    """One thing that has to be so in the end."""

    number: int
    text: str
    """The operator's own words for it."""
    kind: RequirementKind = RequirementKind.CHANGE
    origin: RequirementOrigin = RequirementOrigin.GOAL
    object: str = ""
    """What it is about, as the phone names it."""
    value: str = ""
    """The wanted state or value, as the phone shows it: `on`, `off`, `gone`, `07:30`."""
    recipient: str = ""
    phone: str = ""
    """The serial or the name of the phone that it is about; empty: the session's own."""
    withdrawn: bool = False

    @property
    def is_operators(self) -> bool:
        """Return whether the operator wrote it into the list."""
        return self.origin in {RequirementOrigin.OPERATOR, RequirementOrigin.OPTION}

    @property
    def is_given(self) -> bool:
        """Return whether it stays whatever a model makes of the goal."""
        return self.is_operators or self.origin is RequirementOrigin.PLAN


def numbered(
    texts: Iterable[str], origin: RequirementOrigin, *, after: int = 0, person: bool = False
) -> tuple[Requirement, ...]:
    """Return requirements in the operator's words, numbered after a number."""
    kind = RequirementKind.PERSON if person else RequirementKind.ANY
    return tuple(
        Requirement(number=number, text=text, origin=origin, kind=kind)
        for number, text in enumerate(texts, start=after + 1)
    )


def wanted(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Return those that were not withdrawn."""
    return tuple(one for one in requirements if not one.withdrawn)


def with_edits(
    requirements: tuple[Requirement, ...],
    *,
    add: Iterable[str] = (),
    withdraw: Iterable[int] = (),
    origin: RequirementOrigin = RequirementOrigin.OPERATOR,
    person: bool = False,
) -> tuple[Requirement, ...]:
    """Return a list with some withdrawn and some added at its end."""
    gone = frozenset(withdraw)
    kept = tuple(
        replace(one, withdrawn=True) if one.number in gone else one for one in requirements
    )
    last = max((one.number for one in kept), default=0)
    return (*kept, *numbered(add, origin, after=last, person=person))
