"""Define jobs: durable scheduled work. Field names and types are the wire's."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent.records.observation import TimeSplit, Usage
from agent.records.record import Record
from agent.records.sessions import Autonomy, Budget
from agent.records.verification import FieldSource, GoalVerdict, VerifiedBy


class JobType(StrEnum):
    """What a job does when it wakes."""

    AGENT_TURN = "agent_turn"
    SYSTEM_EVENT = "system_event"
    HEARTBEAT = "heartbeat"
    CAMPAIGN = "campaign"  # One goal for many phones; the wake has nothing to do with it.


class JobStatus(StrEnum):
    """Statuses of the newer schema."""

    ACTIVE = "active"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    AWAITING_REVIEW = "awaiting_review"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    DISPATCHED = "dispatched"


LATEST_MS = 1 << 52
"""About the year 144,000: a later time is a mistake, and no other program could show it."""

LATEST_SHOWN_MS = 253_370_764_800_000
"""The year 9999, the last of every calendar: no later time is taken from anybody."""

Moment = Annotated[int, Meta(ge=0, le=LATEST_MS)]
Stamp = Annotated[int, Meta(ge=0)]


class Trigger(StrEnum):
    """What makes a job due beside the clock."""

    DEVICE_CONNECTED = "device_connected"
    DEVICE_BOOTED = "device_booted"
    APP_UPDATED = "app_updated"
    CONSOLE_START = "console_start"
    MANUAL = "manual"  # Only when the operator says so.


class Misfire(StrEnum):
    """What happens with due times that passed while nothing was awake."""

    ONCE = "once"  # All of them together are made up for by one run.
    SKIP = "skip"  # They are left out; the next one counts.


class QuietHours(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A span of every day in which nothing starts; over midnight when `until` is the earlier."""

    since: str  # HH:MM.
    until: str


class Schedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job's `schedule_json`; keys that another program added are kept beside it, not in it."""

    next_run_at: Moment = 0
    interval_ms: Moment = 0
    cron: Annotated[str, Meta(max_length=200)] = ""
    timezone: Annotated[str, Meta(max_length=64)] = ""
    """Of the cron expression and the quiet hours, as `Europe/Berlin`; empty for the computer's."""
    on: tuple[Trigger, ...] = ()
    quiet: QuietHours | None = None
    misfire: Misfire = Misfire.ONCE
    late_by_ms: Moment = 0
    """A due time that is missed by more is skipped; 0 for no limit."""

    @property
    def recurs(self) -> bool:
        """Return whether there is a next time after each run."""
        return bool(self.interval_ms or self.cron or self.on)


