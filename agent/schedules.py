"""When a job is due by its schedule: intervals, cron expressions, quiet hours, missed times. Pure.

Not the record's life (`agent.jobs.schedule`). A schedule is the record's `schedule_json`: the two
keys of CONTRACTS 2.1, and ours beside them. Cron expressions mean what Debian's cron makes of them,
also where clocks are put forward or back (by the library cronsim). Invariant: a due time is after
the moment it was asked for, and outside of the quiet hours.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from agent.errors import UsageError
from agent.records import LATEST_MS, LATEST_SHOWN_MS, Misfire, QuietHours, Schedule
from agent.text import one_line

MINIMUM_INTERVAL_MS = 15_000
LONGEST_INTERVAL_MS = 100 * 366 * 86_400_000
_CRON_FIELDS = 5
_ANY_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
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


def check_moment(name: str, at_ms: int) -> None:
    """Refuse a time that somebody gave and no calendar shows. Raises UsageError naming it."""
    if not 0 <= at_ms <= LATEST_SHOWN_MS:
        raise UsageError(
            f"{name} is {at_ms}, which is not a time before the year 9999.",
            "Use milliseconds since the epoch; 0 for none.",
        )


def check_interval(interval_ms: int) -> None:
    """Refuse a span that nobody lives to see the end of. Raises UsageError naming it."""
    if not 0 <= interval_ms <= LONGEST_INTERVAL_MS:
        raise UsageError(
            f"interval_ms is {interval_ms}.",
            "Use milliseconds, at most a hundred years; 0 for a job that runs once.",
        )


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
    """Return the next due time after a moment; None when only an event or nothing makes it due."""
    if schedule.cron:
        found = next_cron_ms(schedule.cron, schedule.timezone, after_ms)
        return None if found is None else out_of_quiet_ms(schedule, found)
    if schedule.interval_ms:
        wait_ms = max(schedule.interval_ms, MINIMUM_INTERVAL_MS)
        return out_of_quiet_ms(schedule, min(after_ms + wait_ms, LATEST_MS))
    return None


def out_of_quiet_ms(schedule: Schedule, at_ms: int) -> int:
    """Put a time that falls into the quiet hours off to their end."""
    quiet = schedule.quiet
    if quiet is None or at_ms > LATEST_SHOWN_MS:
        return at_ms
    zone = zone_of(schedule.timezone)
    if not _is_quiet(quiet, at_ms, zone):
        return at_ms
    until = time.fromisoformat(quiet.until)
    today = datetime.fromtimestamp(at_ms / 1000, zone).date()
    # A zone may leave out a whole day, so the end may be that of the day after tomorrow.
    days = (today + timedelta(days=ahead) for ahead in range(3))
    ends = (end_ms for day in days for end_ms in _moments_ms(day, until, zone))
    later = (end for end in ends if end > at_ms and not _is_quiet(quiet, end, zone))
    return next(later, at_ms)


def _is_quiet(quiet: QuietHours, at_ms: int, zone: tzinfo) -> bool:
    now = datetime.fromtimestamp(at_ms / 1000, zone).time()
    since, until = time.fromisoformat(quiet.since), time.fromisoformat(quiet.until)
    return since <= now < until if since < until else now >= since or now < until


def _moments_ms(day: date, at: time, zone: tzinfo) -> tuple[int, ...]:
    """Return when a clock shows a time on a day: once, twice where it is put back.

    A time that it leaves out is when it is put forward past it.
    """
    first, second = (
        round(datetime.combine(day, at.replace(fold=fold), zone).timestamp()) for fold in (0, 1)
    )
    if first <= second:
        return tuple(dict.fromkeys((first * 1000, second * 1000)))
    before, after = second, first
    offset = datetime.fromtimestamp(before, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return (after * 1000,)


def is_missed(schedule: Schedule, due_ms: int, now_ms: int) -> bool:
    """Return whether a due time passed so long ago that it does not count any more."""
    if not due_ms or due_ms >= now_ms:
        return False
    late_ms = now_ms - due_ms
    if schedule.misfire is Misfire.SKIP and schedule.recurs:
        following = next_due_ms(schedule, due_ms)
        return following is not None and following <= now_ms
    return bool(schedule.late_by_ms) and late_ms > schedule.late_by_ms


def next_cron_ms(expression: str, timezone: str, after_ms: int) -> int | None:
    """Return when a cron expression is next due; None when never within fifty years.

    Raises:
        UsageError: it is no cron expression.
    """
    from cronsim import CronSim, CronSimError

    start = datetime.fromtimestamp(min(after_ms, LATEST_SHOWN_MS) / 1000, zone_of(timezone))
    try:
        if not _is_cron(expression):
            raise CronSimError("Wrong number of fields")
        following = next(CronSim(expression, start), None)
    except CronSimError as error:
        raise UsageError(
            f"cron is {one_line(expression, 80)!r}, which is not a cron expression: {error}.",
            "Write five fields, as in “0 9 * * 1-5”: minute, hour, day, month, day of the week.",
        ) from error
    except OverflowError:
        return None
    return None if following is None else round(following.timestamp() * 1000)


def _is_cron(expression: str) -> bool:
    """Return whether it has five fields. The library takes a sixth, of seconds: too often."""
    return len(expression.split()) == _CRON_FIELDS


@lru_cache(maxsize=256)
def explain_cron(expression: str) -> str:
    """Return when a cron expression is due, as “At 09:00 on Monday”; empty where it is none."""
    from cronsim import CronSim, CronSimError

    try:
        # From a moment that any expression can be told from: none is looked for.
        return "" if not _is_cron(expression) else CronSim(expression, _ANY_MOMENT).explain()
    except (CronSimError, ValueError, LookupError):
        return ""


def next_times_ms(written: Mapping[str, Any], first_ms: int, count: int) -> tuple[int, ...]:
    """Return what `upcoming_ms` does of a schedule as it is stored; nothing where it cannot be
    read.
    """
    try:
        return upcoming_ms(lenient_schedule(written), first_ms, count)
    except (UsageError, OverflowError, OSError, ValueError):
        return ()


def upcoming_ms(schedule: Schedule, first_ms: int, count: int) -> tuple[int, ...]:
    """Return the next due times of a schedule, the first of which is known; fewer where it ends.

    Raises:
        UsageError: its cron expression or its zone cannot be read.
    """
    times: list[int] = []
    at_ms: int | None = first_ms
    while at_ms is not None and len(times) < count:
        times.append(at_ms)
        at_ms = next_due_ms(schedule, at_ms)
    return tuple(times)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its IANA name; the computer's own for an empty one.

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
