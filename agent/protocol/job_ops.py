"""What may be asked of jobs."""

from __future__ import annotations

from agent.protocol.base import OpBase
from agent.records import JobType, Misfire, QuietHours, Trigger


class JobCreate(OpBase, frozen=True, kw_only=True, tag="job_create"):
    """Store a job; the reply carries it."""

    title: str
    prompt: str = ""
    job_type: JobType = JobType.AGENT_TURN
    next_run_at: int = 0
    """When it first runs, in ms since the epoch; 0 = in 15 s, or when its schedule says."""
    interval_ms: int = 0
    """0 = once; else at least 15,000."""
    cron: str = ""
    """Five fields; instead of an interval."""
    timezone: str = ""
    """Of cron and quiet hours, as Europe/Berlin; empty for the computer's own."""
    on: tuple[Trigger, ...] = ()
    """What makes it due beside the clock."""
    quiet: QuietHours | None = None
    misfire: Misfire = Misfire.ONCE
    late_by_ms: int = 0
    """A due time that is missed by more is skipped; 0 = no limit."""
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


class JobPause(OpBase, frozen=True, kw_only=True, tag="job_pause"):
    """Keep a job from running until it is resumed; only an active or queued one can be paused."""

    job_id: int


class JobResume(OpBase, frozen=True, kw_only=True, tag="job_resume"):
    """Let a paused job run again; due times that passed meanwhile follow its misfire policy."""

    job_id: int


class JobRun(OpBase, frozen=True, kw_only=True, tag="job_run"):
    """Make a job due now, ended ones too; its schedule goes on after the run."""

    job_id: int
