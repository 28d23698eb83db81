"""Amounts: a formatter's money is read as its value and currency."""

from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import format_currency
from hypothesis import given
from hypothesis import strategies as st

from agent.language.amounts import amounts_in, may_equal
from agent.safety.effects.amounts import amounts
from tests.language.locales import LOCALES

CURRENCIES = ("EUR", "USD", "GBP", "JPY", "INR", "BRL", "PLN", "SEK", "CHF", "CNY", "KRW", "TRY")


@given(locale=LOCALES, currency=st.sampled_from(CURRENCIES), value=st.decimals(1, 10**7, places=2))
def test_an_amount_in_any_locales_form_is_its_value(
    locale: str, currency: str, value: Decimal
) -> None:
    written = format_currency(value, currency, locale=Locale.parse(locale))
    found = amounts_in(f"Total {written}")
    assert found, written
    [amount] = found
    assert currency in amount.codes, (written, amount)
    shown = value if currency not in {"JPY", "KRW"} else round(value)
    assert amount.number.may_be(shown), (written, amount)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$20", "USD 20.00"),
        ("1.284,50 €", "EUR 1,284.50"),
        ("20 kr", "20 SEK"),
        ("−20,00 €", "€20"),
        ("٢٠ €", "20 Euro"),
        ("$15K", "$15,000"),
    ],
)
def test_the_same_money_may_be_equal(one: str, other: str) -> None:
    assert may_equal(amounts_in(one)[0], amounts_in(other)[0])


@pytest.mark.parametrize(("one", "other"), [("$20", "€20"), ("$20", "$200"), ("¥20", "£20")])
def test_other_money_is_not_equal(one: str, other: str) -> None:
    assert not may_equal(amounts_in(one)[0], amounts_in(other)[0])


@pytest.mark.parametrize("text", ["$15tickets", "12:30", "mp3 €", "5 km", "3 apples", ""])
def test_what_is_no_whole_amount_is_none(text: str) -> None:
    assert amounts_in(text) == ()


MEASURES = "km ft m cm mm mi yd in l ml kg g mg lb oz h min s ms mb gb kb w kw"


@pytest.mark.parametrize("number", ["5", "1.5", "1,200", "40.000"])
def test_a_measure_is_no_money_for_any_reader(number: str) -> None:
    for unit in MEASURES.split():
        for text in (f"{number} {unit}", f"{number}{unit}", f"Run {number} {unit} today"):
            assert amounts_in(text) == ()
            assert amounts(text) == (), text


def test_short_forms_of_currencies_are_money_as_they_are_written() -> None:
    for text in ("1500 Ft", "20 KM", "Rp 5.000", "RM 5", "20 zł", "20 kr", "KSh 500"):
        assert amounts_in(text) and amounts(text), text


def test_several_amounts_are_found_in_order() -> None:
    text = "€5–€10, then 1 284,50 zł"
    assert [text[one.start : one.end] for one in amounts_in(text)] == ["€5", "€10", "1 284,50 zł"]


@given(text=st.text(max_size=60))
def test_any_text_gives_amounts_that_stand_in_it(text: str) -> None:
    for one in amounts_in(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.value >= 0
