"""Compare what an operator wrote with the requirements that were made of it. Pure.

Invariants: every value and most words of the goal, and of each hint, are in the words of some
requirement; what is not becomes a requirement of its own, so that no list leaves anything out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent.language.tokens import Token, is_unspaced, tokens, words
from agent.loop.verification.values import is_carried, values_of
from agent.records import Requirement, RequirementKind, RequirementOrigin
from agent.safety.redacting.redaction import TAKEN_OUT
from agent.text import one_line

MOST_REQUIREMENTS = 30
MOST_CHARS = 500
_SENTENCE = re.compile(r"(?:[.!?](?=\s)|[。！？;；\n])\s*")
_BROKEN_OFF = re.compile(r"…|\.{3,}")
_LETTER_WEIGHT = 0.4
_LONGEST_GAP = 3
"""Words in a row that need not be in any requirement: politeness, joining words."""


class Wished(NamedTuple):
    """What a model, or the pilot, makes of a part of the goal."""

    text: str
    kind: str = ""
    object: str = ""
    value: str = ""
    recipient: str = ""
    phone: str = ""


def sentences(text: str) -> tuple[str, ...]:
    """Cut a text into its sentences and lines; a quoted text is never cut.

    What was taken out of it as a secret asks for nothing.
    """
    text = TAKEN_OUT.sub("", text)
    quoted = [(v.start, v.end) for v in values_of(text) if v.kind in {"quote", "address"}]
    found, begin = [], 0
    for match in _SENTENCE.finditer(text):
        if any(start <= match.start() < end for start, end in quoted):
            continue
        found.append(text[begin : match.start() + 1])
        begin = match.end()
    found.append(text[begin:])
    kept: list[str] = []
    for one in found:
        said = one.strip(" \n;")
        is_short = len(words(said)) < _LONGEST_GAP and not values_of(said)
        if is_short and kept:
            kept[-1] = f"{kept[-1]} {said}".strip()
        elif words(said):
            kept.append(said)
    return tuple(kept)


def uncovered(text: str, requirements: Iterable[Requirement]) -> tuple[str, ...]:
    """Return the parts of a text's sentences that are in no requirement."""
    listed = tuple(requirements)
    said = "\n".join(" ".join((r.text, r.object, r.value, r.recipient, r.phone)) for r in listed)
    known = frozenset(words(said))
    left = (_left_out(_after_break(one), said, known) for one in sentences(text))
    return tuple(part for part in left if part)


def _after_break(sentence: str) -> str:
    """Return a sentence without what was broken off before its last ellipsis, unless in quotes.

    Who corrects themselves, as in "Archive… no: star the newest", asks for what follows.
    """
    quoted = [(v.start, v.end) for v in values_of(sentence) if v.kind == "quote"]
    begin = 0
    for match in _BROKEN_OFF.finditer(sentence):
        if not any(start <= match.start() < end for start, end in quoted):
            begin = match.end()
    rest = sentence[begin:]
    return rest if words(rest) else sentence


def _is_broken_off(wish: Wished, goal: str) -> bool:
    """Return whether a part that is listed as withdrawn is what the goal itself breaks off."""
    kept = frozenset(word for one in sentences(goal) for word in words(_after_break(one)))
    begins = words(wish.text)[:1]
    return wish.kind.strip().casefold() == "withdrawn" and not kept.issuperset(begins)


def _left_out(sentence: str, said: str, known: frozenset[str]) -> str:
    """Return the part of a sentence that no requirement has: from the first gap that counts to the
    last, without what only joins.
    """
    spans = [(v.start, v.end) for v in values_of(sentence) if not is_carried(v, said)]
    for gap in _gaps(sentence, known):
        if sum(map(_weight, gap)) > _LONGEST_GAP or any(map(_names, gap)):
            spans.append((gap[0].start, gap[-1].end))
    if not spans:
        return ""
    return sentence[min(start for start, _ in spans) : max(end for _, end in spans)].strip()


def _gaps(sentence: str, known: frozenset[str]) -> Iterator[list[Token]]:
    """Yield the runs of words that no requirement has."""
    gap: list[Token] = []
    for token in tokens(sentence):
        if words(token.text) and set(words(token.text)) <= known:
            if gap:
                yield gap
            gap = []
        else:
            gap.append(token)
    if gap:
        yield gap


def _weight(token: Token) -> float:
    """Return how much of a word a token is: a script without blanks gives one for each letter."""
    return _LETTER_WEIGHT if is_unspaced(token.text) else 1.0


