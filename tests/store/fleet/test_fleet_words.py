"""How a fleet's store parts texts and queries into words, and cuts what it found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.store.postgres.words import query_of, snippet, tokens_of, vector_of


def test_words_are_compared_without_case_accents_and_signs() -> None:
    assert vector_of("Crème_BRÛLÉE, it's") == "'creme':1 'brulee':2 'it':3 's':4"
    assert vector_of("點击 支付 100€") == "'點':1 '击':2 '支':3 '付':4 '100':5"
    assert vector_of("… !") == ""


def test_a_query_is_words_phrases_beginnings_and_exclusions() -> None:
    assert query_of('"two words" wor* -bad') == "('two' <-> 'words') & ('wor':*) & !('bad')"
    assert query_of("foo-bar") == "('foo' <-> 'bar')"
    assert query_of("o'neil\\") == "('o' <-> 'neil')"
    with pytest.raises(UsageError):
        query_of("-bad")


def test_a_snippet_has_the_first_match_and_says_where_each_is() -> None:
    text = " ".join(f"w{number}" for number in range(50)) + "\nthe Crème brûlée\tis here"
    cut = snippet(text, '"creme brulee" here')
    assert cut.text.startswith("…w47 w48 w49 the Crème brûlée is here")
    assert [cut.text[start:end] for start, end in cut.matches] == ["Crème brûlée", "here"]
    assert snippet("short", "short").text == "short"


@given(st.text(max_size=200), st.text(max_size=30))
def test_a_snippet_of_anything_is_one_line_and_its_matches_are_in_it(text: str, query: str) -> None:
    try:
        cut = snippet(text, query)
    except UsageError:
        return
    assert "\n" not in cut.text
    places = [place for match in cut.matches for place in match]
    assert places == sorted(places)
    assert all(0 <= place <= len(cut.text) for place in places)


@given(st.text(max_size=100))
def test_tokens_stand_where_they_say(text: str) -> None:
    last = 0
    for token in tokens_of(text):
        assert last <= token.start < token.end <= len(text)
        assert token.word
        last = token.end
