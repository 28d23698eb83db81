"""The one writer: a task that owns the writing connection and commits in groups.

Not a reader. Invariants: nothing is published, and no caller resumes, before the COMMIT that made
it durable (WAL, synchronous=FULL); a request is stored whole or not at all; a request that fails
fails alone; a writer whose epoch is no longer the database's writes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import assert_never

from agent.errors import FencedError, StoreError, SwitchboardError, UsageError
from agent.protocol import Event, JobChanged, SessionsDeleted
from agent.records import Job
from agent.store import leases
from agent.store.changes.event_ledger import BlobRow, EventDraft, EventLedger, body_of
from agent.store.changes.row_codec import rows_of
from agent.store.changes.write_requests import (
    AcquireLease,
    Append,
    CreateJob,
    DeleteSessions,
    Entry,
    ForgetBlobs,
    RecordBlob,
    ReleaseLease,
    RenewLease,
    ReplaceJob,
    Request,
    Result,
    groups,
)
from agent.store.database.database import Database
from agent.store.database.sqlite_errors import unfoldable
from agent.store.embedded.row_cache import Known
from agent.store.store import Listener

BATCH_EVENTS = 512
"""The most drafts that wait for one COMMIT, unless a single request has more."""

_MOST_SOON = 64
_FOLDED_COMMITS = 100
_STILL_S = 0.02
"""How long nobody must have asked for anything: a checkpoint takes some ten commits' time, and
whoever comes meanwhile waits for it.
"""
_log = logging.getLogger(__name__)


_Refused = list[tuple[Entry, Exception]]


class Writer:
    """Take requests in order, write them in groups, publish what was committed."""

    def __init__(self, database: Database, *, epoch: int, clock_ms: Callable[[], int]) -> None:
        self.epoch = epoch
        self.listeners: list[Listener] = []
        self._database = database
        self._known = Known(database)
        self._clock_ms = clock_ms
        self._queue: asyncio.Queue[Entry | None] = asyncio.Queue()
        self._soon: list[Entry] = []
        """What goes with the next request."""
        self._unfolded = 0
        """How many commits there were since the log was last folded into the file in a pause."""
        self._refusal: StoreError | None = None
        self._task: asyncio.Task[None] | None = None
        self._telling: asyncio.Future[None] | None = None

    async def start(self, *, refusal: StoreError | None = None) -> None:
        """Read where the log stands and begin to write, or to refuse every write."""
        await self._known.begin()
        if refusal is not None:
            self._refusal = refusal
            return
        self._task = asyncio.create_task(self._run(), name="store writer")

    @property
    def last_event_id(self) -> int:
        """The newest event that is stored."""
        return self._known.last_event_id

    def insist(self) -> None:
        """Raise why nothing can be written any more, if so."""
        if self._refusal is not None:
            raise type(self._refusal)(self._refusal.message, self._refusal.remedy)

    async def write(self, request: Request) -> Result:
        """Store a request; it is durable on return.

        A caller that is cancelled here leaves the request in the queue: it is stored all the same.

        Raises:
            StoreError: it was not stored; the message says why.
            UsageError, WrongStateError: the request does not fit what is stored.
        """
        self.insist()
        entry = Entry(request)
        self._queue.put_nowait(entry)
        # The future is this caller's alone: to cancel it cancels nothing that is queued.
        return await entry.future

    def write_soon(self, request: Request) -> None:
        """Store in the next request's commit what means nothing before that. Raises StoreError."""
        self.insist()
        self._soon.append(Entry(request))
        if len(self._soon) >= _MOST_SOON:
            self._queue.put_nowait(self._soon.pop())

    async def told(self) -> None:
        """Wait until the listeners have been told of every commit that is made by now."""
        if self._telling is not None:
            await asyncio.wait({self._telling})

    async def close(self) -> None:
        """Write what is queued, then stop."""
        if self._refusal is None:
            self._refusal = StoreError("The store is closed.")
        if self._task is None:
            return
        self._queue.put_nowait(None)
        # Not a bare await: the caller's cancellation must not cut the writer off mid-commit.
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        batch: list[Entry] = []
        try:
            while True:
                batch = []
                first = await self._next()
                batch, self._soon = self._soon, []
                ends = self._gather(batch, first)
                for group in groups(batch):
                    await self._write_batch(group)
                if ends:
                    return
        finally:
            # Whoever still waits hears of it, whatever ended the task.
            self._refusal = self._refusal or StoreError("The store's writer has ended.")
            while not self._queue.empty():
                self._gather(batch, self._queue.get_nowait())
            for entry in (*batch, *self._soon):
                entry.fail(StoreError("The store closed before this was stored."))

    async def _next(self) -> Entry | None:
        """Wait for a request; where none comes for a moment, fold the log into the file first."""
        if self._unfolded >= _FOLDED_COMMITS and self._queue.empty():
            try:
                async with asyncio.timeout(_STILL_S):
                    return await self._queue.get()
            except TimeoutError:
                self._unfolded = 0
                await self._checkpoint()
        return await self._queue.get()

    async def _checkpoint(self) -> None:
        try:
            await self._database.checkpoint()
        except StoreError as error:
            # What is committed is in the log, and is folded in another time.
            _log.warning("The write-ahead log could not be folded into the file: %s", error)

    def _gather(self, batch: list[Entry], first: Entry | None) -> bool:
        """Add what waits to a batch, up to its limit; True at the end of the queue's life."""
        entry = first
        events = 0
        while entry is not None:
            batch.append(entry)
            events += entry.weight
            if events >= BATCH_EVENTS or self._queue.empty():
                return False
            entry = self._queue.get_nowait()
        return True

    async def _write_batch(self, batch: list[Entry]) -> None:
        """Try the batch in one go, then under savepoints, then each request by itself."""
        try:
            await self._transact(batch)
            return
        except FencedError as error:
            self._refusal = error
            for entry in batch:
                entry.fail(error)
            return
        except StoreError as error:
            if len(batch) == 1:
                batch[0].fail(error)
                return
        try:
            await self._transact(batch, savepoints=True)
            return
        except StoreError as error:
            _log.warning("A batch of %d requests could not be committed: %s", len(batch), error)
        # The commit itself failed, as on a disk with little room: what still fits is stored.
        for entry in batch:
            try:
                await self._transact([entry])
            except StoreError as error:
                entry.fail(error)

    async def _transact(self, batch: list[Entry], *, savepoints: bool = False) -> None:
        """Store a batch in one transaction, or raise and leave everything as it was."""
        self._telling = asyncio.get_running_loop().create_future()
        try:
            await self._commit(batch, savepoints=savepoints)
        finally:
            self._telling.set_result(None)
            self._telling = None

    async def _commit(self, batch: list[Entry], *, savepoints: bool) -> None:
        await self._database.rollback()
        if savepoints:
            ledger, refused = await self._write_under_savepoints(batch)
        else:
            ledger, refused = await self._folded(batch)
            await self._database.transact(rows_of(ledger), epoch=self.epoch)
        self._unfolded += 1
        self._known.committed(ledger)
        self._publish(tuple(event for event, _ in ledger.events))
        # Not sooner: a request may be refused because of another one that was then not stored.
        for entry, refusal in refused:
            entry.fail(refusal)
        for entry in batch:
            entry.finish()

    async def _write_under_savepoints(self, batch: list[Entry]) -> tuple[EventLedger, _Refused]:
        """Write a batch so that a request which cannot be written fails alone."""
        await self._database.run("BEGIN IMMEDIATE")
        try:
            await self._database.check_epoch(self.epoch)
            folded = await self._folded_apart(batch, savepoints=True)
            await self._database.run("COMMIT")
        except BaseException:
            await self._database.rollback()
            raise
        return folded

    async def _folded(self, batch: list[Entry]) -> tuple[EventLedger, _Refused]:
        """Fold a batch; give the requests that do not fit, each with why."""
        ledger = self._known.ledger()
        for entry in batch:
            if not self._known.suffices(entry.request, ledger):
                await self._known.learn(entry.request, ledger)
            try:
                entry.result = self._fold(entry.request, ledger)
            except Exception:
                # The ledger has a part of it. Almost nothing is refused: only then is each request
                # tried by itself, from the first on.
                return await self._folded_apart(batch)
        return ledger, []

    async def _folded_apart(
        self, batch: list[Entry], *, savepoints: bool = False
    ) -> tuple[EventLedger, _Refused]:
        """Fold a batch, each request as a trial that leaves no trace when it is refused."""
        ledger = self._known.ledger()
        refused: _Refused = []
        for entry in batch:
            await self._known.learn(entry.request, ledger)
            trial = ledger.branch()
            try:
                entry.result = self._fold(entry.request, trial)
                if savepoints:
                    await self._put_under_savepoint(trial)
            except SwitchboardError as error:
                if savepoints and not self._database.in_transaction:
                    raise
                refused.append((entry, error))
            except Exception as error:
                _log.exception("A request could not be folded.")
                refused.append((entry, unfoldable(error)))
            else:
                ledger.adopt(trial)
        return ledger, refused

    def _publish(self, events: tuple[Event, ...]) -> None:
        """Tell every listener what was committed."""
        if not events:
            return
        for listener in tuple(self.listeners):
            try:
                listener(events)
            except Exception:
                # One broken listener must not stop the store for all the others.
                _log.exception("A listener of the store failed.")

    def _fold(self, request: Request, ledger: EventLedger) -> Result:
        now_ms = self._clock_ms()
        match request:
            case Append(drafts=drafts, bodies=bodies, under=under):
                if under is not None:
                    leases.check(ledger.leases.get(under.key), under)
                return ledger.fold_all(drafts, bodies, now_ms)
            case AcquireLease(key=key, owner=owner, ttl_ms=ttl_ms):
                held = leases.taken(ledger.leases.get(key), key, owner, ttl_ms, now_ms)
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
                self._fold_job(ledger, job, "created", now_ms)
                for draft in beside(job) if beside is not None else ():
                    ledger.fold(draft, body_of(draft.msg), now_ms)
                return job
            case ReplaceJob(job=job, expect=expect, reason=reason):
                present = ledger.jobs.get(job.id)
                if present is None:
                    raise UsageError(f"There is no job {job.id}.")
                if present.status is not expect:
                    return False
                self._fold_job(ledger, job, reason, now_ms)
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

    def _fold_job(self, ledger: EventLedger, job: Job, reason: str, now_ms: int) -> None:
        draft = EventDraft(session_id="", msg=JobChanged(job=job, reason=reason))
        ledger.fold(draft, body_of(draft.msg), now_ms)

    async def _put_under_savepoint(self, ledger: EventLedger) -> None:
        await self._database.run("SAVEPOINT request")
        try:
            for sql, rows in rows_of(ledger):
                if rows:
                    await self._database.run_many(sql, rows)
        except StoreError:
            if self._database.in_transaction:
                await self._database.run("ROLLBACK TO request")
                await self._database.run("RELEASE request")
            raise
        await self._database.run("RELEASE request")
