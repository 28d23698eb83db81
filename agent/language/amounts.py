"""Read the amounts of money of a text as values: $1,284.50, 20 EUR, 1.284,50 €, ٢٠ ر.س. Pure.

An amount is a number with a currency beside it, before or behind. A sign may be of several
currencies, which all are in its codes. Invariant: an amount is never a part of one: behind "$15"
in "$15tickets" stands something that is not read, so it is no amount. A minus sign says who pays,
not how much: amounts have none.

Sources: ISO 4217 and CLDR's signs of currencies, with those of `agent.language.currencies`.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from agent.language import numbers
from agent.language.cldr import currencies, currency_signs, folded_sign
from agent.language.currencies import CODES, CURRENCY, SIGNS, WORD_CODES, WORDS
from agent.language.fold import plain_digits
from agent.language.numbers import Number, all_numbers_in, is_part_of_name

_BLANKS = " \u00a0\u2009\u202f"
_ANY_CASE = r"(?i:rs\.?|kr\.?|euros?)"
_HIDDEN = "[\u200e\u200f\u061c]*"
"""Marks of direction, which formatters put around amounts of scripts from right to left."""
_MOST_UNIT_CHARS = 12
_MOST_CHARS = 20_000


class Amount(NamedTuple):
    """An amount of money in a text."""

    number: Number
    """How much, without a sign."""
    codes: frozenset[str]
    """The ISO 4217 codes of the currencies that it may be in; empty where it has none."""
    unit: str
    """The currency as it is written, folded."""
    start: int
    end: int

    @property
    def value(self) -> Decimal:
        """The likeliest value."""
        return self.number.value


def may_equal(one: Amount, other: Amount) -> bool:
    """Return whether two amounts may be the same money."""
    same_unit = one.unit == other.unit or not one.codes.isdisjoint(other.codes)
    return same_unit and numbers.may_equal(one.number, other.number)


@lru_cache(maxsize=4096)
def amounts_in(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order, of its first 20,000 characters."""
    text = plain_digits(text[:_MOST_CHARS])
    found: list[Amount] = []
    for number in all_numbers_in(text):
        if found and number.start < found[-1].end:
            # A part of an amount whose groups blanks part.
            continue
        amount = _amount_of(number, text)
        if amount is not None:
            found.append(amount)
    return tuple(found)


def codes_of(unit: str) -> frozenset[str]:
    """Return the codes of the currencies that a sign or code may stand for; empty: none known."""
    code = unit.strip().upper()
    if code in CODES:
        return frozenset({code})
    sign = folded_sign(unit)
    return WORD_CODES.get(unit.lower()) or currencies().get(sign, frozenset())


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what currencies look like that end before a number, or begin behind one."""
    # Letters of Latin alone are words too ("5 km"): of them only those of the list count.
    told = (sign for sign in currency_signs() if len(sign) > 1 and not sign.isascii())
    signs = "|".join(map(re.escape, sorted(told, key=len, reverse=True)))
    sign = rf"(?:{signs}|[A-Za-z]{{1,3}}[{SIGNS}]|[{SIGNS}][A-Z]{{2}}|{CURRENCY}|{_ANY_CASE})"
    before = rf"(?<!\w)(?P<unit>{sign}){_HIDDEN}[{_BLANKS}]?{_HIDDEN}[-\u2212]?$"
    behind = rf"(?:[.,]-)?{_HIDDEN}[{_BLANKS}]?{_HIDDEN}(?P<unit>{sign}|(?i:{WORDS}))(?!\w)"
    return re.compile(before), re.compile(behind)


def _amount_of(number: Number, text: str) -> Amount | None:
    sign_before, sign_behind = _patterns()
    behind = sign_behind.match(text, number.end)
    begin = max(number.start - _MOST_UNIT_CHARS, 0)
    before = sign_before.search(text[begin : number.start])
    if before is not None:
        if behind is None and text[number.end : number.end + 1].isalpha():
            return None
        unit, start, end = before["unit"], begin + before.start(), number.end
    elif behind is not None and not is_part_of_name(number, text):
        unit, start, end = behind["unit"], number.start, behind.end()
    else:
        return None
    size = number._replace(readings=tuple(dict.fromkeys(map(abs, number.readings))))
    return Amount(size, codes_of(unit), folded_sign(unit), start, end)
