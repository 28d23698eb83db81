"""A store of each kind, empty, and one that can be opened again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.store import Store
from tests.store.conformance.stores import EVERY, Clock, Opener, on_postgres
from tests.store.memory import MemoryStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=EVERY)
def kind(request: pytest.FixtureRequest) -> str:
    """Which store; a module whose tests ask more than the one in memory can do names its own."""
    return str(request.param)


@pytest.fixture
def fresh(
    kind: str,
    clock: Clock,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[], Opener]:
    """Make the opener of another empty store at each call."""

    def new() -> Opener:
        if kind == "sqlite":
            directory = tmp_path_factory.mktemp("store") / "data"
            return lambda: SqliteStore.open(directory, clock_ms=clock)
        if kind == "postgres":
            dsn = request.getfixturevalue("postgres_server").new_database()
            return lambda: on_postgres(dsn, "host", clock)
        if kind == "bucket":
            dsn = request.getfixturevalue("postgres_server").new_database()
            bucket = tmp_path_factory.mktemp("bucket").as_uri()
            return lambda: on_postgres(dsn, "host", clock, bucket)
        kept = MemoryStore(clock)

        @asynccontextmanager
        async def again() -> AsyncIterator[Store]:
            yield kept.reopened()

        return again

    return new


@pytest.fixture
def opener(fresh: Callable[[], Opener]) -> Opener:
    return fresh()


@pytest.fixture
async def store(opener: Opener) -> AsyncIterator[Store]:
    async with opener() as opened:
        yield opened
