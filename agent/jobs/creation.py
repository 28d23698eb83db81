"""Turn a request for a job into its record: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can run; the record's fields are those of CONTRACTS 2.1.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from agent.errors import UsageError
from agent.jobs.schedule import MINIMUM_DELAY_MS, NEVER_MS
from agent.jobs.tool_calls import OUTPUT_SCHEMA, REQUIRES, call_of, output_schema_of, requires_of
from agent.placement.needs import Needs, parse_needs
from agent.protocol import JobCreate
from agent.records import Job, JobStatus, JobType, Schedule, Trigger
from agent.records.jobs import CAMPAIGN, MOST_PHONES
from agent.results.schema import checked_schema
from agent.schedules import (
    check_interval,
    check_moment,
    next_due_ms,
    out_of_quiet_ms,
    read_schedule,
)
from agent.sessions.registry.device_assignment import Assignment
from agent.sessions.rules.answers import checked_text
from agent.sessions.rules.creation import STEPS_LIMIT, checked_account, requested_id
from agent.text import one_line

DELIVERY_MODES = ("notification", "silent", "none")
MAIN = "main"  # The job's standing session: each run goes on where the one before it ended.
SESSION_PREFIX = "session:"
WORDING_LIMIT_CHARS = 400
PAYLOAD_LIMIT_BYTES = 16_384
TITLE_LIMIT_CHARS = 200
REQUEST = "_request"  # In the payload, beside the keys of clients: which request made the job.


@dataclass(frozen=True)
class Creator:
    """The session that asks for a job."""

    session_id: str


def planned_job(
    op: JobCreate, *, assignment: Assignment, now_ms: int, creator: Creator | None = None
) -> Callable[[int], Job]:
    """Check a request and give what makes its record once the id is known.

    Raises:
        UsageError: a field that cannot be used; the message names it.
    """
    if op.serial:
        assignment.check_known(op.serial)
    return checked_job(op, now_ms=now_ms, creator=creator)


def checked_job(
    op: JobCreate, *, now_ms: int, creator: Creator | None = None
) -> Callable[[int], Job]:
    """Check a request but for its phone; see `planned_job`. Raises UsageError."""
    title = one_line(checked_text(op.title, "The title", limit=TITLE_LIMIT_CHARS))
    prompt = ""
    _check_campaign(op, creator)
    if op.prompt.strip() or op.job_type in {JobType.AGENT_TURN, JobType.CAMPAIGN}:
        prompt = checked_text(op.prompt, "The prompt")
    delivery = {
        "mode": checked_mode(op.delivery_mode),
        "notification_text": checked_wording(op.notification_text),
    }
    schedule = _schedule(op)
    target = _checked_target(op.session_target, creator)
    payload = _payload(op)
    first_ms = _first_ms(schedule, now_ms)
    if op.campaign is not None:
        payload[CAMPAIGN] = msgspec.to_builtins(op.campaign)
        first_ms = NEVER_MS
    stored = {"next_run_at": first_ms, "interval_ms": schedule.interval_ms}
    stored = {**msgspec.to_builtins(schedule), **stored}

    def build(job_id: int) -> Job:
        return Job(
            id=job_id,
            type=op.job_type,
            title=title,
            prompt=prompt,
            payload_json=payload,
            schedule_json=stored,
            session_target=target,
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


def _check_campaign(op: JobCreate, creator: Creator | None) -> None:
    """Refuse a campaign that is none, or has what only other jobs have. Raises UsageError."""
    if (op.campaign is None) != (op.job_type is not JobType.CAMPAIGN):
        raise UsageError(
            f"job_type is {op.job_type.value}, which contradicts campaign.",
            "Set campaign only if job_type is campaign.",
        )
    if op.campaign is None:
        return
    if creator is not None:
        raise UsageError("A session asks for a campaign.", "Only an operator can start one.")
    for name, most in (("per_minute", 6000), ("at_once", MOST_PHONES), ("stop_after", MOST_PHONES)):
        if not 0 <= getattr(op.campaign, name) <= most:
            raise UsageError(
                f"campaign.{name} is {getattr(op.campaign, name):g}.", f"Use 0 to {most}."
            )
    if not 0 <= op.campaign.max_steps <= STEPS_LIMIT:
        raise UsageError(
            f"campaign.max_steps is {op.campaign.max_steps}.", f"Use 0 to {STEPS_LIMIT}."
        )
    timed = (op.next_run_at, op.interval_ms, op.cron, op.on, op.quiet)
    placed = (op.serial, op.app, op.tags, op.phone_needs)
    if any(timed) or any(placed) or op.session_target != MAIN:
        raise UsageError(
            "A campaign starts at once, on the phones that it names itself.",
            "Leave out times, events, session_target, serial, app, tags and phone_needs; say which "
            "phones in campaign.needs.",
        )


def checked_mode(mode: str) -> str:
    """Return how a job is told of. Raises UsageError."""
    if mode not in DELIVERY_MODES:
        raise UsageError(
            f"There is no delivery mode {one_line(mode, 80)!r}.",
            f"Use {', '.join(DELIVERY_MODES)}.",
        )
    return mode


def checked_wording(text: str) -> str:
    """Return what a notice is to say exactly; empty for the usual words. Raises UsageError."""
    return checked_text(text, "notification_text", limit=WORDING_LIMIT_CHARS) if text else ""


def _schedule(op: JobCreate) -> Schedule:
    """Check when a job is to run. Raises UsageError naming the field."""
    check_moment("next_run_at", op.next_run_at)
    check_interval(op.interval_ms)
    if Trigger.MANUAL in op.on and (
        op.interval_ms or op.cron.strip() or op.next_run_at or len(set(op.on)) > 1
    ):
        raise UsageError(
            "A manual job has no schedule.",
            "Leave out manual (--on), or the others: interval_ms (--every), cron (--cron), "
            "next_run_at (--in, --at), other events (--on).",
        )
    raw = msgspec.to_builtins(
        Schedule(
            next_run_at=op.next_run_at,
            interval_ms=max(op.interval_ms, MINIMUM_DELAY_MS) if op.interval_ms > 0 else 0,
            cron=" ".join(op.cron.split()),
            timezone=op.timezone.strip(),
            on=tuple(dict.fromkeys(op.on)),
            quiet=op.quiet,
            misfire=op.misfire,
            late_by_ms=op.late_by_ms,
        )
    )
    return read_schedule(raw)


def _first_ms(schedule: Schedule, now_ms: int) -> int:
    """Return when a job first runs: the wanted time, else its schedule's, else in 15 s."""
    if schedule.next_run_at:
        return out_of_quiet_ms(schedule, schedule.next_run_at)
    if schedule.cron:
        return next_due_ms(schedule, now_ms) or NEVER_MS
    if schedule.on and not schedule.interval_ms:
        return NEVER_MS
    return out_of_quiet_ms(schedule, now_ms + MINIMUM_DELAY_MS)


