"""When a job runs, runs again or gives up: the rules of time, pure.

Not the wake that keeps them (`agent.jobs.wake`), and not the calendar (`agent.jobs.timing`). Every
function is told the time, in milliseconds since the epoch, and gives a new record. Figures are
those of CONTRACTS 2.2. Invariant: a job that was stopped, or was claimed again since, is never
changed by a run that comes in late.
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.jobs.timing import is_missed, lenient_schedule, next_due_ms, out_of_quiet_ms
from agent.records import LATEST_MS, Job, JobStatus, Trigger

MINIMUM_DELAY_MS = 15_000
"""The shortest time ahead that the wake is armed for, and the shortest interval."""
STUCK_AFTER_MS = 10 * 60_000
DUE_PER_WAKE = 3
NEVER_MS = LATEST_MS
"""When a job is due that only an event makes due."""
FAILURES_BEFORE_ALERT = 3
FAILURES_BEFORE_GIVING_UP = 6
RESULT_LIMIT_CHARS = 4000
STUCK_RESULT = "stuck_running_repaired"
MISSED_RESULT = "missed"
"""What a job that runs once came to when nothing was awake at its time."""


_NO_RUN = frozenset(
    {
        JobStatus.RUNNING,
        JobStatus.WAITING,
        JobStatus.AWAITING_REVIEW,
        JobStatus.DISPATCHED,
        JobStatus.STOPPED,
    }
)


def backoff_ms(failures: int) -> int:
    """Give the wait after so many failures in a row: 1, 2, 4, 8, 16, then 32 minutes."""
    exponent: int = min(max(failures, 1), 6) - 1
    return 60_000 * (1 << exponent)


def is_due(job: Job, now_ms: int) -> bool:
    """Tell whether an active job should run now; a `next_run_at` of 0 means at once."""
    return job.status is JobStatus.ACTIVE and job.next_run_at <= now_ms


def is_stuck(job: Job, now_ms: int) -> bool:
    """Tell whether a run has taken longer than any run may; exactly ten minutes is not yet."""
    return job.status is JobStatus.RUNNING and now_ms - job.running_at > STUCK_AFTER_MS


def wake_at_ms(next_due_ms: int | None, now_ms: int) -> int | None:
    """Give when the wake must ring for the next due time; None when nothing is active."""
    return None if next_due_ms is None else max(next_due_ms, now_ms + MINIMUM_DELAY_MS)


def armed_at_ms(armed_ms: int | None, wanted_ms: int | None) -> int | None:
    """Give when one timer rings that was armed and is wanted for another time.

    The earlier one: a ring too many finds nothing due, but putting a ring off each time that some
    job changes would starve the others.
    """
    if armed_ms is None or wanted_ms is None:
        return wanted_ms if armed_ms is None else armed_ms
    return min(armed_ms, wanted_ms)


def claimed(job: Job, now_ms: int) -> Job:
    """Give the record of a job whose run begins."""
    return replace(job, status=JobStatus.RUNNING, running_at=now_ms, updated_at=now_ms)


def succeeded(job: Job, result: str, now_ms: int) -> Job:
    """Give the record after a good run: armed again when it recurs, else completed.

    Due times that passed meanwhile are not caught up.
    """
    schedule = lenient_schedule(job.schedule_json)
    return _ended(
        replace(
            job,
            status=JobStatus.ACTIVE if schedule.recurs else JobStatus.COMPLETED,
            next_run_at=_following_ms(job, now_ms),
            failure_count=0,
            failure_alert_at=0,
        ),
        result,
        now_ms,
    )


def failed(job: Job, reason: str, now_ms: int) -> Job:
    """Give the record after a failed run: later again, or failed for good the sixth time."""
    failures = job.failure_count + 1
    gives_up = failures >= FAILURES_BEFORE_GIVING_UP
    schedule = lenient_schedule(job.schedule_json)
    return _ended(
        replace(
            job,
            status=JobStatus.FAILED if gives_up else JobStatus.ACTIVE,
            next_run_at=0 if gives_up else out_of_quiet_ms(schedule, now_ms + backoff_ms(failures)),
            failure_count=failures,
            failure_alert_at=now_ms if failures >= FAILURES_BEFORE_ALERT else job.failure_alert_at,
        ),
        reason,
        now_ms,
    )


def blocked(job: Job, reason: str, now_ms: int) -> Job:
    """Give the record of a run that wanted to act and may not until somebody has looked."""
    return _ended(replace(job, status=JobStatus.AWAITING_REVIEW, next_run_at=0), reason, now_ms)


def missed(job: Job, now_ms: int) -> Job | None:
    """Give the record of a job whose due time passed too long ago; None when it still counts."""
    if not is_due(job, now_ms):
        return None
    schedule = lenient_schedule(job.schedule_json)
    if not is_missed(schedule, job.next_run_at, now_ms):
        return None
    status = JobStatus.ACTIVE if schedule.recurs else JobStatus.COMPLETED
    result = "" if schedule.recurs else MISSED_RESULT
    changed = replace(job, status=status, next_run_at=_following_ms(job, now_ms))
    return _scheduled(replace(changed, last_result=result or job.last_result, updated_at=now_ms))


def paused(job: Job, now_ms: int) -> Job | None:
    """Give the record of a job that waits for the operator; None when it cannot be paused."""
    if job.status not in {JobStatus.ACTIVE, JobStatus.QUEUED}:
        return None
    return replace(job, status=JobStatus.PAUSED, updated_at=now_ms)


def resumed(job: Job, now_ms: int) -> Job | None:
    """Give the record of a paused job that may run again; None when it is not paused."""
    if job.status is not JobStatus.PAUSED:
        return None
    active = replace(job, status=JobStatus.ACTIVE, updated_at=now_ms)
    return missed(active, now_ms) or active


def run_now(job: Job, now_ms: int) -> Job | None:
    """Give the record of a job that is due at once; None where a run may not begin."""
    if job.status in _NO_RUN:
        return None
    # The schedule's own next time is found again after the run.
    return _scheduled(replace(job, status=JobStatus.ACTIVE, next_run_at=now_ms, updated_at=now_ms))


def waits_for(job: Job, trigger: Trigger, serial: str) -> bool:
    """Tell whether what happened makes a job due; a job of one phone waits for that phone's."""
    if job.status is not JobStatus.ACTIVE:
        return False
    wanted = job.payload_json.get("serial", "")
    return trigger in lenient_schedule(job.schedule_json).on and wanted in ("", serial)


