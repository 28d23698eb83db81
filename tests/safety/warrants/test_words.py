"""Nothing in a clause is wider than the operator's words, and what is unclear is asked."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import UsageError
from agent.records import Clause, EffectVerb
from agent.safety.warrants.words import check_clauses, checked_words, ending_of, gaps_of

NOW = datetime(2026, 11, 28, 12, 0).astimezone()
NOW_MS = round(NOW.timestamp() * 1000)
WORDS = "today up to 40 € in com.example.shop, only milk and bread, 3 messages to Ana Silva"
SHOP = Clause(
    verb=EffectVerb.SPEND,
    app="com.example.shop",
    items=("milk", "bread"),
    limit=4000,
    currency="EUR",
)
ANA = Clause(verb=EffectVerb.SEND, recipients=("Ana Silva",), count=3)


def gaps(*clauses: Clause, words: str = WORDS) -> tuple[str, ...]:
    return gaps_of(words, clauses, NOW_MS, knows_app=lambda name: name == "Shop")


def test_clauses_that_say_what_the_words_say_have_no_gap() -> None:
    assert gaps(SHOP, ANA) == ()


@pytest.mark.parametrize(
    "wider",
    [
        replace(SHOP, limit=4001),
        replace(SHOP, limit=400_000),
        replace(SHOP, limit=0),
        replace(SHOP, limit=0, each=4000),
        replace(SHOP, limit=0, each=4000, count=2),
        replace(SHOP, each=5000),
        replace(SHOP, currency="USD"),
        replace(SHOP, currency=""),
        replace(SHOP, app=""),
        replace(SHOP, app="com.example.bank"),
        replace(SHOP, items=("milk", "wine")),
        replace(SHOP, recipients=("Tom",)),
        replace(SHOP, until_ms=NOW_MS + 2 * 86_400_000),
        replace(SHOP, count=7),
    ],
)
def test_a_clause_that_says_more_than_the_words_has_a_gap(wider: Clause) -> None:
    assert gaps(wider, ANA)


@pytest.mark.parametrize(
    "wider",
    [
        replace(ANA, count=4),
        replace(ANA, count=0),
        replace(ANA, recipients=("Ben",)),
        replace(ANA, recipients=("Ana Silva", "Ben")),
        replace(ANA, recipients=()),
        replace(ANA, recipients=("An\u0430 Silva",)),
        replace(ANA, app="com.example.chat"),
    ],
)
def test_so_has_one_about_messages(wider: Clause) -> None:
    assert gaps(SHOP, wider)


def test_a_number_that_no_clause_keeps_to_is_asked_about() -> None:
    assert any("40" in gap for gap in gaps(ANA))
    assert any("3" in gap for gap in gaps(SHOP))


def test_an_app_has_a_package_or_a_known_name() -> None:
    words = WORDS.replace("com.example.shop", "Shop")
    assert gaps(replace(SHOP, app="Shop"), ANA, words=words) == ()
    other = WORDS.replace("com.example.shop", "the store")
    assert "package" in gaps(replace(SHOP, app="store"), ANA, words=other)[0]


@given(
    st.integers(1, 99_999),
    st.integers(1, 99_999),
    st.sampled_from(["EUR", "USD"]),
    st.sampled_from(["EUR", "USD"]),
)
def test_an_amount_passes_only_as_it_stands_in_the_words(
    said: int, claimed: int, unit: str, claimed_unit: str
) -> None:
    words = f"today up to {said / 100:.2f} {unit} in com.example.shop"
    clause = Clause(
        verb=EffectVerb.SPEND, app="com.example.shop", limit=claimed, currency=claimed_unit
    )
    fits = unit == claimed_unit and said - claimed in {0, 1}
    assert (gaps(clause, words=words) == ()) is fits


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("messages to Ana Silva", "2026-11-29"),
        ("today messages to Ana Silva", "2026-11-29"),
        ("bis morgen Nachrichten an Ana Silva", "2026-11-30"),
        ("until 2026-12-02 messages to Ana Silva", "2026-12-03"),
        ("until 18:30 messages to Ana Silva", "2026-11-28T18:30"),
        ("tomorrow until 18:30 messages to Ana Silva", "2026-11-29T18:30"),
    ],
)
def test_words_say_when_a_warrant_ends_and_else_it_is_the_day(words: str, end: str) -> None:
    found = ending_of(words, NOW_MS, (ANA,))
    assert found.at_ms == round(datetime.fromisoformat(end).astimezone().timestamp() * 1000)
    assert not found.gaps


def test_a_name_is_no_day() -> None:
    sunday = Clause(verb=EffectVerb.SEND, recipients=("Sunday Silva",))
    found = ending_of("messages to Sunday Silva", NOW_MS, (sunday,))
    assert not found.is_said
    assert found.at_ms == round((NOW.replace(hour=0) + timedelta(days=1)).timestamp() * 1000)


def test_an_unclear_day_is_asked_about() -> None:
    assert gaps(ANA, words="until 03/04 3 messages to Ana Silva")


@pytest.mark.parametrize(
    "clause",
    [
        Clause(verb=EffectVerb.DELETE),
        Clause(verb=EffectVerb.TYPE_SECRET, recipients=("Ana Silva",)),
        Clause(verb=EffectVerb.GRANT, app="com.example.shop"),
        replace(ANA, limit=100),
        replace(ANA, count=-1),
        replace(ANA, recipients=("",)),
        replace(ANA, recipients=("Ana\u200b Silva",)),
        replace(ANA, recipients=("!!",)),
        replace(ANA, app="\u2026"),
        replace(SHOP, limit=-1),
        replace(SHOP, items=("milk",) * 17),
        replace(SHOP, until_ms=-1),
    ],
)
def test_what_is_no_clause_is_refused_with_its_number(clause: Clause) -> None:
    with pytest.raises(UsageError, match="Clause 2") as caught:
        check_clauses((SHOP, clause))
    assert caught.value.remedy


@pytest.mark.parametrize("words", ["", "12", "x" * 601, "pay with 4111 1111 1111 1111"])
def test_words_that_cannot_be_used_are_refused(words: str) -> None:
    with pytest.raises(UsageError):
        checked_words(words)