def _checked_target(target: str, creator: Creator | None) -> str:
    """Return where a job runs; `current` is the session that asks for it."""
    named = target.startswith(SESSION_PREFIX) and len(target) > len(SESSION_PREFIX)
    if target in {MAIN, "isolated"} or named:
        return target
    if target == "current" and creator is not None:
        return f"{SESSION_PREFIX}{creator.session_id}"
    remedy = "Use main (its own standing session), isolated (a new one each time) or session:ID."
    if target == "current":
        remedy = "Only a session has a current one: give session:ID, main or isolated."
    raise UsageError(f"A job cannot run in session target {one_line(target, 80)!r}.", remedy)


def _payload(op: JobCreate) -> dict[str, Any]:
    """Make a job's payload: what the asker put into it, and which phones it may run on."""
    payload = dict(op.payload)
    call_of(payload)
    output_schema_of(payload)
    if op.requires:
        payload[REQUIRES] = list(op.requires)
    requires_of(payload)
    if request := requested_id(op.request_id):
        payload[REQUEST] = request
    if op.account:
        payload["account"] = checked_account(op.account)
    if op.serial:
        payload["serial"] = op.serial
    if op.app:
        payload["app"] = checked_text(op.app, "The app", limit=TITLE_LIMIT_CHARS).strip()
    wanted = dict.fromkeys(op.tags)
    if op.output_schema:
        payload[OUTPUT_SCHEMA] = json.loads(checked_schema(op.output_schema))
    tags = [checked_text(tag, "A tag", limit=TITLE_LIMIT_CHARS) for tag in wanted]
    if tags:
        payload["tags"] = tags
    if (needs := parse_needs(op.phone_needs)) != Needs():
        if op.serial:
            raise UsageError("needs and a device are both named.", "Leave one of them out.")
        if needs.same and (needs != Needs(same=needs.same) or op.app or op.tags):
            raise UsageError(
                "needs: same cannot be combined.", "Write same:SESSION without other fields."
            )
        payload["needs"] = str(needs)
    if len(msgspec.json.encode(payload)) > PAYLOAD_LIMIT_BYTES:
        raise UsageError(
            f"The payload, with the phone, app and tags, is larger than {PAYLOAD_LIMIT_BYTES:,} "
            "bytes.",
            "Put less into it.",
        )
    return payload
