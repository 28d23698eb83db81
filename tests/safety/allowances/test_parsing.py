"""Allowances are read strictly, and what is wrong in one is named with its remedy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import UsageError
from agent.records import Allowance, EffectVerb
from agent.safety.allowances.parsing import (
    MAX_ALLOWANCES,
    MAX_HUNDREDTHS,
    MAX_MESSAGES,
    checked_allowances,
    parse_allowance,
)

NAMES = st.lists(
    st.text("abcÄñ中 .-+", min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda name: any(map(str.isalnum, name))),
    min_size=1,
    max_size=5,
    unique=True,
)


def test_messages_and_money_are_read_with_their_recipients() -> None:
    assert parse_allowance("send:3:Ana Silva, Mom") == Allowance(
        verb=EffectVerb.SEND, limit=3, recipients=("Ana Silva", "Mom")
    )
    assert parse_allowance("spend:19.9 EUR:Corner: Cafe") == Allowance(
        verb=EffectVerb.SPEND, limit=1990, currency="EUR", recipients=("Corner: Cafe",)
    )
    assert parse_allowance("spend:20€:Cafe").currency == "EUR"
    assert parse_allowance("spend:20 eur:Cafe").currency == "EUR"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "1 of its 3 parts"),
        ("send:3", "2 of its 3 parts"),
        ("call:3:Ana", 'kind "call"'),
        ("delete:3:Ana", 'kind "delete"'),
        ("install:1:App", 'kind "install"'),
        ("send:0:Ana", "0 messages"),
        ("send:-1:Ana", 'limit "-1"'),
        ("send:٣:Ana", 'limit "٣"'),
        ("send:1001:Ana", "1001 messages"),
        ("send:3:", 'recipient ""'),
        ("send:3:Ana,,Mom", 'recipient ""'),
        ("send:3:*", 'recipient "*"'),
        ("send:3:" + "a" * 101, "too long"),
        ("send:3:4111 1111 1111 1111", "card number"),
        ("spend:20:Cafe", 'limit "20"'),
        ("spend:1,234 EUR:Cafe", 'limit "1,234 EUR"'),
        ("spend:1.234 EUR:Cafe", 'limit "1.234 EUR"'),
        ("spend:-5 EUR:Cafe", 'limit "-5 EUR"'),
        ("spend:0 EUR:Cafe", "0.00"),
        ("spend:20 XYZ:Cafe", 'currency "XYZ"'),
        ("spend:1000001 EUR:Cafe", "1000001.00"),
    ],
)
def test_what_is_wrong_in_an_allowance_is_named_with_a_remedy(text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_allowance(text)
    assert part in caught.value.message
    assert caught.value.remedy


@given(st.integers(1, MAX_MESSAGES), NAMES)
def test_every_count_within_bounds_is_read_back(count: int, names: list[str]) -> None:
    found = parse_allowance(f"send:{count}:{','.join(names)}")
    assert (found.limit, found.recipients) == (count, tuple(names))


@given(st.integers(1, MAX_HUNDREDTHS), st.sampled_from(["EUR", "USD", "GBP", "JPY", "CHF"]), NAMES)
def test_every_amount_is_read_to_the_hundredth(limit: int, unit: str, names: list[str]) -> None:
    found = parse_allowance(f"spend:{limit // 100}.{limit % 100:02} {unit}:{','.join(names)}")
    assert (found.limit, found.currency) == (limit, unit)


@given(st.text(max_size=60) | st.from_regex(r"(send|spend):[^:]{0,12}:[^:]{0,20}", fullmatch=True))
def test_any_text_is_an_allowance_with_a_limit_and_names_or_an_error(text: str) -> None:
    try:
        found = parse_allowance(text)
    except UsageError as error:
        assert error.message and error.remedy
    else:
        assert found.limit > 0 and all(found.recipients) and found.used == 0


def test_a_client_cannot_create_what_cannot_be_written() -> None:
    good = parse_allowance("send:1:Ana")
    assert checked_allowances([replace(good, used=-5)]) == (good,)
    for bad in (
        replace(good, verb=EffectVerb.DELETE),
        replace(good, limit=10**9),
        replace(good, recipients=()),
        replace(good, recipients=("Ana\nMom",)),
        replace(good, currency="EUR"),
        replace(good, verb=EffectVerb.SPEND),
        replace(good, recipients=tuple(map(str, range(40)))),
    ):
        with pytest.raises(UsageError):
            checked_allowances([bad])
    with pytest.raises(UsageError):
        checked_allowances([good] * (MAX_ALLOWANCES + 1))
