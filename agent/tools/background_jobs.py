"""What a model may do with jobs: create one, list them, stop one; and the replies it reads.

Not the carrying out (`agent.loop.turn.service_tools`) and not the checks, which are the jobs' own.
Names, arguments and replies are OpenPhone's (its `background_job_*` tools). Invariant: a reply is
one JSON object whose status says what happened.
"""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from agent.errors import UsageError
from agent.protocol import JobCreate, JobList, JobStop, Reply
from agent.records import Job, JobType, Misfire, QuietHours, Trigger
from agent.safety.redacting.redaction import redact
from agent.text import one_line
from agent.timestamps import iso_time
from agent.tools.arguments import Arguments, BadArguments, ServiceArguments, ToolKind
from agent.tools.tool_groups import ToolGroup

LIST_DEFAULT, LIST_MOST = 8, 20
_RESULT_SHOWN_CHARS = 400

Reason = Annotated[str, msgspec.Meta(description="Why you do this, for the operator.")]
Moment = Annotated[
    int | str, msgspec.Meta(description="A time in ISO-8601; without a zone, this computer's.")
]


class JobQuiet(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    since: Annotated[str, msgspec.Meta(description="HH:MM")]
    until: Annotated[str, msgspec.Meta(description="HH:MM")]


class JobSchedule(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When it runs beside `run_at` and `interval_ms`."""

    next_run_at: Moment = 0
    interval_ms: int = 0
    cron: Annotated[str, msgspec.Meta(description="Five fields.")] = ""
    timezone: Annotated[str, msgspec.Meta(description="As Europe/Berlin.")] = ""
    on: Annotated[tuple[Trigger, ...], msgspec.Meta(description="What else sets it off.")] = ()
    quiet: JobQuiet | None = None
    misfire: Misfire = Misfire.ONCE


class JobDelivery(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How it is told."""

    mode: str = ""
    notification_text: str = ""


class BackgroundJobCreate(ServiceArguments, frozen=True, kw_only=True):
    """Have something looked at later or again and again, when the goal asks for that. Each run
    may look, navigate and tell; it asks the operator before each effect that lasts.
    """

    tool_name = "background_job_create"
    tool_group = ToolGroup.JOBS
    required = ("title", "prompt", "reason")
    gathered = ("schedule", frozenset({"cron", "timezone", "on", "quiet", "misfire"}))

    title: Annotated[str, msgspec.Meta(description="A short name.")] = ""
    prompt: Annotated[str, msgspec.Meta(description="What each run is to do, in full.")] = ""
    reason: Reason = ""
    type: Annotated[
        str, msgspec.Meta(description="agent_turn (default), system_event or heartbeat.")
    ] = ""
    schedule: JobSchedule | None = None
    run_at: Moment = 0
    next_run_at: Moment = 0
    interval_ms: Annotated[int, msgspec.Meta(description="0 = once; at least 15000.")] = 0
    session_target: Annotated[
        str, msgspec.Meta(description="main (default), isolated, current or session:ID.")
    ] = ""
    delivery: (
        Annotated[str, msgspec.Meta(description="notification (default), silent or none.")]
        | JobDelivery
    ) = ""
    notification_text: Annotated[str, msgspec.Meta(description="Exactly what it says.")] = ""
    payload: Annotated[str, msgspec.Meta(description="A JSON object that is kept with it.")] = ""
    goal: Annotated[str, msgspec.Meta(description="Another name of prompt.")] = ""
    task: Annotated[str, msgspec.Meta(description="Another name of prompt.")] = ""


class BackgroundJobList(ServiceArguments, frozen=True, kw_only=True):
    """List background jobs, the newest first."""

    tool_name = "background_job_list"
    tool_kind = ToolKind.OBSERVE
    tool_group = ToolGroup.JOBS
    required = ("reason",)

    reason: Reason = ""
    query: str = ""
    limit: Annotated[int, msgspec.Meta(description="1 to 20.")] = LIST_DEFAULT


class BackgroundJobStop(ServiceArguments, frozen=True, kw_only=True):
    """Stop a background job for good."""

    tool_name = "background_job_stop"
    tool_group = ToolGroup.JOBS
    required = ("job_id", "reason")

    job_id: Annotated[int, msgspec.Meta(description="The job's number.")] = 0
    reason: Reason = ""


JobArguments = BackgroundJobCreate | BackgroundJobList | BackgroundJobStop


def job_op(arguments: JobArguments) -> JobCreate | JobList | JobStop | str:
    """Make the op of a call, or the reply to a call that lacks something.

    Raises:
        BadArguments: a field that cannot be read.
    """
    match arguments:
        case BackgroundJobCreate():
            return _creation(arguments)
        case BackgroundJobList(query=query, limit=limit):
            return JobList(query=query, limit=_listed(limit))
        case BackgroundJobStop(job_id=job_id):
            if job_id < 1:
                return reply("error", reason="bad_background_job_stop")
            return JobStop(job_id=job_id)


def _listed(limit: int) -> int:
    return min(max(limit, 1), LIST_MOST)


def _creation(wanted: BackgroundJobCreate) -> JobCreate | str:
    known = {kind.value for kind in JobType}
    job_type = JobType(wanted.type) if wanted.type in known else JobType.AGENT_TURN
    prompt = next((t for t in (wanted.prompt, wanted.goal, wanted.task) if t.strip()), "")
    if not wanted.title.strip():
        return reply("error", reason="empty_background_job")
    if not prompt and job_type is JobType.AGENT_TURN:
        return reply("error", reason="empty_background_job_prompt")
    schedule = wanted.schedule or JobSchedule()
    delivery = wanted.delivery
    if isinstance(delivery, str):
        delivery = JobDelivery(mode=delivery)
    span = schedule.quiet
    quiet = None if span is None else QuietHours(since=span.since, until=span.until)
    moments = (wanted.next_run_at, wanted.run_at, schedule.next_run_at)
    first_ms = next(filter(None, map(moment_ms, moments)), 0)
    return JobCreate(
        title=wanted.title,
        prompt=prompt,
        job_type=job_type,
        next_run_at=first_ms,
        interval_ms=wanted.interval_ms or schedule.interval_ms,
        cron=schedule.cron,
        timezone=schedule.timezone,
        on=schedule.on,
        quiet=quiet,
        misfire=schedule.misfire,
        session_target=wanted.session_target or "main",
        delivery_mode=delivery.mode or "notification",
        notification_text=wanted.notification_text or delivery.notification_text,
        payload=json_object(wanted.payload, "payload"),
    )


def json_object(text: str, name: str) -> dict[str, Any]:
    """Read an object that a model wrote as JSON in a text. Raises BadArguments naming the field."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}
    except msgspec.MsgspecError as error:
        raise BadArguments(f"`{name}` must be one JSON object") from error


def moment_ms(said: int | str) -> int:
    """Read a time as a model writes it, in ms since the epoch; 0 for none. Raises BadArguments."""
    text = str(said).strip()
    if not text:
        return 0
    try:
        at_ms = (
            int(text)
            if text.removeprefix("-").isdecimal()
            else round(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
        )
    except (ValueError, OverflowError, OSError) as error:
        raise BadArguments(f"{one_line(text, 60)!r} is not a time; write it in ISO-8601") from error
    if at_ms < 0:
        raise BadArguments(f"{one_line(text, 60)!r} is before 1970; write a time that is to come")
    return at_ms


def answered(arguments: JobArguments, came: Reply) -> str:
    """Return the reply to what the jobs did."""
    match arguments:
        case BackgroundJobCreate():
            job = came.job
            assert job is not None, "what was created is in the reply"
            return reply(
                "background_job.created",
                job_id=job.id,
                title=job.title,
                next_run_at=iso_time(job.next_run_at),
            )
        case BackgroundJobStop(job_id=job_id):
            return reply("background_job.stopped", job_id=job_id)
        case BackgroundJobList(query=query, limit=limit):
            jobs = [_summary(job) for job in came.jobs]
            most = _listed(limit)
            return reply("background_job.list.results", query=query, limit=most, jobs=jobs)


def refused(arguments: JobArguments, error: UsageError) -> str:
    """Return the reply to what the jobs refused."""
    match arguments:
        case BackgroundJobStop(job_id=job_id):
            return reply("background_job.not_found", job_id=job_id)
        case BackgroundJobCreate():
            return reply("background_job.create_failed", **_why(error))
        case BackgroundJobList():
            return reply("error", **_why(error))


def _why(error: UsageError) -> dict[str, str]:
    return {"reason": one_line(error.message, 300), "remedy": one_line(error.remedy, 200)}


def reply(status: str, **fields: object) -> str:
    """Write a reply: one JSON object, its status first."""
    return msgspec.json.encode({"status": status, **fields}).decode()


def _summary(job: Job) -> dict[str, object]:
    return {
        "job_id": job.id,
        "title": redact(job.title),
        "type": job.type.value,
        "status": job.status.value,
        "next_run_at": iso_time(job.next_run_at),
        "last_run_at": iso_time(job.last_run_at),
        "failure_count": job.failure_count,
        "last_result": redact(one_line(job.last_result, _RESULT_SHOWN_CHARS)),
    }
