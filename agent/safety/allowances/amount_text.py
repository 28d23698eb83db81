"""Read an amount of money as a person writes it into an allowance, or refuse it.

Not for screens (that is `agent.safety.effects.amounts`, which takes whatever an app shows).
Invariant: what can be read in two ways, or only in part, is refused, never guessed.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from agent.errors import UsageError
from agent.language.fold import plain_digits
from agent.language.numbers import readings_of
from agent.text import clean

_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}
_SEPARATORS = {
    **dict.fromkeys(map(ord, "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"), " "),
    ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'",
    ord("\N{ARABIC DECIMAL SEPARATOR}"): ".",
    ord("\N{ARABIC THOUSANDS SEPARATOR}"): ",",
}
_WRITTEN = re.compile(
    r"(?P<before>[^\s\d.,'+-]{1,4})?[ ]?(?P<number>\d[\d., ']{0,24}?)(?P<multiple>[km])?"
    r"(?:[ ]?(?P<after>[^\s\d.,'+-]{1,4}))?",
    re.IGNORECASE,
)
_SHOWN_CHARS = 60
_REMEDY = 'Write an amount and its currency, as "20 EUR" or "19.99 EUR".'


class Money(NamedTuple):
    """An amount of a currency."""

    hundredths: int
    unit: str  # The currency as it was written.


def read_amount(text: str) -> Money:
    """Read an amount and its currency: "20 EUR", "€2K", "2 000,00 €", "₹1,00,000", "٢٠ €".

    Raises:
        UsageError: it is no amount, names no currency or two, or can be read in two ways.
    """
    found = _WRITTEN.fullmatch(_plain(text))
    if found is None:
        raise UsageError(f"The limit {_shown(text)} of an allowance is not an amount.", _REMEDY)
    units = [unit for unit in (found["before"], found["after"]) if unit]
    if len(units) != 1:
        which = "no currency" if not units else "two currencies"
        raise UsageError(f"The limit {_shown(text)} of an allowance names {which}.", _REMEDY)
    multiple = (found["multiple"] or "").lower()
    value = _number(found["number"].strip(), text) * _MULTIPLES[multiple]
    hundredths = value * 100
    if hundredths != int(hundredths):
        raise UsageError(
            f"The limit {_shown(text)} of an allowance has more than two decimals.", _REMEDY
        )
    return Money(int(hundredths), units[0])


def _number(written: str, text: str) -> Decimal:
    readings = readings_of(written)
    if not readings:
        raise UsageError(f"The limit {_shown(text)} of an allowance is not an amount.", _REMEDY)
    if len(readings) > 1:
        one, other = readings
        raise UsageError(
            f"The limit {_shown(text)} of an allowance is ambiguous: it can be read as "
            f"{one} or as {other}.",
            f'Write "{one}" or "{round(other, 2)}", with the currency.',
        )
    return readings[0]


def _plain(text: str) -> str:
    """Write digits of every script as ASCII, and blanks and separators as the West writes them."""
    return plain_digits(text.strip()).translate(_SEPARATORS)


def _shown(text: str) -> str:
    return f'"{clean(text)[:_SHOWN_CHARS]}"'
