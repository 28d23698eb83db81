"""Open a fleet's database: migrate its schema, check its identity, claim this host's name.

`PostgresStore` uses the result. Invariants: a database of another program, or of a newer
Switchboard, is refused before anything in it changes; one process at a time uses a host's name;
each opening has a higher epoch than any before, on any host.
"""

import asyncio

import msgspec

from agent.errors import FencedError, StoreError, StoreGoneError, UnwritableError, UsageError
from agent.records import NO_HOST
from agent.store.changes.row_codec import as_int, as_text
from agent.store.database.identity import new_identity
from agent.store.postgres.link import Link
from agent.store.postgres.schema import MIGRATIONS, SCHEMA

CHANNEL = "switchboard"
"""Where each commit is told of; a notice says nothing but that there is something new."""
_OLDEST_SERVER = 150_000
_LONGEST_NAME = 100
LOCKS = 0x53574244
"""The first number of our advisory locks; the second is a host's, or this one."""
_SCHEMA_LOCK = 0
LOCK_S = 3.0
"""How long a core waits for locks: the server may take a moment to miss a process that died."""
_LOOK_S = 0.05
_LOOKS_S = 5.0
"""How long somebody who only looks waits for a database that is away."""
_ADOPT_IT = "where it is meant to be this one: switchboard store adopt"
_ADOPT = f"Restore the newest backup; {_ADOPT_IT}"


class HostInUseError(StoreError):
    """Another process has the name of the host."""


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """One opening of a store by a host."""

    store: str  # The identity of the store.
    host: str
    number: int  # Of the host, for its lock.
    epoch: int
    is_core: bool = False


class Core(msgspec.Struct, frozen=True, kw_only=True):
    """How a core opens a database: one on each host does."""

    events: int = 0  # The newest event that the database is known to have had.
    adopts: bool = False  # Whether it may be an older copy.


async def open_host(
    link: Link, host: str, *, now_ms: int | None, expected: str, core: Core | None = None
) -> Opening:
    """Bring the schema up to date and take a host's place, which lasts as long as the connection.

    Args:
        link: stays open for as long as the host is to keep others of its name out.
        host: the name of this computer in the fleet.
        now_ms: the time; None: the database's.
        expected: the identity that the store must have; empty for any.
        core: it is opened by a core, which runs what belongs to the host; None: by somebody else.

    Raises:
        StoreError: it cannot be opened, or the name is in use.
        StoreGoneError: it is another store than the expected one, or older than it was.
        UsageError: the name cannot be used.
    """
    is_name = host.strip() and len(host) <= _LONGEST_NAME and host.isprintable()
    if not is_name or NO_HOST & set(host):
        raise UsageError(f"{host[:80]!r} cannot name a host.", "Use letters, digits and dashes.")
    await _check_server(link, is_written=True)
    store = await _migrated(link, expected)
    number = await _numbered(link, host)
    opening = Opening(store=store, host=host, number=number, epoch=0, is_core=core is not None)
    await take_locks(link, opening, wait_s=LOCK_S if core is not None else 0)
    async with link.transaction():
        if core is not None:
            await _check_core(link, core)
        taken = await link.rows(
            "UPDATE host SET epoch = nextval('epoch'), since_ms = coalesce(?::bigint, "
            "(extract(epoch FROM clock_timestamp()) * 1000)::bigint), is_open = 1, commits = 0, "
            "works = ? WHERE number = ? RETURNING epoch",
            (now_ms, int(core is not None), number),
        )
        if not taken:
            raise StoreError(f"Host {host!r} was forgotten just now.", "Start it again.")
        [(epoch,)] = taken
        if core is not None:
            # Whose what is that was stored before hosts were: that of the first.
            await link.rows("UPDATE tip SET core_host = ? WHERE core_host = ''", (host,))
        await link.commit()
    return msgspec.structs.replace(opening, epoch=as_int(epoch))


async def take_locks(link: Link, opening: Opening, *, wait_s: float = 0) -> None:
    """Keep other processes from a host's name for the life of the connection.

    Args:
        wait_s: how long others are waited for.

    Raises:
        HostInUseError: another process has it.
    """
    if not await take_name(link, opening.number, wait_s):
        raise HostInUseError(
            f"The host name {opening.host!r} is in use by another process on this database.",
            "End that one, or give this host another name.",
        )


async def take_name(link: Link, number: int, wait_s: float = LOCK_S) -> bool:
    """Keep other processes from the name of the host with a number, for the life of the connection.

    Returns:
        False if another process has it, also after so many seconds.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + wait_s
    while True:
        [(got,)] = await link.rows(
            "SELECT pg_try_advisory_lock(?::int, ?::int)::int", (LOCKS, number)
        )
        if got or loop.time() >= end:
            return bool(got)
        await asyncio.sleep(_LOOK_S)


async def _check_core(link: Link, core: Core) -> None:
    """Refuse a core a database that was restored to an older state. Raises StoreGoneError."""
    [(event_id,)] = await link.rows("SELECT event_id FROM tip FOR UPDATE")
    if not core.adopts and as_int(event_id) < core.events:
        raise StoreGoneError(put_back(as_int(event_id), core.events), _ADOPT)


def put_back(events: int, had: int) -> str:
    """Return the error for a database that is older than this data directory's mark."""
    return f"The database ends at event {events}, and had {had}: it is an older copy."


