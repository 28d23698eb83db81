"""How a watcher's record changes when it looks, matches, fails or is stopped: pure.

Not what it looks at (`agent.watchers.matching`). Every function is told the time in milliseconds
since the epoch and gives a new record. The waits after failures are those of jobs (CONTRACTS 2.2).
Invariant: a watcher that has fired or was stopped never looks again.
"""

from msgspec.structs import replace

from agent.jobs.schedule import FAILURES_BEFORE_ALERT, backoff_ms
from agent.records import Usage, Watcher, WatcherStatus, WatcherType, WatchSchedule
from agent.text import one_line
from agent.watchers.matching import Look, Match
from agent.watchers.reading import schedule_of

SHORTEST_MS = 15_000
LONGEST_MS = 24 * 3_600_000
RESULT_LIMIT_CHARS = 4000
SHORTFALL_LIMIT_CHARS = 400
DEADLINE_PASSED = "its deadline has passed"

_USUAL_MS = {
    WatcherType.TIME: 0,
    WatcherType.NOTIFICATION: SHORTEST_MS,
    WatcherType.MESSAGE_REPLY: 5 * 60_000,
    WatcherType.CALL_BACK: 5 * 60_000,
    WatcherType.WEB_CHANGE: 15 * 60_000,
    WatcherType.SCREEN_TEXT: 60_000,
}


def usual_interval_ms(kind: WatcherType) -> int:
    """Return how often a watcher looks that was not told."""
    return _USUAL_MS[kind]


def interval_ms(watcher: Watcher) -> int:
    """Return how often a watcher looks, within 15 s and a day."""
    wanted = schedule_of(watcher).interval_ms or usual_interval_ms(watcher.type)
    return min(max(wanted, SHORTEST_MS), LONGEST_MS)


def next_look_ms(watcher: Watcher, now_ms: int) -> int:
    """Return when a watcher that has just looked looks again, its deadline included."""
    schedule = schedule_of(watcher)
    if watcher.type is WatcherType.TIME:
        return watcher.next_run_at
    return _by_deadline(now_ms + interval_ms(watcher), schedule, now_ms)


def looked(watcher: Watcher, look: Look, now_ms: int) -> Watcher | None:
    """Return the record after a look that found nothing; None when there is nothing to remember."""
    changed = replace(
        watcher,
        last_result_hash=look.page or watcher.last_result_hash,
        marks=look.marks if look.marks is not None else watcher.marks,
        usage=watcher.usage.plus(look.usage),
        failure_count=0,
        failure_alert_at=0,
        shortfall=_shortfall(look),
    )
    if changed == watcher:
        return None
    return _dated(changed, now_ms)


def _shortfall(look: Look) -> str:
    return one_line("; ".join(look.lost), SHORTFALL_LIMIT_CHARS)


def matched(watcher: Watcher, match: Match, look: Look, now_ms: int) -> Watcher:
    """Return the record after a match: looking on when it recurs, else at rest."""
    schedule = schedule_of(watcher)
    is_last = not schedule.recurring or _is_past(schedule, now_ms)
    changed = replace(
        watcher,
        status=WatcherStatus.FIRED if is_last else WatcherStatus.ACTIVE,
        last_result_hash=match.digest,
        last_result=match.what[:RESULT_LIMIT_CHARS],
        marks=look.marks if look.marks is not None else watcher.marks,
        usage=watcher.usage.plus(look.usage),
        shortfall=_shortfall(look),
        fired_at=now_ms,
        fired_count=watcher.fired_count + 1,
        failure_count=0,
        failure_alert_at=0,
        job_id=0,
        unread=True,
    )
    if is_last:
        return replace(_dated(changed, now_ms), next_run_at=0)
    if watcher.type is WatcherType.TIME:
        changed = replace(changed, next_run_at=_following_ms(watcher, schedule, now_ms))
        return replace(changed, last_run_at=now_ms, updated_at=now_ms)
    return _dated(changed, now_ms)


def failed(watcher: Watcher, reason: str, now_ms: int) -> Watcher:
    """Return the record after a look that could not be had: it looks again, later each time."""
    failures = watcher.failure_count + 1
    wait_ms = max(backoff_ms(failures), interval_ms(watcher) if failures > 1 else 0)
    alerts = failures >= FAILURES_BEFORE_ALERT
    return replace(
        watcher,
        failure_count=failures,
        failure_alert_at=now_ms if alerts else watcher.failure_alert_at,
        last_result=reason[:RESULT_LIMIT_CHARS],
        last_run_at=now_ms,
        updated_at=now_ms,
        next_run_at=_by_deadline(now_ms + wait_ms, schedule_of(watcher), now_ms),
    )


def charged(watcher: Watcher, usage: Usage) -> Watcher:
    """Return the record with what a judge used for it."""
    return replace(watcher, usage=watcher.usage.plus(usage))


def stopped(watcher: Watcher, now_ms: int, reason: str = "") -> Watcher | None:
    """Return the record of a watcher that looks no more; None when it does not look anyway."""
    if watcher.status is not WatcherStatus.ACTIVE:
        return None
    return replace(
        watcher,
        status=WatcherStatus.STOPPED,
        next_run_at=0,
        updated_at=now_ms,
        last_result=reason or watcher.last_result,
    )


def match_seen(watcher: Watcher, now_ms: int) -> Watcher | None:
    """Return the record of a watcher whose match the operator has seen."""
    return replace(watcher, unread=False, updated_at=now_ms) if watcher.unread else None


def has_given_up(watcher: Watcher, now_ms: int) -> bool:
    """Return whether a watcher's deadline has passed."""
    return _is_past(schedule_of(watcher), now_ms)


def _dated(watcher: Watcher, now_ms: int) -> Watcher:
    return replace(
        watcher, last_run_at=now_ms, updated_at=now_ms, next_run_at=next_look_ms(watcher, now_ms)
    )


def _following_ms(watcher: Watcher, schedule: WatchSchedule, now_ms: int) -> int:
    """Return the next beat of a time watcher: those that passed meanwhile are not caught up."""
    every = max(schedule.interval_ms, SHORTEST_MS)
    passed = max(0, now_ms - watcher.next_run_at) // every
    return watcher.next_run_at + (passed + 1) * every


def _is_past(schedule: WatchSchedule, now_ms: int) -> bool:
    return 0 < schedule.deadline_at <= now_ms


def _by_deadline(at_ms: int, schedule: WatchSchedule, now_ms: int) -> int:
    deadline = schedule.deadline_at
    return min(at_ms, deadline) if deadline > now_ms else at_ms
