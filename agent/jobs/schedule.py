"""When a job runs, runs again or gives up. Pure.

`agent.jobs.job_scheduler` applies these rules; the calendar is `agent.schedules`. Functions take
the time in milliseconds since the epoch and return a new record. Figures are those of CONTRACTS
2.2. Invariant: a job that was stopped, or was claimed again since, is never changed by a run that
comes in late.
"""

from msgspec.structs import replace

from agent.jobs.device_selection import fits, wanted_word
from agent.records import LATEST_MS, DeviceInfo, Job, JobStatus, JobType, Trigger
from agent.schedules import is_missed, lenient_schedule, next_due_ms, out_of_quiet_ms

MINIMUM_DELAY_MS = 15_000
"""The shortest time ahead that the timer is armed for, and the shortest interval."""
STUCK_AFTER_MS = 10 * 60_000
DUE_PER_WAKE = 3
NEVER_MS = LATEST_MS
"""When a job is due that only an event makes due."""
FAILURES_BEFORE_ALERT = 3
FAILURES_BEFORE_GIVING_UP = 6
RESULT_LIMIT_CHARS = 4000
MISSED_RESULT = "missed"
"""The result of a job that runs once, if no core was running at its time."""


_NOT_WAITING = {
    "phase": "",
    "pending_confirmation_id": "",
    "checkpoint_json": {},
    "resume_token": "",
    "paused_at": 0,
}
"""What is left of a review, or a pause, once a job waits for neither."""
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
    """Return the wait after so many failures in a row: 1, 2, 4, 8, 16, then 32 minutes."""
    exponent: int = min(max(failures, 1), 6) - 1
    return 60_000 * (1 << exponent)


def is_due(job: Job, now_ms: int) -> bool:
    """Return whether an active job should run now; a `next_run_at` of 0 means at once."""
    return job.status is JobStatus.ACTIVE and job.next_run_at <= now_ms


def is_stuck(job: Job, now_ms: int) -> bool:
    """Return whether a run has taken longer than any run may; exactly ten minutes is not yet."""
    return job.status is JobStatus.RUNNING and now_ms - job.running_at > STUCK_AFTER_MS


def wake_at_ms(next_due_ms: int | None, now_ms: int) -> int | None:
    """Return when the timer must ring for the next due time; None when nothing is active."""
    return None if next_due_ms is None else max(next_due_ms, now_ms + MINIMUM_DELAY_MS)


def armed_at_ms(armed_ms: int | None, wanted_ms: int | None) -> int | None:
    """Return when a timer rings that was armed for one time and is wanted for another.

    The earlier one: a ring too many finds nothing due, but putting a ring off each time that some
    job changes would starve the others.
    """
    if armed_ms is None or wanted_ms is None:
        return wanted_ms if armed_ms is None else armed_ms
    return min(armed_ms, wanted_ms)


def claimed(job: Job, now_ms: int) -> Job:
    """Return the record of a job whose run begins."""
    return replace(job, status=JobStatus.RUNNING, running_at=now_ms, updated_at=now_ms)


def succeeded(job: Job, result: str, now_ms: int, *, ended_ms: int = 0) -> Job:
    """Return the record after a good run: armed again when it recurs, else completed.

    Due times that passed meanwhile are not caught up; those since the run ended are.

    Args:
        ended_ms: when the run ended, where that is stored later, as after a crash; 0 for now.
    """
    schedule = lenient_schedule(job.schedule_json)
    return _ended(
        replace(
            job,
            status=JobStatus.ACTIVE if schedule.recurs else JobStatus.COMPLETED,
            next_run_at=_following_ms(job, min(ended_ms or now_ms, now_ms)),
            failure_count=0,
            failure_alert_at=0,
        ),
        result,
        now_ms,
    )


def failed(job: Job, reason: str, now_ms: int) -> Job:
    """Return the record after a failed run: later again, or failed for good the sixth time."""
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


