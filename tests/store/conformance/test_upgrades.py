"""A store of every older schema is brought up to date at once: all that it held, or not at all.

A SQLite store is what the first version with a schema wrote (`tests/data/`). A database gets the
numbered migrations up to a version, and the rows of a store of today as far as it has the columns.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agent.errors import StoreError
from agent.protocol import AgentMessage, QuestionAnswered, ToolCallRequested, WatcherChanged
from agent.records import CommitmentStatus, Usage
from agent.store.database import schema as of_file
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.postgres import schema as of_fleet
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import POSTGRES, ask, on_postgres
from tests.store.conformance.test_beside import commitment, run
from tests.store.conftest import make_job, question_draft, session_draft, step_draft
from tests.store.postgres_server import PostgresServer
from tests.store.test_migrations import DUMPS, restored
from tests.store.test_spendings import watcher

Contents: TypeAlias = dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]
"""The columns and rows of each table."""
_ENDS_S = 60.0
_OLDER = [("sqlite", number) for number in sorted(DUMPS)]
_OLDER_FLEETS = [
    pytest.param("postgres", number, marks=POSTGRES.marks)
    for number in range(1, len(of_fleet.MIGRATIONS))
]
_OPENING = {
    "owner": {"epoch", "pid", "since_ms", "store"},
    "lease": {"expires_ms"},
    "tip": {"version", "core", "core_host"},
}
"""What every opening writes, whichever schema it finds."""

older_ones = pytest.mark.parametrize(
    ("kind", "version"), [*_OLDER, *_OLDER_FLEETS], ids=lambda one: str(one)
)


@asynccontextmanager
async def opened(place: str) -> AsyncIterator[Store]:
    opening = on_postgres(place, "here") if "://" in place else SqliteStore.open(Path(place))
    async with opening as store:
        yield store


async def fill(place: str) -> None:
    """Put something into every part of a store."""
    async with opened(place) as store:
        digest = await store.blobs.put(b"named" * 100, "image/png")
        call = ToolCallRequested(
            step=1, call_id="c", tool="tap", arguments="{}", reply_digest=digest
        )
        await store.append(session_draft("parent"), session_draft("child", parent_id="parent"))
        await store.append(
            *(step_draft("child", number) for number in range(30)),
            EventDraft("child", AgentMessage(step=1, text="a needle, züge \n\\.")),
            EventDraft("child", call),
            question_draft("q1", "child"),
            question_draft("q2", "child"),
            EventDraft("child", QuestionAnswered(question_id="q1", answer="yes")),
        )
        await store.create_job(lambda number: make_job(number, next_run_at=99))
        await store.append(
            run(1, 1),
            EventDraft("", WatcherChanged(watcher=watcher(1, Usage()), reason="test")),
            commitment(1, "Call Ada", CommitmentStatus.PENDING),
        )
        await store.acquire_lease("phone-1", "an older core", 1000)


@pytest.fixture(scope="module")
def full(postgres_server: PostgresServer) -> str:
    """The address of a store of today, with something in every part."""
    place = postgres_server.new_store()
    asyncio.run(fill(place))
    return place


@pytest.fixture
def place(kind: str, version: int, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of an older version is, as it left it."""
    if kind == "sqlite":
        return str(restored(version, tmp_path))
    full: str = request.getfixturevalue("full")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    older = server.new_store(version)
    hand_down(full, older)
    return older


def hand_down(full: str, older: str) -> None:
    """Copy into an older store all that it has room for."""
    import psycopg

    way = {"autocommit": True, "options": "-c search_path=switchboard"}
    with psycopg.connect(full, **way) as source, psycopg.connect(older, **way) as target:
        for table in tables_of(older):
            columns = columns_of(older, table)
            if table == "tip":
                columns = tuple(one for one in columns if one != "version")
                [values] = source.execute(f"SELECT {', '.join(columns)} FROM tip")
                target.execute(f"UPDATE tip SET {', '.join(f'{c} = %s' for c in columns)}", values)
                continue
            target.execute(f"DELETE FROM {table}")
            names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
            for row in source.execute(f"SELECT {names} FROM {table}"):
                target.execute(
                    f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({places})", row
                )
            if "number" in columns:
                target.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), "
                    f"greatest(max(number), 1)) FROM {table}"
                )
        target.execute("SELECT setval('epoch', 5)")


def tables_of(place: str) -> tuple[str, ...]:
    listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'switchboard'"
    if "://" not in place:
        listed = "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
    return tuple(sorted(name for (name,) in ask(place, listed) if not name.startswith("sqlite_")))