async def open_records(link: Link, *, expected: str) -> Opening:
    """Look whether a database can be read; nothing in it changes.

    Raises:
        StoreError: it holds no store, or one of another version.
        StoreGoneError: it is another store than the expected one.
    """
    await _check_server(link, is_written=False)
    tables = await tables_of(link)
    if "tip" not in tables:
        raise StoreError(
            "The database has no Switchboard store.",
            "Check the address; the first core that uses it creates one.",
        )
    [(version, store)] = await link.rows("SELECT version, store FROM tip")
    if as_int(version) < len(MIGRATIONS):
        raise StoreError(
            f"The store has schema {as_int(version)}, made by an older Switchboard; this one reads "
            f"schema {len(MIGRATIONS)}.",
            "Nothing was changed. The next core of this Switchboard upgrades it.",
        )
    check_version(as_int(version))
    _check_identity(as_text(store), expected)
    return Opening(store=as_text(store), host="", number=0, epoch=0)


async def identity_at(dsn: str) -> tuple[str, str]:
    """Return the identity of the store at an address, empty where there is none, and the names of
    the database and its server. Nothing there changes.

    Raises:
        StoreError: it cannot be reached.
    """
    link = Link(dsn, "identity", patience_s=_LOOKS_S, is_written=False)
    try:
        rows = await link.rows("SELECT store FROM tip") if "tip" in await tables_of(link) else []
        return as_text(rows[0][0]) if rows else "", link.database
    finally:
        await link.close()


async def check_opening(link: Link, opening: Opening) -> None:
    """Raise FencedError if a newer process has the host's name, StoreGoneError if the store is
    not the one that was opened; StoreError if that is unknown.
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
        raise store_gone("Its tables were dropped") from error
    if not found:
        raise store_gone("It was emptied")
    check_row(opening, *found[0])


def check_row(opening: Opening, store: object, epoch: object) -> None:
    """Check the database's current metadata; see `check_opening`."""
    if store != opening.store:
        raise store_gone(f"It is another store ({store}, not {opening.store})")
    if epoch != opening.epoch:
        raise FencedError(
            f"A newer process is host {opening.host} (epoch {epoch}, this one is {opening.epoch}).",
            "Close this Switchboard and work through the newer one.",
        )


def store_gone(what: str) -> StoreGoneError:
    return StoreGoneError(
        f"{what} while it was in use; nothing was stored.",
        "Restore the database from a backup, then start again.",
    )


async def _check_server(link: Link, *, is_written: bool) -> None:
    [(version, encoding, is_replica, refuses)] = await link.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), "
        "pg_is_in_recovery()::int, current_setting('transaction_read_only')"
    )
    if is_written and (is_replica or refuses == "on"):
        what = "is a replica, which can only be read" if is_replica else "takes no writes"
        raise UnwritableError(
            f"The server {what}.",
            "Connect to its primary: name every server in the address, as "
            "postgresql://ROLE@ONE,TWO/DATABASE?target_session_attrs=read-write",
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
        await link.rows("SELECT pg_advisory_xact_lock(?::int, ?::int)", (LOCKS, _SCHEMA_LOCK))
        version, store = await _version_and_store(link)
        check_version(version)
        _check_identity(store, expected)
        if version == len(MIGRATIONS):
            return store
        await migrate(link, version, len(MIGRATIONS))
        store = store or new_identity()
        await link.rows("UPDATE tip SET version = ?, store = ?", (len(MIGRATIONS), store))
        await link.commit()
    return store


async def migrate(link: Link, version: int, target: int) -> None:
    """Bring the schema from one version to another, in the open transaction."""
    for statements in MIGRATIONS[version:target]:
        for sql in statements:
            await link.rows(sql)


async def make_empty(link: Link) -> None:
    """Make the schema in a database that has none, in the open transaction.

    Raises:
        UnwritableError: the server takes no writes.
        StoreError: there is one already.
    """
    await _check_server(link, is_written=True)
    await link.rows("SELECT pg_advisory_xact_lock(?::int, ?::int)", (LOCKS, _SCHEMA_LOCK))
    if await tables_of(link):
        raise StoreError(
            "The database already has a store. Nothing was changed.",
            f"Restore into an empty database, or drop the schema {SCHEMA} first.",
        )
    await link.rows(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")


def check_version(version: int) -> None:
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The store has schema {version}, made by a newer Switchboard; this one knows "
            f"schemas up to {len(MIGRATIONS)}.",
            "Nothing was changed. Upgrade Switchboard on this host.",
        )


def _check_identity(store: str, expected: str) -> None:
    if expected and store != expected:
        what = f"has another store ({store})" if store else "has no store"
        raise StoreGoneError(
            f"The database {what} instead of {expected}. Nothing was changed.",
            f"Check the address, or restore the database from a backup; {_ADOPT_IT}",
        )


async def tables_of(link: Link) -> list[str]:
    """List the tables of the schema; empty if there is no schema."""
    return [
        as_text(name)
        for (name,) in await link.rows(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ? AND c.relkind = 'r'",
            (SCHEMA,),
        )
    ]


async def _version_and_store(link: Link) -> tuple[int, str]:
    """Return the schema's version and the store's identity; make the schema where there is none."""
    tables = await tables_of(link)
    if not tables:
        await link.rows(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        return 0, ""
    if "tip" not in tables:
        raise StoreError(
            f"The schema {SCHEMA!r} of the database belongs to another program.",
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
