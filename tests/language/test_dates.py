"""Dates: whatever a locale's formatter writes is read as its date, and a wrong weekday is seen."""

from datetime import date, timedelta

import pytest
from babel import Locale
from babel.dates import format_date, format_skeleton, get_relative_name
from hypothesis import given
from hypothesis import strategies as st

from agent.language.cldr import date_order
from agent.language.dates import Day, dates_in, may_equal
from tests.language.locales import LOCALES

TODAY = date(2026, 11, 28)
DATES = st.dates(date(1971, 1, 1), date(2069, 12, 31))


@given(language=LOCALES, when=DATES, width=st.sampled_from(["full", "long", "medium", "short"]))
def test_a_date_in_any_languages_form_is_its_date(language: str, when: date, width: str) -> None:
    written = format_date(when, width, locale=Locale.parse(language))
    found = dates_in(f"{written}", None, language)
    assert len(found) == 1, (written, found)
    reading = next(one for one in found[0].readings if one.may_be(when))
    assert (reading.year, reading.month, reading.day) == (when.year, when.month, when.day)
    assert width != "full" or reading.weekday == when.weekday()
    assert not found[0].is_contradictory(TODAY)


@given(language=LOCALES, when=DATES, days=st.integers(1, 6))
def test_a_date_with_another_weekday_is_contradictory(language: str, when: date, days: int) -> None:
    locale = Locale.parse(language)
    written = format_date(when, "full", locale=locale)
    uses = (locale.days[use]["wide"] for use in ("format", "stand-alone"))
    names = next((one for one in uses if one[when.weekday()] in written), None)
    if names is None:
        return  # A locale without a name of its own for the day.
    right, wrong = names[when.weekday()], names[(when.weekday() + days) % 7]
    found = dates_in(written.replace(right, wrong), None, language)
    assert any(one.is_contradictory(TODAY) for one in found), (written, wrong, found)


@given(language=LOCALES, when=DATES, skeleton=st.sampled_from(["MMMd", "MMMEd"]))
def test_a_date_without_a_year_says_day_and_month(language: str, when: date, skeleton: str) -> None:
    locale = Locale.parse(language)
    if language.startswith("lt") or skeleton not in locale.datetime_skeletons:
        return  # Lithuanian writes 12-03, which may be anything.
    written = format_skeleton(skeleton, when, locale=locale)
    [found] = dates_in(written, None, language)
    assert found.may_be(when), (written, found)
    assert all(one.year is None for one in found.readings)


@given(language=LOCALES, other=LOCALES, when=DATES)
def test_two_forms_of_a_date_may_be_equal(language: str, other: str, when: date) -> None:
    one, two = (
        dates_in(format_date(when, width, locale=Locale.parse(tag)), None, tag)[0]
        for tag, width in ((language, "full"), (other, "medium"))
    )
    assert may_equal(one, two)


@given(language=LOCALES, days=st.integers(-1, 1))
def test_words_for_near_days_count_from_today(language: str, days: int) -> None:
    word = get_relative_name("day", days, locale=Locale.parse(language))
    assert word
    found = dates_in(word, TODAY, language)
    assert any(one.may_be(TODAY + timedelta(days=days)) for one in found), (word, found)
    assert not dates_in(word, None, language) or all(
        one.year is None for found in dates_in(word, None, language) for one in found.readings
    )


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("3rd of December", [Day(None, 12, 3)]),
        ("3/12/2026", [Day(2026, 12, 3), Day(2026, 3, 12)]),
        ("13/12/26", [Day(2026, 12, 13)]),
        ("2026-12-03T17:30", [Day(2026, 12, 3)]),
        ("2026年12月3日(木)", [Day(2026, 12, 3, 3)]),
        ("วันพฤหัสบดีที่ 3 ธันวาคม พ.ศ. 2569", [Day(2026, 12, 3, 3)]),
        ("٣ ديسمبر ٢٠٢٦", [Day(2026, 12, 3)]),
        ("3 decembre", [Day(None, 12, 3)]),
        ("Thứ 3, 3 tháng 12", [Day(None, 12, 3, 1)]),
        ("mar, 3 mar 2026", [Day(2026, 3, 3, 1)]),
        ("December 2026", [Day(2026, 12)]),
        ("Friday", [Day(weekday=4)]),
        ("3.12.", [Day(None, 12, 3)]),
        ("4 Dec '26", [Day(2026, 12, 4)]),
        ("4th Dec", [Day(None, 12, 4)]),
        ("4 de dez.", [Day(None, 12, 4)]),
        ("Friday the 4th of December", [Day(None, 12, 4, 4)]),
    ],
)
def test_what_a_date_may_say(text: str, readings: list[Day]) -> None:
    assert [list(one.readings) for one in dates_in(text)] == [readings]


@pytest.mark.parametrize(
    "text",
    [
        *("4 days ago", "2 h ago", "5 min ago", "3d ago", "Alarm set for 23 hours"),
        "",
        "12:30",
        "1,284.50",
        "192.168.1.1",
        "v1.2.3",
        "31/02/2026",
        "Do not disturb",
        "20261203",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert dates_in(text, TODAY) == ()


def test_the_locale_tells_the_order_and_whose_abbreviations_count() -> None:
    assert dates_in("12/3/2026", None, "en-US")[0].readings[0] == Day(2026, 12, 3)
    assert dates_in("12/3/2026", None, "en_GB")[0].readings[0] == Day(2026, 3, 12)
    assert dates_in("Set 5 alarms", None, "en") == ()
    assert dates_in("5 set", None, "it")[0].readings == (Day(None, 9, 5),)
    assert (date_order("iw-IL"), date_order("xx"), date_order("zh-Hant-HK")) == ("dmy", "", "dmy")


def test_a_weekday_may_be_a_date_only_if_it_is_on_it() -> None:
    [thursday, friday] = dates_in("Thursday or Friday")
    [third] = dates_in("3 December 2026")
    assert may_equal(thursday, third)
    assert not may_equal(friday, third)
    assert may_equal(dates_in("3 December")[0], third)
    assert not may_equal(dates_in("4 December")[0], third)


def test_a_year_that_is_not_written_is_the_nearest() -> None:
    assert dates_in("Friday, 3 January")[0].readings[0].on(TODAY) == date(2027, 1, 3)
    assert dates_in("Sunday, 3 January")[0].is_contradictory(TODAY) is False
    assert dates_in("Friday, 3 January")[0].is_contradictory(TODAY)
    assert not dates_in("3 January")[0].is_contradictory(TODAY)


def test_two_letters_before_a_month_may_be_a_word() -> None:
    assert not dates_in("So 3 December it is")[0].is_contradictory(TODAY)


@given(text=st.text(max_size=80))
def test_any_text_gives_dates_in_order_that_exist(text: str) -> None:
    found = dates_in(text, TODAY)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert one.readings
