"""Which allowance covers an effect, and what of it the effect uses.

Pure: the guard stores the use before it lets the act pass. Invariants: only a send or a payment
whose recipient and, for a payment, amount can be read is covered; never a secret, never a payment
that repeats; an amount that can be read in two ways is taken as the greater.
"""

import math
import re
from collections.abc import Iterable, Sequence

import msgspec

from agent.language.fold import folded, hidden
from agent.records import Allowance, Effect, EffectVerb, Source, Stated
from agent.safety.effects.amounts import is_number, is_rate, is_whole, value_of
from agent.safety.redacting.redaction import TAKEN_OUT

_RECIPIENT_SOURCES = frozenset({Source.SCREEN, Source.TYPED})
_NOT_OF_A_NUMBER = re.compile(r"[^\d+]")
_NUMBER = re.compile(r"\+?[\d\s()./\-]{5,}")
_SIGNS = {"$": "USD", "US$": "USD"}
"""A bare sign is taken for the dearest currency that it commonly stands for."""


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """An allowance that covers an effect."""

    at: int  # Its place among the session's allowances.
    amount: int  # What the effect uses, in the unit of its limit.
    effect: Effect


def covering(
    effect: Effect,
    allowances: Sequence[Allowance],
    labels: Iterable[str],
    *,
    app_currency: str = "",
) -> Covered | None:
    """Return the first allowance that covers an effect; None: the operator is asked.

    Args:
        labels: what the screen says, where a price for each month is found.
        app_currency: the one currency that the app shows; empty: none, or several. It counts for
            an amount that is nothing but a number.
    """
    needed, unit = used_by(effect, labels), effect.currency
    if effect.amount is not None and not unit and is_number(effect.amount.text):
        unit = app_currency
    if needed is None or effect.recipient is None:
        return None
    name = compared_name(effect.recipient.text)
    for at, one in enumerate(allowances):
        if one.verb is not effect.verb or one.left < needed:
            continue
        if one.verb is EffectVerb.SPEND and (
            not unit or compared_unit(one.currency) != compared_unit(unit)
        ):
            continue
        if name in map(compared_name, one.recipients):
            return Covered(at=at, amount=needed, effect=effect)
    return None


def used_by(effect: Effect, labels: Iterable[str]) -> int | None:
    """Return how much an effect uses: messages, or hundredths; None where none can cover it.

    Args:
        labels: what the screen says, where a price for each month is found.
    """
    if not is_read(effect.recipient):
        return None
    if effect.content is not None and TAKEN_OUT.search(effect.content.text):
        return None
    match effect.verb:
        case EffectVerb.SEND:
            return 1
        case EffectVerb.SPEND:
            if effect.amount is None or not is_read(effect.amount):
                return None
            said = effect.amount.text
            if not is_whole(said) and not is_number(said):
                return None
            if any(map(is_rate, labels)):
                return None
            hundredths = math.ceil(value_of(effect.amount.text) * 100 - 1e-6)
            return hundredths if hundredths > 0 else None
        case _:
            return None


def is_read(fact: Stated | None) -> bool:
    """Return whether a fact was read on the phone, whole, with nothing redacted."""
    return (
        fact is not None
        and fact.source in _RECIPIENT_SOURCES
        and bool(fact.text.strip())
        and not TAKEN_OUT.search(fact.text)
    )


def compared_name(text: str) -> str:
    """Return a name in the form in which two are compared: letters that look alike stay apart."""
    name = folded(text)
    name = _NOT_OF_A_NUMBER.sub("", name) if _NUMBER.fullmatch(name) else name
    # A contact may be named as another is but for what nobody sees.
    return name + hidden(text)


def compared_unit(code: str) -> str:
    """Return a currency in the form in which two are compared."""
    return _SIGNS.get(code, code)
