"""The writer of a host, whose commits are serialised with those of all other hosts.

Invariants: those of `agent.store.changes.write_queue`; a commit locks the tip's row, so event ids
rise in commit order without gaps over all hosts; events of other hosts are read and published
first; a superseded process of a host writes nothing; a commit without an answer is looked up, never
sent twice.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable

from agent.errors import StoreError, WrongStateError
from agent.protocol import Event, SessionHosted, SessionsDeleted
from agent.state.commit import Commit
from agent.store.changes.event_ledger import EventLedger
from agent.store.changes.row_cache import Known, lease_keys
from agent.store.changes.row_codec import EVENT_COLUMNS, as_int, event_of, rows_of
from agent.store.changes.write_queue import (
    Refused,
    StoreAwayError,
    TransactionLostError,
    UnknownOutcomeError,
    WriteQueue,
)
from agent.store.changes.write_requests import Append, DeleteSessions, Entry, Request
from agent.store.postgres.link import PATIENCE_S, Link
from agent.store.postgres.opening import CHANNEL, Opening, check_row, store_gone
from agent.store.postgres.words import vector_of
from agent.store.queries.search_words import text_of
from agent.store.rows import Row, Statement, Value

_PAGE_EVENTS = 500
_MOST_UNDER_LOCK = 1000
"""Up to so many events of others are read while all hosts wait for this one's commit."""
_LOCK_TIP = "SELECT event_id, job_id, revision, store FROM tip FOR UPDATE"
# Another statement than that, or it would not see what was committed while that waited.
_LOOK = (
    "SELECT epoch, commits, (extract(epoch FROM clock_timestamp()) * 1000)::bigint "
    "FROM host WHERE name = ?"
)
_MISSED = f"SELECT {EVENT_COLUMNS} FROM event WHERE id > ? ORDER BY id LIMIT ?"
# One statement: the page and the end of the log are of one moment, also where the page is empty.
_SINCE = (
    f"SELECT tip.event_id, page.* FROM tip LEFT JOIN LATERAL (SELECT {EVENT_COLUMNS} FROM event "
    "WHERE id > ? ORDER BY id LIMIT ?) AS page ON true ORDER BY page.id"
)
_LEASES = (
    "SELECT key, owner, epoch, expires_ms FROM lease "
    "WHERE key = ANY(ARRAY(SELECT json_array_elements_text(?::json)))"
)
_PUT_WORDS = (
    "INSERT INTO words (event_id, session_id, found) VALUES (?, ?, ?::tsvector) "
    "ON CONFLICT (event_id) DO NOTHING"
)
_DROP_WORDS = "DELETE FROM words WHERE session_id = ?"
_NAMED = "UPDATE blob SET put_by = 0 WHERE digest = ? AND put_by <> 0"
_MOVE_TIP = "UPDATE tip SET event_id = ?, job_id = ?, revision = revision + 1"
_COUNT = "UPDATE host SET commits = ? WHERE name = ?"
_TELL = f"SELECT pg_notify('{CHANNEL}', '')"
_log = logging.getLogger(__name__)


class _FarBehindError(StoreError):
    """Other hosts have stored so much that it must be read before the tip is locked."""