class Job(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Durable scheduled work that starts sessions.

    The first 17 fields are OpenPhone's V1 schema and always on the wire; those after them are its
    newer schema's and are there only while they say something.
    """

    id: Annotated[int, Meta(ge=1)]
    type: JobType
    title: Annotated[str, Meta(min_length=1)]
    prompt: str
    payload_json: dict[str, Any]
    schedule_json: dict[str, Any]
    session_target: Annotated[str, Meta(pattern=r"^(main|isolated|current|session:.+)$")]
    delivery_json: dict[str, Any]
    status: JobStatus
    created_at: Stamp
    updated_at: Stamp
    next_run_at: Stamp
    running_at: Stamp
    last_run_at: Stamp
    last_result: Annotated[str, Meta(max_length=4000)]
    failure_count: Stamp
    failure_alert_at: Stamp
    phase: Annotated[str, Meta(max_length=120)] = ""
    """What it waits for between two statuses, as `approval_executing`."""
    progress_text: Annotated[str, Meta(max_length=4000)] = ""
    progress_current: int = 0
    progress_total: int = 0
    checkpoint_json: dict[str, Any] = {}
    """Where its run goes on after a review: a `Checkpoint`."""
    pending_confirmation_id: Annotated[str, Meta(max_length=200)] = ""
    pending_tool_request_json: dict[str, Any] = {}
    """The action that waits for a review, or waited last: a `Confirmation`."""
    last_surface_id: Annotated[str, Meta(max_length=160)] = ""
    """The phone of its newest run."""
    resume_token: Annotated[str, Meta(max_length=200)] = ""
    last_event_at: Stamp = 0
    unread_result: bool = False
    """Whether it came to something that the operator has yet to look at."""
    paused_at: Stamp = 0
    host: Annotated[str, Meta(max_length=100)] = ""
    """The host of a fleet whose core runs it; empty in a store of one core."""

    @property
    def places(self) -> tuple[str, ...]:
        """Return its host, as `rack-3/`, the phones that it names, and its tags of phones, as
        `#wall`.
        """
        serial, tags = self.payload_json.get("serial"), self.payload_json.get("tags")
        named = (serial,) if isinstance(serial, str) and serial else ()
        tagged = tuple(f"#{tag}" for tag in tags) if isinstance(tags, list | tuple) else ()
        phones = campaign_of(self.payload_json).phones
        return (*((f"{self.host}/",) if self.host else ()), *named, *phones, *tagged)

    @property
    def sends_notices(self) -> bool:
        """Return whether its runs produce notices."""
        mode = self.delivery_json.get("mode", "notification")
        return mode == "notification" and self.type is not JobType.HEARTBEAT

    @property
    def notice_text(self) -> str:
        """Return the text of a successful run's notice; empty if there is none.

        The operator's exact wording wins; it never contains a result or a trace.
        """
        if not self.sends_notices:
            return ""
        wording = self.delivery_json.get("notification_text", "")
        return wording if isinstance(wording, str) and wording else "Run finished."

    @property
    def is_failing(self) -> bool:
        """Return whether its newest ended run failed."""
        return self.status is JobStatus.FAILED or self.failure_count > 0


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    AWAITING_REVIEW = "awaiting_review"
    ENDED = "ended"


class RunOutcome(StrEnum):
    """What a run came to; the words are OpenPhone's, and ours where it has none."""

    FINISHED = "task.finished"
    FAILED = "task.failed"
    CANCELLED = "cancelled"
    DURATION_LIMIT = "duration_limit_reached"
    STEP_LIMIT = "step_limit_reached"
    NO_PROGRESS = "no_progress"
    DENIED = "action_denied"
    EXPIRED = "background.confirmation_timeout"
    UNKNOWN = "review_resolution_unknown"
    """The core ended between an approval and the end of the action, which is not done again."""
    RESTARTED = "core_restarted"
    STUCK = "stuck_running_repaired"
    ERROR = "job_error"


class RunRecord(Record, frozen=True, kw_only=True):
    """One run of a job: when, in which session, where the time went, and what it came to."""

    run_id: str
    job_id: int
    due_at: int
    """The due time that it was claimed for."""
    started_at: int
    ended_at: int = 0
    status: RunStatus = RunStatus.RUNNING
    outcome: RunOutcome | None = None
    attempt: int = 1
    """1, and one more for each failure in a row before it."""
    session_id: str = ""
    serial: str = ""
    result: str = ""
    diagnostics: str = ""
    """Why it came to that, for the operator; in no notification."""
    steps: int = 0
    reviews: int = 0
    waited_ms: int = 0
    """For a phone."""
    reviewed_ms: int = 0
    """For the operator's word."""
    time: TimeSplit = TimeSplit()
    usage: Usage = Usage()
    verified_by: VerifiedBy = VerifiedBy.NOBODY
    """Who confirmed that a finished run did what it was for."""
    verdict: GoalVerdict = GoalVerdict.CANNOT_TELL
    result_json: str = ""
    """Its result as data, as JSON, where the job has an output schema."""
    sources: tuple[FieldSource, ...] = ()
    """Where each value of that was read, by steps of the session."""


MOST_PHONES = 200


class Campaign(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job of type campaign does, beside its prompt."""

    needs: str = ""  # Which phones, as `tag:wall`; those that are there when it is stored.
    phones: tuple[str, ...] = ()  # Their serials; empty: found by the needs.
    per_minute: float = 0.0  # How many phones begin in a minute; 0 = all at once.
    at_once: int = 0  # How many are at work at once; 0 = any number.
    stop_after: int = 0  # After so many failures no more begin; 0 = all begin.
    account: str = ""
    model: str = ""
    endpoint: str = ""
    """The address at which its model is asked, as in `Session`; a client that names one is refused
    if the core's settings have another."""
    max_steps: int = 0
    budget: Budget = Budget()  # Of each phone's session.
    autonomy: Autonomy | None = None


CAMPAIGN = "campaign"
"""Where it stands in a job's payload."""


def campaign_of(payload: dict[str, object]) -> Campaign:
    """Return the campaign of a job's payload; an unreadable one has no phones."""
    try:
        return msgspec.convert(payload.get(CAMPAIGN, {}), Campaign)
    except msgspec.ValidationError:
        return Campaign()
