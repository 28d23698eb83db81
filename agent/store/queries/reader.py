"""Look up sessions, events, questions and jobs on a read-only connection, without a cache.

Invariants: every read is one short statement fetched completely, because an open cursor would keep
SQLite's write-ahead log from shrinking; a read never returns data before the store's listeners have
received it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import Event
from agent.protocol.session_filter import EVERY_SESSION, SessionFilter
from agent.records import Job, JobStatus, Question, Session
from agent.store.changes.row_codec import (
    EVENT_COLUMNS,
    LEASE,
    as_int,
    as_text,
    decode_job,
    decode_question,
    decode_session,
    event_of,
    lease_of,
)
from agent.store.leases import Lease
from agent.store.queries.dialect import Dialect
from agent.store.queries.job_words import ALL_ACTIVE, FEW, Lookup, named, newest, of_status
from agent.store.queries.search_words import folded
from agent.store.queries.session_lists import condition_of, filtered
from agent.store.rows import Row, Rows, Value

PAGE_EVENTS = 500
"""How many events are fetched and decoded before other tasks get their turn."""

_ASKED_AT_ONCE = 500  # How many parents one statement names.

LARGEST_ID = (1 << 63) - 1
PAGE_ROOTS = 2_000
JOBS_LISTED = 50
"""The most jobs that one list gives (CONTRACTS 2.2)."""

_NOT_TERMINAL = "state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')"

EVENTS = f"SELECT {EVENT_COLUMNS} FROM event WHERE id > ? ORDER BY id LIMIT ?"
SESSION_EVENTS = (
    f"SELECT {EVENT_COLUMNS} FROM event WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
EARLIER_EVENTS = (
    f"SELECT {EVENT_COLUMNS} FROM event WHERE session_id = ? AND seq > ? AND seq < ? "
    "ORDER BY seq DESC LIMIT ?"
)
SESSIONS = "SELECT record FROM session ORDER BY number DESC LIMIT ?"
OLDER_SESSIONS = (
    "SELECT record FROM session WHERE number < "
    "(SELECT number FROM session WHERE session_id = ?) ORDER BY number DESC LIMIT ?"
)
ROOTS = "SELECT record FROM session WHERE parent_id = '' ORDER BY number DESC LIMIT ?"
ACTIVE_SESSIONS = f"SELECT record FROM session WHERE {_NOT_TERMINAL} ORDER BY number DESC LIMIT ?"
SESSION = "SELECT record FROM session WHERE session_id = ?"
SESSIONS_BY_PREFIX = (
    "SELECT record FROM session WHERE session_id >= ? AND session_id < ? "
    "ORDER BY session_id LIMIT ?"
)
CHILDREN = "SELECT record FROM session WHERE parent_id = ? AND parent_id <> '' ORDER BY number"
OPEN_QUESTIONS = "SELECT record FROM question WHERE is_open = 1 ORDER BY number"
QUESTION = "SELECT record, is_open FROM question WHERE question_id = ?"
JOB = "SELECT record FROM job WHERE id = ?"
JOBS = "SELECT record FROM job WHERE instr(search, ?) > 0 ORDER BY id DESC LIMIT ?"
DUE_JOBS = (
    "SELECT record FROM job WHERE status = 'active' AND next_run_at <= ? "
    "ORDER BY next_run_at, id LIMIT ?"
)
NEXT_DUE = "SELECT min(next_run_at) FROM job WHERE status = 'active'"
STALE_JOBS = (
    "SELECT record FROM job WHERE status = 'running' AND running_at <= ? ORDER BY running_at, id"
)
ROOT_IDS = "SELECT session_id FROM session WHERE parent_id = '' ORDER BY number DESC"
UNPRUNED_ROOTS = (
    "SELECT number, record FROM session WHERE parent_id = '' AND is_pruned = 0 AND number < ? "
    "ORDER BY number DESC LIMIT ?"
)
UNNAMED_BLOBS = (
    "SELECT digest, size_bytes FROM blob WHERE digest > ? AND NOT EXISTS "
    "(SELECT 1 FROM blob_use WHERE blob_use.digest = blob.digest) ORDER BY digest LIMIT ?"
)
BLOB_BYTES = "SELECT COALESCE(SUM(size_bytes), 0) FROM blob"
BLOB_SESSIONS = "SELECT session_id FROM blob_use WHERE digest = ? ORDER BY session_id"
BLOB_TYPE = "SELECT media_type FROM blob WHERE digest = ?"


def jobs_found(found: str) -> str:
    """Return the statement for the newest jobs that another statement names, up to a limit."""
    return (
        f"SELECT record FROM job WHERE id IN (SELECT found FROM ({found}) AS named "
        "ORDER BY found DESC LIMIT ?) ORDER BY id DESC"
    )


class Reader:
    """Queries on one connection. Every method raises StoreError when the database fails."""

    def __init__(self, ask: Rows, told: Callable[[], Awaitable[None]], dialect: Dialect) -> None:
        """Use a connection; `told` waits until committed events have been published."""
        self._ask = ask
        self._told = told
        self._dialect = dialect

    async def rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Fetch the rows of one statement, for other packages of the store."""
        return await self._rows(sql, parameters)

    async def _rows(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        rows = await self._ask(sql, parameters)
        # What a reader sees, every listener has been told: who reads that a session has ended may
        # act on it at once, and the core knows it too.
        await self._told()
        return rows

    async def events(self, *, after: int, limit: int) -> tuple[Event, ...]:
        """Read events with a larger id than `after`, in order."""
        found: list[Event] = []
        last = after
        while (page := min(limit - len(found), PAGE_EVENTS)) > 0:
            rows = await self._rows(EVENTS, (last, page))
            found.extend(event_of(row) for row in rows)
            if len(rows) < page:
                break
            last = found[-1].event_id
            await asyncio.sleep(0)
        return tuple(found)

    async def facts(self, types: Sequence[str], *, limit: int) -> tuple[Event, ...]:
        """Read the newest events of no session that are of some types, in order."""
        marks = ", ".join("?" * len(types))
        # In SQLite they are together in the index of the sessions' events.
        sql = (
            f"SELECT {EVENT_COLUMNS} FROM event WHERE session_id IS NULL AND type IN ({marks}) "
            "ORDER BY id DESC LIMIT ?"
        )
        rows = await self._rows(sql, (*types, max(limit, 0)))
        return tuple(event_of(row) for row in reversed(rows))

    async def earlier_events(
        self, session_id: str, *, after_seq: int, before_seq: int, limit: int
    ) -> tuple[Event, ...]:
        """Read the newest of a session's events between two, in order."""
        found: list[Event] = []
        last = before_seq
        while (page := min(limit - len(found), PAGE_EVENTS)) > 0:
            rows = await self._rows(EARLIER_EVENTS, (session_id, after_seq, last, page))
            found.extend(event_of(row) for row in rows)
            if len(rows) < page:
                break
            last = found[-1].seq
            await asyncio.sleep(0)
        return tuple(reversed(found))

    async def session_events(
        self, session_id: str, *, after_seq: int, limit: int
    ) -> tuple[Event, ...]:
        """Read a session's events with a larger seq than `after_seq`, in order."""
        found: list[Event] = []
        last = after_seq
        while (page := min(limit - len(found), PAGE_EVENTS)) > 0:
            rows = await self._rows(SESSION_EVENTS, (session_id, last, page))
            found.extend(event_of(row) for row in rows)
            if len(rows) < page:
                break
            last = found[-1].seq
            await asyncio.sleep(0)
        return tuple(found)

    async def sessions(
        self,
        *,
        limit: int,
        active_only: bool,
        before: str = "",
        wanted: SessionFilter = EVERY_SESSION,
    ) -> tuple[Session, ...]:
        """List sessions, newest first; only those older than `before` when that is given."""
        if wanted != EVERY_SESSION:
            states = (*wanted.states, *(["open"] if active_only else []))
            wanted = replace(wanted, states=states)
            sql, values = filtered(wanted, before=before, limit=max(limit, 0))
            return await self._sessions(sql, values)
        if before:
            return await self._sessions(OLDER_SESSIONS, (before, max(limit, 0)))
        sql = ACTIVE_SESSIONS if active_only else SESSIONS
        return await self._sessions(sql, (max(limit, 0),))

    async def session_ids(self, wanted: SessionFilter) -> tuple[str, ...]:
        """List the ids of all sessions that a filter finds."""
        condition, values = condition_of(wanted)
        rows = await self._rows(f"SELECT session_id FROM session WHERE {condition}", values)
        return tuple(as_text(one) for (one,) in rows)

    async def trees(self, *, limit: int) -> tuple[Session, ...]:
        """List whole trees: the newest top-level sessions, and all that are not settled."""
        found = {one.session_id: one for one in await self._sessions(ROOTS, (max(limit, 0),))}
        for one in await self._sessions(ACTIVE_SESSIONS, (1 << 62,)):
            found.setdefault(one.session_id, one)
        wanted = {one.parent_id for one in found.values() if one.parent_id} - found.keys()
        while wanted:
            above = [await self._sessions(SESSION, (one,)) for one in sorted(wanted)]
            found.update((one.session_id, one) for rows in above for one in rows)
            asked, wanted = wanted, set()
            wanted.update(o.parent_id for rows in above for o in rows if o.parent_id)
            wanted -= found.keys() | asked
        parents = list(found)
        while parents:
            marks = ",".join("?" * len(parents[:_ASKED_AT_ONCE]))
            sql = f"SELECT record FROM session WHERE parent_id IN ({marks}) AND parent_id <> ''"
            below = await self._sessions(sql, tuple(parents[:_ASKED_AT_ONCE]))
            parents = parents[_ASKED_AT_ONCE:]
            parents += [one.session_id for one in below if one.session_id not in found]
            found.update((one.session_id, one) for one in below)
        return tuple(found.values())

    async def session(self, id_or_prefix: str) -> Session:
        """Find one session. Raises UsageError when none or several have the prefix."""
        wanted = id_or_prefix.strip().encode(errors="replace").decode()
        found: tuple[Session, ...] = ()
        if wanted:
            found = await self._sessions(SESSIONS_BY_PREFIX, (wanted, wanted + "\U0010ffff", 4))
        if not found:
            raise UsageError(
                f"There is no session {wanted[:80]!r}.",
                "List them with `switchboard sessions list`.",
            )
        if len(found) > 1 and found[0].session_id != wanted:
            names = ", ".join(session.session_id for session in found[:3])
            more = ", …" if len(found) > 3 else ""
            raise UsageError(
                f"Several sessions begin with {wanted!r}: {names}{more}.", "Give more of the id."
            )
        return found[0]

    async def children(self, parent_id: str) -> tuple[Session, ...]:
        """List the children of a session, oldest first."""
        return await self._sessions(CHILDREN, (parent_id,))

    async def open_questions(self) -> tuple[Question, ...]:
        """List open questions, oldest first."""
        rows = await self._rows(OPEN_QUESTIONS)
        return tuple(decode_question(record) for (record,) in rows)

    async def question(self, question_id: str) -> tuple[Question, bool]:
        """Find a question and return whether it is still open. Raises UsageError."""
        wanted = question_id.strip().encode(errors="replace").decode()
        for record, is_open in await self._rows(QUESTION, (wanted,)):
            return decode_question(record), bool(is_open)
        raise UsageError(f"There is no question {question_id[:80]!r}.")

    async def lease(self, key: str) -> Lease | None:
        """Find the newest lease on a key."""
        for row in await self._rows(LEASE, (key,)):
            return lease_of(row)
        return None

    async def job(self, job_id: int) -> Job | None:
        # The database's integers have 64 bits; an id beyond them is nobody's.
        if not 0 < job_id < 1 << 63:
            return None
        jobs = await self._jobs(JOB, (job_id,))
        return jobs[0] if jobs else None

    async def jobs(self, *, query: str, limit: int) -> tuple[Job, ...]:
        """List jobs, newest first; the query is a part of title, prompt or status in any case."""
        limit = min(max(limit, 0), JOBS_LISTED)
        words = folded(query)
        by_index, statuses = self._dialect.lookup(words), named(words)
        is_walk = by_index is None or await self._are_many(by_index)
        if JobStatus.ACTIVE in statuses and not is_walk:
            is_walk = await self._are_many(ALL_ACTIVE)
        if by_index is None or is_walk:
            return await self._jobs(JOBS, (words, limit))
        found = [await self._jobs(jobs_found(by_index.found), (*by_index.parameters, limit))]
        for status in statuses:
            found.append(await self._jobs(of_status(status), (LARGEST_ID, limit)))
        return tuple(newest(found, limit))

    async def _are_many(self, jobs: Lookup) -> bool:
        [(count,)] = await self._rows(jobs.how_many, (*jobs.parameters, FEW + 1))
        return as_int(count) > FEW

    async def due_jobs(self, now_ms: int, limit: int) -> tuple[Job, ...]:
        """List active jobs that are due, the longest overdue first."""
        return await self._jobs(DUE_JOBS, (now_ms, max(limit, 0)))

    async def next_due_ms(self) -> int | None:
        """Return when the next active job is due; 0 is now, None is never."""
        [(due,)] = await self._rows(NEXT_DUE)
        return due if isinstance(due, int) else None

    async def jobs_on(self, trigger: str) -> tuple[Job, ...]:
        """List active jobs that an event makes due, oldest first."""
        return await self._jobs(self._dialect.jobs_on, (trigger,))

    async def stale_jobs(self, before_ms: int) -> tuple[Job, ...]:
        """List running jobs that started at or before a time."""
        return await self._jobs(STALE_JOBS, (before_ms,))

    async def root_ids(self) -> tuple[str, ...]:
        """List the ids of all top-level sessions, newest first."""
        return tuple(as_text(one) for (one,) in await self._rows(ROOT_IDS))

    async def unpruned_roots(self) -> AsyncIterator[tuple[Session, ...]]:
        """List top-level sessions that still have their frames, newest first, by pages."""
        before = LARGEST_ID
        while rows := await self._rows(UNPRUNED_ROOTS, (before, PAGE_ROOTS)):
            before = as_int(rows[-1][0])
            yield tuple(decode_session(record) for _, record in rows)

    async def unnamed_blobs(self, *, after: str, limit: int) -> tuple[tuple[str, int], ...]:
        """List blobs that no event names, and their sizes in bytes, by digest."""
        rows = await self._rows(UNNAMED_BLOBS, (after, limit))
        return tuple((as_text(digest), as_int(size)) for digest, size in rows)

    async def blob_bytes(self) -> int:
        """Return the size of all blobs in bytes."""
        ((size,),) = await self._rows(BLOB_BYTES, ())
        return as_int(size)

    async def blob_type(self, digest: str) -> str:
        """Return a blob's media type; empty if it was never recorded."""
        for (media_type,) in await self._rows(BLOB_TYPE, (digest,)):
            return str(media_type)
        return ""

    async def blob_sessions(self, digest: str) -> tuple[str, ...]:
        """List the ids of sessions whose events name a blob."""
        return tuple(as_text(one) for (one,) in await self._rows(BLOB_SESSIONS, (digest,)))

    async def _sessions(self, sql: str, parameters: tuple[Value, ...]) -> tuple[Session, ...]:
        rows = await self._rows(sql, parameters)
        return tuple(decode_session(record) for (record,) in rows)

    async def _jobs(self, sql: str, parameters: tuple[Value, ...]) -> tuple[Job, ...]:
        rows = await self._rows(sql, parameters)
        return tuple(decode_job(record) for (record,) in rows)