def _names(token: Token) -> bool:
    """Return whether a word inside a sentence is written as a name is: in capitals."""
    return token.start > 0 and len(token.text) > 1 and token.text[0].isupper()


def covering(
    wished: Sequence[Wished], listed: tuple[Requirement, ...], goal: str, hints: Sequence[str] = ()
) -> tuple[Requirement, ...]:
    """Return the list of a goal: what was wished, what the operator added, what was left out.

    Args:
        wished: what a model makes of the goal and the hints; empty: it makes nothing of them.
        listed: the list as it is; what the operator wrote or withdrew stays.
        hints: what the operator said since, oldest first. Only they withdraw a part of the goal.
    """
    kept = tuple(one for one in listed if one.is_given or one.withdrawn or not wished)
    last = max((one.number for one in listed), default=0)
    before = {" ".join(words(one.text)): one for one in listed}
    made: list[Requirement] = []
    for wish in wished[:MOST_REQUIREMENTS]:
        if not hints and _is_broken_off(wish, goal):
            continue
        one = _made(wish, bool(hints))
        same = before.get(" ".join(words(one.text))) if one is not None else None
        if one is None or same in kept:
            continue
        if same is not None:
            made.append(_kept_reading(one, same))
            continue
        last += 1
        made.append(replace(one, number=last, origin=_origin(one.text, goal, hints)))
    if not any(one.origin is RequirementOrigin.GOAL for one in (*kept, *made)):
        for sentence in sentences(goal):
            last += 1
            said = one_line(sentence, MOST_CHARS)
            made.append(Requirement(number=last, text=said, kind=RequirementKind.ANY))
    for origin, text in (
        (RequirementOrigin.GOAL, goal),
        *((RequirementOrigin.HINT, hint) for hint in hints),
    ):
        for sentence in uncovered(text, (*kept, *made)):
            said = one_line(sentence, MOST_CHARS)
            known = before.get(" ".join(words(said)))
            last += known is None
            number = last if known is None else known.number
            made.append(
                Requirement(number=number, text=said, origin=origin, kind=RequirementKind.ANY)
            )
    return tuple(sorted((*kept, *map(_with_object(made), made)), key=lambda one: one.number))


def _with_object(made: Sequence[Requirement]) -> Callable[[Requirement], Requirement]:
    """Return what makes a condition of nothing a requirement of its own."""
    main = {RequirementKind.CHANGE, RequirementKind.TELL, RequirementKind.OPEN, RequirementKind.ANY}
    has_main = any(one.kind in main and not one.withdrawn for one in made)

    def checked(one: Requirement) -> Requirement:
        limits = one.kind in {RequirementKind.CONDITION, RequirementKind.KEEP}
        return replace(one, kind=RequirementKind.ANY) if limits and not has_main else one

    return checked


def _made(wish: Wished, may_withdraw: bool) -> Requirement | None:
    text = one_line(wish.text, MOST_CHARS).strip()
    if not words(text):
        return None
    kinds = {kind.value: kind for kind in RequirementKind}
    return Requirement(
        number=0,
        text=text,
        kind=kinds.get(wish.kind.strip().casefold(), RequirementKind.CHANGE),
        object=one_line(wish.object, 120).strip(),
        value=one_line(wish.value, 120).strip(),
        recipient=one_line(wish.recipient, 120).strip(),
        phone=one_line(wish.phone, 120).strip(),
        withdrawn=may_withdraw and wish.kind.strip().casefold() == "withdrawn",
    )


def _kept_reading(one: Requirement, before: Requirement) -> Requirement:
    """Return a requirement that was listed before: what it was read as is not turned around."""
    softened = one.kind in {RequirementKind.CONDITION, RequirementKind.PERSON}
    is_read = before.kind is not RequirementKind.ANY
    return replace(
        one,
        number=before.number,
        origin=before.origin,
        kind=before.kind if is_read and not softened else one.kind,
        value=before.value or one.value,
        withdrawn=one.withdrawn,
    )


def _origin(text: str, goal: str, hints: Sequence[str]) -> RequirementOrigin:
    mine = frozenset(words(text))
    of_goal = len(mine & frozenset(words(goal)))
    of_hints = max((len(mine & frozenset(words(hint))) for hint in hints), default=0)
    return RequirementOrigin.HINT if of_hints > of_goal else RequirementOrigin.GOAL
