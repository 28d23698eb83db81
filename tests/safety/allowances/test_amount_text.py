"""Amounts as people write them are read whole, or refused with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.safety.allowances.amount_text import read_amount
from agent.safety.allowances.parsing import parse_allowance


@pytest.mark.parametrize(
    ("written", "hundredths", "unit"),
    [
        ("20 EUR", 2_000, "EUR"),
        ("19.99EUR", 1_999, "EUR"),
        ("EUR 20", 2_000, "EUR"),
        ("€2K", 200_000, "€"),
        ("1.5k EUR", 150_000, "EUR"),
        ("1.1255k EUR", 112_550, "EUR"),
        ("1M JPY", 100_000_000, "JPY"),
        ("2 000,00 €", 200_000, "€"),
        ("2\u00a0000\u00a0€", 200_000, "€"),
        ("2\u202f000,5 €", 200_050, "€"),
        ("₹1,00,000", 10_000_000, "₹"),
        ("₹1,00,000.50", 10_000_050, "₹"),
        ("1'000.00 CHF", 100_000, "CHF"),
        ("1’000 CHF", 100_000, "CHF"),
        ("1.000,00 €", 100_000, "€"),
        ("$1,234.56", 123_456, "$"),
        ("1,234,567 USD", 123_456_700, "USD"),
        ("٢٠ €", 2_000, "€"),
        ("١٬٠٠٠٫٥٠ €", 100_050, "€"),
        ("२० ₹", 2_000, "₹"),
        ("１２ EUR", 1_200, "EUR"),
    ],
)
def test_an_amount_is_read_as_it_is_written(written: str, hundredths: int, unit: str) -> None:
    assert read_amount(written) == (hundredths, unit)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("1,234 EUR", "ambiguous"),
        ("1.234 €", "ambiguous"),
        ("20", "no currency"),
        ("€20 EUR", "two currencies"),
        ("-3 €", "not an amount"),
        ("0.005 EUR", "two decimals"),
        ("1.23456 EUR", "two decimals"),
        ("1,23,45 EUR", "not an amount"),
        ("1.000.00 EUR", "not an amount"),
        ("1 00 000 EUR", "not an amount"),
        ("2.000001k EUR", "two decimals"),
        ("1,125k EUR", "ambiguous"),
        ("20 EUR a month", "not an amount"),
        ("1e3 EUR", "not an amount"),
        ("½ EUR", "not an amount"),
        ("twenty EUR", "not an amount"),
        ("", "not an amount"),
    ],
)
def test_what_is_no_single_amount_is_refused(written: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        read_amount(written)
    assert caught.value.remedy


@given(st.integers(1, 99_999_999), st.sampled_from(["EUR", "€", "CHF", "kr"]))
def test_what_is_written_with_two_decimals_is_read_back(hundredths: int, unit: str) -> None:
    whole, cents = divmod(hundredths, 100)
    for written in (f"{whole}.{cents:02} {unit}", f"{unit} {whole:,}.{cents:02}"):
        assert read_amount(written) == (hundredths, unit)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_amount(text)
    except UsageError:
        return
    assert found.hundredths >= 0 and found.unit


def test_an_allowance_takes_such_an_amount() -> None:
    allowance = parse_allowance("spend:€1.5k:Corner Cafe")
    assert (allowance.limit, allowance.currency) == (150_000, "EUR")
