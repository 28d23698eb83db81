"""Define the events of job runs and of dropped jobs."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase
from agent.records import RunRecord


class RunChanged(EventBase, frozen=True, kw_only=True, tag="job_run_changed"):
    """A run of a job started, waits for a review, resumed or ended; the record is complete."""

    of_no_session: ClassVar[bool] = True

    run: RunRecord


class JobsDropped(EventBase, frozen=True, kw_only=True, tag="jobs_dropped"):
    """Ended jobs and their runs were dropped to make room."""

    of_no_session: ClassVar[bool] = True

    job_ids: tuple[int, ...]


AnyJobEvent: TypeAlias = RunChanged | JobsDropped
