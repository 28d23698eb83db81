"""When a job is due by its schedule: intervals, cron expressions, quiet hours, missed times. Pure.

Not the record's life (`agent.jobs.schedule`). A schedule is the record's `schedule_json`: the two
keys of CONTRACTS 2.1, and ours beside them. Cron expressions mean what Debian's cron makes of them,
also where clocks are put forward or back (by the library cronsim). Invariant: a due time is after
the moment it was asked for, and outside of the quiet hours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from agent.errors import UsageError
from agent.records import LATEST_MS, Misfire, Schedule
from agent.text import one_line

MINIMUM_INTERVAL_MS = 15_000
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")


def read_schedule(raw: Mapping[str, Any]) -> Schedule:
    """Read and check a schedule.

    Raises:
        UsageError: a key that cannot be used; the message names it.
    """
    try:
        schedule = msgspec.convert(dict(raw), Schedule)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"The schedule cannot be used: {one_line(str(error), 200)}.",
            "Correct the key it names.",
        ) from error
    if schedule.timezone:
        zone_of(schedule.timezone)
    if schedule.cron:
        if schedule.interval_ms:
            raise UsageError(
                "A schedule has interval_ms and cron.", "Give one of them: --every or --cron."
            )
        next_cron_ms(schedule.cron, schedule.timezone, 0)
    quiet = schedule.quiet
    if quiet is not None and not (_CLOCK.match(quiet.since) and _CLOCK.match(quiet.until)):
        raise UsageError(
            f"The quiet hours are {one_line(quiet.since, 20)!r} to {one_line(quiet.until, 20)!r}.",
            "Write both times as 22:00.",
        )
    if quiet is not None and quiet.since == quiet.until:
        raise UsageError(
            f"The quiet hours begin and end at {quiet.since}, so nothing would ever run.",
            "Give two different times.",
        )
    return schedule


def lenient_schedule(raw: Mapping[str, Any]) -> Schedule:
    """Read a stored schedule, whatever it holds: what cannot be used is as if it were not there."""
    try:
        return read_schedule(raw)
    except UsageError:
        known = {
            key: raw[key] for key in ("next_run_at", "interval_ms") if _is_moment(raw.get(key))
        }
        return msgspec.convert(known, Schedule)


def next_due_ms(schedule: Schedule, after_ms: int) -> int | None:
    """Give the next due time after a moment; None when only an event or nothing makes it due."""
    if schedule.cron:
        found = next_cron_ms(schedule.cron, schedule.timezone, after_ms)
        return None if found is None else out_of_quiet_ms(schedule, found)
    if schedule.interval_ms:
        wait_ms = max(schedule.interval_ms, MINIMUM_INTERVAL_MS)
        return out_of_quiet_ms(schedule, after_ms + wait_ms)
    return None


def out_of_quiet_ms(schedule: Schedule, at_ms: int) -> int:
    """Put a time that falls into the quiet hours off to their end."""
    quiet = schedule.quiet
    if quiet is None:
        return at_ms
    zone = zone_of(schedule.timezone)
    local = datetime.fromtimestamp(at_ms / 1000, zone)
    since, until = time.fromisoformat(quiet.since), time.fromisoformat(quiet.until)
    now = local.time()
    inside = since <= now < until if since < until else now >= since or now < until
    if not inside:
        return at_ms
    day = local.date() + timedelta(days=1 if now >= until else 0)
    end = datetime.combine(day, until, zone)
    if end.timestamp() * 1000 <= at_ms:
        # Clocks were put back within these hours: their end comes a second time.
        end = end.replace(fold=1)
    return max(round(end.timestamp() * 1000), at_ms)


def is_missed(schedule: Schedule, due_ms: int, now_ms: int) -> bool:
    """Tell whether a due time passed so long ago that it does not count any more."""
    if not due_ms or due_ms >= now_ms:
        return False
    late_ms = now_ms - due_ms
    if schedule.misfire is Misfire.SKIP and schedule.recurs:
        following = next_due_ms(schedule, due_ms)
        return following is not None and following <= now_ms
    return bool(schedule.late_by_ms) and late_ms > schedule.late_by_ms


def next_cron_ms(expression: str, timezone: str, after_ms: int) -> int | None:
    """Give when a cron expression is next due; None when never within fifty years.

    Raises:
        UsageError: it is no cron expression.
    """
    from cronsim import CronSim, CronSimError

    start = datetime.fromtimestamp(after_ms / 1000, zone_of(timezone))
    try:
        following = next(CronSim(expression, start), None)
    except CronSimError as error:
        raise UsageError(
            f"cron is {one_line(expression, 80)!r}, which is no cron expression: {error}.",
            "Write five fields, as in “0 9 * * 1-5”: minute, hour, day, month, day of the week.",
        ) from error
    return None if following is None else round(following.timestamp() * 1000)


def zone_of(name: str) -> tzinfo:
    """Give a time zone by its IANA name; the computer's own for an empty one.

    Raises:
        UsageError: there is none of that name.
    """
    return _zone(name) if name else _own_zone()


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:
        raise UsageError(
            f"timezone is {one_line(name, 60)!r}, which is not known.",
            "Use a name such as Europe/Berlin, or leave it out for the computer's own.",
        ) from error


def _own_zone() -> tzinfo:
    import tzlocal

    try:
        return tzlocal.get_localzone()
    except (OSError, ValueError, LookupError):
        return UTC


def _is_moment(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST_MS