def set_off(job: Job, now_ms: int) -> Job | None:
    """Give the record of a job that an event made due, after its quiet hours; None if it is due."""
    schedule = lenient_schedule(job.schedule_json)
    due_ms = out_of_quiet_ms(schedule, now_ms)
    if job.status is not JobStatus.ACTIVE or job.next_run_at <= due_ms:
        return None
    return _scheduled(replace(job, next_run_at=due_ms, updated_at=now_ms))


def stopped(job: Job, now_ms: int) -> Job:
    """Give the record of a job that never runs again."""
    return replace(job, status=JobStatus.STOPPED, next_run_at=0, running_at=0, updated_at=now_ms)


def is_same_run(now: Job, then: Job) -> bool:
    """Tell whether the stored record still is the run that was claimed as `then`."""
    return now.status is JobStatus.RUNNING and now.running_at == then.running_at


def notice_text(job: Job) -> str:
    """Give what a notification of this job says; empty when it is to say nothing.

    The exact wording the operator chose wins; a result or a trace is never in it.
    """
    if job.delivery_json.get("mode", "notification") != "notification":
        return ""
    wording = job.delivery_json.get("notification_text", "")
    return wording if isinstance(wording, str) and wording else job.title


def _following_ms(job: Job, now_ms: int) -> int:
    """Give the next due time after a run; 0 for a job that has none."""
    schedule = lenient_schedule(job.schedule_json)
    if not schedule.recurs:
        return 0
    return next_due_ms(schedule, now_ms) or NEVER_MS


def _ended(job: Job, result: str, now_ms: int) -> Job:
    return _scheduled(
        replace(
            job,
            running_at=0,
            last_run_at=now_ms,
            updated_at=now_ms,
            last_result=result[:RESULT_LIMIT_CHARS],
        )
    )


def _scheduled(job: Job) -> Job:
    """Keep the next time where other programs look for it too."""
    return replace(job, schedule_json={**job.schedule_json, "next_run_at": job.next_run_at})