class Writer(WriteQueue):
    """Take requests in order, write them in groups, publish what was committed, by any host.

    Args:
        writing: the connection of this writer alone.
        reading: for what others stored.
        opening: of this host.
        clock_ms: the store's clock; None = the database's.
    """

    def __init__(
        self, writing: Link, reading: Link, opening: Opening, clock_ms: Callable[[], int] | None
    ) -> None:
        super().__init__(Known(writing), clock_ms=clock_ms or (lambda: self._now_ms))
        self.opening = opening
        if opening.is_core:
            self._check = self._check_own
        self._writing = writing
        self._reading = reading
        self._now_ms = 0
        self._revision = 0
        self._commits = 0
        self._taking = asyncio.Lock()
        """Held by whoever publishes: a commit, or a look at what others stored."""

    async def start(self, *, refusal: StoreError | None = None) -> None:
        """Read the end of the log and start to write, or to refuse every write.

        Raises StoreError.
        """
        [(event_id, job_id, revision)] = await self._reading.rows(
            "SELECT event_id, job_id, revision FROM tip"
        )
        self._known.begin(last_event_id=as_int(event_id), last_job_id=as_int(job_id))
        self._revision = as_int(revision)
        if refusal is not None:
            self._refusal = refusal
            return
        self._begin()

    async def published(self) -> None:
        """Wait until the listeners have received every commit made so far."""
        await super().published()
        [(tip,)] = await self._reading.rows("SELECT event_id FROM tip")
        if as_int(tip) > self.last_event_id:
            await self.catch_up()

    async def catch_up(self) -> None:
        """Publish what other hosts have stored so far. Raises StoreError."""
        async with self._taking:
            await self._catch_up()

    async def _catch_up(self) -> None:
        while page := await self._reading.rows(_SINCE, (self.last_event_id, _PAGE_EVENTS)):
            events = tuple(event_of(row[1:]) for row in page if row[1] is not None)
            is_all = len(events) < _PAGE_EVENTS
            # Of those that are not in the page, up to the end, the sessions were deleted since.
            upto = as_int(page[0][0]) if is_all else events[-1].event_id
            if upto > self.last_event_id:
                self._take(events, upto)
            if is_all:
                return

    def _take(self, events: tuple[Event, ...], upto: int) -> None:
        changed = {event.session_id for event in events if event.session_id}
        for event in events:
            if isinstance(event.msg, SessionsDeleted):
                changed.update(event.msg.session_ids)
        self._known.forget(changed)
        self._known.last_event_id = upto
        self._publish(Commit(events, is_elsewhere=True))

    async def _commit(self, batch: list[Entry], *, savepoints: bool) -> None:
        async with self._taking:
            loop = asyncio.get_running_loop()
            end = loop.time() + PATIENCE_S
            while True:
                try:
                    ledger, refused = await self._stored(batch, savepoints=savepoints)
                except _FarBehindError:
                    await self._catch_up()
                except UnknownOutcomeError:
                    raise
                except StoreAwayError as error:
                    # The connection broke before the commit was sent, or it did not take place.
                    if loop.time() > end:
                        raise
                    _log.warning("A commit is tried again: %s", error)
                else:
                    self._settle(batch, ledger, refused)
                    return

    async def _stored(self, batch: list[Entry], *, savepoints: bool) -> tuple[EventLedger, Refused]:
        lost: StoreAwayError | None = None
        async with self._writing.transaction(*self._looks(batch)) as found:
            self._take_turn(*found)
            statements: tuple[Statement, ...] = ()
            if savepoints:
                ledger, refused = await self._folded_apart(batch, self._put_under_savepoint)
            else:
                ledger, refused = await self._folded(batch)
                statements = _statements(ledger)
            commits = self._commits + 1
            numbers = (ledger.last_event_id, ledger.last_job_id)
            # A commit without events, as of a lease, concerns no listener.
            notice: list[tuple[Value, ...]] = [()] if ledger.events else []
            try:
                await self._writing.commit(
                    *statements,
                    (_MOVE_TIP, [numbers]),
                    (_COUNT, [(commits, self.opening.host)]),
                    (_TELL, notice),
                )
            except StoreAwayError as error:
                lost = error
        if lost is not None and not await self._was_committed(commits, lost):
            raise lost
        self._commits = commits
        self._revision += 1
        return ledger, refused

    def _check_own(self, request: Request, ledger: EventLedger) -> None:
        """Refuse a change to another host's session, except its move. Raises WrongStateError."""
        session_ids: Iterable[str] = ()
        if isinstance(request, Append):
            session_ids = {
                draft.session_id
                for draft in request.drafts
                if draft.session_id and type(draft.msg) is not SessionHosted
            }
        elif isinstance(request, DeleteSessions):
            session_ids = request.session_ids
        for session_id in session_ids:
            head = ledger.sessions.get(session_id)
            if head is not None and head.session.host not in ("", self.opening.host):
                raise WrongStateError(
                    f"Session {session_id} belongs to host {head.session.host}.",
                    f"Move it here first: switchboard fleet move {session_id} {self.opening.host}",
                )

    def _looks(self, batch: list[Entry]) -> tuple[Statement, ...]:
        """Return what waits for this host's turn, and asks what the others did in theirs."""
        keys = lease_keys(entry.request for entry in batch)
        wanted = json.dumps([key for key in keys if "\0" not in key])
        return (
            (_LOCK_TIP, [()]),
            (_LOOK, [(self.opening.host,)]),
            (_MISSED, [(self.last_event_id, _MOST_UNDER_LOCK + 1)]),
            (_LEASES, [(wanted,)]),
        )

    def _take_turn(
        self, found: list[Row], host: list[Row], missed: list[Row], leases: list[Row]
    ) -> None:
        """Know what the others did, from the rows of `_looks`."""
        if not found or not host:
            raise store_gone("It was emptied")
        event_id, job_id, revision, store = found[0]
        epoch, commits, now_ms = host[0]
        check_row(self.opening, store, epoch)
        tip = as_int(event_id)
        if tip < self.last_event_id or as_int(revision) < self._revision:
            raise store_gone(f"It was put back to event {tip} from {self.last_event_id}")
        if len(missed) > _MOST_UNDER_LOCK:
            raise _FarBehindError("The store is far behind.")
        if self.last_event_id < tip:
            self._take(tuple(event_of(row) for row in missed), tip)
        if as_int(revision) != self._revision:
            self._known.forget(())
        self._known.have_leases(leases)
        self._known.begin(last_event_id=tip, last_job_id=as_int(job_id))
        self._revision = as_int(revision)
        self._commits = as_int(commits)
        self._now_ms = as_int(now_ms)

    async def _was_committed(self, commits: int, lost: StoreAwayError) -> bool:
        """Return whether a commit without an answer took place. Raises UnknownOutcomeError."""
        try:
            async with self._writing.transaction():
                # The server may still be at it: who commits has the tip until that is done.
                await self._writing.rows(_LOCK_TIP)
                [(epoch, newest, _)] = await self._writing.rows(_LOOK, (self.opening.host,))
        except StoreError as error:
            raise UnknownOutcomeError(
                f"{lost.message} It is unknown whether the last commit was stored.", lost.remedy
            ) from error
        if epoch != self.opening.epoch:
            raise UnknownOutcomeError(
                "A newer process took this host's name during a commit; it is unknown whether "
                "that was stored.",
                "Close this Switchboard and work through the newer one.",
            )
        return newest == commits

    async def _put_under_savepoint(self, ledger: EventLedger) -> None:
        await self._writing.rows("SAVEPOINT request")
        try:
            await self._writing.run(_statements(ledger))
        except TransactionLostError:
            raise
        except StoreError:
            await self._writing.rows("ROLLBACK TO SAVEPOINT request")
            await self._writing.rows("RELEASE SAVEPOINT request")
            raise
        await self._writing.rows("RELEASE SAVEPOINT request")


def _statements(ledger: EventLedger) -> tuple[Statement, ...]:
    """Return what writes a ledger: every store's tables, the words, and who put a blob."""
    words: list[tuple[Value, ...]] = []
    for event, _ in ledger.events:
        text = text_of(event.msg) if event.session_id else ""
        if text:
            words.append((event.event_id, event.session_id, vector_of(text)))
    return (
        *rows_of(ledger),
        (_PUT_WORDS, words),
        (_DROP_WORDS, [(session_id,) for session_id in ledger.deleted]),
        (_NAMED, [(digest,) for digest in sorted({digest for _, digest in ledger.uses})]),
    )
