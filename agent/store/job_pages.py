"""Read the queue of jobs page by page: what is at hand, what wakes next, what has ended.

Not the order of anything that runs (that is the wake's). Invariants: those of the reader that lends
its connection; a page costs what it holds, however many jobs are stored, but for a query of one or
two characters, or one that very many jobs fit and few of a part; a job is on one page only while it
does not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, assert_never

from agent.errors import UsageError
from agent.records import Job, JobStatus
from agent.store.database import Row, Value
from agent.store.job_words import FEW, HOW_MANY, phrase
from agent.store.rows import as_int, decode_job

_LARGEST = (1 << 63) - 1
# The same words as the partial indexes, or SQLite would not know that it may use them.
_IS_AT_HAND = (
    "status IN ('running', 'awaiting_review', 'waiting', 'queued', 'paused', 'dispatched') "
    "AND id < ?"
)
_IS_AWAKE = "status = 'active' AND (next_run_at, id) > (?, ?)"
_IS_ENDED = "status IN ('completed', 'failed', 'stopped') AND id < ?"
_NEWEST, _SOONEST = "ORDER BY id DESC LIMIT ?", "ORDER BY next_run_at, id LIMIT ?"


def _walk(which: str, order: str) -> str:
    return f"SELECT record FROM job WHERE {which} AND instr(search, ?) > 0 {order}"


def _pick(which: str, order: str) -> str:
    # CROSS: the few that have the words come first, whatever SQLite thinks of their number.
    return (
        "SELECT record FROM (SELECT rowid AS found FROM job_words WHERE job_words MATCH ?) "
        f"CROSS JOIN job ON job.id = found WHERE {which} {order}"
    )


AT_HAND, AT_HAND_WITH = _walk(_IS_AT_HAND, _NEWEST), _pick(_IS_AT_HAND, _NEWEST)
AWAKE, AWAKE_WITH = _walk(_IS_AWAKE, _SOONEST), _pick(_IS_AWAKE, _SOONEST)
ENDED, ENDED_WITH = _walk(_IS_ENDED, _NEWEST), _pick(_IS_ENDED, _NEWEST)


class _Band(StrEnum):
    """The parts of the queue, in order."""

    AT_HAND = "at_hand"
    AWAKE = "awake"
    ENDED = "ended"

    @property
    def statuses(self) -> frozenset[JobStatus]:
        """Of the jobs in it."""
        match self:
            case _Band.AWAKE:
                return frozenset({JobStatus.ACTIVE})
            case _Band.ENDED:
                return _OVER
            case _Band.AT_HAND:
                return frozenset(JobStatus) - _OVER - {JobStatus.ACTIVE}
            case _:
                assert_never(self)


_OVER = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.STOPPED})


class JobPage(NamedTuple):
    """A page of the queue."""

    jobs: tuple[Job, ...]
    after: str
    """Where the next page begins; empty at the end."""


class JobQueue(Protocol):
    """What a store knows of the order of its jobs. Every call raises StoreError."""

    async def page(self, *, query: str = "", limit: int = 100, after: str = "") -> JobPage:
        """Give a page of the queue; the query is a part of title, prompt or status in any case.

        Raises UsageError for an `after` that no page gave.
        """
        ...


class JobPages:
    """Questions to the embedded store's reading connection; implements `JobQueue`."""

    def __init__(self, rows: Callable[[str, Sequence[Value]], Awaitable[list[Row]]]) -> None:
        self._rows = rows

    async def page(self, *, query: str = "", limit: int = 100, after: str = "") -> JobPage:
        """Give a page of the queue; see `JobQueue.page`."""
        band, due_ms, last_id = _read_cursor(after)
        words = query.casefold()
        found: list[Job] = []
        is_rare: bool | None = None
        for part in list(_Band)[list(_Band).index(band) :]:
            if part is not band:
                due_ms, last_id = _beginning(part)
            room = limit - len(found)
            few = phrase(words, part.statuses)
            if few and is_rare is None:
                is_rare = await self._is_rare(few)
            place = (due_ms, last_id) if part is _Band.AWAKE else (last_id,)
            if few and is_rare:
                rows = await self._rows(_PICKS[part], (few, *place, room))
            else:
                rows = await self._rows(_WALKS[part], (*place, words, room))
            found += [decode_job(record) for (record,) in rows]
            if len(rows) >= room > 0:
                last = found[-1]
                return JobPage(tuple(found), f"{part.value}:{last.next_run_at}:{last.id}")
        return JobPage(tuple(found), "")

    async def _is_rare(self, few: str) -> bool:
        [(count,)] = await self._rows(HOW_MANY, (few, FEW + 1))
        return as_int(count) <= FEW


_WALKS = {_Band.AT_HAND: AT_HAND, _Band.AWAKE: AWAKE, _Band.ENDED: ENDED}
_PICKS = {_Band.AT_HAND: AT_HAND_WITH, _Band.AWAKE: AWAKE_WITH, _Band.ENDED: ENDED_WITH}


def _beginning(band: _Band) -> tuple[int, int]:
    """Give what stands before the first job of a band."""
    return (-1, 0) if band is _Band.AWAKE else (0, _LARGEST)


def _read_cursor(after: str) -> tuple[_Band, int, int]:
    if not after:
        return (_Band.AT_HAND, *_beginning(_Band.AT_HAND))
    name, _, place = after.partition(":")
    due, _, last = place.partition(":")
    try:
        band, due_ms, last_id = _Band(name), int(due), int(last)
    except ValueError as error:
        raise UsageError(f"{after[:40]!r} is no place in the queue.", "Leave it out.") from error
    if not (-1 <= due_ms <= _LARGEST and 0 <= last_id <= _LARGEST):
        raise UsageError(f"{after[:40]!r} is no place in the queue.", "Leave it out.")
    return band, due_ms, last_id
