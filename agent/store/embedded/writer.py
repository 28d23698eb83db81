"""The writer of the embedded store, which owns the writing connection.

Invariants: those of `agent.store.changes.write_queue`; durable means committed by SQLite (WAL,
synchronous=FULL); a writer whose epoch is outdated writes nothing.
"""

import asyncio
import logging
from collections.abc import Callable

from agent.errors import StoreError
from agent.store.changes.event_ledger import EventLedger
from agent.store.changes.row_cache import Known
from agent.store.changes.row_codec import as_int, rows_of
from agent.store.changes.write_queue import Refused, TransactionLostError, WriteQueue
from agent.store.changes.write_requests import Entry
from agent.store.database.database import Database

_FOLDED_COMMITS = 100
_STILL_S = 0.02
"""How long nobody must have asked for anything: a checkpoint takes some ten commits' time, and
whoever comes meanwhile waits for it.
"""
_HIGHEST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
_log = logging.getLogger(__name__)


class Writer(WriteQueue):
    """Take requests in order, write them in groups, publish committed events."""

    def __init__(self, database: Database, *, epoch: int, clock_ms: Callable[[], int]) -> None:
        super().__init__(Known(database), clock_ms=clock_ms)
        self.epoch = epoch
        self._database = database
        self._unfolded = 0
        """How many commits there were since the log was last folded into the file in a pause."""

    async def start(self, *, refusal: StoreError | None = None) -> None:
        """Read the end of the log and start to write, or to refuse every write."""
        [(event_id,)] = await self._database.rows(_HIGHEST, ("event",))
        [(job_id,)] = await self._database.rows(_HIGHEST, ("job",))
        self._known.begin(last_event_id=as_int(event_id), last_job_id=as_int(job_id))
        if refusal is not None:
            self._refusal = refusal
            return
        self._begin()

    async def _next(self) -> Entry | None:
        """Wait for a request; checkpoint the log if none comes for a moment."""
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

    async def _commit(self, batch: list[Entry], *, savepoints: bool) -> None:
        await self._database.rollback()
        if savepoints:
            ledger, refused = await self._write_under_savepoints(batch)
        else:
            ledger, refused = await self._folded(batch)
            await self._database.transact(rows_of(ledger), epoch=self.epoch)
        self._unfolded += 1
        self._settle(batch, ledger, refused)

    async def _write_under_savepoints(self, batch: list[Entry]) -> tuple[EventLedger, Refused]:
        """Write a batch, isolating requests that cannot be written."""
        await self._database.run("BEGIN IMMEDIATE")
        try:
            await self._database.check_epoch(self.epoch)
            folded = await self._folded_apart(batch, self._put_under_savepoint)
            await self._database.run("COMMIT")
        except BaseException:
            await self._database.rollback()
            raise
        return folded

    async def _put_under_savepoint(self, ledger: EventLedger) -> None:
        await self._database.run("SAVEPOINT request")
        try:
            for sql, rows in rows_of(ledger):
                if rows:
                    await self._database.run_many(sql, rows)
        except StoreError as error:
            if not self._database.in_transaction:
                raise TransactionLostError(error.message, error.remedy) from error
            await self._database.run("ROLLBACK TO request")
            await self._database.run("RELEASE request")
            raise
        await self._database.run("RELEASE request")
