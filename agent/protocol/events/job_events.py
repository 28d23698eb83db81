"""What happened to the runs of jobs, and to jobs beside their own records."""

from __future__ import annotations

from agent.protocol.base import EventBase
from agent.records import RunRecord


class RunChanged(EventBase, frozen=True, kw_only=True, tag="job_run_changed"):
    """A run of a job began, waits for a review, goes on or ended; the record is whole."""

    run: RunRecord


class JobsDropped(EventBase, frozen=True, kw_only=True, tag="jobs_dropped"):
    """Jobs that had ended made place for newer ones; their runs went with them."""

    job_ids: tuple[int, ...]
