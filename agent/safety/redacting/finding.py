"""Find everything in a text that is a secret or personal, in the one form that all texts have.

The one decision: what may be typed, what is kept and what is shown all ask here. Invariant: where
something stands is told in places of the text itself, in order and without overlap.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import msgspec

from agent.language.normal_form import Normal, normal_forms
from agent.safety.redacting.context_words import announced, may_announce
from agent.safety.redacting.let_through import is_anything_let_through, is_let_through
from agent.safety.redacting.numbers import accounts, cards, security_numbers
from agent.safety.redacting.requested_details import Detail, shown_now
from agent.safety.redacting.secrets import vault_name


class Kind(StrEnum):
    """What was found; the value stands in the marker that takes its place."""

    CARD = "CARD"
    SSN = "SSN"
    CVV = "CVV"
    PIN = "PIN"
    CODE = "CODE"
    PASSWORD = "PASSWORD"
    KEY = "KEY"
    IBAN = "IBAN"
    PHONE = "PHONE"
    EMAIL = "EMAIL"


PERSONAL = frozenset({Kind.IBAN, Kind.PHONE, Kind.EMAIL})
"""Taken out of what a phone shows, not of what the operator or a model writes."""
_DETAILS = {Detail.PHONE: Kind.PHONE, Detail.EMAIL: Kind.EMAIL}


class SecretSpan(msgspec.Struct, frozen=True):
    """A secret or personal text, by its place in the source."""

    start: int
    end: int
    kind: Kind


_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_-]{35}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s]*)"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{12,}=*"
)
"""Keys of model endpoints, GitHub, Slack, AWS and Google, JSON Web Tokens, bearer tokens."""
_PHONE = re.compile(
    r"(?<![\w+])(?:\+?1[-.\s]?)?(?:\([0-9]{3}\)[-.\s]?|[0-9]{3}[-.\s])[0-9]{3}[-.\s]?[0-9]{4}(?!\w)"
)
_PHONE_ABROAD = re.compile(r"(?<![\w+])\+[0-9](?:[ ()./-]{0,3}[0-9]){8,14}(?!\w)")
"""With a country's code: E.164 allows fifteen digits; fewer than nine are as often no number."""
_PHONE_SAID = re.compile(
    r"(?<![^\W_])(?:phone|tel|telephone|mobile|cell|call|sms|whatsapp|telefon|handy|mobil|telefono"
    r"|telefone|portable|movil|celular|cellulare|telefoon|komorka|телефон|тел)"
    r"(?:[^\S\0]{0,2}(?:number|no|nr|nummer|numero))?[^\w\0+]{1,4}(?P<number>[0-9]{7,15})(?![^\W_])"
)
_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}\b")
_DIGITS = re.compile(r"[0-9](?:(?:[^\w\0]|_){0,16}+[0-9]){6}")
_SIGNS = ("@", "k-", "earer ", "gh", "xox", "AKIA", "AIza", "eyJ", "PRIVATE KEY", "github_pat_")
_CACHED_CHARS = 400


def find(text: str) -> tuple[SecretSpan, ...]:
    """Find all that is secret or personal in a text, in order and without overlap.

    What the operator let through for the session that is at work is not found, nor the personal
    details that its goal speaks of.
    """
    # Labels of a screen are looked at again and again; a long text is met once or twice.
    read = _read_kept(text) if len(text) <= _CACHED_CHARS else _read(text)
    if not read.found:
        return read.found
    shown = {_DETAILS[detail] for detail in shown_now()}
    if not shown and not is_anything_let_through():
        return read.found
    left = [
        one for one, value in read.values if one.kind not in shown and not is_let_through(value)
    ]
    return tuple(_apart(left))


def secret_values(text: str) -> tuple[str, ...]:
    """Return the secrets in a text as they are written, without the words that announce them."""
    values = (value for one, value in _read(text).values if one.kind not in PERSONAL)
    return tuple(dict.fromkeys(value for value in values if not is_let_through(value)))


def may_hold(text: str) -> bool:
    """Return whether there can be anything to find; most labels have nothing."""
    return any(map(_may_hold, normal_forms(text)))


def _may_hold(normal: Normal) -> bool:
    shown = normal.text
    if _DIGITS.search(normal.spaced) or any(sign in shown for sign in _SIGNS):
        return True
    return may_announce(normal.lower) or _IBAN_HINT.search(normal.lower) is not None


_STOPS = ".,;:!?"
_IBAN_HINT = re.compile(r"(?<![a-z0-9])[a-z]{2}[^\w\0\n]{0,3}[0-9][^\w\0\n]{0,3}[0-9]")


class _Reading(NamedTuple):
    """All that was found in a text."""

    found: tuple[SecretSpan, ...] = ()  # In order and without overlap.
    values: tuple[
        tuple[SecretSpan, str], ...
    ] = ()  # Each by itself, with the secret as it is written.


@lru_cache(maxsize=4096)
def _read_kept(text: str) -> _Reading:
    return _read(text)


def _read(text: str) -> _Reading:
    if not may_hold(text):
        return _Reading()
    values: list[tuple[SecretSpan, str]] = []
    for normal in normal_forms(text):
        for start, end, kind, value in _spans(normal):
            first, last = normal.source_span(start, end)
            at, until = normal.source_span(*value)
            if not vault_name(text[at:until].rstrip(_STOPS)):
                # The name of what the vault keeps is no secret.
                values.append((SecretSpan(first, last, kind), text[at:until]))
    return _Reading(tuple(_apart([one for one, _ in values])), tuple(values))


def _spans(normal: Normal) -> Iterator[tuple[int, int, Kind, tuple[int, int]]]:
    """Return what is found: from where to where, its kind, and where the secret itself stands."""
    for start, end, kind in _standing_alone(normal):
        yield start, end, kind, (start, end)
    if may_announce(normal.lower):
        for said in announced(normal.text, normal.lower):
            yield said.start, said.end, Kind(said.cue.value), said.value


def _standing_alone(normal: Normal) -> Iterator[tuple[int, int, Kind]]:
    text, lower = normal.text, normal.lower
    for key in _KEY.finditer(text):
        yield key.start(), key.end(), Kind.KEY
    # Before the cards: an account's digits may pass for one, and would leave the rest behind.
    for start, end in accounts(lower):
        yield start, end, Kind.IBAN
    for start, end in cards(normal.spaced):
        yield start, end, Kind.CARD
    for start, end in security_numbers(normal.spaced, lower):
        yield start, end, Kind.SSN
    for pattern in (_PHONE, _PHONE_ABROAD):
        for number in pattern.finditer(text):
            yield number.start(), number.end(), Kind.PHONE
    for said in _PHONE_SAID.finditer(lower):
        yield *said.span("number"), Kind.PHONE
    if "@" in text:
        for address in _EMAIL.finditer(text):
            yield address.start(), address.end(), Kind.EMAIL


def _apart(found: list[SecretSpan]) -> Iterator[SecretSpan]:
    """Return what was found from left to right; of what overlaps, secrets first, then by order.

    What an announced secret and a number share is one secret: the wider one has it all.
    """
    kept: list[SecretSpan] = []
    for one in sorted(found, key=lambda f: (f.start, -f.end)):
        if kept and one.start < kept[-1].end:
            last = kept[-1]
            is_weaker = last.kind in PERSONAL and one.kind not in PERSONAL
            kept[-1] = SecretSpan(
                last.start, max(last.end, one.end), one.kind if is_weaker else last.kind
            )
        else:
            kept.append(one)
    yield from kept
