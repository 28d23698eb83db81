"""Schedules are read strictly, and due times follow cron, time zones and quiet hours."""

import itertools
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.records import LATEST_MS, Misfire, QuietHours, Schedule
from agent.schedules import is_missed, lenient_schedule, next_due_ms, out_of_quiet_ms, read_schedule

BERLIN = ZoneInfo("Europe/Berlin")
HOUR_MS = 3_600_000


def ms(text: str, zone: ZoneInfo = BERLIN, *, fold: int = 0) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp() * 1000)


def cron(expression: str, **more: object) -> Schedule:
    return read_schedule({"cron": expression, "timezone": "Europe/Berlin", **more})


def test_a_cron_expression_is_due_at_the_wall_clock_of_its_time_zone() -> None:
    nine = cron("0 9 * * 1-5")
    assert next_due_ms(nine, ms("2026-01-02T09:00")) == ms("2026-01-05T09:00"), "over a weekend"
    assert next_due_ms(nine, ms("2026-07-01T08:59")) == ms("2026-07-01T09:00"), "summer time"


def test_a_time_that_the_clock_skips_is_due_once_and_right_after_the_gap() -> None:
    # 2026-03-29 at 02:00 the clocks of Berlin go to 03:00.
    gap = cron("30 2 * * *")
    due = next_due_ms(gap, ms("2026-03-28T12:00"))
    assert due == ms("2026-03-29T03:00")
    assert next_due_ms(gap, due or 0) == ms("2026-03-30T02:30")


def test_a_time_that_the_clock_repeats_is_due_once() -> None:
    # 2026-10-25 at 03:00 they go back to 02:00, so half past two comes twice.
    overlap = cron("30 2 * * *")
    first = next_due_ms(overlap, ms("2026-10-24T12:00"))
    assert first == ms("2026-10-25T02:30")
    assert next_due_ms(overlap, first or 0) == ms("2026-10-26T02:30")


def test_every_quarter_of_an_hour_goes_on_through_a_repeated_hour() -> None:
    quarter = cron("*/15 * * * *")
    at = ms("2026-10-25T01:50")
    found = []
    for _ in range(9):
        at = next_due_ms(quarter, at) or 0
        found.append(at)
    assert {b - a for a, b in itertools.pairwise(found)} == {HOUR_MS // 4}


def test_an_interval_is_never_shorter_than_fifteen_seconds() -> None:
    assert next_due_ms(read_schedule({"interval_ms": 1000}), 5_000) == 20_000


@pytest.mark.parametrize("kind", ["device_connected", "manual"])
def test_what_only_an_event_makes_due_has_no_next_time(kind: str) -> None:
    schedule = read_schedule({"on": [kind]})
    assert next_due_ms(schedule, 5) is None
    assert schedule.recurs


def test_quiet_hours_over_midnight_put_a_due_time_off_to_their_end() -> None:
    schedule = cron("0 * * * *", quiet={"since": "22:00", "until": "07:00"})
    assert next_due_ms(schedule, ms("2026-05-01T22:30")) == ms("2026-05-02T07:00")
    assert next_due_ms(schedule, ms("2026-05-02T03:30")) == ms("2026-05-02T07:00")
    assert next_due_ms(schedule, ms("2026-05-02T07:30")) == ms("2026-05-02T08:00")


def test_missed_times_are_made_up_for_once_or_skipped() -> None:
    now, due = ms("2026-05-02T12:00"), ms("2026-05-02T09:00")
    assert not is_missed(cron("0 * * * *"), due, now)
    assert is_missed(cron("0 * * * *", misfire="skip"), due, now)
    assert not is_missed(cron("0 * * * *", misfire="skip"), ms("2026-05-02T11:30"), now - 1)
    assert is_missed(cron("0 * * * *", late_by_ms=HOUR_MS), due, now)
    assert not is_missed(Schedule(misfire=Misfire.SKIP), due, now), "once is not skipped"


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"cron": "61 * * * *"}, "cron"),
        ({"cron": "every day"}, "cron"),
        ({"cron": "* * * * *", "interval_ms": 60_000}, "cron"),
        ({"timezone": "Berlin/Europe"}, "timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone"),
        ({"interval_ms": -1}, "interval_ms"),
        ({"interval_ms": "soon"}, "interval_ms"),
        ({"next_run_at": LATEST_MS + 1}, "next_run_at"),
        ({"on": ["full_moon"]}, "on"),
        ({"quiet": {"since": "25:00", "until": "07:00"}}, "quiet"),
        ({"quiet": {"since": "07:00", "until": "07:00"}}, "quiet hours"),
        ({"misfire": "panic"}, "misfire"),
    ],
)
def test_what_cannot_be_used_is_named(raw: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        read_schedule(raw)


def test_keys_of_other_programs_are_no_mistake() -> None:
    assert read_schedule({"next_run_at": 5, "their_key": {"a": 1}}).next_run_at == 5


def test_a_stored_schedule_that_cannot_be_read_keeps_what_can() -> None:
    assert lenient_schedule({"interval_ms": 60_000, "cron": 7}).interval_ms == 60_000
    assert lenient_schedule({"interval_ms": True, "cron": 7}).interval_ms == 0


@settings(deadline=None, max_examples=60)
@given(
    after=st.integers(ms("2026-01-01T00:00"), ms("2028-01-01T00:00")),
    expression=st.sampled_from(["*/7 * * * *", "30 2 * * *", "0 0 1 * *", "15 3 * * 0"]),
    since=st.integers(0, 23),
    span=st.integers(1, 22),
)
def test_a_due_time_is_later_and_never_within_the_quiet_hours(
    after: int, expression: str, since: int, span: int
) -> None:
    until = (since + span) % 24
    quiet = QuietHours(since=f"{since:02d}:00", until=f"{until:02d}:00")
    schedule = Schedule(cron=expression, timezone="Europe/Berlin", quiet=quiet)
    due = next_due_ms(schedule, after)
    assert due is not None
    assert due > after
    assert out_of_quiet_ms(schedule, due) == due


def test_quiet_hours_that_end_in_the_hour_that_comes_twice_end_when_it_has_come_twice() -> None:
    schedule = cron("0 * * * *", quiet={"since": "22:00", "until": "02:30"})
    first, second = (ms("2026-10-25T02:15", fold=fold) for fold in (0, 1))
    assert out_of_quiet_ms(schedule, first) == ms("2026-10-25T02:30", fold=0)
    assert out_of_quiet_ms(schedule, second) == ms("2026-10-25T02:30", fold=1)
    assert out_of_quiet_ms(schedule, ms("2026-10-25T02:45", fold=0)) == ms("2026-10-25T02:45")
