"""Define the writer's requests: each is stored completely or not at all.

Invariant: a request is a value; it can be retried after a failed commit.
"""

import asyncio
from collections.abc import Callable, Iterator

import msgspec

from agent.protocol import Event
from agent.records import Job, JobStatus
from agent.store.changes.event_ledger import EventDraft
from agent.store.leases import Lease


class Append(msgspec.Struct, frozen=True):
    """Store drafts, in order, together."""

    drafts: tuple[EventDraft, ...]
    bodies: tuple[bytes, ...]
    under: Lease | None = None


class AcquireLease(msgspec.Struct, frozen=True):
    """Take a key if it is free."""

    key: str
    owner: str
    ttl_ms: int


class RenewLease(msgspec.Struct, frozen=True):
    """Extend a lease."""

    lease: Lease
    ttl_ms: int


class ReleaseLease(msgspec.Struct, frozen=True):
    """Release a lease."""

    lease: Lease


class CreateJob(msgspec.Struct, frozen=True):
    """Store a new job under the next id."""

    build: Callable[[int], Job]
    beside: Callable[[Job], tuple[EventDraft, ...]] | None = None
    """Makes what is stored together with it, or not at all."""


class ReplaceJob(msgspec.Struct, frozen=True):
    """Replace a job if it still has the expected status."""

    job: Job
    expect: JobStatus
    reason: str


class RecordBlob(msgspec.Struct, frozen=True):
    """Note that a blob's file is in place."""

    digest: str
    media_type: str
    size_bytes: int


class DeleteSessions(msgspec.Struct, frozen=True):
    """Delete sessions and all their data."""

    session_ids: tuple[str, ...]


class ForgetBlobs(msgspec.Struct, frozen=True):
    """Delete those of these blobs that no event names."""

    digests: tuple[str, ...]


Request = (
    Append
    | AcquireLease
    | RenewLease
    | ReleaseLease
    | CreateJob
    | ReplaceJob
    | RecordBlob
    | DeleteSessions
    | ForgetBlobs
)
Result = tuple[Event, ...] | Lease | Job | bool | None


class Entry:
    """A request and the caller's future."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.result: Result = None

    @property
    def weight(self) -> int:
        return len(self.request.drafts) if isinstance(self.request, Append) else 1

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            # Seen: a caller who was cancelled no longer looks, and it is not an unhandled failure.
            self.future.exception()

    def finish(self) -> None:
        if not self.future.done():
            self.future.set_result(self.result)


def groups(batch: list[Entry]) -> Iterator[list[Entry]]:
    """Split a batch so that deletions are committed separately, after everything before them."""
    group: list[Entry] = []
    for entry in batch:
        if isinstance(entry.request, DeleteSessions):
            if group:
                yield group
            yield [entry]
            group = []
        else:
            group.append(entry)
    if group:
        yield group
