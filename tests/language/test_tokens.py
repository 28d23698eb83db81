"""Tokens: every letter and digit is in one, and words of every script are found."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.amounts import amounts_in
from agent.language.dates import dates_in
from agent.language.fold import folded
from agent.language.numbers import numbers_in
from agent.language.times import times_in
from agent.language.tokens import has_phrase, pieces, tokens, words

SCRIPTS = st.text(
    st.sampled_from("aÄ1.,:'’ -_’é\u0301ก็ที่日本かカ한글हिन्दीعربי\u200d٣५ⅷ\n"), max_size=40
)


@given(text=st.one_of(st.text(max_size=60), SCRIPTS))
def test_tokens_cover_every_letter_and_digit_once_and_in_order(text: str) -> None:
    at = 0
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
        assert not any(char.isalnum() for char in text[at : token.start])
        assert token.start >= at
        at = token.end
    assert not any(char.isalnum() for char in text[at:])


@given(text=st.one_of(st.text(max_size=60), SCRIPTS))
def test_pieces_are_the_tokens_with_digits_and_letters_apart(text: str) -> None:
    found = pieces(text)
    for piece in found:
        assert text[piece.start : piece.end] == piece.text
        assert len({char.isdecimal() for char in piece.text if char.isalnum()}) <= 1
    assert [p.start for p in found] == sorted(p.start for p in found)
    lost = len(tokens(text)) and not found
    assert not lost


@given(one=SCRIPTS, other=SCRIPTS)
def test_texts_that_a_blank_joins_have_the_words_of_both(one: str, other: str) -> None:
    if not other or not unicodedata.category(other[0]).startswith(("M", "C")):
        assert words(f"{one} {other}") == words(one) + words(other)


@given(text=st.one_of(st.text(max_size=60), SCRIPTS))
def test_words_are_folded(text: str) -> None:
    assert words(text) == words(folded(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Balance: $1,284.50!", ["Balance", "1,284.50"]),
        ("12:30, v1.2.3", ["12:30", "v1.2.3"]),
        ("don't l’eau", ["don", "t", "l", "eau"]),
        ("snake_case", ["snake", "case"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("立即购买", ["立", "即", "购", "买"]),
        ("ส่งที่", ["ส่", "ง", "ที่"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("Wi-Fi設定", ["Wi", "Fi", "設", "定"]),
        ("15kg 3rd", ["15kg", "3rd"]),
        ("๑๒ ฿5", ["๑๒", "5"]),
        ("", []),
    ],
)
def test_a_text_is_split_where_its_script_parts_words(text: str, found: list[str]) -> None:
    assert [token.text for token in tokens(text)] == found


def test_pieces_part_digits_from_letters() -> None:
    assert [p.text for p in pieces("3rd 12月 17h30 12:30 5pm 1,5kg")] == [
        *("3", "rd", "12", "月", "17", "h", "30", "12:30", "5", "pm", "1,5", "kg")
    ]


def test_words_of_a_script_without_blanks_are_found_inside_others() -> None:
    assert has_phrase(words("确认取消订单"), words("取消"))
    assert not has_phrase(words("unsend"), words("send"))


SHAPES = (
    *("1", "111 ", "1,", "1½ ", ".5 ", "1/", "-1", "1a", "m ", "a\u200d", "\u202e", "ที่", "1K "),
    *("Mon 1/1/26 ", "Mon 3 Dec 2026 ", "5 pm ", "12:30 ", "€5 ", "thứ 3 tháng "),
)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cost_of_a_hostile_text_grows_as_its_length(shape: str) -> None:
    def cost_s(chars: int) -> float:
        text = "é" + (shape * chars)[:chars]
        began = time.process_time()
        for read in (words, numbers_in, amounts_in, times_in, dates_in):
            read(text)
        return time.process_time() - began

    cost_s(1_000)
    # A square of the length took minutes for some shapes.
    assert cost_s(18_000) < 40 * (cost_s(3_000) + 0.1)
