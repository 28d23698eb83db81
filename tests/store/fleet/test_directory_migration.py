"""A data directory's own store in a fleet's database: all of it, or nothing."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import StoreError, StoreGoneError, UsageError
from agent.protocol import AgentMessage
from agent.store.database.identity import DATABASE_NAME, read_mark
from agent.store.embedded.quarantine import quarantine
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.postgres.backup import _TABLES
from agent.store.postgres.core_store import open_core
from agent.store.postgres.directory_migration import _COLUMNS, migrate_directory
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.store import EventDraft
from tests.store.conftest import make_job, question_draft, session_draft, step_draft
from tests.store.postgres_server import PostgresServer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
PICTURE = b"a picture"


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


async def filled(directory: Path) -> None:
    async with SqliteStore.open(directory) as store:
        await store.append(session_draft("s1", goal="Zoë's plants"), session_draft("s2"))
        for step in range(1, 700):
            await store.append(step_draft("s1", step))
        await store.append(
            EventDraft("s2", AgentMessage(step=1, text="a NUL \0 and a rubber duck")),
            question_draft("q-1", "s2"),
        )
        await store.create_job(lambda job_id: make_job(job_id, title="Water them"))
        await store.acquire_lease("phone", "somebody", 60_000)
        await store.blobs.put(PICTURE, "image/png")


async def test_everything_is_the_same_and_goes_on(dsn: str, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    await filled(directory)
    async with SqliteStore.open(directory) as before:
        events = await before.events(after=0, limit=10_000)
        sessions = await before.sessions()
    mark = read_mark(directory)
    assert mark is not None
    identity = mark.store
    done = await migrate_directory(directory, dsn, "here")
    assert (done.store, done.events, done.sessions) == (identity, len(events), 2)
    (directory / DATABASE_NAME).rename(tmp_path / "aside.db")
    async with open_core(dsn, "here", directory) as after:
        assert after.identity == identity
        assert await after.events(after=0, limit=10_000) == events
        assert await after.sessions() == sessions
        assert [one.question_id for one in await after.open_questions()] == ["q-1"]
        assert [one.title for one in await after.jobs()] == ["Water them"]
        assert [hit.session_id for hit in await after.search("rubber duck")] == ["s2"]
        # Free, as at each opening of a directory; its epochs go on.
        lease = await after.acquire_lease("phone", "another", 1_000)
        assert lease is not None
        assert lease.epoch == 2
        digest = hashlib.sha256(PICTURE).hexdigest()
        assert await after.blobs.read(digest) == PICTURE
        stored = await after.append(session_draft("s3"), step_draft("s1", 700))
        assert [event.event_id for event in stored] == [len(events) + 1, len(events) + 2]
        assert stored[1].seq == 701
        made = await after.create_job(lambda job_id: make_job(job_id))
        assert made.id == 2


async def test_a_fleets_directory_gets_no_store_of_its_own(dsn: str, tmp_path: Path) -> None:
    migrated, joined = tmp_path / "migrated", tmp_path / "joined"
    await filled(migrated)
    done = await migrate_directory(migrated, dsn, "here")
    quarantine(migrated, fleet_store=done.store)
    async with open_core(dsn, "there", joined):
        pass
    for directory in (migrated, joined):
        with pytest.raises(StoreGoneError, match="in a fleet's database") as refused:
            async with SqliteStore.open(directory, may_only_read=True):
                pass
        assert "--fleet" in refused.value.remedy
    async with open_core(dsn, "here", migrated) as after:
        assert after.identity == done.store


async def test_what_cannot_be_migrated_leaves_both_as_they_were(dsn: str, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    with pytest.raises(UsageError):
        await migrate_directory(directory, dsn, "here")
    await filled(directory)
    async with SqliteStore.open(directory):
        with pytest.raises(StoreError, match=r"in use|runs|owns|another"):
            await migrate_directory(directory, dsn, "here")
    with closing(sqlite3.connect(directory / DATABASE_NAME)) as files, files:
        files.execute("UPDATE event SET body = '{' WHERE id = 650")
    with pytest.raises(StoreError):
        await migrate_directory(directory, dsn, "here")
    async with PostgresStore.open(dsn, "another") as untouched:
        assert await untouched.events(after=0, limit=10) == ()
    with pytest.raises(StoreError, match="already has a store"):
        await migrate_directory(directory, dsn, "here")


def test_every_table_is_migrated_or_built_again(dsn: str, tmp_path: Path) -> None:
    assert {*_COLUMNS, "blob"} == set(_TABLES) - {"tip", "host", "words", "op", "counter"}
