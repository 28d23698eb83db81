"""Blobs in the database: put, read, and collected beside those who put more, on any host.

Not what names a blob (`agent.store.changes.blob_refs`). Invariants: what was put is durable; what
is read has the digest asked for; a blob that was put by an opening which is still open is not
dropped before an event had the time to name it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable

from agent.errors import StoreError
from agent.store.changes.blob_refs import check_digest
from agent.store.changes.row_codec import as_int, as_text
from agent.store.changes.write_queue import StoreAwayError
from agent.store.postgres.link import Link
from agent.store.queries.reader import Reader
from agent.store.rows import Value
from agent.store.store import Collected

_AT_ONCE = 64
"""How many blobs are dropped before those who store some get their turn."""
_KNOWN = "UPDATE blob SET put_by = ? WHERE digest = ? RETURNING 1"
_PUT = (
    "INSERT INTO blob (digest, media_type, size_bytes, stored_ms, put_by, data) VALUES ("
    "?, ?, ?, coalesce(?, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), ?, ?) "
    "ON CONFLICT (digest) DO UPDATE SET put_by = excluded.put_by"
)
_READ = "SELECT data FROM blob WHERE digest = ?"
_LOOSE = (
    "NOT EXISTS (SELECT 1 FROM blob_use WHERE blob_use.digest = blob.digest) "
    "AND NOT EXISTS (SELECT 1 FROM host WHERE host.epoch = blob.put_by AND host.is_open = 1)"
)
_FIND = f"SELECT digest FROM blob WHERE digest > ? AND {_LOOSE} ORDER BY digest LIMIT {_AT_ONCE}"


class Blobs:
    """The blobs of one open store.

    Args:
        link: a connection for these alone; a picture takes a while on the wire.
        reader: looks up what names them.
        epoch: of the opening.
        clock_ms: the store's clock; None = the database's.
    """

    def __init__(
        self, link: Link, reader: Reader, epoch: int, clock_ms: Callable[[], int] | None
    ) -> None:
        self._link = link
        self._reader = reader
        self._epoch = epoch
        self._clock_ms = clock_ms
        self._one_at_a_time = asyncio.Lock()

    async def put(self, data: bytes, media_type: str) -> str:
        """Keep bytes durably; returns their digest. Raises StoreError."""
        digest = hashlib.sha256(data).hexdigest()
        try:
            await self._put(digest, data, media_type)
        except StoreAwayError:
            # To put it twice changes nothing.
            await self._put(digest, data, media_type)
        return digest

    async def _put(self, digest: str, data: bytes, media_type: str) -> None:
        async with self._one_at_a_time:
            if not await self._link.rows(_KNOWN, (self._epoch, digest)):
                now_ms = self._clock_ms() if self._clock_ms is not None else None
                row: tuple[Value, ...] = (
                    *(digest, media_type, len(data)),
                    *(now_ms, self._epoch, data),
                )
                await self._link.rows(_PUT, row)

    async def read(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError when it is gone or damaged, UsageError for no digest."""
        check_digest(digest)
        async with self._one_at_a_time:
            rows = await self._link.rows(_READ, (digest,))
        if not rows:
            raise StoreError(
                f"Blob {digest} is gone.", "It was dropped with its session, or never stored."
            )
        [(data,)] = rows
        if not isinstance(data, bytes) or hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(
                f"Blob {digest} is damaged: the database does not hold what was stored.",
                "Check its server's disk; the event that refers to it is intact.",
            )
        return data

    async def type_of(self, digest: str) -> str:
        """Return a blob's media type; empty when there is no such blob. Raises StoreError."""
        return await self._reader.blob_type(digest)

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        """Name the sessions whose events name a blob. Raises StoreError."""
        return await self._reader.blob_sessions(digest)

    async def size_bytes(self) -> int:
        """Return how many bytes all blobs take. Raises StoreError."""
        return await self._reader.blob_bytes()

    async def collect(self) -> Collected:
        """Drop the blobs that no event names. Raises StoreError."""
        dropped = size_bytes = 0
        last = ""
        while page := await self._link.rows(_FIND, (last,)):
            last = as_text(page[-1][0])
            marks = ",".join("?" * len(page))
            async with self._one_at_a_time, self._link.transaction():
                # In line with all commits: no event can name one of them meanwhile.
                await self._link.rows("SELECT one FROM tip FOR UPDATE")
                gone = await self._link.rows(
                    f"DELETE FROM blob WHERE digest IN ({marks}) AND {_LOOSE} RETURNING size_bytes",
                    [digest for (digest,) in page],
                )
                await self._link.commit()
            dropped += len(gone)
            size_bytes += sum(as_int(size) for (size,) in gone)
        return Collected(blobs=dropped, size_bytes=size_bytes)
