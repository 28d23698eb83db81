"""Jobs: durable scheduled work. The field names and types are the wire's."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


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
