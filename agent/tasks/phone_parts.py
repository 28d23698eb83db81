"""Compare a plan for several phones with the goal: who is named, and what is asked of whom. Pure.

Phones are known by their names, serials and models, as the operator writes them. Invariants: each
phone that the goal names has a target whose objective carries what the goal says of it; no part of
the goal is in no objective.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent.language.tokens import tokens, words
from agent.loop.verification.coverage import says_own, sentences, shared_words, uncovered
from agent.loop.verification.values import values_of
from agent.protocol import Target
from agent.records import DeviceInfo, Requirement
from agent.text import one_line

_SEVERAL = 2
_FEW_WORDS = 2
"""So few words between two phones join them, and ask nothing of either."""


class PhonePart(NamedTuple):
    """What a goal says, and of which phone."""

    text: str
    serial: str = ""
    """Empty: of no phone that is named, or of all."""


class _Mention(NamedTuple):
    serial: str
    start: int
    end: int


def named_phones(goal: str, phones: Iterable[DeviceInfo]) -> tuple[str, ...]:
    """Return the serials of the phones that a goal names, in its order."""
    return tuple(dict.fromkeys(one.serial for one in _mentions(goal, phones)))


def phone_parts(goal: str, phones: Sequence[DeviceInfo]) -> tuple[PhonePart, ...]:
    """Cut a goal into what it says of each phone; one part of no phone where that is not clear."""
    mentions = _mentions(goal, phones)
    if len({one.serial for one in mentions}) < 2:
        return tuple(PhonePart(text) for text in sentences(goal))
    behind = goal[mentions[-1].end :]
    leads = len(words(behind)) > _FEW_WORDS
    if leads and len(words(goal[: mentions[0].start])) > _FEW_WORDS:
        return tuple(PhonePart(text) for text in sentences(goal))
    parts: list[PhonePart] = []
    waiting: list[str] = []
    for at, one in enumerate(mentions) if leads else reversed(list(enumerate(mentions))):
        if leads:
            end = mentions[at + 1].start if at + 1 < len(mentions) else len(goal)
            text = goal[one.end : end]
        else:
            text = goal[mentions[at - 1].end if at else 0 : one.start]
        waiting.append(one.serial)
        if len(words(text)) > _FEW_WORDS or values_of(text):
            parts += [PhonePart(text.strip(" ,;."), serial) for serial in waiting]
            waiting.clear()
    return tuple(parts if leads else parts[::-1])


def plan_gap(goal: str, targets: Sequence[Target], phones: Sequence[DeviceInfo]) -> str:
    """Return what a plan leaves out of the goal, and what to do about it; empty: nothing."""
    given = {target.serial for target in targets}
    named = named_phones(goal, phones)
    for serial in named:
        if serial not in given:
            return (
                f"the goal names {serial}, and no target works there: add one, unless the goal "
                "leaves that phone out"
            )
    if idle := idle_phones(goal, targets, phones):
        return (
            f"no target works on {', '.join(idle[:8])}: if the goal means every phone, add one "
            "for each"
        )
    parts = phone_parts(goal, phones)
    for part in parts:
        if part.serial and not _carries(part, parts, targets):
            return (
                f'the goal says "{one_line(part.text, 120)}" of {part.serial}, and its objective '
                "does not: write each objective in the goal's own words"
            )
    rest = left_out(goal, [target.objective for target in targets], phones)
    if not rest and not named and (shared := _of_all(goal, targets, phones)):
        return (
            f'no objective says "{one_line(shared, 120)}": if that means all phones, write the '
            "same objective for each"
        )
    if rest:
        return (
            f'no objective says "{one_line(rest[0], 120)}": write all of the goal into the '
            "objectives, in its own words"
        )
    return ""


def idle_phones(
    goal: str, targets: Sequence[Target], phones: Sequence[DeviceInfo]
) -> tuple[str, ...]:
    """Return the phones that a goal may mean and no target works on; empty where it names any."""
    given = {target.serial for target in targets}
    if named_phones(goal, phones) or not all(given):
        return ()
    return tuple(one.serial for one in phones if one.serial not in given and not one.driver)


def said_of_all(goal: str, targets: Sequence[Target], phones: Sequence[DeviceInfo]) -> str:
    """Return the few words that no objective says, where every phone has the same one.

    They say that it is for all of them, and that is so.
    """
    given = {target.serial for target in targets}
    if len({target.objective for target in targets}) != 1 or len(given) < _SEVERAL:
        return ""
    if named_phones(goal, phones) or any(one.serial not in given for one in phones):
        return ""
    rest = left_out(goal, [targets[0].objective], phones)
    is_short = len(rest) == 1 and len(words(rest[0])) <= _FEW_WORDS and not values_of(rest[0])
    return rest[0] if is_short else ""


def _of_all(goal: str, targets: Sequence[Target], phones: Sequence[DeviceInfo]) -> str:
    names = " ".join(f"{one.name} {one.serial} {one.model}" for one in phones)
    return shared_words(goal, [target.objective for target in targets], names)


def left_out(goal: str, objectives: Sequence[str], phones: Iterable[DeviceInfo]) -> tuple[str, ...]:
    """Return the parts of a goal that no objective carries."""
    listed = tuple(phones)
    names = " ".join(f"{one.name} {one.serial} {one.model}" for one in listed)
    # "On phone 2" tells a phone by its place in the list.
    places = " ".join(str(at) for at, _ in enumerate(listed, start=1))
    known = [*objectives, names, places]
    made = (Requirement(number=at, text=text) for at, text in enumerate(known, start=1))
    return uncovered(goal, made)


def _carries(part: PhonePart, parts: Sequence[PhonePart], targets: Sequence[Target]) -> bool:
    ours = " \n".join(one.objective for one in targets if one.serial == part.serial)
    return says_own(part.text, [one.text for one in parts], ours)


def _mentions(goal: str, phones: Iterable[DeviceInfo]) -> list[_Mention]:
    found = tokens(goal)
    said = [" ".join(words(token.text)) for token in found]
    mentions: list[_Mention] = []
    for phone in phones:
        for name in dict.fromkeys(filter(None, (phone.name, phone.serial, phone.model))):
            wanted = [" ".join(words(token.text)) for token in tokens(name)]
            for at in range(len(said) - len(wanted) + 1):
                if wanted and said[at : at + len(wanted)] == wanted:
                    start, end = found[at].start, found[at + len(wanted) - 1].end
                    mentions.append(_Mention(phone.serial, start, end))
    mentions.sort(key=lambda one: (one.start, -one.end))
    kept: list[_Mention] = []
    for one in mentions:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
