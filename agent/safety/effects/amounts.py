"""Find amounts of money in what a screen says."""

import re
from functools import lru_cache

from agent.language.currencies import AFTER, CURRENCY, NUMBER
from agent.language.numbers import all_numbers_in

_LETTERS = r"[A-Za-z\u00c0-\u024f\u0400-\u04ff]+\d*"
_MULTIPLE = (
    rf"(?<=\d)(?:[万萬億亿千억만천]+|(?!(?:{CURRENCY})(?!\w)){_LETTERS})"
    r"|(?:\s|(?<=\s))(?:thousand|millions?|billions?|lakhs?|crores?|Tsd|Mio|Mrd|Millionen|Milliarden"
    r"|millones|mil|milhões|milioni|тыс|млн|млрд)(?!\w)\.?"
)
"""What makes of a number another amount, or none: "$15K", "€2 million", "$15tickets"."""
_WHOLE = re.compile(rf"(?:{CURRENCY})\s?{NUMBER}|{NUMBER}\s?{AFTER}", re.IGNORECASE)
_MONEY = re.compile(
    rf"(?<!\w)(?:{CURRENCY})\s?{NUMBER}(?:{_MULTIPLE})?(?![.,']?\d)"
    rf"|(?<![\d.,']){NUMBER}(?:(?:{_MULTIPLE})\s?)?\s?{AFTER}(?!\w)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d")
_NUMBER = re.compile(r"^\s*[\d.,'\s]+\s*$")
_CODES = {
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₫": "VND",
    "₴": "UAH",
    "₪": "ILS",
    "฿": "THB",
    "zł": "PLN",
    "r$": "BRL",
    "us$": "USD",
    "元": "CNY",
    "円": "JPY",
    "원": "KRW",
    "rp": "IDR",
    "đ": "VND",
}
_RATE = re.compile(r"\d\D{0,5}(?:/|per |pro |par |por |al |a )\s*\w")
_MAX_RATE = 60
_MAX_CHARS = 400


@lru_cache(maxsize=8192)
def amounts(text: str) -> tuple[str, ...]:
    """List the amounts of money in a text, as they are written: never a part of one."""
    if not _DIGITS.search(text):
        return ()
    if not _MONEY.search(text, 0, _MAX_CHARS):
        return ()
    # What ends where the text is cut may be a part of an amount.
    ends = _MAX_CHARS if len(text) > _MAX_CHARS else _MAX_CHARS + 1
    matches = (m for m in _MONEY.finditer(text[:_MAX_CHARS]) if m.end() < ends)
    found = (m.group().strip(" .,") for m in matches)
    return tuple(dict.fromkeys(a for a in found if a))


def is_number(text: str) -> bool:
    """Return whether a text is nothing but a number that is not zero."""
    return bool(_NUMBER.match(text)) and has_digit(text)


def has_digit(text: str) -> bool:
    """Return whether a text has a digit that is not zero, in any script."""
    return any(char.isdecimal() and int(char) for char in text)


@lru_cache(maxsize=8192)
def is_whole(text: str) -> bool:
    """Return whether a text is one amount and nothing else: "$15", not "$15K" or "$15 each"."""
    return bool(_WHOLE.fullmatch(text.strip()))


def values(text: str) -> frozenset[float]:
    """Return the numbers of the amounts that a text is; empty where it says anything else."""
    found = amounts(text)
    if is_number(text):
        return frozenset({value_of(text)})
    rest = text
    for one in found:
        rest = rest.replace(one, " ", 1)
    if not all(map(is_whole, found)) or re.search(r"\w", rest):
        return frozenset()
    return frozenset(map(value_of, found))


@lru_cache(maxsize=8192)
def is_rate(text: str) -> bool:
    """Return whether a text is a price for a time, as a subscription's: "€4.99 / month"."""
    return len(text) <= _MAX_RATE and bool(amounts(text)) and bool(_RATE.search(text))


@lru_cache(maxsize=8192)
def currency(text: str) -> str:
    """Return the ISO 4217 code of an amount, or its sign; empty when it shows none."""
    sign = re.sub(r"[\d.,'\s\u00a0\u202f-]+", "", text).casefold()
    return _CODES.get(sign, sign.upper())


def value_of(text: str) -> float:
    """Return the number of an amount, the greater of two that it may say; 0 when it has none."""
    found = all_numbers_in(text)
    return float(max(map(abs, found[0].readings))) if found else 0.0