def given_up(job: Job, result: str, now_ms: int) -> Job:
    """Return the record of a run that ended for want of a person's yes: it is not tried again.

    A job that recurs comes again at its next time, any other one has failed.
    """
    recurs = lenient_schedule(job.schedule_json).recurs
    return _ended(
        replace(
            job,
            status=JobStatus.ACTIVE if recurs else JobStatus.FAILED,
            next_run_at=_following_ms(job, now_ms),
        ),
        result,
        now_ms,
    )


def missed(job: Job, now_ms: int) -> Job | None:
    """Return the record of a job whose due time passed too long ago; None when it still counts."""
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
    """Return the record of a job that waits for the operator; None when it cannot be paused."""
    if job.status not in {JobStatus.ACTIVE, JobStatus.QUEUED}:
        return None
    return replace(job, status=JobStatus.PAUSED, updated_at=now_ms, paused_at=now_ms)


def resumed(job: Job, now_ms: int) -> Job | None:
    """Return the record of a paused job that may run again; None when it is not paused."""
    if job.status is not JobStatus.PAUSED:
        return None
    active = replace(job, status=JobStatus.ACTIVE, updated_at=now_ms, paused_at=0)
    return missed(active, now_ms) or active


def run_now(job: Job, now_ms: int) -> Job | None:
    """Return the record of a job that is due at once; None where a run may not begin."""
    if job.status in _NO_RUN:
        return None
    # The schedule's own next time is found again after the run.
    due = replace(job, status=JobStatus.ACTIVE, next_run_at=now_ms, updated_at=now_ms)
    return _scheduled(replace(due, paused_at=0, phase=""))


def waits_for(
    job: Job,
    trigger: Trigger,
    device: DeviceInfo | None = None,
    packages: frozenset[str] = frozenset(),
) -> bool:
    """Return whether what happened makes a job due.

    Args:
        job: as it is stored.
        trigger: what happened.
        device: where, if it was on a phone; a job that wants one phone waits for that phone's.
        packages: the apps that it is about; a job that names an app waits for that app's.
    """
    if job.status is not JobStatus.ACTIVE:
        return False
    if device is not None and not fits(job.payload_json, device):
        return False
    app = wanted_word(job.payload_json, "app")
    if packages and app and app not in packages:
        return False
    return trigger in lenient_schedule(job.schedule_json).on


def set_off(job: Job, now_ms: int) -> Job | None:
    """Return the record of a job that an event made due, after quiet hours; None if it is due."""
    schedule = lenient_schedule(job.schedule_json)
    due_ms = out_of_quiet_ms(schedule, now_ms)
    if job.status is not JobStatus.ACTIVE or job.next_run_at <= due_ms:
        return None
    return _scheduled(replace(job, next_run_at=due_ms, updated_at=now_ms))


def stopped(job: Job, now_ms: int) -> Job:
    """Return the record of a job that never runs again."""
    over = replace(job, status=JobStatus.STOPPED, next_run_at=0, running_at=0, updated_at=now_ms)
    return replace(over, **_NOT_WAITING)


def is_same_run(now: Job, then: Job) -> bool:
    """Return whether the stored record is still the run claimed, or approved, as `then`."""
    return (now.status, now.running_at, now.resume_token) == (
        then.status,
        then.running_at,
        then.resume_token,
    )


def is_delivered(job: Job) -> bool:
    """Return whether anybody is to look at what a job came to; a heartbeat says nothing."""
    return job.type is not JobType.HEARTBEAT and job.delivery_json.get("mode") != "none"


def read(job: Job, now_ms: int) -> Job | None:
    """Return the record of a job whose result the operator has looked at; None when it is read."""
    return replace(job, unread_result=False, updated_at=now_ms) if job.unread_result else None


def _following_ms(job: Job, now_ms: int) -> int:
    """Return the next due time after a run; 0 for a job that has none."""
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
            last_event_at=now_ms,
            last_result=result[:RESULT_LIMIT_CHARS],
            unread_result=is_delivered(job),
            **_NOT_WAITING,
        )
    )


def _scheduled(job: Job) -> Job:
    """Keep the next time where other programs look for it too."""
    return replace(job, schedule_json={**job.schedule_json, "next_run_at": job.next_run_at})
