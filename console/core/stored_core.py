"""Read a store that no core has open, the way a core would be read.

Not a core: it repairs nothing and takes no ops. Invariant: reading changes nothing in the store.
"""

from typing import Protocol

from agent.core import Overview
from agent.errors import UsageError
from agent.protocol import Answer, Event, JobHistory, JobList, LookUp
from agent.records import Job, RunRecord, Session, SessionState
from agent.rpc.remote_core import Client
from agent.runtime.queries import StoredLookUps


class Records(Protocol):
    """The reading half of the Core protocol."""

    async def overview(self) -> Overview: ...

    async def look_up(self, query: LookUp[Answer]) -> Answer: ...

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]: ...

    async def session(self, session_id: str) -> Session: ...

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]: ...

    async def blob(self, digest: str) -> bytes: ...


async def stored_jobs(records: Records, *, query: str, limit: int) -> tuple[Job, ...]:
    """List jobs, newest first, from whoever has them."""
    if isinstance(records, StoredRecords):
        return await records.store.jobs(query=query, limit=limit)
    return (await owner(records).request(JobList(query=query, limit=limit))).jobs


async def stored_runs(
    records: Records, job_id: int, *, limit: int
) -> tuple[Job, tuple[RunRecord, ...]]:
    """Find a job and its newest runs, from whoever has them. Raises UsageError."""
    if not isinstance(records, StoredRecords):
        reply = await owner(records).request(JobHistory(job_id=job_id, limit=limit))
        assert reply.job is not None, "a history comes with its job"
        return reply.job, reply.runs
    job = await records.store.job(job_id)
    if job is None:
        raise UsageError(f"There is no job {job_id}.", "List them: switchboard jobs list")
    return job, await records.store.job_runs.runs(job_id, limit=limit)


def owner(records: Records) -> Client:
    """Return the client of the process that owns the store: what is not stored here is there."""
    assert isinstance(records, Client), "records are the store's own or their owner's"
    return records


_UNDER_WAY = frozenset({SessionState.QUEUED, SessionState.RUNNING})
LEFT_BEHIND = "stopped: its process died; it can be resumed"
"""What is said of a session that claims to be at work while no core is."""


def is_left_behind(records: Records, session: Session) -> bool:
    """Return whether a session claims to be at work in a store that no core has open."""
    return isinstance(records, StoredRecords) and session.state in _UNDER_WAY


class StoredRecords(StoredLookUps):
    """The reading half of a core over an open store; it sees no devices."""

    async def overview(self) -> Overview:
        return Overview(
            event_id=await self.store.last_event_id(),
            sessions=await self.store.trees(),
            questions=await self.store.open_questions(),
            jobs=await self.store.jobs(),
        )
