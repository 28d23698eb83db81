"""Times of day: whatever a locale's formatter writes is read as its minute."""

from datetime import UTC, datetime, time

import pytest
from babel import Locale
from babel.dates import format_skeleton, format_time
from hypothesis import given
from hypothesis import strategies as st

from agent.language.times import may_equal, times_in
from tests.language.locales import LOCALES

TIMES = st.times().map(lambda one: one.replace(second=0, microsecond=0))


def minute_of(when: time) -> int:
    return when.hour * 60 + when.minute


@given(language=LOCALES, when=TIMES, width=st.sampled_from(["medium", "short"]))
def test_a_time_in_any_languages_form_is_its_minute(language: str, when: time, width: str) -> None:
    written = format_time(when, width, locale=Locale.parse(language))
    [found] = times_in(written)
    assert found.may_be(minute_of(when)), (written, found)


@given(language=LOCALES, when=TIMES, skeleton=st.sampled_from(["h", "hm", "Bhm"]))
def test_the_part_of_the_day_tells_the_half(language: str, when: time, skeleton: str) -> None:
    locale = Locale.parse(language)
    if skeleton not in locale.datetime_skeletons:
        return
    written = format_skeleton(
        skeleton, datetime(2026, 1, 1, when.hour, when.minute, tzinfo=UTC), locale=locale
    )
    [found] = times_in(written.replace("\u202f", " "), language)
    minute = minute_of(when) if skeleton != "h" else 60 * when.hour
    assert found.readings == (minute,), (written, found)


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("5:30 pm", 1050),
        ("5pm", 1020),
        ("12:30 am", 30),
        ("17h30", 1050),
        ("17 Uhr", 1020),
        ("17.30 Uhr", 1050),
        ("午後5時30分", 1050),
        ("下午5:30", 1050),
        ("凌晨1:00", 60),
        ("5 in the afternoon", 1020),
        ("٥:٣٠ م", 1050),
        ("24:00", 0),
    ],
)
def test_a_time_that_is_said_in_full_has_one_reading(text: str, minute: int) -> None:
    [found] = times_in(text)
    assert found.readings == (minute,)
    assert found.is_sure


def test_a_time_without_its_half_is_either() -> None:
    [found] = times_in("5:30")
    assert found.readings == (330, 1050)
    assert may_equal(found, times_in("17:30")[0])
    assert may_equal(found, times_in("5:30 am")[0])
    assert not may_equal(times_in("17:30")[0], times_in("5:30 am")[0])


def test_what_may_be_something_else_is_not_sure() -> None:
    assert [one.is_sure for one in times_in("12.30, 5 h, 12:30")] == [False, False, True]


@pytest.mark.parametrize(
    "text",
    [
        *("", "12:75", "25:00", "24.12.26", "1.2.3", "$1,284.50"),
        *("at 5", "3 amp", "5 min ago", "1 de diciembre"),
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert times_in(text) == ()


@given(text=st.text(max_size=80))
def test_any_text_gives_times_that_exist(text: str) -> None:
    for one in times_in(text):
        assert 0 <= one.start < one.end <= len(text)
        assert all(0 <= minute < 1440 for minute in one.readings)
