"""Compare a plan for several phones with what the goal asks of which phone. Pure.

Invariants: what a part of the goal asks of a phone is required of a session there in the goal's
own words, whatever its objective says; a plan with other phones than the goal means, or with the
work of one on another, is never the goal.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent.language.tokens import words
from agent.loop.verification.coverage import MOST_CHARS, MOST_REQUIREMENTS
from agent.loop.verification.values import ValueKind, is_carried, values_of
from agent.protocol import Target
from agent.records import DeviceInfo, Requirement, RequirementKind, RequirementOrigin
from agent.tasks.goal_parts import GoalPart, asks_elsewhere
from agent.tasks.phone_names import mentions, serials_of
from agent.text import counted, one_line

_EXACT = frozenset({ValueKind.QUOTE, ValueKind.ADDRESS, ValueKind.DIALLED, ValueKind.TIME})
"""Values that nobody writes in another way: a planner may turn "tomorrow" into a date."""


class Scope(NamedTuple):
    """On which phones a planner says that the goal is to be reached."""

    phones: str = ""
    """`all`, `named` or `count`; empty: it does not say."""
    how_many: int = 0
    without: tuple[str, ...] = ()
    """Serials of phones that the goal leaves out."""

    def words(self, targets: Sequence[Target], fleet: Sequence[DeviceInfo]) -> str:
        """Return it in words for the operator."""
        working = len({target.serial for target in targets})
        said = f"On {working} of {counted(len(fleet), 'phone')}"
        if not self.without and working == len(fleet):
            said = f"On all {counted(working, 'phone')}"
        left_out = f", not on {', '.join(self.without)}" if self.without else ""
        return f"{said}{left_out}."


UNSAID = Scope()


def gaps(
    goal: str,
    targets: Sequence[Target],
    parts: Sequence[GoalPart],
    fleet: Sequence[DeviceInfo],
    scope: Scope = UNSAID,
    answers: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return what is wrong with a plan, each with its remedy; empty: it is what the goal asks.

    Args:
        parts: what the goal asks of which phones; empty: that is not known.
        answers: what the operator said beside the goal.
    """
    found = (
        *_gaps_of_scope(goal, targets, fleet, scope),
        *_gaps_of_parts(targets, parts),
        *_foreign_values(" \n".join((goal, *answers)), targets, fleet),
        *_named_phones(targets, fleet),
    )
    return tuple(dict.fromkeys(found))


def _gaps_of_scope(
    goal: str, targets: Sequence[Target], fleet: Sequence[DeviceInfo], scope: Scope
) -> Iterator[str]:
    given = {target.serial for target in targets}
    named = serials_of(mentions(goal, fleet))
    for serial in serials_of(mentions(goal, fleet), sure=True):
        if serial not in given and serial not in scope.without:
            yield (
                f"the goal names {serial}, and no target works there: add one, or list it in "
                "`without` if the goal leaves that phone out"
            )
    for serial in scope.without:
        if serial in given:
            yield f"{serial} is in `without`, and a target works there"
        elif serial not in named:
            yield f"{serial} is in `without`, and the goal does not name it"
    if scope.phones == "all":
        idle = {one.serial for one in fleet} - given - set(scope.without)
        if idle:
            yield f"`phones` is all, and no target works on {', '.join(sorted(idle)[:8])}"
    if scope.phones == "count" and len(given) != scope.how_many:
        working = counted(len(given), "phone has", "phones have")
        yield f"`count` is {scope.how_many}, and {working} targets"


def _gaps_of_parts(targets: Sequence[Target], parts: Sequence[GoalPart]) -> Iterator[str]:
    given = dict.fromkeys(target.serial for target in targets)
    for part in parts:
        said = one_line(part.text, 120)
        lacking = sorted(part.serials - given.keys())
        if lacking:
            yield f'the goal says "{said}" of {", ".join(lacking[:8])}: add a target there'
        if part.how_many and len(given) != part.how_many:
            meant = counted(part.how_many, "phone")
            yield f'the goal says "{said}" of {meant}, not of {len(given)}'
    if not parts:
        return
    for serial in given:
        if not any(serial in part.serials or part.how_many for part in parts):
            yield f"the goal asks nothing of {serial or 'a phone that is not named'}"
    for target in targets:
        if elsewhere := asks_elsewhere(target.objective, target.serial, parts):
            others = ", ".join(sorted(elsewhere.serials))
            yield (
                f'the goal says "{one_line(elsewhere.text, 120)}" of {others} only, and the '
                f"objective for {target.serial} says it too"
            )


