"""Read an amount of money as a person writes it into an allowance, or refuse it.

Not for screens (that is `agent.safety.effects.amounts`, which takes whatever an app shows).
Invariant: what can be read in two ways, or only in part, is refused, never guessed.
"""

import re
import unicodedata
from decimal import Decimal
from typing import NamedTuple

from agent.errors import UsageError
from agent.text import clean

_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}
_SPACES = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_WRITTEN = re.compile(
    r"(?P<before>[^\s\d.,'+-]{1,4})?[ ]?(?P<number>\d[\d., ']{0,24}?)(?P<multiple>[km])?"
    r"(?:[ ]?(?P<after>[^\s\d.,'+-]{1,4}))?",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"\d{1,3}(?:(?P<by>[ ',.])\d{3})(?:(?P=by)\d{3})*|\d{1,3}(?:,\d{2})*,\d{3}")
"""Thousands by one separator, or as in India: 1,00,000."""
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
    value = _number(found["number"].strip(), text, is_multiplied=bool(multiple))
    value *= _MULTIPLES[multiple]
    hundredths = value * 100
    if hundredths != int(hundredths):
        raise UsageError(
            f"The limit {_shown(text)} of an allowance has more than two decimals.", _REMEDY
        )
    return Money(int(hundredths), units[0])


def _number(written: str, text: str, *, is_multiplied: bool) -> Decimal:
    if written.isdigit():
        return Decimal(written)
    last = max(written.rfind("."), written.rfind(","))
    decimals = written[last + 1 :] if last >= 0 else ""
    separators = {char for char in written if not char.isdigit()}
    whole = written[:last]
    if last >= 0 and (whole.isdigit() or _GROUPS.fullmatch(whole)):
        mark = written[last]
        alone = len(separators) == 1
        if (
            decimals.isdigit()
            and mark not in whole
            and (len(decimals) < 3 or (is_multiplied and len(decimals) > 3))
        ):
            return Decimal(f"{re.sub(r'[^0-9]', '', whole)}.{decimals}")
        if alone and len(decimals) == 3 and whole.isdigit():
            raise UsageError(
                f"The limit {_shown(text)} of an allowance is ambiguous: it can be read as "
                f"{whole}{decimals} or as {whole}.{decimals}.",
                f'Write "{whole}{decimals}" or "{whole}.{decimals[:2]}", with the currency.',
            )
    if _GROUPS.fullmatch(written):
        return Decimal(re.sub(r"[^0-9]", "", written))
    raise UsageError(f"The limit {_shown(text)} of an allowance is not an amount.", _REMEDY)


def _plain(text: str) -> str:
    """Write digits of every script as ASCII, and separators as the West writes them."""
    folded = []
    for char in text.strip():
        digit = unicodedata.digit(char, None)
        if digit is not None and unicodedata.category(char) == "Nd":
            folded.append(str(digit))
        elif char == "\N{ARABIC DECIMAL SEPARATOR}":
            folded.append(".")
        elif char == "\N{ARABIC THOUSANDS SEPARATOR}":
            folded.append(",")
        elif char in _SPACES:
            folded.append(" ")
        elif char in _APOSTROPHES:
            folded.append("'")
        else:
            folded.append(char)
    return "".join(folded)


def _shown(text: str) -> str:
    return f'"{clean(text)[:_SHOWN_CHARS]}"'
