"""Numbers: whatever a locale's formatter writes is read as its value."""

from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import format_compact_decimal, format_decimal
from hypothesis import given
from hypothesis import strategies as st

from agent.language.numbers import may_equal, numbers_in, parse_number
from tests.language.locales import LOCALES

# Below ten digits, which babel groups once in Switzerland: 1234567'890.
VALUES = st.one_of(
    st.decimals(0, 10**9 - 1, places=0),
    st.decimals(0, 10**9 - 1, places=2),
    st.decimals(0, 1000, places=1),
    st.integers(10**6, 10**9 - 1).map(Decimal),
)


@given(locale=LOCALES, value=VALUES, before=st.sampled_from(["", "Total: ", "余额"]))
def test_a_number_in_any_locales_form_is_its_value(
    locale: str, value: Decimal, before: str
) -> None:
    tag = Locale.parse(locale)
    written = format_decimal(value, locale=tag, numbering_system="default")
    text = f"{before}{written} "
    number = numbers_in(text)[0]
    assert number.may_be(value), (text, number)
    assert (number.start, number.end) == (len(before), len(before + written))
    assert parse_number(written) == number._replace(start=0, end=len(written))


@given(locale=LOCALES, value=VALUES)
def test_a_negative_number_is_read_with_its_sign(locale: str, value: Decimal) -> None:
    written = format_decimal(-value, locale=Locale.parse(locale), numbering_system="latn")
    number = numbers_in(written.replace("\u200e", "").replace("\u200f", ""))[0]
    assert number.may_be(-value)
    assert not value or not number.may_be(value)


@given(locale=LOCALES, other=LOCALES, value=VALUES)
def test_two_forms_of_a_value_may_be_equal(locale: str, other: str, value: Decimal) -> None:
    one, two = (
        numbers_in(format_decimal(value, locale=Locale.parse(tag), numbering_system="default"))[0]
        for tag in (locale, other)
    )
    assert may_equal(one, two)


@given(locale=LOCALES, value=st.integers(1000, 10**9 - 1), width=st.sampled_from(["short", "long"]))
def test_a_short_number_says_what_rounds_to_it(locale: str, value: int, width: str) -> None:
    tag = Locale.parse(locale)
    written = format_compact_decimal(value, format_type=width, locale=tag, fraction_digits=1)
    before = written.lstrip("\u200e\u200f")[:1]
    if before and not before.isdigit():
        return  # Swahili writes its word before.
    assert any(one.may_be(value) for one in numbers_in(written)), written


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,284.50", [["1284.5"]]),
        ("1.284,50", [["1284.5"]]),
        ("1.284", [["1284", "1.284"]]),
        ("0.284", [["0.284"]]),
        ("12,34,567.00", [["1234567"]]),
        ("1'234", [["1234"]]),
        ("1’234’567.50", [["1234567.5"]]),
        ("1 284", [["1284"], ["1"], ["284"]]),
        ("1 28", [["1"], ["28"]]),
        ("5 1.2.3 192.168.1.1", [["5"], ["1"], ["2"], ["3"], ["192"], ["168"], ["1"], ["1"]]),
        ("-5 and 3-5", [["-5"], ["3"], ["5"]]),
        ("1½ cups, ¼", [["1.5"], ["0.25"]]),
        ("10²", [["10"]]),
        (".5 km, -.25, end.5", [["0.5"], ["-0.25"], ["5"]]),
        ("mp3, A4, 15件", [["15"]]),
        ("no numbers", []),
    ],
)
def test_what_a_number_may_say(text: str, values: list[list[str]]) -> None:
    assert [list(one.readings) for one in numbers_in(text)] == [
        list(map(Decimal, one)) for one in values
    ]


def test_a_number_is_never_a_part_of_another() -> None:
    assert not any(one.may_be(284) for one in numbers_in("Balance: $1,284.50"))
    assert not any(one.may_be(15) for one in numbers_in("A4 115"))


def test_a_short_number_rounds_only_what_it_multiplies() -> None:
    [number] = numbers_in("15K")
    assert number.may_be(15_400)
    assert number.may_be(15)
    assert not number.may_be(16)
    assert not number.may_be(400)
    assert not number.may_be(15_600)


def test_a_unit_is_read_as_one_first() -> None:
    for unit in ("mi", "km", "mn", "min", "ms", "GB", "kg", "mm"):
        assert numbers_in(f"5 {unit}")[0].value == 5, unit


def test_a_unit_of_one_letter_multiplies_nothing() -> None:
    assert [one.value for one in numbers_in("5 m, 3 k, 20 t")] == [5, 3, 20]


@given(text=st.text(max_size=80))
def test_any_text_gives_numbers_in_order_that_stand_in_it(text: str) -> None:
    found = numbers_in(text)
    assert list(found) == sorted(found, key=lambda one: (one.start, -one.end))
    for one in found:
        assert any(char.isdecimal() or char.isnumeric() for char in text[one.start : one.end])
        assert may_equal(one, one)
