"""Check a fleet's database, and drop unnamed data.

Damage is only reported. Invariant: a check changes nothing, and reads a snapshot, even while hosts
write.
"""

import hashlib
from pathlib import Path

from agent.store.changes.row_codec import as_int, as_text
from agent.store.database.identity import check_has_no_database, read_mark
from agent.store.postgres.blobs import bucket_of
from agent.store.postgres.bucket import Bucket, BucketDamagedError, BucketGoneError
from agent.store.postgres.link import Link
from agent.store.postgres.opening import open_records, put_back
from agent.store.postgres.schema import SCHEMA
from agent.store.queries.integrity import MOST_FINDINGS, IntegrityReport, gaps, unreadable
from agent.store.rows import Value

_BLOBS_AT_ONCE = 16
_SIZE = (
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relkind = 'r'"
)


async def check(dsn: str, directory: Path, *, bucket: Bucket | None = None) -> IntegrityReport:
    """Read the whole store and say what is wrong with it.

    Args:
        dsn: of the database.
        directory: the data directory that belongs to it; may be missing.
        bucket: where blobs are that are not in the database.

    Raises:
        StoreError: it or the bucket cannot be reached, or it holds no store that this Switchboard
            reads.
    """
    check_has_no_database(directory)
    link = Link(dsn, "check", is_written=False)
    try:
        opening = await open_records(link, expected="")
        async with link.transaction(is_snapshot=True):
            findings: list[str] = []
            [(event_id,)] = await link.rows("SELECT event_id FROM tip")
            mark = read_mark(directory)
            if mark is not None and mark.store and mark.store != opening.store:
                findings.append(
                    f"The database is another store ({opening.store}) than the data directory's "
                    f"({mark.store})."
                )
            elif mark is not None and mark.events > as_int(event_id):
                findings.append(put_back(as_int(event_id), mark.events))
            [(newest,)] = await link.rows("SELECT coalesce(max(id), 0) FROM event")
            if as_int(newest) > as_int(event_id):
                findings.append(
                    f"Event {as_int(newest)} is stored, and the log ends at {as_int(event_id)}."
                )
            findings += await unreadable(link)
            findings += await gaps(link)
            findings += await _damaged_blobs(link)
            places = await link.rows("SELECT digest, place FROM blob WHERE place <> ''")
            counts = [
                as_int((await link.rows(f"SELECT count(*) FROM {table}"))[0][0])
                for table in ("event", "session", "blob")
            ]
            [(size,)] = await link.rows(_SIZE, (SCHEMA,))
        for digest, place in places:
            findings += await _damaged_object(link, bucket_of(bucket), as_text(digest), place)
    finally:
        await link.close()
    return IntegrityReport(
        events=counts[0],
        sessions=counts[1],
        blobs=counts[2],
        size_bytes=as_int(size),
        findings=tuple(findings[:MOST_FINDINGS]),
    )


async def size_bytes(dsn: str) -> int:
    """Return the size of the store's tables on the server in bytes. Raises StoreError."""
    link = Link(dsn, "size", is_written=False)
    try:
        [(size,)] = await link.rows(_SIZE, (SCHEMA,))
    finally:
        await link.close()
    return as_int(size)


async def vacuum(dsn: str) -> None:
    """Free the space of dropped data on the server. Raises StoreError."""
    link = Link(dsn, "vacuum")
    try:
        tables = await link.rows(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = ?", (SCHEMA,)
        )
        for (table,) in tables:
            await link.rows(f"VACUUM (ANALYZE) {SCHEMA}.{as_text(table)}")
    finally:
        await link.close()


async def _damaged_blobs(link: Link) -> list[str]:
    found: list[str] = []
    last = ""
    sql = (
        "SELECT digest, data FROM blob WHERE digest > ? AND place = '' "
        f"ORDER BY digest LIMIT {_BLOBS_AT_ONCE}"
    )
    while rows := await link.rows(sql, (last,)):
        for digest, data in rows:
            if not isinstance(data, bytes) or hashlib.sha256(data).hexdigest() != digest:
                found.append(f"Blob {as_text(digest)} is damaged.")
        last = as_text(rows[-1][0])
    return found


async def _damaged_object(link: Link, bucket: Bucket, digest: str, place: Value) -> list[str]:
    try:
        await bucket.read(as_text(place), digest)
    except (BucketGoneError, BucketDamagedError) as error:
        # One that was dropped since is not missing.
        row = await link.rows("SELECT 1 FROM blob WHERE place = ?", (place,))
        return [error.message] if row else []
    return []
