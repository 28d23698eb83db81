"""A job's cron expression in words, and its next times, held against the times it is due at."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.records import LATEST_SHOWN_MS, JobStatus
from agent.schedules import next_cron_ms
from tests.console.fakes import job
from widgets.lists.job_rows import job_detail
from widgets.lists.job_words import cron_words, next_times, repeat

_MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FEW = st.sampled_from(("*", "0", "7", "*/2", "*/7", "15", "9,17", "1-5", "6-7", "1,3", "mon", "l"))


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 * * 1-5", "weekdays at 09:00"),
        ("30 7 * * mon-fri", "weekdays at 07:30"),
        ("0 10 * * 0,6", "weekends at 10:00"),
        ("15 9,17 * * *", "daily at 09:15 and 17:15"),
        ("0 9 * * 7", "Sundays at 09:00"),
        ("0 9 * * 1,3,5", "Mon, Wed and Fri at 09:00"),
        ("*/15 * * * *", "every 15 min"),
        ("0 */2 * * *", "every 2 h"),
        ("5 */3 * * 1-5", "weekdays every 3 h at :05"),
        ("15 * * * *", "hourly at :15"),
        ("0 8 22 * *", "monthly on the 22nd at 08:00"),
        ("0 8 11 * *", "monthly on the 11th at 08:00"),
        ("0 9 * * 1#2", "at 09:00 on the second Monday of the month"),
        ("0 9 * * 5-1", "0 9 * * 5-1"),
        ("now and then", "now and then"),
    ],
)
def test_a_usual_schedule_is_said_as_a_person_says_it(expression: str, words: str) -> None:
    assert cron_words(expression) == words


@given(st.lists(_FEW, min_size=5, max_size=5))
def test_days_and_times_that_are_named_are_those_it_is_due_at(fields: list[str]) -> None:
    expression = " ".join(fields)
    said = re.fullmatch(
        r"(daily|weekdays|weekends|[A-Z].*) at ([0-9:, and]+)", words := cron_words(expression)
    )
    assert words
    if said is None:
        return
    due = []
    at_ms: int | None = round((_MONDAY - timedelta(minutes=1)).timestamp() * 1000)
    end = _MONDAY + timedelta(days=7)
    while (at_ms := next_cron_ms(expression, "UTC", at_ms)) is not None:
        if (at := datetime.fromtimestamp(at_ms / 1000, UTC)) >= end:
            break
        due.append(at)
    assert {f"{at:%H:%M}" for at in due} == set(re.findall(r"\d\d:\d\d", said[2]))
    named = {"daily": set(_DAYS), "weekdays": set(_DAYS[:5]), "weekends": set(_DAYS[5:])}.get(
        said[1], {day for day in _DAYS if day in said[1]}
    )
    assert {f"{at:%a}" for at in due} == named


@given(st.text(max_size=60), st.integers(0, LATEST_SHOWN_MS * 2))
def test_a_schedule_that_somebody_else_wrote_is_never_an_error(text: str, at_ms: int) -> None:
    of = job(1, schedule_json={"cron": text, "timezone": text}, next_run_at=at_ms)
    assert "\n" not in repeat(of, with_zone=True) + "".join(next_times(of))


def test_a_jobs_details_say_when_it_runs_next_in_local_time() -> None:
    first = datetime(2026, 3, 6, 9).astimezone()
    at_ms = round(first.timestamp() * 1000)
    weekdays = job(1, schedule_json={"cron": "0 9 * * 1-5"}, next_run_at=at_ms)
    told = "".join(text for text, _ in job_detail(weekdays, at_ms - 60_000))
    below = "\n" + " " * 10
    times = below.join(("Fri 06 Mar 09:00", "Mon 09 Mar 09:00", "Tue 10 Mar 09:00"))
    assert f"times     {times}\n" in told
    hourly = job(1, schedule_json={"cron": "0 * * * *"}, next_run_at=at_ms)
    assert next_times(hourly) == ("Fri 06 Mar 09:00 10:00 11:00",)
    assert "every     weekdays at 09:00\n" in told
    paused = job(
        1, schedule_json={"cron": "0 9 * * 1-5"}, next_run_at=at_ms, status=JobStatus.PAUSED
    )
    assert "times " not in "".join(text for text, _ in job_detail(paused, at_ms))
    assert not next_times(job(1, schedule_json={}, next_run_at=at_ms))
