"""Take personal data out of what a phone shows and a model says, before it is kept or sent.

Not the policy on what may be typed (that is `agent.safety.policy`). Text that a phone shows loses
secrets, telephone numbers and e-mail addresses; in prompts, what the operator or the model wrote
loses secrets only, because the operator's own goal may be to write to an address. The store keeps
goals, messages and answers as the operator wrote them. Invariant: redacting twice changes nothing.
Pixels are never redacted: a stored frame shows what the phone showed.

The patterns follow Resolve's filters, with cards of 13 to 19 digits proved by Luhn's sum (so
American Express is caught and a long order number is not).
"""

from __future__ import annotations

import re
from html import escape, unescape
from re import Match

SSN = re.compile(r"(?<![\d-])\d{3}[-.\s]?\d{2}[-.\s]?\d{4}(?![\d-])")
SSN_WRITTEN_OUT = re.compile(r"(?<![\d-])\d{3}([-. ])\d{2}\1\d{4}(?![\d-])")
"""With its separators: nine digits in a row are as often a telephone or an order number, which
may be typed, though a screen that shows them loses them."""
CARD = re.compile(r"(?<!\d)\d(?:[\s-]?\d){12,18}(?!\d)")
CVV = re.compile(r"\b(?:cvv|cvc|cvv2)\s*:?\s*\d{3,4}\b", re.IGNORECASE)
PASSWORD = re.compile(r"\b(?:password|passwd|pwd)\s*[:=]\s*(?!\[PASSWORD REDACTED\])\S+", re.I)
PHONE = re.compile(r"(?<![\w+])(?:\+?1[-.\s]?)?\(?\d{3}\)?[-.\s]?\d{3}[-.\s]?\d{4}(?!\w)")
EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}\b")

# Every pattern needs one of these, and most labels have none.
_MAY_HOLD = re.compile(r"[\d@:=]")
# Android's own serializer (KXmlSerializer) puts a value that holds " between single quotes, and a
# value may hold > as it is. Possessive, so that a tag which never ends costs one pass.
_TAG = re.compile(r"""<[^\s<>/?!](?:[^<>"']|"[^<"]*"|'[^<']*')*+>""")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
_NO_TEXT = frozenset({"index", "class", "package", "resource-id", "bounds", "password"})
"""Attributes that no user's words stand in; any other may be text, whatever a build calls it."""


def passes_luhn(digits: str) -> bool:
    """Tell whether a string of digits ends in the check digit of a payment card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def find_card(text: str) -> bool:
    """Tell whether a text holds a payment card number, with or without spaces and dashes."""
    return any(_is_card(match) for match in CARD.finditer(text))


def _is_card(match: Match[str]) -> bool:
    digits = re.sub(r"\D", "", match.group())
    # A run of one digit passes Luhn for some lengths and is never a card.
    return len(set(digits)) > 1 and passes_luhn(digits)


def _card(match: Match[str]) -> str:
    return "[CARD REDACTED]" if _is_card(match) else match.group()


def redact_secrets(text: str) -> str:
    """Take out cards, social security numbers, CVVs and passwords."""
    if not _MAY_HOLD.search(text):
        return text
    text = CARD.sub(_card, text)
    text = SSN.sub("[SSN REDACTED]", text)
    text = CVV.sub("[CVV REDACTED]", text)
    return PASSWORD.sub("[PASSWORD REDACTED]", text)


def redact(text: str) -> str:
    """Take out secrets, telephone numbers and e-mail addresses."""
    if not _MAY_HOLD.search(text):
        return text
    text = redact_secrets(text)
    text = PHONE.sub("[PHONE ***]", text)
    return EMAIL.sub("[EMAIL ***]", text)


def redact_tree(xml: bytes) -> bytes:
    """Redact the texts of a UI tree's XML, and blank what a password field holds.

    Every element counts, whatever its name, and every attribute but those that never hold text;
    the one named `password` would otherwise look like a password itself.
    """

    def tag(match: Match[str]) -> str:
        whole = match.group()
        hidden = any(
            found[1] == "password" and (found[2] or found[3]) == "true"
            for found in _ATTRIBUTE.finditer(whole)
        )

        def attribute(found: Match[str]) -> str:
            name, value = found[1], found[2] or found[3] or ""
            if name in _NO_TEXT:
                return found.group()
            if hidden and name == "text":
                return 'text=""'
            plain = unescape(value)
            redacted = redact(plain)
            if redacted == plain:
                return found.group()
            return f'{name}="{escape(redacted, quote=True)}"'.replace("\n", "&#10;")

        return _ATTRIBUTE.sub(attribute, whole)

    return _TAG.sub(tag, xml.decode("utf-8", "replace")).encode()
