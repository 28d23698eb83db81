"""Compare what an agent tells with the screens it was read from: equal numbers after parsing. Pure.

Invariant: a number of an answer that stands on no screen, and is neither a count, a sum nor a
difference of what stands there, is unread.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from agent.language.numbers import Number, numbers_in
from agent.language.tokens import words
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.pointers import element_evidence, element_words, row_words
from agent.loop.verification.quotes import StoredScreen
from agent.loop.verification.values import ValueKind, is_carried, values_of
from agent.records import Evidence, GoalVerdict, Requirement, RequirementVerdict, VerifiedBy

_LEAST_WORD = 3
_FEW = 10
"""Numbers below it stand on every screen, and prove nothing."""
_MOST_NUMBERS = 300


def decide_told(one: Requirement, past: ClaimHistory, answer: str) -> RequirementVerdict | None:
    """Return the verdict on what is to be told; None: structure cannot tell.

    It is met where every number of the answer stands beside a word of the requirement, on a row
    that shows no other number: of a start and an end only somebody who reads can tell which is
    asked for.
    """
    numbers = numbers_in(answer)
    if unread := unread_numbers(answer, past) or _unread_times(answer, past):
        return RequirementVerdict(
            number=one.number,
            text=one.text,
            verdict=GoalVerdict.CANNOT_TELL,
            reason=f"{', '.join(unread)} of your answer is on no screen",
        )
    about = {word for word in (*words(one.object), *words(one.text)) if len(word) >= _LEAST_WORD}
    asked = (*numbers, *numbers_in(one.text))
    shown = [evidence for n in numbers if (evidence := _beside(n, about, asked, past)) is not None]
    if not numbers or len(shown) < len(numbers) or not words(one.object):
        return None
    if not set(words(one.object)) <= set(words(one.text)):
        return None
    return RequirementVerdict(
        number=one.number,
        text=one.text,
        verdict=GoalVerdict.MET,
        verified_by=VerifiedBy.EFFECTS,
        evidence=tuple(dict.fromkeys(shown)),
    )


def unread_numbers(text: str, past: ClaimHistory, *, until: int = 0) -> tuple[str, ...]:
    """Return the numbers of a text that nobody read, counted, or made of what was read.

    Args:
        until: the step of the newest screen that it may have been read from; 0: of all.
    """
    screens = [one for one in past.screens if not until or one.step <= until]
    numbers = [n for n in numbers_in(text) if abs(n.value) >= _FEW or n.value % 1]
    if not numbers:
        return ()
    read = set(_read(past, screens))
    unread = [n for n in numbers if not any(n.may_be(value) for value in read)]
    return tuple(text[n.start : n.end] for n in unread if not _is_made_of(n, read, screens))


def _unread_times(text: str, past: ClaimHistory) -> tuple[str, ...]:
    """Return the times of a text where none of them was read: no sum or product makes a time."""
    told = [value for value in values_of(text) if value.kind is ValueKind.TIME]
    lines = dict.fromkeys((*_operator_texts(past), *_screen_texts(past.screens))) if told else ()
    if any(is_carried(value, line) for line in lines for value in told):
        return ()
    return tuple(value.text for value in told)


def _read(past: ClaimHistory, screens: Sequence[StoredScreen]) -> Iterator[Decimal]:
    """Yield the numbers of all screens, and of what the operator wrote."""
    for text in dict.fromkeys((*_operator_texts(past), *_screen_texts(screens))):
        for number in numbers_in(text):
            yield from number.readings


def _operator_texts(past: ClaimHistory) -> Iterator[str]:
    yield from (past.goal, *past.hints, *(answer for _, answer in past.answers))


def _screen_texts(screens: Sequence[StoredScreen]) -> Iterator[str]:
    yield from (line for screen in screens for line in (*screen.lines, *screen.fields))


def _is_made_of(number: Number, read: set[Decimal], screens: Sequence[StoredScreen]) -> bool:
    """Return whether a number is a count of rows, or two read numbers put together."""
    rows = max((len(screen.lines) for screen in screens), default=0)
    distinct = len({line for screen in screens for line in screen.lines})
    if number.value % 1 == 0 and 0 <= number.value <= max(rows, min(distinct, 60)):
        return True
    values = sorted(read)[:_MOST_NUMBERS]
    has_cents = bool(number.value % 1)
    for at, one in enumerate(values):
        for other in values[at:]:
            made = [one * other]
            if bool(one % 1) == bool(other % 1) == has_cents or not (one % 1 or other % 1):
                # Prices are added to prices, and not to what is counted or dated.
                made += [one + other, other - one]
            made += [other / one] if one else []
            made += [one / other] if other else []
            if any(number.may_be(value) or _rounds_to(value, number) for value in made):
                return True
    return any(number.may_be(total) for total in _totals(screens))


def _rounds_to(value: Decimal, number: Number) -> bool:
    digits = -number.value.as_tuple().exponent if number.value % 1 else 0  # type: ignore[operator]
    return abs(value - number.value) <= Decimal(10) ** -digits / 2


def _totals(screens: Sequence[StoredScreen]) -> Iterator[Decimal]:
    """Yield the sums of the numbers of each screen that have decimals, as prices have."""
    for screen in screens:
        prices = [n.value for line in screen.lines for n in numbers_in(line) if n.value % 1]
        if len(prices) > 1:
            yield sum(prices, Decimal(0))


def _shows_no_more(row: str, asked: Sequence[Number]) -> bool:
    """Return whether each number of a row is one that is told, or that the requirement names."""
    return all(any(n.may_be(one.value) for one in asked) for n in numbers_in(row))


def _beside(
    number: Number, about: set[str], asked: Sequence[Number], past: ClaimHistory
) -> Evidence | None:
    for step, seen in reversed(past.seen):
        for element in seen.elements:
            shown = numbers_in(element_words(element))
            is_shown = any(n.may_be(number.value) for n in shown)
            row = row_words(element, seen) if is_shown else ""
            if row and not about.isdisjoint(words(row)) and _shows_no_more(row, asked):
                return element_evidence(step, element, seen)
    return None
