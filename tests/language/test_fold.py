"""Folding: texts that say the same are equal, and others are not."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.fold import as_drawn, folded, plain_digits, skeleton, unaccented


@pytest.mark.parametrize("level", [folded, unaccented, plain_digits])
@given(text=st.text(max_size=80))
def test_folding_twice_changes_nothing(level: Callable[[str], str], text: str) -> None:
    once = level(text)
    assert level(once) == once


@given(text=st.text(max_size=80))
def test_each_level_equates_what_the_one_before_does(text: str) -> None:
    assert unaccented(folded(text)) == unaccented(text)
    assert skeleton(unaccented(text)) == skeleton(unaccented(folded(text)))


@given(text=st.text(max_size=60))
def test_digits_are_written_place_by_place(text: str) -> None:
    assert len(plain_digits(text)) == len(text)
    assert not any(char.isdecimal() and not char.isascii() for char in plain_digits(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Send", "SEND"),
        ("STRASSE", "straße"),
        ("Ｓｅｎｄ", "send"),
        ("ﬁnd", "find"),
        ("  two\u00a0 words ", "two words"),
        ("zero\u200bwidth", "zerowidth"),
        ("Cafe\u0301", "café"),
        ("١٢٣", "123"),
        ("soft\u00adhyphen", "softhyphen"),
        ("❤\ufe0f", "❤"),
        ("\u202eyaP\u202c", "pay"),
        ("한글", "한글"),
    ],
)
def test_what_reads_the_same_is_folded_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10²", "102"),
        ("1½", "11⁄2"),
        ("schon", "schön"),
        ("か", "が"),
        ("Pay", "Pаy"),  # With a Cyrillic а.
        ("H₂O 5", "H2O5"),
    ],
)
def test_what_says_something_else_stays_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Müller", "muller"),
        ("DÉCEMBRE", "decembre"),
        ("Thứ Năm", "thu nam"),
        ("شَمْس", "شمس"),
        ("がく", "がく"),  # A voiced letter is another letter.
        ("ที่", "ที่"),  # Thai vowels and tones stay.
        ("नमस्ते", "नमस्ते"),
    ],
)
def test_accents_go_and_letters_stay(text: str, plain: str) -> None:
    assert unaccented(text) == folded(plain)


def test_a_skeleton_is_what_a_person_sees() -> None:
    assert skeleton("Pаy n0w") == "pay now"  # With a Cyrillic а.
    assert as_drawn("Go \u202eyaP\u202c now") == "Go Pay now"
