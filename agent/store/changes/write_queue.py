"""The only writer of a store: a task that takes requests in order and commits in groups.

Subclasses commit a batch to their database. Invariants: no event is published, and no caller
resumes, before the COMMIT that made it durable; a request is stored completely or not at all; a
failing request does not affect others.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from agent.errors import FencedError, StoreError, StoreGoneError, SwitchboardError
from agent.state.commit import Commit
from agent.store.changes.event_ledger import EventLedger
from agent.store.changes.request_fold import fold_request, unfoldable
from agent.store.changes.row_cache import Known
from agent.store.changes.write_requests import Entry, Request, Result, groups

BATCH_EVENTS = 512
"""The most drafts that wait for one COMMIT, unless a single request has more."""

_MOST_SOON = 64
_log = logging.getLogger(__name__)

Listener = Callable[[Commit], None]
"""Called in the loop with each commit that holds events, in commit order."""
Refused = list[tuple[Entry, Exception]]
"""Requests that were not stored, each with why."""


class TransactionLostError(StoreError):
    """The database itself ended the open transaction."""


class StoreAwayError(TransactionLostError):
    """The database cannot be reached; an immediate retry would only wait again."""


class UnknownOutcomeError(StoreAwayError):
    """A COMMIT got no answer: it may have been stored, so it must not be retried."""


class WriteQueue(ABC):
    """Take requests in order, write them in groups, publish committed events."""

    def __init__(self, known: Known, *, clock_ms: Callable[[], int]) -> None:
        self.listeners: list[Listener] = []
        self._known = known
        self._clock_ms = clock_ms
        self._queue: asyncio.Queue[Entry | None] = asyncio.Queue()
        self._soon: list[Entry] = []
        """What goes with the next request."""
        self._refusal: StoreError | None = None
        self._check: Callable[[Request, EventLedger], None] | None = None
        """Refuses what this process may not write; None where it may write everything."""
        self._task: asyncio.Task[None] | None = None
        self._telling: asyncio.Future[None] | None = None

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name="store writer")

    @property
    def last_event_id(self) -> int:
        """Return the id of the newest stored event."""
        return self._known.last_event_id

    def check_writable(self) -> None:
        """Raise the reason if the queue can no longer write."""
        if self._refusal is not None:
            raise type(self._refusal)(self._refusal.message, self._refusal.remedy)

    async def write(self, request: Request) -> Result:
        """Store a request; it is durable on return.

        Cancelling the caller leaves the request in the queue: it is still stored.

        Raises:
            StoreError: it was not stored; the message says why.
            UsageError, WrongStateError: the request conflicts with the stored rows.
        """
        self.check_writable()
        entry = Entry(request)
        self._queue.put_nowait(entry)
        # The future is this caller's alone: to cancel it cancels nothing that is queued.
        return await entry.future

    def write_soon(self, request: Request) -> None:
        """Store a request with the next commit; for what is useless before it. Raises
        StoreError.
        """
        self.check_writable()
        self._soon.append(Entry(request))
        if len(self._soon) >= _MOST_SOON:
            self._queue.put_nowait(self._soon.pop())

    async def published(self) -> None:
        """Wait until the listeners have received every commit made so far."""
        if self._telling is not None:
            await asyncio.wait({self._telling})

    async def close(self) -> None:
        """Write the queued requests, then stop."""
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
        """Wait for a request; None when the queue closes."""
        return await self._queue.get()

    def _gather(self, batch: list[Entry], first: Entry | None) -> bool:
        """Add waiting requests to a batch, up to its limit; True when the queue closes."""
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
        """Try the batch at once, then under savepoints, then each request alone."""
        try:
            await self._transact(batch)
            return
        except (FencedError, StoreGoneError) as error:
            self._refusal = error
            for entry in batch:
                entry.fail(error)
            return
        except StoreAwayError as error:
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
        except StoreAwayError as error:
            for entry in batch:
                entry.fail(error)
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
        """Store a batch in one transaction, or raise and change nothing."""
        self._telling = asyncio.get_running_loop().create_future()
        try:
            await self._commit(batch, savepoints=savepoints)
        finally:
            self._telling.set_result(None)
            self._telling = None

    @abstractmethod
    async def _commit(self, batch: list[Entry], *, savepoints: bool) -> None:
        """Store a batch durably in one transaction and `_settle` it, or raise and change nothing.

        Args:
            savepoints: isolate requests that cannot be written.

        Raises:
            FencedError, StoreGoneError: the store has a newer owner, or no longer exists; the queue
                writes nothing from then on.
            StoreAwayError: no retry follows.
            StoreError: nothing of the batch was stored.
        """

    def _settle(self, batch: list[Entry], ledger: EventLedger, refused: Refused) -> None:
        """Publish committed events, then resume every caller."""
        self._known.committed(ledger)
        self._publish(ledger.commit())
        # Not sooner: a request may be refused because of another one that was then not stored.
        for entry, refusal in refused:
            entry.fail(refusal)
        for entry in batch:
            entry.finish()

    async def _folded(self, batch: list[Entry]) -> tuple[EventLedger, Refused]:
        """Fold a batch; return the refused requests with their errors."""
        ledger = self._known.ledger()
        for entry in batch:
            if not self._known.has_all_rows(entry.request, ledger):
                await self._known.learn(entry.request, ledger)
            try:
                if self._check is not None:
                    self._check(entry.request, ledger)
                entry.result = fold_request(entry.request, ledger, self._clock_ms())
            except Exception:
                # The ledger has a part of it. Almost nothing is refused: only then is each request
                # tried by itself, from the first on.
                return await self._folded_apart(batch)
        return ledger, []

    async def _folded_apart(
        self, batch: list[Entry], put: Callable[[EventLedger], Awaitable[None]] | None = None
    ) -> tuple[EventLedger, Refused]:
        """Fold a batch, each request as a trial that leaves no trace if refused.

        Args:
            put: writes a trial in the open transaction, completely or not at all; raises
                TransactionLostError if the transaction is gone.
        """
        ledger = self._known.ledger()
        refused: Refused = []
        for entry in batch:
            await self._known.learn(entry.request, ledger)
            trial = ledger.branch()
            try:
                if self._check is not None:
                    self._check(entry.request, trial)
                entry.result = fold_request(entry.request, trial, self._clock_ms())
                if put is not None:
                    await put(trial)
            except TransactionLostError:
                raise
            except SwitchboardError as error:
                refused.append((entry, error))
            except Exception as error:
                _log.exception("A request could not be folded.")
                refused.append((entry, unfoldable(error)))
            else:
                ledger.adopt(trial)
        return ledger, refused

    def _publish(self, commit: Commit) -> None:
        if not commit.events:
            return
        for listener in tuple(self.listeners):
            try:
                listener(commit)
            except Exception:
                # One broken listener must not stop the store for all the others.
                _log.exception("A listener of the store failed.")
