"""Back up a fleet's store to one file, and restore it into an empty database.

The file is a zip: each table as COPY writes it (binary), each blob of a bucket under `blobs/`, then
a manifest. The caller chooses where such blobs are restored. Invariants: a backup is a snapshot,
even while hosts write; a truncated or damaged one is refused and leaves nothing in the database;
the store keeps its identity.
"""

import asyncio
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from agent.errors import StoreError, UsageError
from agent.store.changes.row_codec import as_int, as_text
from agent.store.database.sqlite_errors import from_os_error
from agent.store.postgres.blobs import bucket_of
from agent.store.postgres.bucket import Bucket, BucketDamagedError, BucketGoneError
from agent.store.postgres.link import Link
from agent.store.postgres.opening import check_version, make_empty, migrate, open_records, tables_of
from agent.store.postgres.schema import BUCKET_VERSION, MIGRATIONS, SCHEMA

FORM = "switchboard fleet backup 1"
_MANIFEST = "manifest.json"
_OBJECTS = "blobs/"
_CHUNK = 1 << 20
_MOST_MANIFEST = 1 << 16
_TABLES = (
    "counter",
    "op",
    *("tip", "host", "event", "session", "question", "job", "job_run", "watcher", "commitment"),
    *("lease", "blob", "blob_use", "words"),
)
"""Every table that a backup holds."""
LEFT_OUT = ("register", "register_change", "operator")
"""The tables that no backup holds: a restored store brings no revoked right or token back. A test
holds both lists to the schema."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A backup's metadata."""

    form: str
    store: str
    version: int
    events: int
    epoch: int
    rows: dict[str, int]  # How many rows each table has.
    has_operators: bool = False  # Whether clients of the store had to sign in.
    missing: int = 0  # How many blobs a bucket did not have any more, or not as they were stored.


async def back_up(dsn: str, path: Path, *, bucket: Bucket | None = None) -> Manifest:
    """Write a store into a new file.

    Args:
        dsn: of the database.
        path: the file.
        bucket: where blobs are that are not in the database.

    Raises:
        StoreError: the database cannot be read, or the file not written; no part of it is left.
        UsageError: there is such a file.
    """
    link = Link(dsn, "backup", is_written=False)
    part = path.with_name(f".{path.name}.part")
    if await asyncio.to_thread(path.exists):
        raise UsageError(f"{path} already exists.", "Name another file.")
    try:
        await open_records(link, expected="")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            manifest, places = await _put_tables(link, file)
            missing = await _put_objects(file, places, bucket)
            manifest = msgspec.structs.replace(manifest, missing=missing)
            file.writestr(_MANIFEST, msgspec.json.encode(manifest))
        part.replace(path)
    except OSError as error:
        raise from_os_error(error, path) from error
    finally:
        await link.close()
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return manifest


async def _put_tables(link: Link, file: zipfile.ZipFile) -> tuple[Manifest, list[tuple[str, str]]]:
    """Copy the tables; returns their manifest entries, and the blobs that are in a bucket."""
    async with link.transaction(is_snapshot=True):
        [(store, version, events)] = await link.rows("SELECT store, version, event_id FROM tip")
        [(epoch,)] = await link.rows("SELECT last_value FROM epoch")
        [(operators,)] = await link.rows(
            "SELECT count(*) + (SELECT is_unconfirmed FROM register) FROM operator"
        )
        counts = {
            table: as_int((await link.rows(f"SELECT count(*) FROM {table}"))[0][0])
            for table in _TABLES
        }
        manifest = Manifest(
            form=FORM,
            store=as_text(store),
            version=as_int(version),
            events=as_int(events),
            epoch=as_int(epoch),
            rows=counts,
            has_operators=bool(operators),
        )
        for table in _TABLES:
            # Pictures are compressed already.
            await _put(link, file, table, is_deflated=table != "blob")
        rows = await link.rows("SELECT digest, place FROM blob WHERE place <> ''")
    return manifest, [(as_text(digest), as_text(place)) for digest, place in rows]


async def _put_objects(
    file: zipfile.ZipFile, places: list[tuple[str, str]], bucket: Bucket | None
) -> int:
    """Copy the blobs that are in a bucket; returns how many are missing or damaged."""
    missing = 0
    for digest, place in places:
        try:
            data = await bucket_of(bucket).read(place, digest)
        except (BucketGoneError, BucketDamagedError):
            missing += 1
            continue
        await asyncio.to_thread(file.writestr, f"{_OBJECTS}{digest}", data, zipfile.ZIP_STORED)
    return missing


async def _put(link: Link, file: zipfile.ZipFile, table: str, *, is_deflated: bool) -> None:
    entry = zipfile.ZipInfo(table)
    entry.compress_type = zipfile.ZIP_DEFLATED if is_deflated else zipfile.ZIP_STORED
    with file.open(entry, "w", force_zip64=True) as out:
        copied = f"{SCHEMA}.{table}"
        if table == "host":
            # How its opening is reached, and the secret of it, count for nothing elsewhere.
            columns = await link.rows(
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position",
                (SCHEMA, table),
            )
            names = (as_text(name) for (name,) in columns)
            kept = ", ".join("''::text" if name == "wire" else f'"{name}"' for name in names)
            copied = f"(SELECT {kept} FROM {copied})"
        copying = f"COPY {copied} TO STDOUT (FORMAT binary)"
        async for chunk in link.copied_out(copying):
            await asyncio.to_thread(out.write, chunk)


