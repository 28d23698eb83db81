"""Find jobs by the words of a query: by indexes, or by a scan that soon finds some.

Each database has its own index of words (`agent.store.queries.dialect`); statuses have separate
indexes. Invariant: all ways find the same jobs.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent.records import Job, JobStatus

FEW = 2000
"""Up to so many, jobs are looked up one by one and sorted; more of them a walk soon meets."""

IS_AT_HAND = (
    "(status = 'running' OR status = 'awaiting_review' OR status = 'waiting' "
    "OR status = 'queued' OR status = 'paused' OR status = 'dispatched')"
)
IS_ENDED = "(status = 'completed' OR status = 'failed' OR status = 'stopped')"
"""The same words as those of the partial indexes, or SQLite would not know that it may use them."""
ENDED = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED})


class Lookup(NamedTuple):
    """How to query the index for a part of a title or prompt."""

    found: str
    """A statement that gives the ids, as `found`."""
    how_many: str
    """One that counts them, up to a limit; the more of the part is in a job, the more it counts."""
    parameters: tuple[str, ...]
    """Of both."""


ALL_ACTIVE = Lookup(
    "SELECT id AS found FROM job WHERE status = 'active'",
    "SELECT count(*) FROM (SELECT 1 FROM job WHERE status = 'active' LIMIT ?)",
    (),
)


def named(query: str, statuses: Iterable[JobStatus] = JobStatus) -> tuple[JobStatus, ...]:
    return tuple(status for status in statuses if query in status.value)


def of_status(status: JobStatus) -> str:
    """Return the statement for the newest jobs of a status, before an id, up to a limit."""
    # Sorts them all by id, so not for very many; the others have indexes by id.
    index = "INDEXED BY job_due" if status is JobStatus.ACTIVE else ""
    return (
        f"SELECT record FROM job {index} WHERE status = '{status.value}' AND id < ? "
        "ORDER BY id DESC LIMIT ?"
    )


def newest(lists: Iterable[Sequence[Job]], limit: int) -> list[Job]:
    """Merge lists of jobs, newest first, without duplicates."""
    by_id = {job.id: job for jobs in lists for job in jobs}
    return [by_id[job_id] for job_id in sorted(by_id, reverse=True)[:limit]]
