"""When a job runs, runs again or gives up: the rules of time, pure.

Not the wake that keeps them (`agent.jobs.wake`) and not a cron. Every function is told the time, in
milliseconds since the epoch, and gives a new record. Figures are those of CONTRACTS 2.2. Invariant:
a job that was stopped, or was claimed again since, is never changed by a run that comes in late.
"""

from __future__ import annotations

from msgspec.structs import replace

from agent.records import Job, JobStatus

MINIMUM_DELAY_MS = 15_000
"""The shortest time ahead that the wake is armed for, and the shortest interval."""
STUCK_AFTER_MS = 10 * 60_000
DUE_PER_WAKE = 3
FAILURES_BEFORE_ALERT = 3
FAILURES_BEFORE_GIVING_UP = 6
RESULT_LIMIT_CHARS = 4000
STUCK_RESULT = "stuck_running_repaired"


def backoff_ms(failures: int) -> int:
    """Give the wait after so many failures in a row: 1, 2, 4, 8, 16, then 32 minutes."""
    exponent: int = min(max(failures, 1), 6) - 1
    return 60_000 * (1 << exponent)


def interval_ms(job: Job) -> int:
    """Give the time between two runs; 0 when the job runs once."""
    value = job.schedule_json.get("interval_ms", 0)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return 0
    return max(value, MINIMUM_DELAY_MS)


def first_run_ms(wanted_ms: int, now_ms: int) -> int:
    """Give the first due time: the wanted one, or in 15 s when none was given."""
    return wanted_ms if wanted_ms > 0 else now_ms + MINIMUM_DELAY_MS


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
    every_ms = interval_ms(job)
    next_ms = now_ms + every_ms if every_ms else 0
    return _ended(
        replace(
            job,
            status=JobStatus.ACTIVE if every_ms else JobStatus.COMPLETED,
            next_run_at=next_ms,
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
    return _ended(
        replace(
            job,
            status=JobStatus.FAILED if gives_up else JobStatus.ACTIVE,
            next_run_at=0 if gives_up else now_ms + backoff_ms(failures),
            failure_count=failures,
            failure_alert_at=now_ms if failures >= FAILURES_BEFORE_ALERT else job.failure_alert_at,
        ),
        reason,
        now_ms,
    )


def blocked(job: Job, reason: str, now_ms: int) -> Job:
    """Give the record of a run that wanted to act and may not until somebody has looked."""
    return _ended(replace(job, status=JobStatus.AWAITING_REVIEW, next_run_at=0), reason, now_ms)


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


def _ended(job: Job, result: str, now_ms: int) -> Job:
    return replace(
        job,
        running_at=0,
        last_run_at=now_ms,
        updated_at=now_ms,
        last_result=result[:RESULT_LIMIT_CHARS],
        schedule_json={**job.schedule_json, "next_run_at": job.next_run_at},
    )
