"""A store of each kind, empty, and one that can be opened again."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

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
def new_place(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Make room for another empty store at each call: a directory, or the address of a database."""

    def make() -> str:
        if kind in {"postgres", "bucket"}:
            return str(request.getfixturevalue("postgres_server").new_store())
        return str(tmp_path_factory.mktemp("store") / "data")

    return make


@pytest.fixture
def opener_of(
    kind: str, clock: Clock, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Opener]:
    def make(place: str) -> Opener:
        if kind == "sqlite":
            return lambda: SqliteStore.open(Path(place), clock_ms=clock)
        if kind == "postgres":
            return lambda: on_postgres(place, "host", clock)
        if kind == "bucket":
            bucket = tmp_path_factory.mktemp("bucket").as_uri()
            return lambda: on_postgres(place, "host", clock, bucket)
        kept = MemoryStore(clock)

        @asynccontextmanager
        async def again() -> AsyncIterator[Store]:
            yield kept.reopened()

        return again

    return make


@pytest.fixture
def fresh(new_place: Callable[[], str], opener_of: Callable[[str], Opener]) -> Callable[[], Opener]:
    """Make the opener of another empty store at each call."""
    return lambda: opener_of(new_place())


@pytest.fixture
def place(new_place: Callable[[], str]) -> str:
    """Where the test's store is."""
    return new_place()


@pytest.fixture
def opener(place: str, opener_of: Callable[[str], Opener]) -> Opener:
    return opener_of(place)


@pytest.fixture
async def store(opener: Opener) -> AsyncIterator[Store]:
    async with opener() as opened:
        yield opened
