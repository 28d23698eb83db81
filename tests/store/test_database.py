"""The database file: migrations, indices, and files that are not what they should be."""

import random
import sqlite3
from pathlib import Path

import pytest

import agent.store.database.database
from agent.errors import StoreError, UsageError
from agent.protocol import WarningEvent
from agent.store.database.schema import MIGRATIONS
from agent.store.embedded.quarantine import quarantine
from agent.store.embedded.sqlite_store import DATABASE_NAME, EventDraft, SqliteStore
from agent.store.queries import reader
from tests.store.conftest import session_draft


def execute(directory: Path, *statements: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(directory / DATABASE_NAME)
    rows: list[tuple[object, ...]] = []
    for statement in statements:
        rows = database.execute(statement).fetchall()
    database.commit()
    database.close()
    return rows


async def refusal(directory: Path) -> StoreError:
    """Open a store that must be refused, twice: a refusal must leave no lock behind."""
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            async with SqliteStore.open(directory):
                pytest.fail("it was opened")
    assert caught.value.remedy
    return caught.value


# --- migrations ----------


async def test_a_new_database_has_the_newest_schema_and_strict_tables(store: SqliteStore) -> None:
    assert execute(store.directory, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    tables = execute(
        store.directory, "SELECT name, strict FROM pragma_table_list WHERE type = 'table'"
    )
    ours = {name: strict for name, strict in tables if not str(name).startswith("sqlite_")}
    assert set(ours.values()) == {1}
    assert {"event", "session", "question", "job", "blob", "owner"} <= ours.keys()


async def test_commits_are_synced_and_the_reading_side_cannot_write(store: SqliteStore) -> None:
    writing, reading = store._writing, store._reading
    assert await writing.rows("PRAGMA synchronous") == [(2,)]  # FULL
    assert await writing.rows("PRAGMA journal_mode") == [("wal",)]
    with pytest.raises(StoreError, match="read-only"):
        await reading.run("DELETE FROM event")


async def test_a_migration_that_fails_changes_nothing_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
    broken = (*MIGRATIONS, ("CREATE TABLE later (a INTEGER) STRICT", "CREATE TABLE event (a)"))
    monkeypatch.setattr(agent.store.database.database, "MIGRATIONS", broken)
    with pytest.raises(StoreError, match="already exists"):
        async with SqliteStore.open(tmp_path):
            pytest.fail("it was opened")
    assert execute(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert execute(tmp_path, "SELECT name FROM sqlite_schema WHERE name = 'later'") == []
    mended = (*MIGRATIONS, ("CREATE TABLE later (a INTEGER) STRICT",))
    monkeypatch.setattr(agent.store.database.database, "MIGRATIONS", mended)
    async with SqliteStore.open(tmp_path) as store:
        assert len(await store.session_events("s1")) == 1
    assert execute(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]


async def test_a_newer_schema_is_refused_untouched(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
    execute(tmp_path, "PRAGMA user_version = 999")
    before = (tmp_path / DATABASE_NAME).read_bytes()
    error = await refusal(tmp_path)
    assert "schema 999" in error.message
    assert "newer Switchboard" in error.message
    assert "Upgrade" in error.remedy
    assert (tmp_path / DATABASE_NAME).read_bytes() == before


async def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE recipes (name TEXT)")
    before = (tmp_path / DATABASE_NAME).read_bytes()
    assert "another program" in (await refusal(tmp_path)).message
    assert (tmp_path / DATABASE_NAME).read_bytes() == before


# --- damaged files ----------


async def test_garbage_is_refused_untouched_until_it_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"not a database at all, just words " * 100)
    error = await refusal(tmp_path)
    assert "is not an SQLite database" in error.message
    assert (tmp_path / DATABASE_NAME).read_bytes().startswith(b"not a database")
    aside = quarantine(tmp_path)
    assert (aside / DATABASE_NAME).read_bytes().startswith(b"not a database")
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        with pytest.raises(StoreError, match="in use"):
            quarantine(tmp_path)
    quarantine(tmp_path)
    with pytest.raises(UsageError, match="no database"):
        quarantine(tmp_path)


@pytest.mark.parametrize("seed", range(6))
async def test_a_damaged_database_gives_errors_and_never_nonsense(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    async with SqliteStore.open(tmp_path) as store:
        await store.append(session_draft("s1"))
        for _ in range(20):
            await store.append(*(EventDraft("s1", WarningEvent(message="x" * 200)),) * 20)
        stored = await store.session_events("s1")
    path = tmp_path / DATABASE_NAME
    data = bytearray(path.read_bytes())
    if seed % 3 == 0:
        data = data[: chance.randrange(5_000, len(data))]
    else:
        for _ in range(10):
            at = chance.randrange(4096, len(data) - 512)
            data[at : at + 512] = chance.randbytes(512)
    path.write_bytes(data)
    try:
        async with SqliteStore.open(tmp_path) as store:
            found = await store.session_events("s1")
            await store.sessions()
            await store.append(EventDraft("s1", WarningEvent(message="after")))
    except StoreError as error:
        assert (
            str(path) in error.message
            or "in the store" in error.message
            or "Event" in (error.message)
        )
        return
    # Damage that only hit unused space or padding: then everything must be there.
    assert found == stored


# --- query plans ----------


PLANS = {
    reader.EVENTS: "USING INTEGER PRIMARY KEY (rowid>?)",
    reader.SESSION_EVENTS: "USING INDEX sqlite_autoindex_event_1 (session_id=? AND seq>?)",
    reader.SESSIONS: "SCAN session",
    reader.ACTIVE_SESSIONS: "USING INDEX session_active",
    reader.SESSIONS_BY_PREFIX: "USING INDEX sqlite_autoindex_session_1",
    reader.CHILDREN: "USING INDEX session_child (parent_id=?)",
    reader.OPEN_QUESTIONS: "USING INDEX question_open",
    reader.QUESTION: "USING INDEX sqlite_autoindex_question_1 (question_id=?)",
    reader.JOB: "USING INTEGER PRIMARY KEY (rowid=?)",
    reader.DUE_JOBS: "USING INDEX job_due (next_run_at<?)",
    reader.NEXT_DUE: "SEARCH job USING INDEX job_due",
    reader.STALE_JOBS: "USING INDEX job_running (running_at<?)",
    reader.BLOB_TYPE: "USING PRIMARY KEY (digest=?)",
}


@pytest.mark.parametrize("sql", PLANS)
async def test_each_look_up_uses_its_index_and_sorts_nothing(store: SqliteStore, sql: str) -> None:
    database = sqlite3.connect(store.directory / DATABASE_NAME)
    plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", (1,) * sql.count("?"))]
    database.close()
    assert len(plan) == 1, plan  # a second line would be a temporary sort
    assert PLANS[sql] in plan[0]
