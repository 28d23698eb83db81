"""Fold requests into the tables: the rules of leases, jobs and deletions. No I/O.

Uses the fold of events (`agent.store.changes.event_ledger`). Invariant: a refused request changes
only a trial, which the writer drops.
"""

from typing import assert_never

from agent.errors import StoreError, UsageError
from agent.protocol import JobChanged, SessionsDeleted
from agent.records import Job
from agent.store import leases
from agent.store.changes.event_ledger import BlobRow, EventDraft, EventLedger, body_of
from agent.store.changes.write_requests import (
    AcquireLease,
    Append,
    CreateJob,
    DeleteSessions,
    ForgetBlobs,
    RecordBlob,
    ReleaseLease,
    RenewLease,
    ReplaceJob,
    Request,
    Result,
)


def fold_request(request: Request, ledger: EventLedger, now_ms: int) -> Result:
    """Fold a request into a ledger that has all rows which `Known.learn` reads for it.

    Args:
        now_ms: the store's clock.

    Returns:
        The caller's result.

    Raises:
        UsageError, WrongStateError, FencedError: it conflicts with the stored rows.
        StoreError: it contains what cannot be stored.
    """
    match request:
        case Append(drafts=drafts, bodies=bodies, under=under):
            if under is not None:
                leases.check(ledger.leases.get(under.key), under)
            return ledger.fold_all(drafts, bodies, now_ms)
        case AcquireLease(key=key, owner=owner, ttl_ms=ttl_ms):
            held = leases.granted_lease(ledger.leases.get(key), key, owner, ttl_ms, now_ms)
            if held is not None:
                ledger.leases[key] = held
            return held
        case RenewLease(lease=lease, ttl_ms=ttl_ms):
            longer = leases.renewed(ledger.leases.get(lease.key), lease, ttl_ms, now_ms)
            ledger.leases[lease.key] = longer
            return longer
        case ReleaseLease(lease=lease):
            given_back = leases.released(ledger.leases.get(lease.key), lease)
            if given_back is not None:
                ledger.leases[lease.key] = given_back
            return None
        case CreateJob(build=build, beside=beside):
            job = build(ledger.last_job_id + 1)
            _fold_job(ledger, job, "created", now_ms)
            for draft in beside(job) if beside is not None else ():
                ledger.fold(draft, body_of(draft.msg), now_ms)
            return job
        case ReplaceJob(job=job, expect=expect, reason=reason):
            present = ledger.jobs.get(job.id)
            if present is None:
                raise UsageError(f"There is no job {job.id}.")
            if present.status is not expect:
                return False
            _fold_job(ledger, job, reason, now_ms)
            return True
        case DeleteSessions(session_ids=session_ids):
            for session_id in session_ids:
                if session_id not in ledger.sessions:
                    raise UsageError(f"There is no session {session_id[:80]!r}.")
            draft = EventDraft("", SessionsDeleted(session_ids=session_ids))
            ledger.fold(draft, body_of(draft.msg), now_ms)
            ledger.deleted += session_ids
            return None
        case ForgetBlobs(digests=digests):
            ledger.unnamed += digests
            return None
        case RecordBlob(digest=digest, media_type=media_type, size_bytes=size_bytes):
            ledger.blobs.append(BlobRow(digest, media_type, size_bytes, now_ms))
            return None
        case _:
            assert_never(request)


def _fold_job(ledger: EventLedger, job: Job, reason: str, now_ms: int) -> None:
    draft = EventDraft(session_id="", msg=JobChanged(job=job, reason=reason))
    ledger.fold(draft, body_of(draft.msg), now_ms)


def unfoldable(error: Exception) -> StoreError:
    """Return the error for a request that could not be turned into rows: a bug."""
    failure = StoreError(f"The request could not be stored: {error!r}.")
    failure.__cause__ = error
    return failure
