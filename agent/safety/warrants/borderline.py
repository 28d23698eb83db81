"""Invent ten acts at the edges of a warrant's clauses, and let the operator correct the verdicts.

Pure. The cases are made from the clauses by structure and judged by `reach_of`, as acts are on a
phone. Invariants: a correction only changes a clause within the operator's words; after it the
warrant gives the verdict that the operator wants, or it is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from msgspec.structs import replace

from agent.errors import UsageError
from agent.language.look_alikes import LOOK_ALIKES
from agent.records import (
    BorderlineCase,
    Clause,
    Correction,
    Effect,
    EffectVerb,
    ReviewVerdict,
    Source,
    Stated,
    Warrant,
    WarrantUse,
)
from agent.safety.effects.wording import headline
from agent.safety.warrants.reach import Scene, money, reach_of
from agent.text import one_line

MOST_CASES = 10
_DAY_MS = 24 * 60 * 60 * 1000
_MINUTE_MS = 60_000
_OTHERS = ("Tom Becker", "Mia Novak")
_OTHER_APPS = ("com.example.other", "com.example.another")
_OTHER_CURRENCIES = ("USD", "EUR")
_SOME_HUNDREDTHS = 500
_ITEMS_CHARS = 80
_OTHER_ITEM = "saffron threads"
_SHAPE_OF = {letter: chr(shape) for shape, letter in reversed(LOOK_ALIKES.items())}
Change = Callable[[Clause], Clause]


class Kind(Enum):
    """What an invented act tries, the telling ones first."""

    EXACT = auto()
    MORE = auto()
    SUM = auto()
    STRANGER = auto()
    ALIKE = auto()
    APP = auto()
    CURRENCY = auto()
    REPEATS = auto()
    LATER = auto()
    ITEM = auto()
    SECOND = auto()
    OTHER = auto()


class Edge(NamedTuple):
    """An act at the edge of a clause, before it is judged."""

    kind: Kind
    clause: int  # From 1.
    effect: Effect
    after: str = ""  # What makes it what it is, beside its effect: "a minute before the end".
    labels: tuple[str, ...] = ()
    uses: tuple[int, ...] = ()
    """What was used of the clause before, in hundredths; an act each."""
    late_ms: int = -_MINUTE_MS
    """When, from the clause's end; negative: before."""
    stricter: Change | None = None
    """What makes the clause not cover it, or cover it no longer."""
    wider: Change | None = None
    """What makes the clause cover it, if the operator's words say so."""


def cases_of(warrant: Warrant) -> tuple[BorderlineCase, ...]:
    """Return up to ten cases with the verdicts that a warrant gives, in a fixed order."""
    return tuple(
        _judged(warrant, number, edge) for number, edge in enumerate(_chosen(warrant.clauses), 1)
    )


def corrected(
    warrant: Warrant,
    corrections: Sequence[Correction],
    gaps: Callable[[Sequence[Clause]], Sequence[str]],
) -> Warrant:
    """Return a warrant that gives the verdicts that the operator wants.

    Args:
        corrections: by the numbers that `cases_of` gives the cases of this warrant.
        gaps: what of some clauses the operator's words do not say.

    Raises:
        UsageError: there is no such case, the words do not say so, or two corrections exclude each
            other.
    """
    edges = _chosen(warrant.clauses)
    now = warrant
    for one in corrections:
        if not 1 <= one.case <= len(edges):
            raise UsageError(f"There is no case {one.case}.", f"Use 1 to {len(edges)}.")
        edge = edges[one.case - 1]
        if _is_allowed(now, edge) is one.allows:
            continue
        change = edge.wider if one.allows else edge.stricter
        if change is None:
            raise _unsayable(one)
        at = edge.clause - 1
        clauses = (*now.clauses[:at], change(now.clauses[at]), *now.clauses[at + 1 :])
        said_more = set(gaps(clauses)) - set(gaps(now.clauses))
        if said_more:
            raise UsageError(
                f"Case {one.case} cannot be changed: {min(said_more)}",
                "Draft the warrant again with words that say so.",
            )
        now = replace(now, clauses=clauses)
    for one in corrections:
        if _is_allowed(now, edges[one.case - 1]) is not one.allows:
            raise _unsayable(one)
    return now


def _unsayable(one: Correction) -> UsageError:
    verb = "allowed" if one.allows else "held"
    return UsageError(
        f"Case {one.case} cannot be {verb}: no clause within your words does that.",
        "Draft the warrant again with words that say so.",
    )


