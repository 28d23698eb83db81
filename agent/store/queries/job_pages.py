"""Read the queue of jobs page by page: current ones, then by next run, then ended ones.

The scheduler has its own order. Invariants: those of the reader that lends its connection; a page
costs what it holds, however many jobs are stored, except for a query that matches very many jobs
but few of a band; a job is on one page only while it does not change.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, assert_never

from agent.errors import UsageError
from agent.records import Job, JobStatus
from agent.store.changes.row_codec import as_int, decode_job
from agent.store.queries.job_words import (
    ENDED,
    FEW,
    IS_AT_HAND,
    IS_ENDED,
    Lookup,
    named,
    newest,
    of_status,
)
from agent.store.queries.search_words import folded
from agent.store.rows import Rows, Value

_LARGEST = (1 << 63) - 1
_IS_AT_HAND = f"{IS_AT_HAND} AND id < ?"
_IS_AWAKE = "status = 'active' AND (next_run_at, id) > (?, ?)"
_IS_ENDED = f"{IS_ENDED} AND id < ?"
_NEWEST, _SOONEST = "ORDER BY id DESC LIMIT ?", "ORDER BY next_run_at, id LIMIT ?"


def _walk(index: str, which: str, order: str) -> str:
    # By name: of ended jobs SQLite would go through each outcome by itself, and sort them all.
    return (
        f"SELECT record FROM job INDEXED BY {index} WHERE {which} AND instr(search, ?) > 0 {order}"
    )


def _pick(found: str, which: str, order: str) -> str:
    # CROSS: the few that have the words come first, whatever SQLite thinks of their number.
    return f"SELECT record FROM ({found}) CROSS JOIN job ON job.id = found WHERE {which} {order}"


class Band(StrEnum):
    """The parts of the queue, in order."""

    AT_HAND = "at_hand"
    AWAKE = "awake"
    ENDED = "ended"

    @property
    def statuses(self) -> frozenset[JobStatus]:
        match self:
            case Band.AWAKE:
                return frozenset({JobStatus.ACTIVE})
            case Band.ENDED:
                return ENDED
            case Band.AT_HAND:
                return frozenset(JobStatus) - ENDED - {JobStatus.ACTIVE}
            case _:
                assert_never(self)


class JobPage(NamedTuple):
    """A page of the queue."""

    jobs: tuple[Job, ...]
    after: str  # Where the next page begins; empty at the end.


class JobQueue(Protocol):
    """The look-up of the job queue. Every call raises StoreError."""

    async def page(self, *, query: str = "", limit: int = 100, after: str = "") -> JobPage:
        """Return a page of the queue; the query is a part of title, prompt or status in any case.

        Raises UsageError for an `after` that no page gave, and a query that is too long.
        """


class JobPages:
    """Queries on a store's reading connection; implements `JobQueue`."""

    def __init__(self, rows: Rows, lookup: Callable[[str], Lookup | None]) -> None:
        """Ask with `rows`; `lookup` is the dialect's."""
        self._rows = rows
        self._lookup = lookup

    async def page(self, *, query: str = "", limit: int = 100, after: str = "") -> JobPage:
        """Return a page of the queue; see `JobQueue.page`."""
        band, due_ms, last_id = _read_cursor(after)
        words = folded(query)
        found: list[Job] = []
        rare = await self._rare(words)
        for part in list(Band)[list(Band).index(band) :]:
            if part is not band:
                due_ms, last_id = _beginning(part)
            room = limit - len(found)
            place = (due_ms, last_id) if part is Band.AWAKE else (last_id,)
            jobs = await self._part(part, words, rare, place, room)
            found += jobs
            if len(jobs) >= room > 0:
                last = found[-1]
                return JobPage(tuple(found), f"{part.value}:{last.next_run_at}:{last.id}")
        return JobPage(tuple(found), "")

    async def _part(
        self, part: Band, words: str, rare: Lookup | None, place: tuple[int, ...], room: int
    ) -> list[Job]:
        statuses = named(words, part.statuses)
        if rare is None or (part is Band.AWAKE and statuses):
            return await self._jobs(WALKS[part], (*place, words, room))
        picked = await self._jobs(pick(part, rare.found), (*rare.parameters, *place, room))
        of_them = [await self._jobs(of_status(one), (*place, room)) for one in statuses]
        return newest([picked, *of_them], room) if of_them else picked

    async def _rare(self, words: str) -> Lookup | None:
        """Return how the few jobs with the words are found; None when a walk soon meets some."""
        by_index = self._lookup(words)
        if by_index is None:
            return None
        [(count,)] = await self._rows(by_index.how_many, (*by_index.parameters, FEW + 1))
        return by_index if as_int(count) <= FEW else None

    async def _jobs(self, sql: str, parameters: Sequence[Value]) -> list[Job]:
        return [decode_job(record) for (record,) in await self._rows(sql, parameters)]


_PARTS = {
    Band.AT_HAND: (_IS_AT_HAND, _NEWEST),
    Band.AWAKE: (_IS_AWAKE, _SOONEST),
    Band.ENDED: (_IS_ENDED, _NEWEST),
}
_INDEXES = {Band.AT_HAND: "job_at_hand", Band.AWAKE: "job_due", Band.ENDED: "job_ended"}
WALKS = {part: _walk(_INDEXES[part], *how) for part, how in _PARTS.items()}


def pick(part: Band, found: str) -> str:
    """Return the statement for those of a part of the queue that another statement names."""
    return _pick(found, *_PARTS[part])


def _beginning(band: Band) -> tuple[int, int]:
    """Return what stands before the first job of a band."""
    return (-1, 0) if band is Band.AWAKE else (0, _LARGEST)


def _read_cursor(after: str) -> tuple[Band, int, int]:
    if not after:
        return (Band.AT_HAND, *_beginning(Band.AT_HAND))
    name, _, place = after.partition(":")
    due, _, last = place.partition(":")
    try:
        band, due_ms, last_id = Band(name), int(due), int(last)
    except ValueError as error:
        raise UsageError(
            f"{after[:40]!r} is not a position in the queue.", "Leave it out."
        ) from error
    if not (-1 <= due_ms <= _LARGEST and 0 <= last_id <= _LARGEST):
        raise UsageError(f"{after[:40]!r} is not a position in the queue.", "Leave it out.")
    return band, due_ms, last_id
