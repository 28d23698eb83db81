"""Find amounts of money in what a screen says."""

import re
from functools import lru_cache

from agent.safety.currencies import AFTER, CURRENCY, NUMBER

_MONEY = re.compile(rf"(?<!\w)(?:{CURRENCY})\s?{NUMBER}|{NUMBER}\s?{AFTER}(?!\w)", re.IGNORECASE)
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
    """List the amounts of money in a text, as they are written."""
    if not _DIGITS.search(text):
        return ()
    if not _MONEY.search(text, 0, _MAX_CHARS):
        return ()
    found = (m.group().strip(" .,") for m in _MONEY.finditer(text[:_MAX_CHARS]))
    return tuple(dict.fromkeys(a for a in found if a))


def is_number(text: str) -> bool:
    """Return whether a text is nothing but a number that is not zero."""
    return bool(_NUMBER.match(text)) and bool(re.search(r"[1-9]", text))


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
    """Return the number of an amount; 0 when it has none. A last part of three digits is no cents.

    Raises nothing: whatever a screen shows has some value.
    """
    digits = re.sub(r"[^\d.,]", "", text).strip(".,")
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0 and len(digits) - last - 1 != 3:
        whole, cents = digits[:last], digits[last + 1 :]
        digits = re.sub(r"\D", "", whole) + "." + re.sub(r"\D", "", cents)
    else:
        digits = re.sub(r"\D", "", digits)
    return float(digits) if digits.strip(".") else 0.0
