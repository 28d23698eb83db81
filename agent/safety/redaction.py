"""Take personal data out of what a phone shows and a model says, before it is kept or sent.

Not the policy on what may be typed (that is `agent.safety.policy`) and not the memory of what was
typed into password fields (`agent.safety.secrets`). Text that a phone shows loses secrets,
telephone and account numbers and e-mail addresses; what the operator or the model wrote loses
secrets only, because the operator's own goal may be to write to an address. Invariant: redacting
twice changes nothing. Pixels are never redacted: a stored frame shows what the phone showed.

The patterns follow Resolve's filters, with cards of 13 to 19 digits proved by Luhn's sum (so
American Express is caught and a long order number is not), also among other digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from re import Match

SSN = re.compile(r"(?<![\d-])\d{3}[-.\s]?\d{2}[-.\s]?\d{4}(?![\d-])")
SSN_WRITTEN_OUT = re.compile(r"(?<![\d-])\d{3}([-. ])\d{2}\1\d{4}(?![\d-])")
"""With its separators: nine digits in a row are as often a telephone or an order number, which
may be typed, though a screen that shows them loses them."""
_DIGITS = re.compile(r"\d+(?:[^\S\n]{0,2}[.·–—-]?[^\S\n]{0,2}\d+)*")
"""Groups of digits side by side: a card may stand among them, as before its expiry date."""
_GROUP = re.compile(r"\d+")
CVV = re.compile(r"\b(?:cvv|cvc|cvv2)\s*:?\s*\d{3,4}\b", re.IGNORECASE)
PASSWORD = re.compile(r"\b(?:password|passwd|pwd)\s*[:=]\s*(?!\[PASSWORD REDACTED\])\S+", re.I)
PHONE = re.compile(r"(?<![\w+])(?:\+?1[-.\s]?)?\(?\d{3}\)?[-.\s]?\d{3}[-.\s]?\d{4}(?!\w)")
PHONE_ABROAD = re.compile(r"(?<![\w+])\+\d(?:[ \u00a0()./-]{0,3}\d){8,14}(?!\w)")
"""With a country's code: E.164 allows fifteen digits; fewer than nine are as often no number."""
IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ \u00a0-]?[A-Z0-9]{4}){2,7}(?:[ \u00a0-]?[A-Z0-9]{1,3})?"
    r"(?![A-Za-z0-9])"
)
"""Whether its check digits are right is tested apart (ISO 13616)."""
KEY = re.compile(r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{12,}=*")
"""Keys of model endpoints and bearer tokens."""
EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}\b")
TAKEN_OUT = re.compile(
    r"\[(?:CARD|SSN|CVV|PASSWORD|KEY|IBAN) REDACTED\]|\[(?:PHONE|EMAIL) \*\*\*\]"
)
"""What stands for anything that these patterns took out."""

_MIN_CARD_DIGITS, _MAX_CARD_DIGITS = 13, 19
_IBAN_CHARS = range(15, 35)
_MAX_GROUPS = 1000
_MAX_PASSES = 8
_BETWEEN_TEXTS = "\0"
"""No digits go together across it. Where a text holds one itself, no pattern does either."""
_NINE_DIGITS = re.compile(r"(?<!\d)(?:\d[^\d\0]*+){8}+\d")