def columns_of(place: str, table: str) -> tuple[str, ...]:
    listed = (
        "SELECT column_name FROM information_schema.columns "
        f"WHERE table_schema = 'switchboard' AND table_name = '{table}' ORDER BY ordinal_position"
    )
    if "://" not in place:
        listed = f"SELECT name FROM pragma_table_info('{table}')"
    return tuple(name for (name,) in ask(place, listed))


def contents(place: str, like: Contents | None = None) -> Contents:
    """Read all rows; with `like`, only the tables and columns that it has."""
    shape = like or {table: (columns_of(place, table), []) for table in tables_of(place)}
    return {
        table: (columns, sorted(ask(place, f"SELECT {', '.join(columns)} FROM {table}"), key=repr))
        for table, (columns, _) in shape.items()
    }


def lasting(found: Contents) -> Contents:
    """Leave out what every opening writes, and the hosts that have the store open."""
    kept: Contents = {}
    for table, (columns, rows) in found.items():
        if table != "host":
            places = [n for n, one in enumerate(columns) if one not in _OPENING.get(table, ())]
            kept[table] = (
                tuple(columns[n] for n in places),
                [tuple(row[n] for n in places) for row in rows],
            )
    return kept


def newest(place: str) -> int:
    return len(of_fleet.MIGRATIONS if "://" in place else of_file.MIGRATIONS)


def version_of(place: str) -> int:
    asked = "SELECT version FROM tip" if "://" in place else "PRAGMA user_version"
    return int(ask(place, asked)[0][0])


def set_version(place: str, version: int) -> None:
    put = f"UPDATE tip SET version = {version}"
    ask(place, put if "://" in place else f"PRAGMA user_version = {version}")


async def read(store: Store) -> list[object]:
    """Read everything that a store of each version has, as the core does."""
    return [
        await store.events(after=0, limit=10_000),
        await store.sessions(),
        await store.open_questions(),
        await store.jobs(),
        await store.due_jobs(100),
        await store.job_runs.runs(1),
        await store.watches.watchers(),
        await store.watches.commitments(),
        await store.search("needle"),
        await store.blobs.size_bytes(),
    ]


@older_ones
async def test_an_older_store_is_brought_up_to_date_with_all_it_held(
    place: str, version: int
) -> None:
    before = contents(place)
    assert version_of(place) == version
    assert before["event"][1] and before["session"][1] and before["blob"][1]
    async with opened(place) as store:
        found = await read(store)
        assert found[0] and found[1] and found[8]
    assert version_of(place) == newest(place)
    assert lasting(contents(place, before)) == lasting(before)
    async with opened(place) as store:
        assert await read(store) == found
        [later] = await store.append(step_draft("child", 99))
        assert later.event_id == max(row[0] for row in before["event"][1]) + 1


@pytest.mark.parametrize(
    "version", [pytest.param(n, marks=POSTGRES.marks) for n in range(1, newest("://"))]
)
@pytest.mark.parametrize("kind", ["postgres"])
async def test_a_fleet_reads_the_same_from_each_older_schema(place: str, full: str) -> None:
    async with opened(full) as today, opened(place) as store:
        assert await read(store) == await read(today)


def upgrade_killed_at(place: str, statement: int) -> None:
    words = [sys.executable, "-m", "tests.store.upgrader", place, str(statement)]
    ended = subprocess.run(words, timeout=_ENDS_S, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def statements_since(place: str, version: int) -> int:
    migrations = of_fleet.MIGRATIONS if "://" in place else of_file.MIGRATIONS
    return sum(len(one) for one in migrations[version:])


@older_ones
def test_an_upgrade_that_is_killed_leaves_the_store_as_it_was(place: str, version: int) -> None:
    before = contents(place)
    last = statements_since(place, version) - 1
    for statement in {0, last // 2, last} if version == 1 else {last}:
        upgrade_killed_at(place, statement)
        assert version_of(place) == version
        assert contents(place) == before


@pytest.mark.parametrize(
    ("kind", "version"), [_OLDER[-1], _OLDER_FLEETS[-1]], ids=lambda one: str(one)
)
async def test_a_store_of_a_newer_schema_is_refused_untouched(place: str) -> None:
    async with opened(place):
        pass
    set_version(place, newest(place) + 1)
    before = contents(place)
    with pytest.raises(StoreError, match="newer Switchboard") as caught:
        async with opened(place):
            pytest.fail("it was opened")
    assert "Upgrade" in caught.value.remedy
    assert version_of(place) == newest(place) + 1
    assert contents(place) == before
