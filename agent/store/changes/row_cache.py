"""Cache the rows that the writer needs, and read the missing ones.

Invariant: the cache contains only committed rows. The writer ensures it: each commit checks in the
same transaction that no other process has written, or first calls `forget` for what it wrote.
"""

from collections.abc import Iterable
from typing import assert_never

from agent.store.changes.event_ledger import (
    ASKING,
    EventLedger,
    Keys,
    QuestionHead,
    SessionHead,
    keys_of,
)
from agent.store.changes.overlay import Layers
from agent.store.changes.row_codec import (
    LEASE,
    as_int,
    decode_job,
    decode_question,
    decode_session,
    lease_of,
)
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
)
from agent.store.leases import Lease
from agent.store.rows import Connection, Row

_MOST_SESSIONS = 4096
_MOST_LEASES = 4096


class Known:
    """The counters, the heads of sessions and the leases of one database."""

    def __init__(self, database: Connection) -> None:
        self.last_event_id = 0
        self._database = database
        self._last_job_id = 0
        self._heads: dict[str, SessionHead] = {}
        self._leases: dict[str, Lease] = {}

    def begin(self, *, last_event_id: int, last_job_id: int) -> None:
        """Continue from the current end of the log."""
        self.last_event_id = last_event_id
        self._last_job_id = last_job_id

    def ledger(self) -> EventLedger:
        """Start a ledger on top of the stored rows."""
        return EventLedger(
            last_event_id=self.last_event_id,
            last_job_id=self._last_job_id,
            sessions=Layers({}, self._heads),
            questions=Layers({}, {}),
            jobs=Layers({}, {}),
            leases=Layers({}, self._leases),
        )

    def committed(self, ledger: EventLedger) -> None:
        """Cache a ledger's changes after they are stored."""
        self.last_event_id = ledger.last_event_id
        self._last_job_id = ledger.last_job_id
        self._heads.update(ledger.sessions.maps[0])
        self._leases.update(ledger.leases.maps[0])
        for session_id in ledger.deleted:
            self._heads.pop(session_id, None)
        _trim(self._heads, _MOST_SESSIONS)
        _trim(self._leases, _MOST_LEASES)

    def forget(self, session_ids: Iterable[str]) -> None:
        """Read these sessions again, and every lease, because other hosts have written them."""
        for session_id in session_ids:
            self._heads.pop(session_id, None)
        self._leases.clear()

    def have_leases(self, rows: Iterable[Row]) -> None:
        """Cache leases as they are stored, from rows of LEASE."""
        found = map(lease_of, rows)
        self._leases.update({lease.key: lease for lease in found})

    def has_all_rows(self, request: Request, ledger: EventLedger) -> bool:
        """Return whether a request can be folded without reading, like almost every append."""
        if type(request) is not Append:
            return False
        if request.under is not None and ledger.leases.get(request.under.key) is None:
            return False
        for draft in request.drafts:
            if type(draft.msg) in ASKING:
                return False
            if draft.session_id and ledger.sessions.get(draft.session_id) is None:
                return False
        return True

    async def learn(self, request: Request, ledger: EventLedger) -> None:
        """Read the rows that a request needs and the ledger lacks. Raises StoreError."""
        match request:
            case Append(drafts=drafts, under=under):
                keys = keys_of(drafts)
                await self._learn_lease(under.key if under else "", ledger)
            case AcquireLease(key=key):
                await self._learn_lease(key, ledger)
                return
            case RenewLease(lease=lease) | ReleaseLease(lease=lease):
                await self._learn_lease(lease.key, ledger)
                return
            case ReplaceJob(job=job):
                keys = Keys(frozenset(), jobs=frozenset({job.id}))
            case DeleteSessions(session_ids=session_ids):
                keys = Keys(frozenset(session_ids))
            case CreateJob() | RecordBlob() | ForgetBlobs():
                return
            case _:
                assert_never(request)
        for session_id in (key for key in keys.sessions if ledger.sessions.get(key) is None):
            sql = "SELECT last_seq, record FROM session WHERE session_id = ?"
            for last_seq, record in await self._database.rows(sql, (session_id,)):
                head = SessionHead(as_int(last_seq), decode_session(record))
                ledger.sessions.maps[-1][session_id] = head
        for question_id in (key for key in keys.questions if key not in ledger.questions):
            sql = "SELECT is_open, record FROM question WHERE question_id = ?"
            for is_open, record in await self._database.rows(sql, (question_id,)):
                ledger.questions.maps[-1][question_id] = QuestionHead(
                    decode_question(record), bool(is_open)
                )
        for job_id in (key for key in keys.jobs if key not in ledger.jobs):
            sql = "SELECT record FROM job WHERE id = ?"
            for (record,) in await self._database.rows(sql, (job_id,)):
                ledger.jobs.maps[-1][job_id] = decode_job(record)

    async def _learn_lease(self, key: str, ledger: EventLedger) -> None:
        if key and ledger.leases.get(key) is None:
            for row in await self._database.rows(LEASE, (key,)):
                ledger.leases.maps[-1][key] = lease_of(row)


def lease_keys(requests: Iterable[Request]) -> set[str]:
    keys: set[str] = set()
    for request in requests:
        match request:
            case Append(under=Lease(key=key)) | AcquireLease(key=key):
                keys.add(key)
            case RenewLease(lease=lease) | ReleaseLease(lease=lease):
                keys.add(lease.key)
            case _:
                pass
    return keys


def _trim(remembered: dict[str, SessionHead] | dict[str, Lease], most: int) -> None:
    """Drop the oldest entries."""
    if len(remembered) > most:
        for key in list(remembered)[: len(remembered) - most]:
            del remembered[key]
