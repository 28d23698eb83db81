"""Look-alike writing: what a person reads as a word is judged as that word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.language.fold import as_drawn
from agent.language.look_alikes import is_disguised
from agent.language.tokens import has_phrase
from agent.safety.words import words


@pytest.mark.parametrize(
    "label",
    [
        "Pаy",  # Cyrillic а
        "Ρay",  # Greek Ρ
        "ＰＡＹ",  # full width
        "P\u200ba\u200dy",  # zero width
        "P\ufe0fay",  # variation selector
        "P\u0301ay",  # combining mark
        "𝐏𝐚𝐲",  # mathematical bold
        "Ⓟⓐⓨ",  # circled
        "ᴘᴀʏ",  # small capitals
        "ꓑꓮꓬ",  # Lisu
        "\u202eyaP\u202c",  # right-to-left override
        "P a y",
        "P.a.y",
        "P\u3164ay",  # Hangul filler
        "p\u00ada\u00ady",  # soft hyphen
    ],
)
def test_safety_a_word_that_looks_like_pay_is_pay(label: str) -> None:
    assert words(label) == ("pay",)


def test_a_digit_inside_a_word_is_the_letter_that_it_looks_like() -> None:
    assert words("De1ete acc0unt 2024") == ("delete", "account", "2024")


def test_an_override_is_read_in_the_order_that_is_drawn() -> None:
    assert as_drawn("Go \u202eyaP\u202c now") == "Go Pay now"
    assert as_drawn("plain") == "plain"


def test_a_word_of_two_alphabets_is_disguised_and_honest_ones_are_not() -> None:
    assert is_disguised("Pаy")
    assert is_disguised("Оpen nоw")
    for honest in ("Pay", "Оплатить", "Πληρωμή", "Wi-Fi設定", "café", "naïve", "Ж 5G"):
        assert not is_disguised(honest), honest


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=80))
def test_any_text_gives_words_without_marks_or_capitals(text: str) -> None:
    for word in words(text):
        assert word
        assert word == word.casefold()


def test_a_phrase_stands_side_by_side() -> None:
    assert has_phrase(("place", "order", "now"), ("place", "order"))
    assert not has_phrase(("place", "an", "order"), ("place", "order"))


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_text_is_folded_as_any_other_text_is(text: str) -> None:
    # The accents take the whole text the long way; the plain part must come out the same.
    assert words(f"{text} ñandú") == (*words(text), "nandu")
