"""What the record of a job says of its phone, its hours, its notices and its review, in words.

Pure; for the Jobs screen and for `switchboard jobs show`. Invariant: a record that somebody else
wrote is said as far as it can be read, never an error.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from agent.records import LATEST_SHOWN_MS, DeviceInfo, Job, JobStatus, JobType, campaign_of
from agent.schedules import explain_cron, next_times_ms
from agent.state.terms import without_codes
from agent.text import clean, one_line
from widgets.base import formatting
from widgets.base.formatting import quoted
from widgets.lists.session_rows import device_name


class PendingReview(NamedTuple):
    """What a job waits for a person with."""

    what: str
    until_ms: int  # When silence becomes a no; 0 for never.
    session_id: str


def where(job: Job, devices: Mapping[str, DeviceInfo] = MappingProxyType({})) -> str:
    """Return which phones a job may run on; a phone that is known by what it is called."""
    if job.type is JobType.CAMPAIGN:
        return f"each of {len(campaign_of(job.payload_json).phones)}"
    payload = job.payload_json
    tags = payload.get("tags", ())
    said = [
        device_name(str(payload.get("serial") or ""), devices),
        f"one with the app {payload['app']}" if payload.get("app") else "",
        f"one tagged {', '.join(map(str, tags))}" if isinstance(tags, list) and tags else "",
        f"one that is {payload['needs']}" if payload.get("needs") else "",
    ]
    return one_line(", ".join(filter(None, said)), 200) or "any"


def repeat(job: Job, *, with_zone: bool = False) -> str:
    """Return how often a job runs: its interval, its days and times, what sets it off, or once.

    Args:
        job: the job.
        with_zone: name the time zone that the times are of, where the job has one of its own.
    """
    schedule = job.schedule_json
    cron = schedule.get("cron", "")
    if isinstance(cron, str) and cron:
        zone = schedule.get("timezone", "")
        of_zone = f" {zone}" if with_zone and isinstance(zone, str) and zone else ""
        return one_line(f"{cron_words(cron)}{of_zone}", 120)
    every = schedule.get("interval_ms", 0)
    if isinstance(every, int) and every > 0:
        return formatting.interval(every)
    on = schedule.get("on", ())
    if isinstance(on, list | tuple) and on:
        return one_line(" ".join(str(name).replace("_", " ") for name in on), 40)
    return formatting.interval(0)


def next_times(job: Job, count: int = 3) -> tuple[str, ...]:
    """Return when a job runs next, in local time, a text for each day; empty for one that does not,
    or only once.
    """
    first_ms = job.next_run_at
    if not 0 < first_ms <= LATEST_SHOWN_MS:
        return ()
    times = next_times_ms(job.schedule_json, first_ms, count)
    if len(times) < 2:
        return ()
    days: dict[str, list[str]] = {}
    for ms in times:
        if ms <= LATEST_SHOWN_MS:
            at = datetime.fromtimestamp(ms / 1000).astimezone()
            days.setdefault(f"{at:%a %d %b}", []).append(f"{at:%H:%M}")
    return tuple(f"{day} {' '.join(hours)}" for day, hours in days.items())


_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LONG_DAYS = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_WEEKDAYS, _WEEKEND = frozenset({1, 2, 3, 4, 5}), frozenset({0, 6})
_NUMBERS = re.compile(r"[0-9]{1,2}(,[0-9]{1,2})*")
_EACH = re.compile(r"\*/([0-9]{1,2})")
_PART = re.compile(r"([0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?")


def cron_words(expression: str) -> str:
    """Return in words when a cron expression is due: “weekdays at 09:00”, “every 15 min”.

    What is not of a usual shape is said at length; what cannot be read stays as it is.
    """
    explained = explain_cron(expression)
    if not explained:
        return one_line(expression, 40)
    minute, hour, day, month, weekday = expression.casefold().split()
    at = _times(minute, hour)
    if at and month == "*":
        if day == "*" and (days := _weekdays(weekday)):
            is_daily = days == "daily" and not at.startswith("at ")
            return at if is_daily else f"{days} {at}"
        if weekday == "*" and at.startswith("at ") and re.fullmatch("[0-9]{1,2}", day):
            return f"monthly on the {_ordinal(int(day))} {at}"
    return f"{explained[:1].lower()}{explained[1:]}"


def _times(minute: str, hour: str) -> str:
    """Return at which times of a day; empty for another shape."""
    if not re.fullmatch("[0-9]{1,2}", minute):
        each = _EACH.fullmatch(minute)
        is_even = each is not None and hour == "*" and 60 % max(1, int(each[1])) == 0
        return f"every {int(each[1])} min" if each is not None and is_even else ""
    past = f"{int(minute):02}"
    if hour == "*":
        return f"hourly at :{past}"
    if (each := _EACH.fullmatch(hour)) is not None and 24 % max(1, int(each[1])) == 0:
        return f"every {int(each[1])} h" + (f" at :{past}" if int(minute) else "")
    if not _NUMBERS.fullmatch(hour):
        return ""
    times = [f"{one:02}:{past}" for one in sorted({int(one) for one in hour.split(",")})]
    return f"at {listed(times)}"


def _weekdays(field: str) -> str:
    """Return on which days of the week; empty for another shape."""
    if field == "*":
        return "daily"
    days: set[int] = set()
    for part in field.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            return ""
        numbers = [_day(one) for one in found.groups() if one]
        if None in numbers:
            return ""
        first, last = numbers[0], numbers[-1]
        assert first is not None and last is not None
        days |= {one % 7 for one in range(first, last + 1)}
    if days == set(range(7)):
        return "daily"
    if days in (_WEEKDAYS, _WEEKEND):
        return "weekdays" if days == _WEEKDAYS else "weekends"
    if len(days) == 1:
        return _LONG_DAYS[min(days)]
    # The week begins on Monday.
    return listed([_DAYS[one] for one in sorted(days, key=lambda one: one or 7)]) if days else ""


def _day(name: str) -> int | None:
    if name.isdigit():
        return int(name) if int(name) <= 7 else None
    short = [one.casefold() for one in _DAYS[:7]]
    return short.index(name) if name in short else None


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number // 10 != 1 else "th"
    return f"{number}{ending}"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: “a, b and c”."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def quiet(job: Job) -> str:
    """Return the hours in which a job starts nothing; empty for none."""
    hours = job.schedule_json.get("quiet")
    if not isinstance(hours, dict):
        return ""
    zone = job.schedule_json.get("timezone", "")
    return one_line(f"{hours.get('since', '')} to {hours.get('until', '')} {zone}", 80)


_SESSIONS = {
    "main": "one for all runs",
    "isolated": "a new one for each run",
    "current": "the one that made the job",
}


def session_words(target: str) -> str:
    """Return which session the runs use; the identifier of a session as it is."""
    return _SESSIONS.get(target) or one_line(target.removeprefix("session:"), 60) or "—"


def delivery_words(job: Job) -> str:
    """Return how the operator hears of a job's runs."""
    mode = job.delivery_json.get("mode", "notification")
    if job.type is JobType.HEARTBEAT or mode == "none":
        return "nothing"
    if mode == "silent":
        return "a mark in the list"
    wording = job.delivery_json.get("notification_text", "")
    return f"a notice: {quoted(wording, 400)}" if wording else "a notice"


def result_words(text: str) -> str:
    """Return what a run came to without the code that the core files it under.

    A refused review reads `background.action_denied: the operator refused tap: ...`.
    """
    return without_codes(clean(text, 2_000))


REVIEW_PHASES = {
    "awaiting_review": "waits for your review",
    "approval_executing": "approved; continues once its phone is free",
    "resuming": "reviewed; continues once its phone is free",
    "review_resolution_unknown": "reviewed; whether the action was carried out is not known",
}
"""Where a job stands whose run has asked for a review; its newest result is then the asking."""


def phase_words(phase: str) -> str:
    """Return where the run of a job stands."""
    return REVIEW_PHASES.get(phase) or one_line(phase.replace("_", " "), 60)


def pending_review(job: Job) -> PendingReview | None:
    """Return what a job wants reviewed; None for one that waits for no review."""
    if job.status is not JobStatus.AWAITING_REVIEW:
        return None
    until_ms = job.pending_tool_request_json.get("expires_at", 0)
    return PendingReview(
        one_line(str(job.pending_tool_request_json.get("summary", "")), 1000),
        until_ms if isinstance(until_ms, int) else 0,
        one_line(str(job.checkpoint_json.get("session_id", "")), 40),
    )
