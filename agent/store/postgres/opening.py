"""Open a fleet's database: its schema brought up to date, its identity, this host's place in it.

Not the store, which is what works with it. Invariants: a database of another program, or of a newer
Switchboard, is refused before anything in it changes; a host's name is in use by one process at a
time; each opening has a higher epoch than any before, on any host.
"""

from __future__ import annotations

import logging

import msgspec

from agent.errors import FencedError, StoreError, StoreGoneError, UsageError
from agent.store.changes.row_codec import as_int, as_text
from agent.store.database.identity import new_identity
from agent.store.postgres.link import Link
from agent.store.postgres.schema import MIGRATIONS, SCHEMA

CHANNEL = "switchboard"
"""Where each commit is told of; a notice says nothing but that there is something new."""
_OLDEST_SERVER = 150_000
_LONGEST_NAME = 100
_LOCKS = 0x53574244
"""The first number of our advisory locks; the second is a host's, or 0 for the schema."""
_log = logging.getLogger(__name__)


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """One opening of a store by a host."""

    store: str
    """The identity of the store."""
    host: str
    number: int
    """Of the host, for its lock."""
    epoch: int


async def open_host(link: Link, host: str, *, now_ms: int, expected: str) -> Opening:
    """Bring the schema up to date and take a host's place, which lasts as long as the connection.

    Args:
        link: stays open for as long as the host is to keep others of its name out.
        host: the name of this computer in the fleet.
        now_ms: the time.
        expected: the identity that the store must have; empty for any.

    Raises:
        StoreError: it cannot be opened, or the name is in use.
        StoreGoneError: it is another store than the expected one.
        UsageError: the name cannot be used.
    """
    if not host.strip() or len(host) > _LONGEST_NAME or not host.isprintable():
        raise UsageError(f"{host[:80]!r} cannot name a host.", "Use letters, digits and dashes.")
    await _check_server(link)
    store = await _migrated(link, expected)
    number = await _numbered(link, host)
    await take_lock(link, number, host)
    [(epoch,)] = await link.rows(
        "UPDATE host SET epoch = nextval('epoch'), since_ms = ?, is_open = 1, commits = 0 "
        "WHERE number = ? RETURNING epoch",
        (now_ms, number),
    )
    await link.rows(f"LISTEN {CHANNEL}")
    return Opening(store=store, host=host, number=number, epoch=as_int(epoch))


async def take_lock(link: Link, number: int, host: str) -> None:
    """Keep other processes from a host's name, for the life of the connection.

    Raises StoreError when one has it.
    """
    [(got,)] = await link.rows("SELECT pg_try_advisory_lock(?::int, ?::int)::int", (_LOCKS, number))
    if not got:
        raise StoreError(
            f"The host name {host!r} is in use by another process on this database.",
            "End that one, or give this host another name.",
        )


async def check_opening(link: Link, opening: Opening) -> None:
    """Raise FencedError when a newer process has the host's name, StoreGoneError when the store is
    not the one that was opened; StoreError when it cannot be known.
    """
    try:
        found = await link.rows(
            "SELECT store, (SELECT epoch FROM host WHERE name = ?) FROM tip", (opening.host,)
        )
    except StoreError as error:
        [(is_there,)] = await link.rows(
            "SELECT count(*) FROM pg_namespace WHERE nspname = ?", (SCHEMA,)
        )
        if is_there:
            raise
        raise gone("Its tables were dropped") from error
    if not found:
        raise gone("It was emptied")
    check_row(opening, *found[0])


def check_row(opening: Opening, store: object, epoch: object) -> None:
    """Check what the database says of itself now; see `check_opening`."""
    if store != opening.store:
        raise gone(f"It is another store ({store}, not {opening.store})")
    if epoch != opening.epoch:
        raise FencedError(
            f"A newer process is host {opening.host} (epoch {epoch}, this one is {opening.epoch}).",
            "Close this Switchboard and work through the newer one.",
        )


def gone(what: str) -> StoreGoneError:
    """Say that the database is not what was opened."""
    return StoreGoneError(
        f"{what} while it was in use; nothing was stored.",
        "Restore the database from a backup, then start again.",
    )


async def _check_server(link: Link) -> None:
    [(version, encoding)] = await link.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
    )
    if as_int(version) < _OLDEST_SERVER:
        raise StoreError(
            f"The server is PostgreSQL {as_int(version) // 10_000}.", "Use PostgreSQL 15 or newer."
        )
    if encoding != "UTF8":
        raise StoreError(
            f"The database's encoding is {as_text(encoding)}.", "Create one with ENCODING 'UTF8'."
        )


async def _migrated(link: Link, expected: str) -> str:
    """Bring the schema up to date, one host at a time; returns the identity of the store."""
    async with link.transaction():
        await link.rows("SELECT pg_advisory_xact_lock(?::int, 0)", (_LOCKS,))
        version, store = await _standing(link)
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The store has schema {version}, made by a newer Switchboard; this one knows "
                f"schemas up to {len(MIGRATIONS)}.",
                "Nothing was changed. Upgrade Switchboard on this host.",
            )
        if expected and store != expected:
            what = f"is another store ({store})" if store else "holds no store"
            raise StoreGoneError(
                f"The database {what}, not {expected}. Nothing was changed.",
                "Check the address, or restore the database from a backup.",
            )
        if version == len(MIGRATIONS):
            return store
        for statements in MIGRATIONS[version:]:
            for sql in statements:
                await link.rows(sql)
        store = store or new_identity()
        await link.rows("UPDATE tip SET version = ?, store = ?", (len(MIGRATIONS), store))
        await link.commit()
    return store


async def _standing(link: Link) -> tuple[int, str]:
    """Give the schema's version and the store's identity; make the schema where there is none."""
    tables = [
        as_text(name)
        for (name,) in await link.rows(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ? AND c.relkind = 'r'",
            (SCHEMA,),
        )
    ]
    if not tables:
        await link.rows(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        return 0, ""
    if "tip" not in tables:
        raise StoreError(
            f"The schema {SCHEMA!r} of the database is another program's.",
            "Nothing was changed. Use another database.",
        )
    [(version, store)] = await link.rows("SELECT version, store FROM tip")
    return as_int(version), as_text(store)


async def _numbered(link: Link, host: str) -> int:
    await link.rows(
        "INSERT INTO host (name, epoch, since_ms, is_open, commits) VALUES (?, 0, 0, 0, 0) "
        "ON CONFLICT (name) DO NOTHING",
        (host,),
    )
    [(number,)] = await link.rows("SELECT number FROM host WHERE name = ?", (host,))
    return as_int(number)
