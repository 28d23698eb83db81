"""Jobs: durable scheduled work. The field names and types are the wire's."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta


class JobType(StrEnum):
    """What a job does when it wakes."""

    AGENT_TURN = "agent_turn"
    SYSTEM_EVENT = "system_event"
    HEARTBEAT = "heartbeat"


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

Moment = Annotated[int, Meta(ge=0, le=LATEST_MS)]


class Trigger(StrEnum):
    """What makes a job due beside the clock."""

    DEVICE_CONNECTED = "device_connected"
    DEVICE_BOOTED = "device_booted"
    APP_UPDATED = "app_updated"
    CONSOLE_START = "console_start"
    MANUAL = "manual"
    """Only when the operator says so."""


class Misfire(StrEnum):
    """What happens with due times that passed while nothing was awake."""

    ONCE = "once"
    """All of them together are made up for by one run."""
    SKIP = "skip"
    """They are left out; the next one counts."""


class QuietHours(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A span of every day in which nothing starts; over midnight when `until` is the earlier."""

    since: str
    """HH:MM."""
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
        """Whether there is a next time after each run."""
        return bool(self.interval_ms or self.cron or self.on)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Durable scheduled work that starts sessions; all 17 fields are always on the wire."""

    id: int
    type: JobType
    title: str
    prompt: str
    payload_json: dict[str, Any]
    schedule_json: dict[str, Any]
    session_target: str
    delivery_json: dict[str, Any]
    status: JobStatus
    created_at: int
    updated_at: int
    next_run_at: int
    running_at: int
    last_run_at: int
    last_result: str
    failure_count: int
    failure_alert_at: int
