"""The store of a fleet: all durable data of its hosts in one PostgreSQL database.

Invariants: those of `agent.store.store`; each host opens the store under its own name; listeners on
every host receive the events of all hosts, in one order.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Self

from agent.errors import StoreError, UnwritableError
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import DeviceInfo, Job, SearchHit
from agent.store.changes.row_codec import EVENT_COLUMNS, event_of
from agent.store.dispatch.gate import Gate
from agent.store.postgres.blobs import Blobs, bind
from agent.store.postgres.bucket import Bucket
from agent.store.postgres.dialect import POSTGRES
from agent.store.postgres.hosts import Presence, check_versions
from agent.store.postgres.link import Link
from agent.store.postgres.opening import (
    CHANNEL,
    Core,
    Opening,
    check_opening,
    open_host,
    open_records,
    take_locks,
)
from agent.store.postgres.words import query_of, snippet
from agent.store.postgres.writer import Writer
from agent.store.queries.reader import Reader
from agent.store.queries.search_words import text_of
from agent.store.queries.session_lists import condition_of
from agent.store.record_store import RecordStore
from agent.store.rows import Rows, Value

MOST_HITS = 500
_LOOK_S = 2.0  # How long a commit of another host may go unseen where its notice was lost.
_REST_S = 0.05
"""How soon after a look at the log comes the next: under load, one takes in many commits."""
_RETRY_S = 1.0
_RECORDS_PATIENCE_S = 5.0  # How long somebody who only looks waits for a database that is away.
_FIND = (
    "SELECT id, session_id, seq, ts_ms, submission_id, body FROM event WHERE id IN ("
    "SELECT event_id FROM words WHERE found @@ ?::tsquery {} ORDER BY event_id DESC LIMIT ?) "
    "ORDER BY id DESC"
)
assert EVENT_COLUMNS in _FIND
_log = logging.getLogger(__name__)


class PostgresStore(RecordStore):
    """Events, sessions, questions, jobs and blobs of a fleet; open it with `open`."""

    def __init__(
        self,
        links: tuple[Link, Link, Link, Link],
        opening: Opening,
        clock_ms: Callable[[], int] | None,
        bucket: Bucket | None = None,
    ) -> None:
        self._standing, self._writing, self._reading, carrying = links
        self._opening = opening
        self.host = opening.host
        """The name under which this host has the store open."""
        self.database = self._standing.database
        """The names of the database and its server, for people."""
        self.rows: Rows = self._reading.rows
        """Looks things up, and counts up what hosts count together."""
        self._queue = Writer(self._writing, self._reading, opening, clock_ms)
        reader = Reader(self._reading.rows, self._queue.published, POSTGRES)
        super().__init__(self._queue, reader, POSTGRES)
        self.presence: Presence | None = None
        """What this host says of itself, while it does."""
        self.blobs = Blobs(carrying, reader, opening.epoch, clock_ms, bucket)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        dsn: str,
        host: str,
        *,
        clock_ms: Callable[[], int] | None = None,
        expected: str = "",
        core: Core | None = None,
        bucket: Bucket | None = None,
    ) -> AsyncIterator[Self]:
        """Have the store open for the length of a `with` block, making it in an empty database.

        Args:
            dsn: a libpq connection string or address; it is never told or logged.
            host: the name of this computer in the fleet; one process at a time has it.
            clock_ms: the store's clock; None = the database's, the same for all hosts.
            expected: the identity that the store must have; empty for any.
            core: it is opened by a core, which writes nothing of other hosts' sessions; None: by
                somebody else.
            bucket: where blobs are written to; None: the database.

        Raises:
            StoreError: it cannot be reached or written, another process has the name, or it is
                another program's or a newer Switchboard's. Nothing is then changed.
            StoreGoneError: it is not the expected store, or older than the core knows it.
            UsageError: the name cannot be used.
        """
        async with AsyncExitStack() as stack:
            names = ("host", "writer", "reader", "blobs")
            standing, writing, reading, carrying = (Link(dsn, f"{host} {n}") for n in names)
            for link in (standing, writing, reading, carrying):
                stack.push_async_callback(link.close)
            now_ms = None if clock_ms is None else clock_ms()
            opening = await open_host(standing, host, now_ms=now_ms, expected=expected, core=core)
            await bind(carrying, bucket, opening)
            await standing.rows(f"LISTEN {CHANNEL}")
            store = cls((standing, writing, reading, carrying), opening, clock_ms, bucket)
            await store._queue.start()
            stack.push_async_callback(store._leave)
            following = asyncio.create_task(store._follow(), name="store follower")
            stack.push_async_callback(_ended, following)
            stack.push_async_callback(store._queue.close)
            yield store

    @classmethod
    @asynccontextmanager
    async def open_records(
        cls, dsn: str, *, expected: str = "", bucket: Bucket | None = None
    ) -> AsyncIterator[Self]:
        """Read the store for the length of a `with` block, whoever works on it; every write is
        refused.

        Raises:
            StoreError: it cannot be reached, or there is none that this Switchboard reads.
            StoreGoneError: it is not the expected store.
        """
        async with AsyncExitStack() as stack:
            link = Link(dsn, "records", patience_s=_RECORDS_PATIENCE_S, is_written=False)
            carrying = Link(dsn, "blobs", patience_s=_RECORDS_PATIENCE_S, is_written=False)
            for one in (link, carrying):
                stack.push_async_callback(one.close)
            opening = await open_records(link, expected=expected)
            store = cls((link, link, link, carrying), opening, None, bucket)
            refusal = UnwritableError("The store is read-only here.", "Use its core.")
            await store._queue.start(refusal=refusal)
            yield store

    async def _leave(self) -> None:
        """Release the blobs that were put and not named."""
        with suppress(StoreError):
            await self._writing.rows(
                "UPDATE host SET is_open = 0 WHERE number = ? AND epoch = ?",
                (self._opening.number, self._opening.epoch),
            )

    async def _follow(self) -> None:
        """Publish other hosts' events, and keep this host's name."""
        number = self._standing.number
        while True:
            try:
                await self._standing.notices(_LOOK_S)
                if self._standing.number != number:
                    await take_locks(self._standing, self._opening)
                    await self._standing.rows(f"LISTEN {CHANNEL}")
                    number = self._standing.number
                await self._queue.catch_up()
                await asyncio.sleep(_REST_S)
            except StoreError as error:
                _log.warning("What other hosts stored cannot be read yet: %s", error)
                await asyncio.sleep(_RETRY_S)

    @asynccontextmanager
    async def present(
        self,
        dsn: str,
        *,
        version: str,
        phones: Callable[[], tuple[DeviceInfo, ...]],
        gate: Gate | None = None,
        labels: Iterable[str] = (),
        wire: Callable[[], str] = str,
    ) -> AsyncIterator[asyncio.Task[None]]:
        """Register this host and its phones for the length of a `with` block; the gate is closed
        while the operator wants no turns to begin here. See `agent.store.postgres.hosts.Presence`.

        Returns:
            The task that says so; it ends when a newer process has the name.

        Raises:
            StoreError: a host that is there has a version that does not fit.
        """
        link = Link(dsn, f"{self._opening.host} presence")
        try:
            await check_versions(link, self._opening.host, version)
            presence = Presence(
                link,
                self._opening,
                version=version,
                labels=labels,
                phones=phones,
                gate=gate,
                wire=wire,
            )
            await presence.record_heartbeat()
            self.presence = presence
            beating = asyncio.create_task(presence.run(), name="presence")
            try:
                yield beating
            finally:
                await _ended(beating)
        finally:
            self.presence = None
            await link.close()

    @property
    def identity(self) -> str:
        """Return the store's identity, on any database server."""
        return self._opening.store

    @property
    def newest_event_id(self) -> int:
        """Return the newest event id that this host knows."""
        return self._queue.last_event_id

    @property
    def epoch(self) -> int:
        """Return the number of this opening; a write under an older one of its host is refused."""
        return self._opening.epoch

    async def check_owned(self) -> None:
        """Raise FencedError if a newer process has this host's name, StoreGoneError if the
        database is not the one that was opened; StoreError if that is unknown.
        """
        self._queue.check_writable()
        await check_opening(self._reading, self._opening)

    async def last_event_id(self) -> int:
        """Return the id of the newest stored event, of any host; 0 before the first."""
        await self._queue.published()
        return await super().last_event_id()

    async def search(
        self, query: str, *, limit: int = 50, wanted: SessionFilter = EVERY_SESSION
    ) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first. Raises UsageError, StoreError."""
        among, values = "", tuple[Value, ...]()
        if wanted != EVERY_SESSION:
            condition, values = condition_of(wanted)
            among = f"AND session_id IN (SELECT session_id FROM session WHERE {condition})"
        parameters = (query_of(query), *values, min(max(limit, 0), MOST_HITS))
        hits: list[SearchHit] = []
        for row in await self._reader.rows(_FIND.format(among), parameters):
            event = event_of(row)
            cut = snippet(text_of(event.msg), query)
            hits.append(
                SearchHit(
                    session_id=event.session_id,
                    seq=event.seq,
                    ts_ms=event.ts_ms,
                    kind=str(type(event.msg).__struct_config__.tag),
                    snippet=cut.text,
                    matches=cut.matches,
                )
            )
        return tuple(hits)

    # --- jobs ----------

    async def job(self, job_id: int) -> Job | None:
        return await self._reader.job(job_id)

    async def due_jobs(self, now_ms: int, limit: int = 3) -> tuple[Job, ...]:
        """List active jobs that are due, the longest overdue first."""
        return await self._reader.due_jobs(now_ms, limit)

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""
        return await self._reader.next_due_ms()

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that started at or before a time."""
        return await self._reader.stale_jobs(before_ms)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