def _judged(warrant: Warrant, number: int, edge: Edge) -> BorderlineCase:
    said = headline(edge.effect)
    reach = reach_of(edge.effect, warrant, _uses(edge), _scene(warrant, edge))
    allowed = reach is not None and reach.is_inside
    why = "no clause is about that" if reach is None else reach.beyond
    return BorderlineCase(
        number=number,
        clause=edge.clause,
        says=one_line(f"{said}, {edge.after}" if edge.after else said, 200),
        verdict=ReviewVerdict.ALLOW if allowed else ReviewVerdict.ASK,
        why=why,
    )


def _is_allowed(warrant: Warrant, edge: Edge) -> bool:
    reach = reach_of(edge.effect, warrant, _uses(edge), _scene(warrant, edge))
    return reach is not None and reach.is_inside


def _uses(edge: Edge) -> tuple[WarrantUse, ...]:
    return tuple(
        WarrantUse(warrant_id="", number=number, clause=edge.clause, amount=amount)
        for number, amount in enumerate(edge.uses, 1)
    )


def _scene(warrant: Warrant, edge: Edge) -> Scene:
    clause = warrant.clauses[edge.clause - 1]
    end_ms = min(clause.until_ms or warrant.expires_ms, warrant.expires_ms)
    return Scene(now_ms=end_ms + edge.late_ms, labels=edge.labels, reads_items=True)


def _chosen(clauses: Sequence[Clause]) -> tuple[Edge, ...]:
    """Return an edge of each kind, of the clause with the fewest yet, then others; ten at most."""
    left = [edge for number, one in enumerate(clauses, 1) for edge in _edges(number, one)]
    found: list[Edge] = []

    def least(edge: Edge) -> int:
        return sum(one.clause == edge.clause for one in found)

    for kind in Kind:
        one = min((edge for edge in left if edge.kind is kind), key=least, default=None)
        if one is not None:
            found.append(one)
            left.remove(one)
    while left and len(found) < MOST_CASES:
        found.append(left.pop(left.index(min(left, key=least))))
    return tuple(sorted(found[:MOST_CASES], key=lambda edge: edge.clause))


def _edges(number: int, clause: Clause) -> Iterator[Edge]:
    if clause.verb is EffectVerb.SPEND:
        yield from _payments(number, clause)
    else:
        yield from _words_to_somebody(number, clause)


