"""Define the ops on jobs."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from agent.protocol.base import CreatingOp, OpBase
from agent.records import STOPPING, Allows, Campaign, JobType, Misfire, QuietHours, Right, Trigger


class JobCreate(CreatingOp, frozen=True, kw_only=True, tag="job_create"):
    """Create a job; the reply carries it."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    brief: ClassVar[str] = "Create a job whose prompt is the goal of its sessions."
    returns: ClassVar[str] = "the job"

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
    """The one phone that it runs on; empty for any."""
    app: str = ""
    """It runs on a phone that has this app, by package or name."""
    tags: tuple[str, ...] = ()
    """It runs on a phone that has all these tags."""
    phone_needs: str = ""
    """What its phone has to be, as `app:com.example>=3.2,locale:de`; with app and tags, all of it.
    """
    campaign: Campaign | None = None
    """For type campaign: which phones, at what pace; its needs take the place of app, tags and
    phone_needs."""
    account: str = ""
    """Whom its sessions' use of phones is counted to, in fair shares and limits."""
    payload: Mapping[str, Any] = {}
    """Kept with it, for whoever reads it."""
    output_schema: str = ""
    """A JSON Schema, as JSON, that the result of each run has to fit."""
    requires: tuple[str, ...] = ()
    """Requirements of each run beside those in the prompt, each in words."""
    delivery_mode: str = "notification"
    notification_text: str = ""


class JobList(OpBase, frozen=True, kw_only=True, tag="job_list"):
    """List jobs, newest first; the query is a case-insensitive substring."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    brief: ClassVar[str] = "List jobs, newest first."
    returns: ClassVar[str] = "the jobs"
    changes_nothing: ClassVar[bool] = True

    query: str = ""
    limit: int = 50


class JobEdit(OpBase, frozen=True, kw_only=True, tag="job_edit"):
    """Change an active or paused job; None leaves a field unchanged."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the job"

    job_id: int
    title: str | None = None
    prompt: str | None = None
    next_run_at: int | None = None  # When it runs next, in ms since the epoch; 0 = by its schedule.
    interval_ms: int | None = None  # 0 takes the interval away.
    cron: str | None = None  # Empty takes it away.
    timezone: str | None = None
    quiet: QuietHours | None = None
    without_quiet: bool = False  # Take the quiet hours away.
    delivery_mode: str | None = None
    notification_text: str | None = None  # Empty takes the exact wording away.


class JobQueue(OpBase, frozen=True, kw_only=True, tag="job_queue"):
    """List jobs page by page: current ones, then by next run, then by end."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the jobs, and where the next page begins"
    changes_nothing: ClassVar[bool] = True

    query: str = ""  # A part of title, prompt, host, phones or status in any case.
    limit: int = 100
    after: str = ""  # Where the page begins, as the reply before said; empty for the first.


class JobStop(OpBase, frozen=True, kw_only=True, tag="job_stop"):
    """Stop a job for good; its run is interrupted and a late result discarded."""

    needs: ClassVar[tuple[Right, ...]] = STOPPING
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING
    brief: ClassVar[str] = "Stop a job for good, interrupting its run."
    returns: ClassVar[str] = "the job"

    job_id: int


class JobPause(OpBase, frozen=True, kw_only=True, tag="job_pause"):
    """Keep a job from running until it is resumed; only an active or queued one can be paused."""

    needs: ClassVar[tuple[Right, ...]] = STOPPING
    stops: ClassVar[bool] = True
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the job"

    job_id: int


class JobResume(OpBase, frozen=True, kw_only=True, tag="job_resume"):
    """Let a paused job run again; due times that passed meanwhile follow its misfire policy."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the job"

    job_id: int


class JobHistory(OpBase, frozen=True, kw_only=True, tag="job_history"):
    """List the runs of a job, newest first: times and outcomes."""

    needs: ClassVar[tuple[Right, ...]] = (Right.WATCH,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the job and its runs"
    changes_nothing: ClassVar[bool] = True

    job_id: int
    limit: int = 20


class JobRead(OpBase, frozen=True, kw_only=True, tag="job_read"):
    """Mark a job's newest result as read. Idempotent."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the job"

    job_id: int


class JobRun(OpBase, frozen=True, kw_only=True, tag="job_run"):
    """Make a job due now, also an ended one; its schedule continues after the run."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the job"

    job_id: int


AnyJobOp: TypeAlias = (
    JobCreate
    | JobEdit
    | JobList
    | JobQueue
    | JobPause
    | JobResume
    | JobRun
    | JobStop
    | JobHistory
    | JobRead
)
"""Every op on jobs."""
