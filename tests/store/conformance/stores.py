"""The stores that are held to the same promises, and how each is opened again after its end."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agent.store.database.identity import DATABASE_NAME
from agent.store.store import Store

Opener: TypeAlias = Callable[[], AbstractAsyncContextManager[Store]]
"""Opens the same store each time, as a process that begins anew does."""
POSTGRES = pytest.param("postgres", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres")])
BUCKET = pytest.param("bucket", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgres")])
"""PostgreSQL, with the blobs in a bucket."""
EVERY = ("sqlite", "memory", POSTGRES, BUCKET)
DATABASES = ("sqlite", POSTGRES)


class Clock:
    """A store's clock that a test moves."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@asynccontextmanager
async def on_postgres(
    dsn: str, host: str, clock: Clock | None = None, bucket: str = ""
) -> AsyncIterator[Store]:
    """Open a fleet's store; the extra is only imported here."""
    from agent.store.postgres.bucket import Bucket
    from agent.store.postgres.postgres_store import PostgresStore

    blobs = Bucket(bucket) if bucket else None
    async with PostgresStore.open(dsn, host, clock_ms=clock, bucket=blobs) as store:
        yield store


def ask(place: str, statement: str) -> list[tuple[Any, ...]]:
    """Run a statement beside the store, through a connection of one's own.

    Args:
        place: the directory of a SQLite store, or the address of a database.
    """
    if "://" not in place:
        with closing(sqlite3.connect(Path(place) / DATABASE_NAME)) as database, database:
            return database.execute(statement).fetchall()
    import psycopg

    with psycopg.connect(place, autocommit=True, options="-c search_path=switchboard") as link:
        cursor = link.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
