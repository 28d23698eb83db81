"""An allowance covers its own kind, recipients and rest, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.records import Effect, EffectVerb, Source, Stated
from agent.safety.allowances.covering import covering
from agent.safety.allowances.parsing import parse_allowance
from agent.safety.effects.amounts import currency

SEND = parse_allowance("send:2:Ana Silva,+49 30 1234567")
SPEND = parse_allowance("spend:20 EUR:Corner Cafe")


def message(to: str, source: Source = Source.SCREEN, text: str = "hello") -> Effect:
    return Effect(
        verb=EffectVerb.SEND, recipient=Stated(text=to, source=source), content=Stated(text=text)
    )


def payment(amount: str, to: str = "Corner Cafe") -> Effect:
    return Effect(
        verb=EffectVerb.SPEND,
        recipient=Stated(text=to),
        amount=Stated(text=amount),
        currency=currency(amount),
    )


@pytest.mark.parametrize("to", ["Ana Silva", "ana  silva", "+49 (30) 123-4567"])
def test_a_message_to_a_named_recipient_is_covered(to: str) -> None:
    found = covering(message(to), [SPEND, SEND], [])
    assert found is not None and (found.at, found.amount) == (1, 1)


@pytest.mark.parametrize(
    "effect",
    [
        message("Ben Carter"),
        message("Ana Silva, Ben Carter"),
        message("Ana"),
        message("An\u0430 Silva"),
        message("[PHONE ***]"),
        message(""),
        message("Ana Silva", Source.MODEL),
        message("Ana Silva", Source.UNREADABLE),
        message("Ana Silva", text="it is [PASSWORD REDACTED]"),
        replace(message("Ana Silva"), verb=EffectVerb.CALL),
        replace(message("Ana Silva"), verb=EffectVerb.DELETE),
        replace(message("Ana Silva"), recipient=None),
    ],
)
def test_anybody_else_and_anything_else_is_asked_about(effect: Effect) -> None:
    assert covering(effect, [SEND, SPEND], []) is None


@pytest.mark.parametrize("verb", sorted(set(EffectVerb) - {EffectVerb.SEND, EffectVerb.SPEND}))
def test_no_other_verb_is_ever_covered(verb: EffectVerb) -> None:
    as_if = replace(SEND, verb=verb)
    assert covering(replace(message("Ana Silva"), verb=verb), [as_if, SEND, SPEND], []) is None


def test_a_used_up_allowance_covers_nothing_and_the_next_one_does() -> None:
    spent = replace(SEND, used=2)
    assert covering(message("Ana Silva"), [spent], []) is None
    found = covering(message("Ana Silva"), [spent, SEND], [])
    assert found is not None and found.at == 1


@pytest.mark.parametrize(
    ("amount", "needed"), [("€4.50", 450), ("EUR 20", 2000), ("20,00 €", 2000), ("€0.01", 1)]
)
def test_a_payment_within_the_amount_is_covered(amount: str, needed: int) -> None:
    found = covering(payment(amount), [SPEND], [])
    assert found is not None and found.amount == needed


@pytest.mark.parametrize(
    "amount", ["€20.01", "€1.234", "€1,000", "$5.00", "USD 5", "5.00", "€0.00", "free", "", "€"]
)
def test_a_payment_over_it_in_another_currency_or_unread_is_asked_about(amount: str) -> None:
    assert covering(payment(amount), [SPEND], []) is None


def test_a_bare_number_is_of_the_one_currency_that_the_app_shows() -> None:
    assert covering(payment("15"), [SPEND], [], app_currency="EUR") is not None
    for other in ("", "USD"):
        assert covering(payment("15"), [SPEND], [], app_currency=other) is None
    assert covering(payment("$15"), [SPEND], [], app_currency="EUR") is None


def test_a_payment_that_repeats_is_asked_about() -> None:
    assert covering(payment("€4.99"), [SPEND], ["€4.99 / month"]) is None


@given(st.lists(st.integers(1, 1500), max_size=12))
def test_what_is_covered_never_sums_to_more_than_the_limit(cents: list[int]) -> None:
    one, total = SPEND, 0
    for each in cents:
        found = covering(payment(f"€{each / 100:.2f}"), [one], [])
        if found is not None:
            total += found.amount
            one = replace(one, used=one.used + found.amount)
            assert found.amount == each
        else:
            assert total + each > SPEND.limit
    assert total <= SPEND.limit
