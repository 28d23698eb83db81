"""What may be asked of jobs."""

from __future__ import annotations

from agent.protocol.base import OpBase
from agent.records import JobType


class JobCreate(OpBase, frozen=True, kw_only=True, tag="job_create"):
    """Store a job; the reply carries it."""

    title: str
    prompt: str = ""
    job_type: JobType = JobType.AGENT_TURN
    next_run_at: int = 0
    """When it first runs, in ms since the epoch; 0 = in 15 s."""
    interval_ms: int = 0
    """0 = once; else at least 15,000."""
    session_target: str = "main"
    serial: str = ""
    delivery_mode: str = "notification"
    notification_text: str = ""


class JobList(OpBase, frozen=True, kw_only=True, tag="job_list"):
    """List jobs, newest first; the query is a case-insensitive substring."""

    query: str = ""
    limit: int = 50


class JobStop(OpBase, frozen=True, kw_only=True, tag="job_stop"):
    """Stop a job for good; a run under way is interrupted and its late result is not kept."""

    job_id: int
