"""Compare what an act would do with a warrant: inside a clause, or what of it is beyond.

Pure, and the only place that decides it: acts on a phone and invented cases are compared alike.
Invariants: what cannot be read is beyond; an amount that can be read in two ways is taken as the
greater; a payment that repeats, a text with a secret and every verb but three are beyond.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from agent.language.fold import folded
from agent.language.tokens import words
from agent.records import Clause, Effect, EffectVerb, Stated, Warrant, WarrantUse
from agent.safety.allowances.covering import compared_name, compared_unit, is_read, used_by
from agent.safety.effects.amounts import is_number, is_rate
from agent.text import one_line

VERBS = (EffectVerb.SEND, EffectVerb.SPEND, EffectVerb.CALL)
"""What a warrant may cover. Secrets, cards, permissions, protections, deleting, installing and what
cannot be read are never among them."""
MOST_USES = 100
"""Acts that one warrant lets pass, whatever its clauses say."""
_NAME_CHARS = 60
_PARTS = re.compile(r"[,;/\n·•+&]")


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What counts beside the effect itself."""

    now_ms: int
    labels: tuple[str, ...] = ()
    """What the screen says, where a price for each month is found."""
    app_currency: str = ""
    """The one currency that the app shows; it counts for an amount that is a mere number."""
    reads_items: bool = False
    """Whether a reviewer read what is bought; a clause with items covers nothing without."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How an effect stands to one clause."""

    clause: int  # From 1.
    amount: int = 0  # What it uses, in hundredths.
    beyond: str = ""  # What of it is beyond the clause, as a clause of a sentence; empty: nothing.
    depth: int = 0  # How many of its limits it keeps before the first that it does not.

    @property
    def is_inside(self) -> bool:
        return not self.beyond


def reach_of(
    effect: Effect, warrant: Warrant, uses: Sequence[WarrantUse], scene: Scene
) -> Reach | None:
    """Return how an effect stands to the clause that it is inside of, or nearest to.

    Args:
        uses: what was used of the warrant.

    Returns:
        None: no clause is about such acts.
    """
    found = [
        _reach(effect, clause, number, warrant, uses, scene)
        for number, clause in enumerate(warrant.clauses, 1)
        if clause.verb is effect.verb and clause.verb in VERBS
    ]
    inside = next((one for one in found if one.is_inside), None)
    return inside or max(found, key=lambda one: one.depth, default=None)


def _reach(
    effect: Effect,
    clause: Clause,
    number: int,
    warrant: Warrant,
    uses: Sequence[WarrantUse],
    scene: Scene,
) -> Reach:
    """Hold an effect against one clause, limit by limit."""
    until_ms = min(clause.until_ms or warrant.expires_ms, warrant.expires_ms)
    own = [use for use in uses if use.clause == number]
    amount = _amount(effect, clause, scene)
    checks = (
        "" if scene.now_ms < until_ms else "it is over",
        _wrong_app(effect, clause),
        _wrong_recipient(effect, clause),
        _unread(effect, clause, amount, scene),
        _not_listed(effect, clause, scene),
        _over(effect, clause, amount or 0, own, scene),
        "" if not clause.count or len(own) < clause.count else _used_up(clause),
        "" if len(uses) < MOST_USES else f"{MOST_USES} acts have passed under it",
    )
    depth = next((at for at, why in enumerate(checks) if why), len(checks))
    beyond = checks[depth] if depth < len(checks) else ""
    spent = (amount or 0) if clause.verb is EffectVerb.SPEND else 0
    return Reach(clause=number, amount=spent, beyond=beyond, depth=depth)


def _wrong_app(effect: Effect, clause: Clause) -> str:
    if not clause.app or is_app(effect, clause.app):
        return ""
    return f"it is in {_shown(effect.app_name or effect.app) or 'an unknown app'}, not {clause.app}"


def is_app(effect: Effect, name: str) -> bool:
    """Return whether an effect is in the app of a package or of a known name."""
    known = {folded(effect.app), folded(effect.app_name)} - {""}
    return folded(name) in known


def _wrong_recipient(effect: Effect, clause: Clause) -> str:
    to = effect.recipient
    if not clause.recipients:
        if clause.verb is not EffectVerb.SPEND or not clause.app:
            return "it names no recipient"
        # The app itself is paid: somebody whom the page names is not the app.
        if to is not None and to.text.strip() and not is_app(effect, to.text):
            return f"it goes to {_shown(to.text)}, whom the clause does not name"
        return ""
    if not is_read(to) or to is None:
        return "who gets it cannot be read"
    if compared_name(to.text) in map(compared_name, clause.recipients):
        return ""
    return f"it goes to {_shown(to.text)}, whom the clause does not name"


def _amount(effect: Effect, clause: Clause, scene: Scene) -> int | None:
    """Return how much an effect uses; None where that cannot be read."""
    if clause.verb is EffectVerb.CALL:
        return 1
    if clause.recipients:
        return used_by(effect, scene.labels)
    return used_by(replace(effect, recipient=Stated(text=clause.app)), scene.labels)


def _unread(effect: Effect, clause: Clause, amount: int | None, scene: Scene) -> str:
    if clause.verb is EffectVerb.SEND and (amount is None or not is_read(effect.content)):
        return "its text cannot be read, or holds something that was redacted"
    if amount is not None:
        return ""
    if any(map(is_rate, scene.labels)):
        return "the page names a price for a time, so it may repeat"
    return "how much it pays cannot be read for certain"


def _not_listed(effect: Effect, clause: Clause, scene: Scene) -> str:
    """Return what is bought beside the items of a clause."""
    if not clause.items:
        return ""
    bought = "" if effect.content is None or not scene.reads_items else effect.content.text
    parts = [part for part in map(words, _PARTS.split(bought)) if part]
    if not parts:
        return "what it buys cannot be read for certain"
    listed = set(map(words, clause.items))
    other = next((part for part in parts if _without_count(part) not in listed), None)
    return "" if other is None else f"it buys {_shown(' '.join(other))}, which is not on the list"


def _without_count(part: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an item without how many there are: "2 x milk"."""
    head = part[0]
    if len(part) > 1 and head.isdecimal():
        return part[2:] if part[1] == "x" and len(part) > 2 else part[1:]
    return part


def _over(
    effect: Effect, clause: Clause, amount: int, own: Iterable[WarrantUse], scene: Scene
) -> str:
    """Return which amount of a clause a payment exceeds."""
    if clause.verb is not EffectVerb.SPEND:
        return ""
    if not (clause.limit or (clause.each and clause.count)):
        return "it names no amount"
    unit = effect.currency
    if not unit and effect.amount is not None and is_number(effect.amount.text):
        unit = scene.app_currency
    if not unit or compared_unit(unit) != compared_unit(clause.currency):
        return f"its currency is {_shown(unit) or 'unknown'}, not {clause.currency}"
    if clause.each and amount > clause.each:
        return f"{money(amount, unit)} is more than {money(clause.each, unit)} at once"
    left = clause.limit - sum(use.amount for use in own)
    if clause.limit and amount > left:
        of = "" if left == clause.limit else f" that is left of {money(clause.limit, unit)}"
        return f"{money(amount, unit)} is more than the {money(max(left, 0), unit)}{of}"
    return ""


def _used_up(clause: Clause) -> str:
    return "its one act is used" if clause.count == 1 else f"its {clause.count} acts are used"


def money(hundredths: int, unit: str) -> str:
    """Return an amount as it is shown."""
    return f"{hundredths / 100:.2f} {unit}"


def _shown(text: str) -> str:
    return one_line(text, _NAME_CHARS)
