"""Put, read and collect a fleet's blobs, while other tasks on any host put more.

Rows are in the database, bytes in the rows or in a bucket. References are in
`agent.store.changes.blob_refs`. Invariants: a put blob is durable, its bytes before its row; a read
returns bytes with the requested digest; a blob put by an opening that is still open is not dropped
before an event could name it; a row goes before its object, so a crash leaves an object too many
and never one too few.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress

from agent.errors import StoreError
from agent.store.changes.blob_refs import check_digest
from agent.store.changes.row_codec import as_int, as_text
from agent.store.changes.write_queue import StoreAwayError
from agent.store.postgres.bucket import Bucket
from agent.store.postgres.link import Link
from agent.store.postgres.opening import LOCK_S, LOCKS, Opening
from agent.store.queries.reader import Reader
from agent.store.rows import Row, Value
from agent.store.store import Collected

_AT_ONCE = 64  # How many blobs are dropped before those who store some get their turn.
_KNOWN = "UPDATE blob SET put_by = ? WHERE digest = ? RETURNING 1"
_PUT = (
    "INSERT INTO blob (digest, media_type, size_bytes, stored_ms, put_by, data, place) VALUES ("
    "?, ?, ?, coalesce(?, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), ?, ?, ?) "
    "ON CONFLICT (digest) DO UPDATE SET put_by = excluded.put_by RETURNING place"
)
_READ = "SELECT data, place FROM blob WHERE digest = ?"
_INSIDE = (
    "SELECT digest, data FROM blob WHERE digest > ? AND data IS NOT NULL ORDER BY digest LIMIT 1"
)
_MOVE = "UPDATE blob SET place = ?, data = NULL WHERE digest = ? AND data IS NOT NULL RETURNING 1"
_PLACES = "SELECT place FROM blob WHERE place <> ''"
_STRAY_S = 3600.0  # An object that is younger may be a blob whose row is about to be written.
_LOOSE = (
    "NOT EXISTS (SELECT 1 FROM blob_use WHERE blob_use.digest = blob.digest) "
    "AND NOT EXISTS (SELECT 1 FROM host WHERE host.epoch = blob.put_by AND host.is_open = 1)"
)
_FIND = f"SELECT digest FROM blob WHERE digest > ? AND {_LOOSE} ORDER BY digest LIMIT {_AT_ONCE}"
_WITHOUT = f"""
    SELECT h.name FROM pg_locks l JOIN host h ON h.number = l.objid::bigint
    WHERE l.locktype = 'advisory' AND l.granted AND l.classid::bigint = {LOCKS}
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND h.number <> ? AND h.names_bucket <> 1
    ORDER BY h.name
"""
_LOOK_S = 0.05
_log = logging.getLogger(__name__)


class Blobs:
    """The blobs of one open store.

    Args:
        link: a separate connection, because pictures take a while to transfer.
        reader: looks up which events name them.
        epoch: of the opening.
        clock_ms: the store's clock; None = the database's.
        bucket: where bytes are written; None: the database.
    """

    def __init__(
        self,
        link: Link,
        reader: Reader,
        epoch: int,
        clock_ms: Callable[[], int] | None,
        bucket: Bucket | None = None,
    ) -> None:
        self._bucket = bucket
        self._link = link
        self._reader = reader
        self._epoch = epoch
        self._clock_ms = clock_ms
        self._one_at_a_time = asyncio.Lock()

    async def put(self, data: bytes, media_type: str) -> str:
        """Store bytes durably; returns their digest. Raises StoreError."""
        digest = hashlib.sha256(data).hexdigest()
        if await self._is_known(digest):
            return digest
        place = "" if self._bucket is None else await self._bucket.write(digest, data)
        now_ms = self._clock_ms() if self._clock_ms is not None else None
        kept = None if place else data
        row = (digest, media_type, len(data), now_ms, self._epoch, kept, place)
        try:
            found = await self._rows(_PUT, row)
        except StoreAwayError:
            # To put it twice changes nothing.
            found = await self._rows(_PUT, row)
        if self._bucket is not None and found != [(place,)]:
            # Another host was faster, with an object of its own.
            with suppress(StoreError):
                await self._bucket.drop((place,))
        return digest

    async def _is_known(self, digest: str) -> bool:
        """Return whether a blob is stored already; this opening then holds it until an event
        names it.
        """
        try:
            return bool(await self._rows(_KNOWN, (self._epoch, digest)))
        except StoreAwayError:
            return bool(await self._rows(_KNOWN, (self._epoch, digest)))

    async def _rows(self, sql: str, values: tuple[Value, ...]) -> list[Row]:
        async with self._one_at_a_time:
            return await self._link.rows(sql, values)

    async def read(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError if it is gone or damaged, UsageError for an invalid
        digest.
        """
        check_digest(digest)
        rows = await self._rows(_READ, (digest,))
        if not rows:
            raise StoreError(
                f"Blob {digest} is gone.",
                "Retention or a deletion dropped it, or it was never stored.",
            )
        [(data, place)] = rows
        if place:
            return await bucket_of(self._bucket).read(as_text(place), digest)
        if data is None:
            raise StoreError(
                f"Blob {digest} is gone.", "It was missing already when the backup was made."
            )
        if not isinstance(data, bytes) or hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(
                f"Blob {digest} is damaged: the database does not contain what was stored.",
                "Check its server's disk; the event that refers to it is intact.",
            )
        return data

    async def sessions_of(self, digest: str) -> tuple[str, ...]:
        """List the ids of sessions whose events name a blob. Raises StoreError."""
        return await self._reader.blob_sessions(digest)

    async def size_bytes(self) -> int:
        """Return the size of all blobs in bytes. Raises StoreError."""
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
                    f"DELETE FROM blob WHERE digest IN ({marks}) AND {_LOOSE} "
                    "RETURNING size_bytes, place",
                    [digest for (digest,) in page],
                )
                await self._link.commit()
            dropped += len(gone)
            size_bytes += sum(as_int(size) for size, _ in gone)
            await self._drop_objects([as_text(place) for _, place in gone if place])
        return Collected(blobs=dropped, size_bytes=size_bytes)

    async def _drop_objects(self, places: list[str]) -> None:
        """Delete objects without a row; a failure leaves a stray."""
        try:
            if places:
                await bucket_of(self._bucket).drop(places)
        except StoreError as error:
            _log.warning("%d objects stay in the bucket: %s", len(places), error)

    async def move_out(self) -> int:
        """Move blobs from the database to the bucket while others read; returns how many.

        Raises StoreError; blobs moved before it stay moved.
        """
        moved, last = 0, ""
        while self._bucket is not None and (rows := await self._rows(_INSIDE, (last,))):
            [(digest, data)] = rows
            last = as_text(digest)
            assert isinstance(data, bytes)
            place = await self._bucket.write(last, data)
            if await self._rows(_MOVE, (place, digest)):
                moved += 1
            else:
                await self._drop_objects([place])
        return moved

    async def drop_strays(self) -> int:
        """Delete objects without a row, an hour after they were written; returns how many.

        Raises StoreError.
        """
        if self._bucket is None:
            return 0
        # In this order: what is written meanwhile is in none of the two.
        objects = await self._bucket.places(older_than_s=_STRAY_S)
        strays = objects - {as_text(place) for (place,) in await self._rows(_PLACES, ())}
        await self._bucket.drop(strays)
        return len(strays)


