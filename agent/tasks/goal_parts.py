"""What a goal asks of which phones: its parts, by the places of names or as a model reads them.

Pure. The places decide where each name has words of its own beside it, as in "On A do this, on B
that". Otherwise a model reads the goal, without the plan, and what it reads is checked here.
Invariants: a part has only words of the goal; a reading leaves out few words, and none that is a
value; a phone that no name of the goal can mean is meant only with all others.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from agent.language.tokens import Token, tokens, words
from agent.loop.verification.values import Value, is_carried, values_of
from agent.records import DeviceInfo
from agent.tasks.phone_names import Mention, mentions, named_together, serials_of, weight
from agent.text import one_line

_CONTENT, _JOINT = 4, 2
"""Words beside a name that surely ask for something, and that surely only join."""
_MOST_LEFT_OUT = 5
"""Words in a row that say on which phones, as "on every phone except for"."""
_MOST_BEFORE_ONE = 3
"""The same where one phone is named and meant, as "on the phone"."""
_SAME = 0.5


class GoalPart(NamedTuple):
    """What a goal says, and of which phones."""

    text: str
    serials: frozenset[str]
    how_many: int = 0
    """So many phones, whichever; then `serials` is empty."""


class BadReading(Exception):
    """A reading of a goal that cannot be true of it; the text says why."""


def parts_by_place(goal: str, phones: Sequence[DeviceInfo]) -> tuple[GoalPart, ...]:
    """Return the parts of a goal that names phones, by what stands beside each name.

    Empty where that is not clear in only one way.
    """
    groups = named_together(goal, mentions(goal, phones))
    if len(groups) < 2:
        return ()
    bounds = [0, *(at for group in groups for at in (group[0].start, group[-1].end)), len(goal)]
    texts = [goal[bounds[at] : bounds[at + 1]] for at in range(0, len(bounds), 2)]
    asks = [_is_content(text, is_first=not at) for at, text in enumerate(texts)]
    joins = [_is_joint(text, is_first=not at) for at, text in enumerate(texts)]
    ends = weight(texts[-1]) > _JOINT or asks[-1]
    trails = all(asks[:-1]) and joins[-1]
    leads = joins[0] and all(asks[1:-1]) and ends
    if trails == leads:
        return ()
    ours = texts[:-1] if trails else texts[1:]
    return tuple(
        GoalPart(text.strip(" ,;.:"), frozenset(serials_of(group)))
        for text, group in zip(ours, groups, strict=True)
    )


def _is_content(text: str, *, is_first: bool) -> bool:
    return weight(text) >= _CONTENT or bool(values_of(text)) or _has_name(text, is_first)


def _is_joint(text: str, *, is_first: bool) -> bool:
    return weight(text) <= _JOINT and not values_of(text) and not _has_name(text, is_first)


def _has_name(text: str, is_first: bool) -> bool:
    found = tokens(text)[is_first:]
    return any(len(token.text) > 1 and token.text[0].isupper() for token in found)


# --- a reading ----------


def checked_reading(
    read: Iterable[GoalPart], goal: str, phones: Sequence[DeviceInfo], answers: Sequence[str] = ()
) -> tuple[GoalPart, ...]:
    """Return the parts of a goal as they were read, if they can be true of it.

    Args:
        answers: what the operator said beside the goal.

    Raises:
        BadReading: they cannot.
    """
    parts = _merged(read)
    if not parts:
        raise BadReading("it has no part")
    found = mentions(goal, phones)
    said = " ".join((goal, *answers))
    for part in parts:
        added = set(words(part.text)) - set(words(said))
        if not words(part.text) or added:
            raise BadReading(f"the goal does not say {' '.join(sorted(added)) or 'nothing'}")
        if part.how_many and not 0 < part.how_many <= len(phones):
            raise BadReading(f"{part.how_many} phones are not there")
        if part.how_many and (named := serials_of(found, sure=True)):
            raise BadReading(f"it is for any phones, and the goal names {', '.join(named)}")
        if not part.how_many:
            _check_phones(part, goal, phones, answers)
    _check_left_out(parts, goal, found)
    _check_groups(parts, goal, found)
    return parts


def _merged(parts: Iterable[GoalPart]) -> tuple[GoalPart, ...]:
    """Return parts with the same words as one, for all of their phones."""
    found: dict[tuple[tuple[str, ...], int], GoalPart] = {}
    for part in parts:
        key = words(part.text), part.how_many
        before = found.get(key, part)
        found[key] = part._replace(serials=before.serials | part.serials)
    return tuple(found.values())


def _check_phones(
    part: GoalPart, goal: str, phones: Sequence[DeviceInfo], answers: Sequence[str]
) -> None:
    """Raise BadReading where a part is for phones that are neither named, nor all, nor the rest."""
    fleet = {phone.serial for phone in phones}
    sure = set(serials_of(mentions(goal, phones), sure=True))
    able = {s for text in (goal, *answers) for s in serials_of(mentions(text, phones))}
    others = part.serials - able
    if sure and sure < fleet == part.serials:
        raise BadReading(f"it is for all phones, and the goal names {', '.join(sorted(sure))}")
    if not part.serials or not part.serials <= fleet:
        raise BadReading(f'"{one_line(part.text, 80)}" is for no phone that is online')
    if others and others not in (fleet - able, fleet - sure) and part.serials != fleet - sure:
        raise BadReading(f"nothing in the goal names only {', '.join(sorted(others))}")


def _check_left_out(parts: Sequence[GoalPart], goal: str, found: Sequence[Mention]) -> None:
    """Raise BadReading where a part of the goal is in no part."""
    said = "\n".join(part.text for part in parts)
    counts = {part.how_many for part in parts}
    meant = frozenset().union(*(part.serials for part in parts))
    if any(counts) or not meant <= set(serials_of(found)):
        # A number is no phone's place in the list where phones are meant that nothing names.
        found = [one for one in found if one.is_sure or not goal[one.start : one.end].isdecimal()]
    for value in values_of(goal):
        is_name = any(one.start < value.end and value.start < one.end for one in found)
        if not (is_name or is_carried(value, said) or _is_count(value, counts)):
            raise BadReading(f"{one_line(value.text, 80)} is in no part")
    is_one = len(meant) == 1 and meant == set(serials_of(found, sure=True))
    most = _MOST_BEFORE_ONE if is_one else _MOST_LEFT_OUT
    long = 0
    places = {(part.serials, part.how_many) for part in parts}
    for run in _left_out(goal, parts, found):
        text = goal[run[0].start : run[-1].end]
        is_thing = any(len(t.text) > 1 and t.text.isupper() for t in run) and not goal.isupper()
        long += weight(text) > _JOINT
        if weight(text) > most or is_thing or long > len(places):
            raise BadReading(f'"{one_line(text, 80)}" is in no part')


def _check_groups(parts: Sequence[GoalPart], goal: str, found: Sequence[Mention]) -> None:
    """Raise BadReading where of phones that are named together one is left out."""
    for group in named_together(goal, found):
        serials = frozenset(serials_of(group))
        for part in parts:
            if part.serials & serials and not serials <= part.serials:
                lacking = ", ".join(sorted(serials - part.serials))
                raise BadReading(f"{lacking} is named with the others, and left out")


def _is_count(value: Value, counts: Iterable[int]) -> bool:
    return value.number is not None and any(n in value.number.readings for n in counts if n)


def _left_out(
    goal: str, parts: Sequence[GoalPart], found: Sequence[Mention]
) -> Iterator[tuple[Token, ...]]:
    """Yield the runs of words that no part has; the name of a phone ends one."""
    listed = tokens(goal)
    said = [words(token.text) for token in listed]
    covered: set[int] = set()
    for part in parts:
        own = [words(token.text) for token in tokens(part.text)]
        for block in SequenceMatcher(None, said, own, autojunk=False).get_matching_blocks():
            covered.update(range(block.a, block.a + block.size))
    run: list[Token] = []
    for at, token in enumerate(listed):
        is_name = any(one.start <= token.start < one.end for one in found)
        if is_name or at in covered:
            if run:
                yield tuple(run)
            run = []
        else:
            run.append(token)
    if run:
        yield tuple(run)


# --- two of them ----------


def contradicts(read: Sequence[GoalPart], placed: Sequence[GoalPart]) -> bool:
    """Return whether a reading gives a phone other words than the places of the names do."""
    known = {serial for part in placed for serial in part.serials}
    if any(part.how_many or not part.serials <= known for part in read):
        return True
    for one in placed:
        own = _own(one, placed)
        for serial in known:
            given = {w for part in read if serial in part.serials for w in words(part.text)}
            has = bool(own) and len(own & given) >= _SAME * len(own)
            if bool(own) and has is not (serial in one.serials):
                return True
    return False


def asks_elsewhere(objective: str, serial: str, parts: Sequence[GoalPart]) -> GoalPart | None:
    """Return the part that an objective says though it is for other phones only."""
    ours = {w for part in parts if serial in part.serials for w in words(part.text)}
    said = set(words(objective))
    for part in parts:
        own = set(words(part.text)) - ours
        values = [v for v in values_of(part.text) if set(words(v.text)) <= own]
        if serial in part.serials or part.how_many or not own:
            continue
        if len(own & said) >= _SAME * len(own) and all(is_carried(v, objective) for v in values):
            return part
    return None


def _own(one: GoalPart, parts: Sequence[GoalPart]) -> set[str]:
    return set(words(one.text)) - {w for other in parts if other != one for w in words(other.text)}
