"""Read and change the rows of a fleet's register of operators.

`agent.hosts.fleet_register` interprets them. Invariants: a read is a snapshot; a change locks the
register, so two administrators change it one after the other; every change has a number and a
random mark, and is announced to all hosts.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

import msgspec

from agent.errors import StoreError
from agent.store.changes.row_codec import as_int, as_text
from agent.store.postgres.link import Link

REGISTER_CHANNEL = "switchboard_operators"
_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"


class RegisterMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of a database's register."""

    store: str = ""  # The identity of the store.
    confirmed_ms: int = 0
    revision: int = 0
    mark: str = ""  # Of the change that made the revision.


class RegisterRows(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of the register's rows."""

    standing: RegisterMetadata
    mark_then: str  # The mark of the revision that was asked for; empty where there is none.
    is_unconfirmed: bool
    now_ms: int  # The database's clock.
    records: tuple[tuple[str, str], ...]  # Names and records, by name.


async def read_register(link: Link, revision: int) -> RegisterRows:
    """Read the register.

    Args:
        link: no transaction is open on it, or one that is to hold this look too.
        revision: the one whose mark is asked for.

    Raises StoreError.
    """
    # One statement: it sees one moment.
    rows = await link.rows(
        "SELECT t.store, r.confirmed_ms, r.revision, "
        "coalesce((SELECT mark FROM register_change WHERE revision = r.revision), ''), "
        "coalesce((SELECT mark FROM register_change WHERE revision = ?::bigint), ''), "
        f"r.is_unconfirmed, {_NOW_MS}, o.name, o.record "
        "FROM register r CROSS JOIN tip t LEFT JOIN operator o ON true ORDER BY o.name",
        (revision,),
    )
    if not rows:
        raise StoreError(
            "The database has no register of operators: it was emptied.",
            "Restore the database from a backup.",
        )
    store, confirmed_ms, number, mark, mark_then, is_unconfirmed, now_ms, _, _ = rows[0]
    return RegisterRows(
        standing=RegisterMetadata(
            store=as_text(store),
            confirmed_ms=as_int(confirmed_ms),
            revision=as_int(number),
            mark=as_text(mark),
        ),
        mark_then=as_text(mark_then),
        is_unconfirmed=bool(is_unconfirmed),
        now_ms=as_int(now_ms),
        records=tuple((as_text(row[7]), as_text(row[8])) for row in rows if row[7] is not None),
    )


@asynccontextmanager
async def locked_register(link: Link) -> AsyncIterator[None]:
    """Lock the register for the length of a `with` block, in one transaction.

    It is rolled back unless `put` or `confirm` ends it. Raises StoreError.
    """
    async with link.transaction():
        await link.rows("SELECT one FROM register FOR UPDATE")
        yield


async def put(link: Link, name: str, record: str | None) -> None:
    """Write one operator into the locked register, None to remove it, and commit.

    Raises StoreError.
    """
    if record is None:
        await link.rows("DELETE FROM operator WHERE name = ?", (name,))
    else:
        await link.rows(
            "INSERT INTO operator (name, record) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET record = excluded.record",
            (name, record),
        )
    await _note(link, name)


async def confirm(link: Link) -> None:
    """Confirm the locked register as it is, and commit. Raises StoreError."""
    await link.rows(
        "UPDATE register SET is_unconfirmed = 0, "
        f"confirmed_ms = greatest(confirmed_ms + 1, {_NOW_MS})"
    )
    await _note(link, "")


async def _note(link: Link, name: str) -> None:
    await link.rows(
        "WITH changed AS (UPDATE register SET revision = revision + 1 RETURNING revision) "
        "INSERT INTO register_change (revision, mark, changed_ms, operator, role) "
        f"SELECT revision, ?, {_NOW_MS}, ?, session_user FROM changed",
        (token_hex(8), name),
    )
    await link.rows(f"NOTIFY {REGISTER_CHANNEL}")
    await link.commit()
