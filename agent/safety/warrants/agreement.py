"""Compare what a reviewer read of an act with its card and with the clause of a warrant. Pure.

Invariant: a review that failed, that stops, or that reads the act otherwise in effect, recipient,
amount or thing agrees with nothing.
"""

import math

from msgspec.structs import replace

from agent.records import ActReview, Clause, Effect, EffectVerb, ReviewVerdict, Source, Stated
from agent.safety.allowances.covering import compared_name, compared_unit
from agent.safety.effects.amounts import amounts, currency, is_number, value_of
from agent.safety.warrants.reach import is_app


def contradicts(review: ActReview | None, effect: Effect) -> bool:
    """Return whether a reviewer read another effect in an act than its card states."""
    if review is None or review.fault:
        return False
    return review.verdict is ReviewVerdict.STOP or review.effect not in {None, effect.verb}


def disagreement(review: ActReview, effect: Effect, clause: Clause) -> str:
    """Return where a review and a card differ, as a clause of a sentence; empty: nowhere."""
    if review.fault:
        return review.fault
    if review.verdict is ReviewVerdict.STOP:
        return "the reviewer would stop it"
    if review.effect is not effect.verb or effect.verb is not clause.verb:
        return "the reviewer reads another effect"
    if not _same_recipient(review, effect, clause):
        return "the reviewer reads another recipient"
    if effect.verb is EffectVerb.SPEND and not _same_amount(review, effect):
        return "the reviewer reads another amount"
    if clause.items and not review.affects:
        return "the reviewer does not say what it buys"
    return ""


def with_items(effect: Effect, review: ActReview, clause: Clause) -> Effect:
    """Return an effect with what a reviewer says is bought, where a clause lists items."""
    if not clause.items:
        return effect
    return replace(effect, content=Stated(text=review.affects, source=Source.REVIEWER))


def _same_recipient(review: ActReview, effect: Effect, clause: Clause) -> bool:
    said = review.reaches
    if clause.recipients:
        to = effect.recipient
        return to is not None and bool(said) and compared_name(said) == compared_name(to.text)
    return not said or is_app(effect, said)


def _same_amount(review: ActReview, effect: Effect) -> bool:
    if effect.amount is None:
        return False
    found = amounts(review.amount)
    if len(found) != 1 and not is_number(review.amount):
        return False
    said = found[0] if found else review.amount
    same = math.isclose(value_of(said), value_of(effect.amount.text), abs_tol=0.001)
    unit, own = currency(said) if found else "", effect.currency
    return same and (not unit or not own or compared_unit(unit) == compared_unit(own))
