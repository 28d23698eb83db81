"""Change what a stored job does and when, pure.

Not its status (`agent.jobs.schedule`). Invariants: only a job that waits for its time is changed,
never one that runs or has ended; what passes can run.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from agent.errors import UsageError
from agent.jobs.creation import TITLE_LIMIT_CHARS, checked_mode, checked_wording
from agent.jobs.schedule import MINIMUM_DELAY_MS, NEVER_MS
from agent.protocol import JobEdit
from agent.records import Job, JobStatus, JobType, Schedule, Trigger
from agent.schedules import (
    check_interval,
    check_moment,
    next_due_ms,
    out_of_quiet_ms,
    read_schedule,
)
from agent.sessions.rules.answers import checked_text
from agent.text import one_line

_CHANGEABLE = frozenset({JobStatus.ACTIVE, JobStatus.PAUSED})


def checked_edit(op: JobEdit) -> JobEdit:
    """Check the words of a change, without secrets. Raises UsageError."""
    title, prompt = op.title, op.prompt
    if title is not None:
        title = one_line(checked_text(title, "The title", limit=TITLE_LIMIT_CHARS))
    if prompt is not None:
        prompt = checked_text(prompt, "The prompt")
    check_moment("next_run_at", op.next_run_at or 0)
    check_interval(op.interval_ms or 0)
    if op.quiet is not None and op.without_quiet:
        raise UsageError("Quiet hours are both set and removed.", "Leave out one of them.")
    mode, wording = op.delivery_mode, op.notification_text
    return replace(
        op,
        title=title,
        prompt=prompt,
        delivery_mode=None if mode is None else checked_mode(mode),
        notification_text=None if wording is None else checked_wording(wording),
    )


def edited(job: Job, op: JobEdit, now_ms: int) -> Job | None:
    """Return the record as it is wanted; None when the job cannot be changed now.

    Args:
        job: as it is stored.
        op: checked by `checked_edit`.
        now_ms: in ms since the epoch.

    Raises:
        UsageError: a schedule that cannot be used; the message names the key.
    """
    if job.status not in _CHANGEABLE:
        return None
    prompt = job.prompt if op.prompt is None else op.prompt
    if op.prompt is not None and job.type is not JobType.AGENT_TURN:
        raise UsageError(f"Job {job.id} is a {job.type}: it has no prompt.", "Leave it out.")
    delivery = dict(job.delivery_json)
    if op.delivery_mode is not None:
        delivery["mode"] = op.delivery_mode
    if op.notification_text is not None:
        delivery["notification_text"] = op.notification_text
    changed = replace(
        job, title=op.title or job.title, prompt=prompt, delivery_json=delivery, updated_at=now_ms
    )
    times = (op.next_run_at, op.interval_ms, op.cron, op.timezone, op.quiet)
    if all(one is None for one in times) and not op.without_quiet:
        return changed
    return _rescheduled(changed, op, now_ms)


def _rescheduled(job: Job, op: JobEdit, now_ms: int) -> Job:
    raw = _wanted(job, op)
    schedule = read_schedule(raw)
    is_new = schedule.cron or any(one is not None for one in (op.interval_ms, op.cron))
    if op.next_run_at:
        due_ms = out_of_quiet_ms(schedule, op.next_run_at)
    elif schedule.recurs and (is_new or op.next_run_at is not None):
        due_ms = next_due_ms(schedule, now_ms) or NEVER_MS
    else:
        due_ms = out_of_quiet_ms(schedule, job.next_run_at) if job.next_run_at else 0
    built = msgspec.to_builtins(schedule)
    ours = {key for key in Schedule.__struct_fields__ if key not in built}
    kept = {key: value for key, value in raw.items() if key not in ours}
    stored = {**kept, **built, "interval_ms": schedule.interval_ms, "next_run_at": due_ms}
    return replace(job, schedule_json=stored, next_run_at=due_ms)


def _wanted(job: Job, op: JobEdit) -> dict[str, Any]:
    """Return a job's schedule with the changes in it, not yet checked."""
    raw: dict[str, Any] = dict(job.schedule_json)
    if op.interval_ms is not None:
        raw["interval_ms"] = max(op.interval_ms, MINIMUM_DELAY_MS) if op.interval_ms else 0
        if op.interval_ms and op.cron is None:
            raw["cron"] = ""
    if op.cron is not None:
        raw["cron"] = " ".join(op.cron.split())
        if raw["cron"] and op.interval_ms is None:
            raw["interval_ms"] = 0
    raw["next_run_at"] = op.next_run_at or 0
    if op.timezone is not None:
        raw["timezone"] = op.timezone.strip()
    if op.quiet is not None:
        raw["quiet"] = msgspec.to_builtins(op.quiet)
    elif op.without_quiet:
        raw["quiet"] = None
    if op.interval_ms or op.cron or op.next_run_at:
        # A job that has a time is no longer one that runs only when it is told to.
        on = raw.get("on")
        if isinstance(on, list | tuple):
            raw["on"] = [one for one in on if one != Trigger.MANUAL.value]
    return raw