def _payments(number: int, clause: Clause) -> Iterator[Edge]:
    most = min(filter(None, (clause.each, clause.limit)), default=_SOME_HUNDREDTHS)
    exact, other_unit = _payment(clause, most), _other_currency(clause)
    yield Edge(
        Kind.EXACT, number, exact, "exactly the limit", stricter=lambda one: _lower(one, most)
    )
    yield Edge(Kind.MORE, number, _payment(clause, most + 1), "a cent more")
    if clause.items:
        bought = f"{clause.items[0]}, {_OTHER_ITEM}"
        said = f"for {one_line(bought, _ITEMS_CHARS)}"
        yield Edge(Kind.ITEM, number, replace(exact, content=Stated(text=bought)), said)
    yield from _second(number, clause, _payment(clause, most - most // 2), most // 2)
    if clause.limit:
        before = clause.limit - most // 2
        over = _payment(clause, most // 2 + 1)
        said = f"after {money(before, clause.currency)}, a cent more than is left"
        yield Edge(Kind.SUM, number, over, said, uses=(before,))
    yield from _strangers(number, clause, exact)
    yield Edge(
        Kind.CURRENCY,
        number,
        _payment(replace(clause, currency=other_unit), most),
        "another currency",
    )
    rate = f"{money(most, clause.currency)} / month"
    yield Edge(Kind.REPEATS, number, exact, "every month instead of once", labels=(rate,))
    yield from _apps(number, clause, exact)
    yield from _ends(number, exact)
    yield Edge(
        Kind.OTHER,
        number,
        replace(exact, amount=Stated(source=Source.UNREADABLE)),
        "whatever it is",
    )


def _words_to_somebody(number: int, clause: Clause) -> Iterator[Edge]:
    act = _act(clause)
    last = (0,) * max(clause.count - 1, 0)
    fewer: Change = lambda one: replace(one, count=one.count - 1)  # noqa: E731
    said = f"number {clause.count} of {clause.count}" if clause.count > 1 else "the first"
    yield Edge(
        Kind.EXACT, number, act, said, uses=last, stricter=fewer if clause.count > 1 else None
    )
    yield from _second(number, clause, act, 0)
    if clause.count > 1:
        yield Edge(Kind.MORE, number, act, "one more than the number", uses=(*last, 0))
    yield from _strangers(number, clause, act)
    yield from _apps(number, clause, act)
    yield from _ends(number, act)
    if clause.verb is EffectVerb.SEND:
        yield Edge(
            Kind.OTHER,
            number,
            replace(act, verb=EffectVerb.CALL, content=None),
            "a call, not a text",
        )
        yield Edge(
            Kind.OTHER,
            number,
            replace(act, content=Stated(text="[PASSWORD REDACTED]")),
            "a password",
        )
    else:
        text = Stated(text="Hello")
        yield Edge(
            Kind.OTHER,
            number,
            replace(act, verb=EffectVerb.SEND, content=text),
            "a text, not a call",
        )
    unread = Stated(source=Source.UNREADABLE)
    yield Edge(Kind.OTHER, number, replace(act, recipient=unread), "to somebody who cannot be read")


def _second(number: int, clause: Clause, effect: Effect, before: int) -> Iterator[Edge]:
    """Yield the second act of a clause: two instead of one."""
    yield Edge(
        Kind.SECOND,
        number,
        effect,
        f"after {money(before, clause.currency)}, together the limit" if before else "a second one",
        uses=(before,),
        stricter=lambda one: replace(one, count=1),
        wider=lambda one: replace(one, count=0 if one.count == 1 else one.count),
    )


def _strangers(number: int, clause: Clause, effect: Effect) -> Iterator[Edge]:
    """Yield the act for somebody else, for a name that looks alike, and for two at once."""
    named = clause.recipients[0] if clause.recipients else ""
    other = next(one for one in _OTHERS if one not in clause.recipients)
    yield Edge(
        Kind.STRANGER, number, replace(effect, recipient=Stated(text=other)), "another recipient"
    )
    if named:
        alike = replace(effect, recipient=Stated(text=look_alike(named)))
        yield Edge(Kind.ALIKE, number, alike, "a name that only looks alike")
        both = replace(effect, recipient=Stated(text=f"{named}, {other}"))
        yield Edge(Kind.OTHER, number, both, "both at once")
    elif clause.app:
        alike = replace(effect, app=look_alike(clause.app), app_name="")
        yield Edge(Kind.ALIKE, number, alike, "an app whose name only looks alike")


def _apps(number: int, clause: Clause, effect: Effect) -> Iterator[Edge]:
    other = next(one for one in _OTHER_APPS if one != clause.app)
    said = "another app" if clause.app else "any app"
    yield Edge(Kind.APP, number, replace(effect, app=other, app_name=""), said)


def _ends(number: int, effect: Effect) -> Iterator[Edge]:
    longer: Change = lambda one: replace(one, until_ms=0)  # noqa: E731
    yield Edge(
        Kind.LATER, number, effect, "the day after", late_ms=_DAY_MS - _MINUTE_MS, wider=longer
    )
    yield Edge(Kind.OTHER, number, effect, "at the very moment when it ends", late_ms=0)


def _lower(clause: Clause, most: int) -> Clause:
    return replace(
        clause,
        limit=most - 1 if clause.limit == most else clause.limit,
        each=most - 1 if clause.each == most else clause.each,
    )


def _payment(clause: Clause, hundredths: int) -> Effect:
    amount = money(hundredths, clause.currency)
    return replace(_act(clause), amount=Stated(text=amount), currency=clause.currency)


def _act(clause: Clause) -> Effect:
    """Return an act well inside a clause."""
    to = Stated(text=clause.recipients[0]) if clause.recipients else None
    content = Stated(text=", ".join(clause.items)) if clause.items else None
    if clause.verb is EffectVerb.SEND:
        content = Stated(text="Hello")
    return Effect(verb=clause.verb, recipient=to, content=content, app=clause.app)


def look_alike(name: str) -> str:
    """Return another name that looks the same, or nearly."""
    at = next((at for at, char in enumerate(name.lower()) if char in _SHAPE_OF), None)
    if at is None:
        # Nothing of it has a double: one that nobody sees stands in it.
        return f"{name[:1]}\u200b{name[1:]}"
    double = _SHAPE_OF[name[at].lower()]
    return name[:at] + (double.upper() if name[at].isupper() else double) + name[at + 1 :]


def _other_currency(clause: Clause) -> str:
    return next(one for one in _OTHER_CURRENCIES if one != clause.currency)