def passes_luhn(digits: str) -> bool:
    """Tell whether a string of digits ends in the check digit of a payment card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def find_card(text: str) -> bool:
    """Tell whether a text holds a payment card number, with or without spaces and dashes."""
    return any(next(_cards(run), None) for run in _DIGITS.finditer(text))


def _cards(run: Match[str]) -> Iterator[tuple[int, int]]:
    """Give where the cards in a run of digit groups begin and end, from left to right."""
    groups = [(m.start(), m.end()) for m in _GROUP.finditer(run.group())]
    if len(groups) > _MAX_GROUPS:
        # Too long to be searched, so nothing of it is let through.
        yield 0, len(run.group())
        return
    at = 0
    while at < len(groups):
        # No group is empty, so no card has more of them than digits.
        ends = range(at, min(at + _MAX_CARD_DIGITS, len(groups)))
        last = next((end for end in ends if _is_card(run, groups, at, end)), None)
        if last is None:
            at += 1
            continue
        yield groups[at][0], groups[last][1]
        at = last + 1


def _is_card(run: Match[str], groups: list[tuple[int, int]], first: int, last: int) -> bool:
    count = sum(end - start for start, end in groups[first : last + 1])
    if not _MIN_CARD_DIGITS <= count <= _MAX_CARD_DIGITS:
        return False
    digits = "".join(run.group()[start:end] for start, end in groups[first : last + 1])
    # Among other digits only what begins as the great networks' cards do: chance finds many.
    alone = first == 0 and last == len(groups) - 1
    if not alone and digits[0] not in "23456":
        return False
    # A run of one digit passes Luhn for some lengths and is never a card.
    return len(set(digits)) > 1 and passes_luhn(digits)


def _without_cards(run: Match[str]) -> str:
    if run.end() - run.start() < _MIN_CARD_DIGITS:
        return run.group()
    text, kept, at = run.group(), [], 0
    for start, end in _cards(run):
        kept += [text[at:start], "[CARD REDACTED]"]
        at = end
    return "".join([*kept, text[at:]])


def is_iban(text: str) -> bool:
    """Tell whether a text is an international bank account number, by its check digits."""
    plain = "".join(c for c in text if c.isalnum())
    if len(plain) not in _IBAN_CHARS:
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _without_iban(found: Match[str]) -> str:
    # A word that follows in capitals looks like one more group of it.
    text = found.group()
    ends = [m.end() for m in re.finditer(r"[A-Z0-9]+", text)]
    end = next((end for end in reversed(ends) if is_iban(text[:end])), None)
    return text if end is None else "[IBAN REDACTED]" + text[end:]


def redact_secrets(text: str) -> str:
    """Take out cards, social security numbers, CVVs, passwords and keys."""
    return _settled(text, _redact_secrets)


def redact(text: str) -> str:
    """Take out secrets, telephone numbers, account numbers (IBAN) and e-mail addresses."""
    return _settled(text, _redact_all)


def _settled(text: str, once: Callable[[str], str]) -> str:
    """Redact until nothing changes: what is taken out may leave a number standing alone."""
    if not _may_hold(text):
        return text
    for _ in range(_MAX_PASSES):
        before, text = text, once(text)
        if text == before:
            break
    return text


def any_may_hold(texts: Iterable[str]) -> bool:
    """Tell whether anything can be to redact in one of several texts, in one look at them all."""
    return _may_hold(_BETWEEN_TEXTS.join(texts))


def _may_hold(text: str) -> bool:
    """Tell whether any pattern can match: each needs one of these, and most labels have none."""
    if "@" in text or "k-" in text or "earer " in text or _NINE_DIGITS.search(text):
        return True
    folded = text.casefold()
    return "passw" in folded or "pwd" in folded or "cvv" in folded or "cvc" in folded


def _redact_secrets(text: str) -> str:
    text = KEY.sub("[KEY REDACTED]", text)
    text = _DIGITS.sub(_without_cards, text)
    text = SSN.sub("[SSN REDACTED]", text)
    text = CVV.sub("[CVV REDACTED]", text)
    return PASSWORD.sub("[PASSWORD REDACTED]", text)


def _redact_all(text: str) -> str:
    # Before the cards: an account's digits may pass for one, and would leave the rest behind.
    text = IBAN.sub(_without_iban, text)
    text = PHONE.sub("[PHONE ***]", _redact_secrets(text))
    text = PHONE_ABROAD.sub("[PHONE ***]", text)
    return EMAIL.sub("[EMAIL ***]", text)
