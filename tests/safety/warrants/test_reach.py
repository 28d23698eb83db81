"""A warrant covers what its clauses say, to the cent and the millisecond, and nothing else."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.records import Clause, Effect, EffectVerb, Source, Stated, Warrant, WarrantUse
from agent.safety.warrants.borderline import look_alike
from agent.safety.warrants.reach import MOST_USES, Scene, reach_of

END = 1_800_000_000_000
APPS = ("com.example.shop", "com.example.bank", look_alike("com.example.shop"))
NAMES = ("Ana Silva", "Ben Carter", look_alike("Ana Silva"), "Ana", "Ana Silva, Ben Carter", "")
CURRENCIES = ("EUR", "USD", "")
SPEND, SEND, CALL = EffectVerb.SPEND, EffectVerb.SEND, EffectVerb.CALL


@dataclass(frozen=True)
class Act:
    """An act in plain numbers, from which an effect and the expected verdict are made."""

    verb: EffectVerb
    app: str
    to: str
    source: Source
    hundredths: int
    currency: str
    at_ms: int
    repeats: bool
    has_secret: bool
    text: str = "hello"

    @property
    def effect(self) -> Effect:
        amount = f"{self.hundredths / 100:.2f} {self.currency}".strip()
        content = "it is [PASSWORD REDACTED]" if self.has_secret else self.text
        return Effect(
            verb=self.verb,
            app=self.app,
            recipient=Stated(text=self.to, source=self.source) if self.to else None,
            content=Stated(text=content) if self.verb is SEND else None,
            amount=Stated(text=amount) if self.verb is SPEND else None,
            currency=self.currency if self.verb is SPEND else "",
        )

    @property
    def scene(self) -> Scene:
        labels = ("4.99 EUR / month",) if self.repeats else ("Total",)
        return Scene(now_ms=self.at_ms, labels=labels)


def is_inside(act: Act, clause: Clause, used: list[int]) -> bool:
    """Say in plain arithmetic whether a clause covers an act."""
    end = min(clause.until_ms or END, END)
    if act.verb is not clause.verb or act.at_ms >= end or len(used) >= MOST_USES:
        return False
    if clause.app and act.app != clause.app:
        return False
    if clause.recipients:
        if act.to not in clause.recipients or act.source not in {Source.SCREEN, Source.TYPED}:
            return False
    elif not clause.app or clause.verb is not SPEND or act.to:
        return False
    if clause.count and len(used) >= clause.count:
        return False
    if clause.verb is not SPEND:
        return act.verb is not SEND or not (act.has_secret or not act.text)
    if not clause.limit and not (clause.each and clause.count):
        return False
    if act.repeats or act.currency != clause.currency or act.hundredths <= 0:
        return False
    if clause.each and act.hundredths > clause.each:
        return False
    return not clause.limit or sum(used) + act.hundredths <= clause.limit


clauses = st.builds(
    Clause,
    verb=st.sampled_from([SPEND, SEND, CALL]),
    app=st.sampled_from(["", *APPS[:2]]),
    recipients=st.sampled_from([(), ("Ana Silva",), ("Ana Silva", "Ben Carter")]),
    limit=st.sampled_from([0, 1, 1999, 4000]),
    each=st.sampled_from([0, 0, 500, 2000]),
    currency=st.sampled_from(["EUR", "USD"]),
    count=st.integers(0, 3),
    until_ms=st.sampled_from([0, END - 1000, END + 1000]),
)


@st.composite
def trials(draw: st.DrawFn) -> tuple[Clause, Act, list[int]]:
    clause = draw(clauses)
    used = draw(st.lists(st.sampled_from([1, 499, 500, 1999, 2000]), max_size=4))
    left = max(clause.limit - sum(used), 0)
    near = [1, *(x + d for x in (clause.limit, clause.each, left) for d in (-1, 0, 1) if x + d > 0)]
    end = min(clause.until_ms or END, END)
    act = Act(
        verb=draw(st.sampled_from([clause.verb, clause.verb, clause.verb, *EffectVerb])),
        app=draw(st.sampled_from([clause.app or APPS[0], clause.app or APPS[0], *APPS])),
        to=draw(st.sampled_from([*clause.recipients[:1], *clause.recipients[:1], *NAMES])),
        source=draw(st.sampled_from([Source.SCREEN, Source.SCREEN, *Source])),
        hundredths=draw(st.sampled_from(near)),
        currency=draw(st.sampled_from([clause.currency, clause.currency, *CURRENCIES])),
        at_ms=draw(st.sampled_from([end - 1, end - 1, end, end + 1, 1])),
        repeats=draw(st.integers(0, 5)) == 0,
        has_secret=draw(st.integers(0, 5)) == 0,
        text=draw(st.sampled_from(["hello", "hello", "hello", ""])),
    )
    return clause, act, used


def as_uses(used: list[int], clause: int = 1) -> list[WarrantUse]:
    return [
        WarrantUse(warrant_id="w", number=at, clause=clause, amount=amount)
        for at, amount in enumerate(used, 1)
    ]


@given(trials())
def test_a_clause_covers_exactly_what_its_numbers_say(trial: tuple[Clause, Act, list[int]]) -> None:
    clause, act, used = trial
    warrant = Warrant(warrant_id="w", words="", clauses=(clause,), expires_ms=END)
    found = reach_of(act.effect, warrant, as_uses(used), act.scene)
    assert (found is not None and found.is_inside) is is_inside(act, clause, used), found
    if found is not None and found.is_inside and act.verb is SPEND:
        assert found.amount == act.hundredths


@given(st.lists(clauses, min_size=1, max_size=4), trials())
def test_several_clauses_cover_no_more_than_one_of_them(
    several: list[Clause], trial: tuple[Clause, Act, list[int]]
) -> None:
    _, act, _ = trial
    warrant = Warrant(warrant_id="w", words="", clauses=tuple(several), expires_ms=END)
    found = reach_of(act.effect, warrant, [], act.scene)
    covering = [at for at, one in enumerate(several, 1) if is_inside(act, one, [])]
    assert (found.clause if found is not None and found.is_inside else None) == (
        covering[0] if covering else None
    )


@given(st.lists(st.integers(1, 1500), max_size=12), st.sampled_from([0, 700]))
def test_what_passes_never_sums_to_more_than_the_limit(cents: list[int], each: int) -> None:
    clause = Clause(verb=SPEND, app=APPS[0], limit=4000, each=each, currency="EUR")
    warrant = Warrant(warrant_id="w", words="", clauses=(clause,), expires_ms=END)
    used: list[int] = []
    for cent in cents:
        act = Act(SPEND, APPS[0], "", Source.SCREEN, cent, "EUR", END - 1, False, False)
        found = reach_of(act.effect, warrant, as_uses(used), act.scene)
        assert found is not None
        if found.is_inside:
            used.append(found.amount)
    assert sum(used) <= 4000 and (not each or max(used, default=0) <= each)


@pytest.mark.parametrize("verb", sorted(set(EffectVerb) - {SPEND, SEND, CALL}))
def test_no_other_verb_is_ever_covered(verb: EffectVerb) -> None:
    clause = Clause(verb=verb, app=APPS[0], recipients=("Ana Silva",))
    warrant = Warrant(warrant_id="w", words="", clauses=(clause,), expires_ms=END)
    effect = Effect(verb=verb, app=APPS[0], recipient=Stated(text="Ana Silva"))
    assert reach_of(effect, warrant, [], Scene(now_ms=1)) is None


@pytest.mark.parametrize(
    ("bought", "is_listed"),
    [
        ("milk", True),
        ("2 x Milk, rye bread", True),
        ("3 milk; rye bread", True),
        ("milk, saffron", False),
        ("milk and saffron", False),
        ("rye", False),
        ("", False),
        (",", False),
    ],
)
def test_only_listed_things_are_bought(bought: str, is_listed: bool) -> None:
    clause = Clause(
        verb=SPEND, app=APPS[0], limit=4000, currency="EUR", items=("milk", "rye bread")
    )
    warrant = Warrant(warrant_id="w", words="", clauses=(clause,), expires_ms=END)
    act = Act(SPEND, APPS[0], "", Source.SCREEN, 500, "EUR", END - 1, False, False)
    effect = replace(act.effect, content=Stated(text=bought, source=Source.REVIEWER))
    found = reach_of(effect, warrant, [], replace(act.scene, reads_items=True))
    assert found is not None and found.is_inside is is_listed
    unread = reach_of(effect, warrant, [], act.scene)
    assert unread is not None and not unread.is_inside
