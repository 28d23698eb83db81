"""Look up watchers and commitments.

Events write them (`agent.store.changes.event_ledger`). Invariants: those of the reader that lends
its connection; a separate index finds live ones, however many others there are.
"""

from typing import Protocol

from agent.records import Commitment, Watcher
from agent.store.changes.row_codec import decode_commitment, decode_watcher
from agent.store.queries.search_words import folded
from agent.store.rows import Rows, Value

_LARGEST_ID = (1 << 63) - 1  # SQLite's integers have 64 bits; an id beyond them is nobody's.

_LISTED = "SELECT record FROM {} WHERE id < ? AND instr(search, ?) > 0 ORDER BY id DESC LIMIT ?"
_LIVE = (
    "SELECT record FROM {} WHERE is_live = 1 AND id < ? AND instr(search, ?) > 0 "
    "ORDER BY id DESC LIMIT ?"
)
_ONE = "SELECT record FROM {} WHERE id = ?"


class WatchRecords(Protocol):
    """The look-ups of watchers and commitments. Every call raises StoreError."""

    async def watchers(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[Watcher, ...]:
        """List watchers, newest first; the query is a part of what they say, in any case.

        Args:
            before: only those with a smaller id; 0 for the newest.
            live_only: only those that are active, or whose match the operator has yet to see.

        Raises:
            UsageError: the query is too long.
        """

    async def watcher(self, watcher_id: int) -> Watcher | None:
        """Find a watcher."""

    async def commitments(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[Commitment, ...]:
        """List commitments, newest first; live are those that are not over. See `watchers`."""

    async def commitment(self, commitment_id: int) -> Commitment | None:
        """Find a commitment."""


class Watches:
    """Queries on a store's reading connection; implements `WatchRecords`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def watchers(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[Watcher, ...]:
        """List watchers, newest first; see `WatchRecords.watchers`."""
        sql = (_LIVE if live_only else _LISTED).format("watcher")
        rows = await self._rows(sql, _page(query, limit, before))
        return tuple(decode_watcher(record) for (record,) in rows)

    async def watcher(self, watcher_id: int) -> Watcher | None:
        for (record,) in await self._rows(_ONE.format("watcher"), (_known_id(watcher_id),)):
            return decode_watcher(record)
        return None

    async def commitments(
        self, *, query: str = "", limit: int = 50, before: int = 0, live_only: bool = False
    ) -> tuple[Commitment, ...]:
        """List commitments, newest first; see `WatchRecords.commitments`."""
        sql = (_LIVE if live_only else _LISTED).format("commitment")
        rows = await self._rows(sql, _page(query, limit, before))
        return tuple(decode_commitment(record) for (record,) in rows)

    async def commitment(self, commitment_id: int) -> Commitment | None:
        for (record,) in await self._rows(_ONE.format("commitment"), (_known_id(commitment_id),)):
            return decode_commitment(record)
        return None


def _known_id(number: int) -> int:
    return number if 0 < number <= _LARGEST_ID else 0


def _page(query: str, limit: int, before: int) -> tuple[Value, ...]:
    """Return the parameters of a list that goes down from the newest."""
    return (_known_id(before) or _LARGEST_ID, folded(query), max(limit, 0))
