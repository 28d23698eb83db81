"""Turn a request for a job into its record: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can run; the record's fields are those of CONTRACTS 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.errors import UsageError
from agent.jobs.schedule import MINIMUM_DELAY_MS, first_run_ms
from agent.protocol import JobCreate
from agent.records import Job, JobStatus, JobType
from agent.safety.redaction import redact_secrets
from agent.sessions.answers import checked_text
from agent.sessions.assignment import Assignment

DELIVERY_MODES = ("notification", "silent", "none")
SESSION_PREFIX = "session:"
_TITLE_LIMIT_CHARS = 200
_LATEST_MS = 1 << 52
"""About the year 144,000: a later time is a mistake, and no other program could show it."""


def planned_job(op: JobCreate, *, assignment: Assignment, now_ms: int) -> Callable[[int], Job]:
    """Check a request and give what makes its record once the id is known.

    Raises:
        UsageError: a field that cannot be used; the message names it.
    """
    title = checked_text(op.title, "The title", limit=_TITLE_LIMIT_CHARS)
    prompt = redact_secrets(op.prompt)
    if op.job_type is JobType.AGENT_TURN:
        prompt = checked_text(op.prompt, "The prompt")
    if op.delivery_mode not in DELIVERY_MODES:
        raise UsageError(
            f"There is no delivery mode {op.delivery_mode!r}.", f"Use {', '.join(DELIVERY_MODES)}."
        )
    for name, value in (("next_run_at", op.next_run_at), ("interval_ms", op.interval_ms)):
        if not 0 <= value <= _LATEST_MS:
            raise UsageError(f"{name} is {value}.", "Use milliseconds; 0 leaves it to the default.")
    _check_target(op.session_target)
    payload: dict[str, Any] = {}
    if op.serial:
        assignment.check_known(op.serial)
        payload["serial"] = op.serial
    delivery = {"mode": op.delivery_mode, "notification_text": redact_secrets(op.notification_text)}
    interval_ms = max(op.interval_ms, MINIMUM_DELAY_MS) if op.interval_ms else 0
    first_ms = first_run_ms(op.next_run_at, now_ms)

    def build(job_id: int) -> Job:
        return Job(
            id=job_id,
            type=op.job_type,
            title=title.strip(),
            prompt=prompt,
            payload_json=payload,
            schedule_json={"next_run_at": first_ms, "interval_ms": interval_ms},
            session_target=op.session_target,
            delivery_json=delivery,
            status=JobStatus.ACTIVE,
            created_at=now_ms,
            updated_at=now_ms,
            next_run_at=first_ms,
            running_at=0,
            last_run_at=0,
            last_result="",
            failure_count=0,
            failure_alert_at=0,
        )

    return build


def _check_target(target: str) -> None:
    named = target.startswith(SESSION_PREFIX) and len(target) > len(SESSION_PREFIX)
    if target in {"main", "isolated"} or named:
        return
    raise UsageError(
        f"A job cannot run in session target {target!r}.",
        "Use main or isolated, which open a session for each run, or session:ID.",
    )
