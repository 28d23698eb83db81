"""Look up the runs of jobs, and jobs by what they wait for.

Events write them (`agent.store.changes.event_ledger`). Invariants: those of the reader that lends
its connection; an index finds a job's newest runs, however many others there are.
"""

from typing import Protocol

from agent.records import Job, RunRecord
from agent.store.changes.row_codec import as_int, decode_job, decode_run
from agent.store.rows import Rows

RUNS = "SELECT record FROM job_run WHERE job_id = ? ORDER BY number DESC LIMIT ?"
# The same words as the partial index, or SQLite would not know that it may use it.
OPEN_JOBS = (
    "SELECT record FROM job "
    "WHERE (status = 'waiting' OR status = 'queued' OR status = 'awaiting_review') ORDER BY id"
)
ENDED_JOBS = (
    "SELECT id FROM job INDEXED BY job_ended "
    "WHERE (status = 'completed' OR status = 'failed' OR status = 'stopped') ORDER BY id LIMIT ?"
)
COUNT_JOBS = "SELECT count(*) FROM job"
_LARGEST_ID = (1 << 63) - 1


class RunRecords(Protocol):
    """The look-ups of job runs. Every call raises StoreError."""

    async def runs(self, job_id: int, *, limit: int = 20) -> tuple[RunRecord, ...]:
        """List the runs of a job, newest first."""

    async def open_jobs(self) -> tuple[Job, ...]:
        """List the jobs whose run waits for a review, or to continue after one."""

    async def ended_jobs(self, limit: int) -> tuple[int, ...]:
        """List the ids of the oldest ended jobs."""

    async def count_jobs(self) -> int:
        """Return how many jobs are stored."""


class JobRuns:
    """Queries on a store's reading connection; implements `RunRecords`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def runs(self, job_id: int, *, limit: int = 20) -> tuple[RunRecord, ...]:
        """List the runs of a job, newest first."""
        if not 0 < job_id <= _LARGEST_ID:
            return ()
        found = await self._rows(RUNS, (job_id, max(limit, 0)))
        return tuple(decode_run(record) for (record,) in found)

    async def open_jobs(self) -> tuple[Job, ...]:
        """List the jobs whose run waits for a review, or to continue after one."""
        return tuple(decode_job(record) for (record,) in await self._rows(OPEN_JOBS, ()))

    async def ended_jobs(self, limit: int) -> tuple[int, ...]:
        """List the ids of the oldest ended jobs."""
        return tuple(as_int(job_id) for (job_id,) in await self._rows(ENDED_JOBS, (limit,)))

    async def count_jobs(self) -> int:
        """Return how many jobs are stored."""
        [(count,)] = await self._rows(COUNT_JOBS, ())
        return as_int(count)