def _foreign_values(
    said: str, targets: Sequence[Target], fleet: Sequence[DeviceInfo]
) -> Iterator[str]:
    names = " ".join(f"{one.name} {one.serial} {one.model}" for one in fleet)
    for target in targets:
        for value in values_of(target.objective):
            if value.kind in _EXACT and not is_carried(value, f"{said} \n{names}"):
                text = one_line(value.text, 60)
                yield f'an objective says "{text}", and the goal does not: write the goal\'s words'


def _named_phones(targets: Sequence[Target], fleet: Sequence[DeviceInfo]) -> Iterator[str]:
    for target in targets:
        for one in mentions(target.objective, fleet):
            name = target.objective[one.start : one.end]
            if one.is_sure and values_of(name):
                yield f"an objective names {name}: its session knows no phones; leave that out"


# --- what is required ----------


def handed_on(
    goal: str, targets: Sequence[Target], parts: Sequence[GoalPart]
) -> tuple[Target, ...]:
    """Return the targets, each with the words of the goal that its objective does not say so."""
    given = list(targets)
    for part in parts:
        for serial in dict.fromkeys(target.serial for target in targets):
            if not (serial in part.serials or part.how_many):
                continue
            ours = [at for at, target in enumerate(given) if target.serial == serial]
            if any(_is_said(given[at].objective, part.text, goal) for at in ours):
                continue
            nearest = max(ours, key=lambda at: _shared(given[at].objective, part.text))
            one = given[nearest]
            text = one_line(part.text, MOST_CHARS)
            given[nearest] = replace(one, requires=(*one.requires, text))
    return tuple(given)


def required(
    targets: Sequence[Target],
    parts: Sequence[GoalPart],
    doubts: Sequence[str],
    before: Sequence[Requirement],
) -> tuple[Requirement, ...]:
    """Return what a plan's goal requires: each part on each of its phones, and what is doubted.

    Args:
        before: those that stay; the others are numbered after them.
    """
    given = tuple(dict.fromkeys(target.serial for target in targets))
    each = [
        (part.text, serial)
        for part in parts
        for serial in (sorted(part.serials) if not part.how_many else given)
    ] or [(target.objective, target.serial) for target in targets]
    if len(each) > MOST_REQUIREMENTS:
        by_phone = dict.fromkeys(serial for _, serial in each)
        each = [("; ".join(t for t, s in each if s == one), one) for one in by_phone]
    last = max((one.number for one in before), default=0)
    made = [
        Requirement(number=number, text=one_line(text, MOST_CHARS), phone=serial)
        for number, (text, serial) in enumerate(each, start=last + 1)
    ]
    return (*before, *made, *doubted(doubts, after=last + len(made)))


def doubted(
    doubts: Sequence[str], *, after: int, kind: RequirementKind = RequirementKind.ANY
) -> tuple[Requirement, ...]:
    """Return doubts of a plan as requirements that only a person can say are met.

    Args:
        kind: PERSON where a session is to ask; of a tree nobody asks, and the operator withdraws.
    """
    return tuple(
        Requirement(
            number=number,
            text=one_line(f"The plan is right although {doubt}", MOST_CHARS),
            kind=kind,
            origin=RequirementOrigin.PLAN,
        )
        for number, doubt in enumerate(doubts, start=after + 1)
    )


def _is_said(objective: str, part: str, goal: str) -> bool:
    """Return whether an objective is a part in its words and order, with no word of its own."""
    said, wanted = iter(words(objective)), words(part)
    return all(word in said for word in wanted) and set(words(objective)) <= set(words(goal))


def _shared(objective: str, part: str) -> int:
    return len(set(words(objective)) & set(words(part)))
