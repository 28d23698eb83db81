"""Exchange requests between a fleet's hosts: rows that are taken once and answered once.

Requests are opaque JSON here. Invariants: one opening of a host takes a row, once; a withdrawn or
abandoned row is never taken; no other opening answers a row taken by one that ended.
"""

import hashlib
from collections.abc import Sequence
from secrets import token_hex
from typing import NamedTuple

from agent.store.changes.row_codec import as_int, as_text
from agent.store.postgres.link import Link

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_KEPT_MS = 3_600_000
STALE_MS = 120_000
"""As long as clients wait for an answer. Whoever asked has withdrawn it by then, or has died: a
host that comes back later must not do what nobody wants any more."""
_PUT = (
    "WITH put AS (INSERT INTO op (op_id, to_host, from_host, asked_ms, body) "
    f"VALUES (?, ?, ?, {_NOW}, ?) RETURNING 1) SELECT pg_notify(?, '') FROM put"
)
_TAKE = (
    "UPDATE op SET taken_by = ? WHERE number IN ("
    "SELECT number FROM op WHERE to_host = ? AND taken_by = 0 "
    f"AND asked_ms > {_NOW} - {STALE_MS} ORDER BY number LIMIT 64 "
    "FOR UPDATE SKIP LOCKED) RETURNING number, op_id, from_host, body"
)
_ANSWERED = (
    "SELECT op_id, reply, taken_by, coalesce((SELECT epoch FROM host WHERE name = op.to_host), 0) "
    "FROM op WHERE op_id IN ({})"
)
_ANSWER = (
    "WITH answered AS (UPDATE op SET reply = ? WHERE op_id = ? RETURNING 1) "
    "SELECT pg_notify(?, '') FROM answered"
)


def channel_of(host: str) -> str:
    """Return the channel on which one host is notified of requests; others are not woken."""
    return f"switchboard_ops_{hashlib.blake2s(host.encode(), digest_size=8).hexdigest()}"


class HostRequest(NamedTuple):
    """A request of another host."""

    op_id: str
    from_host: str
    body: str


class HostAnswer(NamedTuple):
    """The state of a request."""

    op_id: str
    reply: str  # Empty until it is answered.
    is_lost: bool  # Whether the opening that took it has ended, so that no answer comes.


class OpTable:
    """The rows, through a dedicated connection. Every call raises StoreError."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def put(self, to_host: str, from_host: str, body: str) -> str:
        """Send a request to a host; returns its id."""
        op_id = token_hex(12)
        await self._link.rows(_PUT, (op_id, to_host, from_host, body, channel_of(to_host)))
        return op_id

    async def take(self, host: str, epoch: int) -> list[HostRequest]:
        """Take a host's requests, in order."""
        rows = await self._link.rows(_TAKE, (epoch, host))
        rows.sort(key=lambda row: as_int(row[0]))
        return [HostRequest(as_text(op), as_text(who), as_text(body)) for _, op, who, body in rows]

    async def answer(self, asked: HostRequest, reply: str) -> None:
        """Answer a taken request."""
        await self._link.rows(_ANSWER, (reply, asked.op_id, channel_of(asked.from_host)))

    async def answers(self, op_ids: Sequence[str]) -> list[HostAnswer]:
        """Return the state of sent requests; a missing one counts as lost."""
        marks = ",".join("?" * len(op_ids))
        rows = await self._link.rows(_ANSWERED.format(marks), tuple(op_ids))
        found = [
            HostAnswer(
                as_text(op_id),
                as_text(reply),
                bool(taken_by) and as_int(taken_by) != as_int(epoch) and not reply,
            )
            for op_id, reply, taken_by, epoch in rows
        ]
        there = {one.op_id for one in found}
        return [*found, *(HostAnswer(one, "", True) for one in op_ids if one not in there)]

    async def withdraw(self, op_id: str) -> bool:
        """Withdraw a request; False if it was taken already."""
        return bool(
            await self._link.rows(
                "DELETE FROM op WHERE op_id = ? AND taken_by = 0 RETURNING 1", (op_id,)
            )
        )

    async def drop(self, op_id: str) -> None:
        """Delete answered requests."""
        await self._link.rows("DELETE FROM op WHERE op_id = ?", (op_id,))

    async def tidy(self) -> None:
        """Delete requests that were abandoned an hour ago."""
        await self._link.rows(f"DELETE FROM op WHERE asked_ms < {_NOW} - {_KEPT_MS}")
