"""Quiet hours on the days on which clocks are put forward."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.records import LATEST_MS, LATEST_SHOWN_MS, QuietHours, Schedule
from agent.schedules import out_of_quiet_ms

DAY_S = 86_400
GAPS = {
    "Europe/Berlin": "2026-03-29T01:00",
    "America/New_York": "2026-03-08T07:00",
    "Africa/Cairo": "2026-04-23T22:00",
    "Australia/Lord_Howe": "2026-10-03T15:30",
    "Antarctica/Troll": "2026-03-29T01:00",
    "Pacific/Apia": "2011-12-30T10:00",
}
"""When clocks go forward, in UTC: by an hour, at midnight, by half an hour, two hours, a day."""


def schedule(zone: str, since: str, until: str) -> Schedule:
    return Schedule(timezone=zone, quiet=QuietHours(since=since, until=until))


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "since", "until", "at", "ends"),
    [
        ("Europe/Berlin", "22:00", "02:30", "2026-03-29T00:10+01:00", "2026-03-29T03:00+02:00"),
        ("Europe/Berlin", "22:00", "02:00", "2026-03-29T01:59+01:00", "2026-03-29T03:00+02:00"),
        ("Europe/Berlin", "22:00", "03:10", "2026-03-29T01:59+01:00", "2026-03-29T03:10+02:00"),
        ("America/New_York", "01:00", "02:59", "2026-03-08T01:30-05:00", "2026-03-08T03:00-04:00"),
        ("Africa/Cairo", "20:00", "00:30", "2026-04-23T23:00+02:00", "2026-04-24T01:00+03:00"),
        (
            "Australia/Lord_Howe",
            "23:00",
            "02:15",
            "2026-10-04T01:00+10:30",
            "2026-10-04T02:30+11:00",
        ),
        ("Antarctica/Troll", "00:00", "02:30", "2026-03-29T00:30+00:00", "2026-03-29T03:00+02:00"),
        ("Pacific/Apia", "22:00", "07:00", "2011-12-29T23:00-10:00", "2011-12-31T07:00+14:00"),
    ],
)
def test_quiet_hours_whose_end_the_clock_leaves_out_end_when_it_is_put_forward(
    zone: str, since: str, until: str, at: str, ends: str
) -> None:
    assert out_of_quiet_ms(schedule(zone, since, until), ms(at)) == ms(ends)


@settings(deadline=None, max_examples=80)
@given(
    zone=st.sampled_from(sorted(GAPS)),
    since=st.integers(0, 95),
    span=st.integers(1, 95),
    before_s=st.integers(-DAY_S // 2, DAY_S),
)
def test_what_is_put_off_begins_at_the_first_moment_that_is_not_quiet(
    zone: str, since: int, span: int, before_s: int
) -> None:
    begins, ends = (time(n // 4, n % 4 * 15) for n in (since, (since + span) % 96))
    forward = datetime.fromisoformat(GAPS[zone]).replace(tzinfo=UTC)
    at_ms = round((forward - timedelta(seconds=before_s)).timestamp()) * 1000

    def is_quiet(moment_ms: int) -> bool:
        now = datetime.fromtimestamp(moment_ms / 1000, ZoneInfo(zone)).time()
        return begins <= now < ends if begins < ends else not ends <= now < begins

    wanted_ms = at_ms
    while is_quiet(wanted_ms):
        wanted_ms = (wanted_ms // 60_000 + 1) * 60_000
    rule = schedule(zone, f"{begins:%H:%M}", f"{ends:%H:%M}")
    assert out_of_quiet_ms(rule, at_ms) == wanted_ms


@pytest.mark.parametrize("at_ms", [LATEST_SHOWN_MS, LATEST_SHOWN_MS + 1, LATEST_MS])
def test_a_time_beyond_all_calendars_is_nobodys_quiet_hour(at_ms: int) -> None:
    rule = schedule("Europe/Berlin", "22:00", "21:59")
    assert out_of_quiet_ms(rule, at_ms) - at_ms in range(DAY_S * 1000)