async def restore(dsn: str, path: Path, *, bucket: Bucket | None = None) -> Manifest:
    """Put what a backup holds into a database that has no store.

    Args:
        dsn: of the database.
        path: the file.
        bucket: where blobs go that were in one; None: the database.

    Raises:
        StoreError: the file is no whole backup or a newer Switchboard's, or the database has a
            store already; it is then as it was.
    """
    link = Link(dsn, "restore")
    try:
        with zipfile.ZipFile(path) as file:
            manifest = await asyncio.to_thread(_checked, file)
            # Sooner than their rows, and not while a transaction is open.
            places = await _upload(file, bucket)
            async with link.transaction():
                await make_empty(link)
                await migrate(link, 0, manifest.version)
                await link.rows("DELETE FROM tip")
                for table in set(await tables_of(link)) - {*LEFT_OUT}:
                    copying = f"COPY {SCHEMA}.{table} FROM STDIN (FORMAT binary)"
                    await link.copy_in(copying, _chunks(file, table))
                    [(count,)] = await link.rows(f"SELECT count(*) FROM {SCHEMA}.{table}")
                    if count != manifest.rows.get(table):
                        raise StoreError(f"The backup's table {table!r} is incomplete.")
                    await set_number(link, table)
                if manifest.version >= BUCKET_VERSION:
                    await _place(link, file, places)
                await link.rows("SELECT setval('epoch', ?)", (manifest.epoch,))
                # Nobody has a copy open.
                await link.rows("UPDATE host SET is_open = 0")
                if "op" in manifest.rows:
                    # What hosts asked of each other then is over.
                    await link.rows("DELETE FROM op")
                if manifest.has_operators:
                    # Until its owner says who they are, clients are refused rather than let in.
                    await link.rows(
                        "UPDATE register SET is_unconfirmed = 1, confirmed_ms = "
                        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
                    )
                await link.commit()
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise _no_backup(path) from error
    except OSError as error:
        raise from_os_error(error, path) from error
    finally:
        await link.close()
    return manifest


async def _upload(file: zipfile.ZipFile, bucket: Bucket | None) -> dict[str, str]:
    """Write the backup's bucket blobs to a bucket; returns their places by digest."""
    if bucket is None:
        return {}
    return {
        digest: await bucket.write(digest, await asyncio.to_thread(file.read, name))
        for digest, name in _objects(file)
    }


async def _place(link: Link, file: zipfile.ZipFile, places: dict[str, str]) -> None:
    await link.rows("UPDATE tip SET has_bucket = 0")
    await link.rows("UPDATE blob SET place = '' WHERE data IS NULL")
    for digest, name in _objects(file):
        place = places.get(digest, "")
        data = None if place else file.read(name)
        await link.rows(
            "UPDATE blob SET place = ?, data = ? WHERE digest = ?", (place, data, digest)
        )


def _objects(file: zipfile.ZipFile) -> list[tuple[str, str]]:
    """List the blobs beside the tables: digest, entry."""
    return [
        (name.removeprefix(_OBJECTS), name) for name in file.namelist() if name.startswith(_OBJECTS)
    ]


async def set_number(link: Link, table: str) -> None:
    """Continue the server's number sequences after the tables' last values."""
    [(numbered,)] = await link.rows(
        "SELECT pg_get_serial_sequence(?, a.attname)::text FROM pg_attribute a "
        "WHERE a.attrelid = ?::regclass AND a.attidentity <> '' "
        "UNION ALL SELECT NULL LIMIT 1",
        (f"{SCHEMA}.{table}", f"{SCHEMA}.{table}"),
    )
    if numbered is not None:
        await link.rows(
            f"SELECT setval(?, (SELECT coalesce(max(number), 0) + 1 FROM {SCHEMA}.{table}), false)",
            (numbered,),
        )


def _checked(file: zipfile.ZipFile) -> Manifest:
    path = Path(file.filename or "")
    if file.getinfo(_MANIFEST).file_size > _MOST_MANIFEST or file.testzip() is not None:
        raise _no_backup(path)
    try:
        manifest = msgspec.json.decode(file.read(_MANIFEST), type=Manifest)
    except msgspec.MsgspecError as error:
        raise _no_backup(path) from error
    if manifest.form != FORM or not manifest.store or not manifest.version > 0:
        raise _no_backup(path)
    check_version(manifest.version)
    assert manifest.version <= len(MIGRATIONS)
    return manifest


def _chunks(file: zipfile.ZipFile, table: str) -> Iterator[bytes]:
    with file.open(table) as entry:
        while chunk := entry.read(_CHUNK):
            yield chunk


def _no_backup(path: Path) -> StoreError:
    return StoreError(
        f"{path} is not a complete backup of a fleet's store. Nothing was changed.",
        "Choose another: switchboard store backup made it.",
    )
