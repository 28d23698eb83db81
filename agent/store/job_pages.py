"""Read the queue of jobs page by page: what is at hand, what wakes next, what has ended.

Not the order of anything that runs (that is the wake's). Invariants: those of the reader that lends
its connection; a page costs what it holds, however many jobs are stored, but for a query that few
jobs fit; a job is on one page only while it does not change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from agent.errors import UsageError
from agent.records import Job
from agent.store.database import Row, Value
from agent.store.rows import decode_job

_LARGEST = (1 << 63) - 1
# The same words as the partial indexes, or SQLite would not know that it may use them.
AT_HAND = (
    "SELECT record FROM job WHERE status IN "
    "('running', 'awaiting_review', 'waiting', 'queued', 'paused', 'dispatched') "
    "AND id < ? AND instr(search, ?) > 0 ORDER BY id DESC LIMIT ?"
)
AWAKE = (
    "SELECT record FROM job WHERE status = 'active' AND (next_run_at, id) > (?, ?) "
    "AND instr(search, ?) > 0 ORDER BY next_run_at, id LIMIT ?"
)
ENDED = (
    "SELECT record FROM job WHERE status IN ('completed', 'failed', 'stopped') "
    "AND id < ? AND instr(search, ?) > 0 ORDER BY id DESC LIMIT ?"
)


class _Band(StrEnum):
    """The parts of the queue, in order."""

    AT_HAND = "at_hand"
    AWAKE = "awake"
    ENDED = "ended"


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
        for part in list(_Band)[list(_Band).index(band) :]:
            if part is not band:
                due_ms, last_id = _beginning(part)
            room = limit - len(found)
            rows = await self._rows(*_statement(part, words, due_ms, last_id, room))
            found += [decode_job(record) for (record,) in rows]
            if len(rows) >= room > 0:
                last = found[-1]
                return JobPage(tuple(found), f"{part.value}:{last.next_run_at}:{last.id}")
        return JobPage(tuple(found), "")


def _statement(
    band: _Band, words: str, due_ms: int, last_id: int, limit: int
) -> tuple[str, tuple[Value, ...]]:
    match band:
        case _Band.AT_HAND:
            return AT_HAND, (last_id, words, limit)
        case _Band.AWAKE:
            return AWAKE, (due_ms, last_id, words, limit)
        case _Band.ENDED:
            return ENDED, (last_id, words, limit)


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
