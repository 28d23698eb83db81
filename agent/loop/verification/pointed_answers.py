"""Compare what an agent tells with what a verifier points at for it. Pure.

What structure finds by itself is `agent.loop.verification.answers`. Invariant: an answer with a
number needs that number where it was read, beside what was asked for.
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from agent.language.dates import dates_in, may_equal
from agent.language.numbers import Number, numbers_in
from agent.language.tokens import words
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.named_things import told_of_another
from agent.loop.verification.scopes import Scope
from agent.records import Evidence, Requirement, RequirementKind

_FEW = 10
_LITTLE = 3
"""So few things are pointed at because of what they say."""
_LEAST_WORD = 3
_LONG_ANSWER = 5  # Words; a shorter answer may be yes or no.
_QUESTION = re.compile("[?？؟\u037e]")
"""What ends a question."""


def unread_answer(
    one: Requirement,
    scope: Scope,
    answer: str,
    evidence: Sequence[Evidence],
    said: str,
    past: ClaimHistory,
    today: date | None = None,
) -> str:
    """Return that an answer tells nothing of what is pointed at, or other numbers."""
    in_words = one.kind is RequirementKind.TELL
    if other := told_of_another(scope, answer, past, today, in_words=in_words):
        return other
    if any(pointer.region for pointer in evidence):
        return ""
    told = [n for n in numbers_in(answer) if abs(n.value) >= _FEW or n.value % 1]
    few = numbers_in(answer)
    if told:
        shown = numbers_in(said)
        if any(_is_shown(n, shown, len(evidence)) for n in told):
            return ""
        if _says_a_day_of(said, answer) or _says_few_of(shown, few, len(evidence)):
            # The other numbers answer what else was asked.
            return ""
        return "The evidence shows none of the numbers in your answer"
    values = [number.value for number in numbers_in(said)]
    count = len({(p.step, p.element) for p in evidence})
    shown_numbers = [*values, *([Decimal(count)] if count > 1 or not values else [])]
    if few and not any(n.may_be(value) for n in few for value in shown_numbers):
        return "The evidence shows none of the numbers in your answer"
    asked = frozenset(words(f"{one.text} {one.object} {one.value}"))
    tells = frozenset(words(answer))
    if len(tells) >= _LONG_ANSWER and tells.isdisjoint(asked | frozenset(words(said))):
        return "Your summary says nothing of what was asked"
    if _QUESTION.search(one.text):
        # Yes and no are on no screen.
        return ""
    news = [word for word in words(said) if word not in asked and len(word) >= _LEAST_WORD]
    if few or not frozenset(news).isdisjoint(words(answer)):
        return ""
    return "Your summary says nothing of what the evidence shows"


def _says_a_day_of(said: str, answer: str) -> bool:
    """Return whether an answer names a day or a weekday that was pointed at."""
    shown = dates_in(said)
    return any(may_equal(one, other) for one in dates_in(answer) for other in shown)


def _says_few_of(shown: Sequence[Number], few: Sequence[Number], count: int) -> bool:
    """Return whether an answer has a small number of the little that was pointed at."""
    if not shown or count > _LITTLE:
        return False
    return any(n.may_be(one.value) for n in few if abs(n.value) < _FEW for one in shown)


def _is_shown(number: Number, shown: Sequence[Number], count: int) -> bool:
    values = [one.value for one in shown]
    if number.may_be(count) or any(map(number.may_be, values)):
        return True
    if len(values) > 1 and number.may_be(sum(values)):
        return True
    return any(
        number.may_be(made)
        for at, one in enumerate(values[:60])
        for other in values[at + 1 : 60]
        for made in (one + other, one - other, other - one, one * other)
    )