async def bind(link: Link, bucket: Bucket | None, opening: Opening) -> None:
    """Check that a store, its bucket and its hosts belong together, and bind a new bucket to the
    store. The host has its place already.

    Raises: see `check_bound`; or StoreError if others work without the new bucket.
    """
    await link.rows(
        "UPDATE host SET names_bucket = ? WHERE number = ?",
        (int(bucket is not None), opening.number),
    )
    if bucket is None:
        async with link.transaction():
            # Whoever begins with a bucket now sees this host, or this host sees the bucket.
            await link.rows("SELECT 1 FROM tip FOR SHARE")
            await check_bound(link, None, opening.store)
        return
    is_owned, is_bound = await check_bound(link, bucket, opening.store)
    if is_bound:
        return
    await _check_others(link, opening.number, wait_s=LOCK_S)
    if not is_owned:
        await bucket.mark(opening.store)
    async with link.transaction():
        await link.rows("UPDATE tip SET has_bucket = 1")
        await _check_others(link, opening.number)
        await link.commit()


async def _check_others(link: Link, number: int, *, wait_s: float = 0) -> None:
    """Refuse to begin with a bucket while others work without one. Raises StoreError.

    Args:
        link: of this host.
        number: of this host.
        wait_s: how long those are waited for that are just ending.
    """
    end = asyncio.get_running_loop().time() + wait_s
    while found := await link.rows(_WITHOUT, (number,)):
        if asyncio.get_running_loop().time() >= end:
            names = ", ".join(as_text(name) for (name,) in found)
            raise StoreError(
                f"store.blobs names a bucket, but these hosts work without one: {names}. They "
                "could not read what this host stores.",
                "End them, set the same store.blobs on each, then start this one again.",
            )
        await asyncio.sleep(_LOOK_S)


async def check_bound(link: Link, bucket: Bucket | None, store: str) -> tuple[bool, bool]:
    """Return whether a bucket is marked as the store's, and whether the store has one.

    Raises StoreError if either belongs to another, or the store has a bucket and none is named.
    """
    [(has_one,)] = await link.rows("SELECT has_bucket FROM tip")
    is_bound = bool(has_one)
    if bucket is None:
        if is_bound:
            bucket_of(None)
        return False, False
    owner = await bucket.store()
    if owner not in ("", store):
        raise StoreError(
            f"The bucket of store.blobs belongs to another store ({owner}).",
            "Name another prefix in store.blobs.",
        )
    if not owner and is_bound:
        raise StoreError(
            "The bucket of store.blobs is not the one with this store's pictures.",
            "Name that one in store.blobs, on all hosts.",
        )
    return bool(owner), is_bound


def bucket_of(bucket: Bucket | None) -> Bucket:
    """Return the bucket. Raises StoreError if there is none."""
    if bucket is None:
        raise StoreError(
            "The pictures of this store are in a bucket, and store.blobs names none.",
            "Set store.blobs as on the other hosts.",
        )
    return bucket
