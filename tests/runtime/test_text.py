"""The gate for foreign text: what leaves it can only be shown."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.text import ELLIPSIS, as_written, call_result_words, clean, on_one_line, one_line

HOSTILE = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from(
            "\u0301\ufe0f\x1b\x9b\x9d\x07\x9c[]();0123456789mHJ\r\n\t\u202e\u2066\u200d\ud800"
        ),
    )
)


@given(HOSTILE)
@example("\x1b]52;c;aGVsbG8=\x07")
@example("\x1b\x1b[[2J")
@example("\x1b]0;a\x1b]52;c;b\x07")
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    for character in clean(text):
        if character in "\n\t\u200d":
            continue
        # Cs: surrogates, Cc: controls. Of the format characters only those that join or tag stay.
        assert unicodedata.category(character) not in {"Cc", "Cs"}
        assert unicodedata.bidirectional(character) not in {
            *("LRE", "RLE", "PDF", "LRO", "RLO"),
            *("LRI", "RLI", "FSI", "PDI"),
        }


@given(HOSTILE, st.integers(1, 50))
def test_cleaning_twice_changes_nothing(text: str, limit: int) -> None:
    once = clean(text, limit)
    assert clean(once, limit) == once
    assert len(once) <= limit


@given(HOSTILE)
def test_what_is_left_is_valid_utf8(text: str) -> None:
    clean(text).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x1b[31mred\x1b[0mb", "aredb"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x07after", "after"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("世界 🌍 مرحبا", "世界 🌍 مرحبا"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", None),
        ("[@click=app.quit()]x[/]", "[@click=app.quit()]x[/]"),
    ],
)
def test_known_texts(text: str, expected: str | None) -> None:
    assert clean(text) == (text if expected is None else expected)


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert clean("x" * 30, 10) == "x" * 9 + ELLIPSIS


def test_a_megabyte_of_escapes_does_not_hide_what_comes_first() -> None:
    assert clean("label" + "\x1b[0m" * 300_000, 100).startswith("label")


@pytest.mark.parametrize("gate", [clean, one_line])
def test_no_letter_is_piled_higher_than_any_language_writes(gate: Callable[[str], str]) -> None:
    assert gate("Z" + "\u0301\u0336" * 90 + "algo") == "Z" + "\u0301\u0336" * 15 + "algo"
    assert gate("a\u0301\u200b" * 40) == "a\u0301" * 40
    assert gate("a" + "\u0301\u200b" * 40) == "a" + "\u0301" * 30


def test_one_line_folds_white_space() -> None:
    assert one_line("  a\n\n b\tc  ") == "a b c"


@given(HOSTILE)
def test_what_is_kept_as_written_is_clean_and_cleaning_it_again_changes_nothing(text: str) -> None:
    kept = as_written(text, 100_000)
    assert as_written(kept, 100_000) == kept
    assert kept.count("\n") == clean(text).count("\n")
    shown = on_one_line(text, 50)
    assert len(shown) <= 50
    assert not set(shown) & {"\n", "\t", "\x1b"}


def test_spaces_and_line_breaks_stay_where_they_stand() -> None:
    assert as_written(" a  b\n\n  c ") == " a  b\n\n  c "
    assert on_one_line(" a  b\n  c\td") == r" a  b\n  c\td"


def test_a_person_reads_a_calls_result_without_what_is_for_the_model() -> None:
    for told, read in (
        ("OK: Clicked [1] “Wi-Fi”.", "Clicked [1] “Wi-Fi”."),
        (
            "FAILED: Nobody answered in time, so the answer is no. Do not try this again.",
            "Nobody answered in time, so the answer is no.",
        ),
        (
            "UNKNOWN: Tapped, but adb did not answer. Look at the screen before acting again.",
            "Tapped, but adb did not answer.",
        ),
        ("It said: FAILED: no", "It said: FAILED: no"),
        ("OK: Clicked. NEW SCREEN: Detail (was: Main).", "Clicked. The page is now Detail."),
        (
            "OK: Clicked. NEW APP: Changed from org.a to org.b. A toast said “Hi”.",
            "Clicked. The app is now org.b. A toast said “Hi”.",
        ),
    ):
        assert call_result_words(told) == read
