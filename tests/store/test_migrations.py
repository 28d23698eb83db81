"""A store that an older Switchboard made opens with everything that was in it.

`tests/data/store-schema-N.sql` is what the first release with that schema wrote, as
`sqlite3.Connection.iterdump` gives it; a schema gets such a file when the next one is begun.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import StoreError, UsageError
from agent.records import SessionState
from agent.store.schema import MIGRATIONS
from agent.store.sqlite import DATABASE_NAME, SqliteStore
from tests.store.conftest import step_draft

DUMPS = sorted((Path(__file__).parent.parent / "data").glob("store-schema-*.sql"))


@pytest.fixture(params=DUMPS, ids=lambda path: path.stem)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Make the data directory of an older version, as it left it."""
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database:
        database.executescript(request.param.read_text())
        [(version,)] = database.execute("PRAGMA user_version")
        assert version < len(MIGRATIONS)
    return tmp_path


def shape(path: Path) -> list[tuple[str, ...]]:
    """Give the columns of every table and every index."""
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT type, name FROM sqlite_schema ORDER BY type, name")
        return [
            (kind, name, str(database.execute(f"PRAGMA table_info({name})").fetchall()))
            for kind, name in names.fetchall()
        ]


async def test_an_older_store_opens_with_all_its_records(older: Path) -> None:
    async with SqliteStore.open(older) as store:
        child = await store.session("child")
        assert (child.goal, child.parent_id, child.last_step) == ("Turn on Bluetooth", "parent", 1)
        assert [one.session_id for one in await store.children("parent")] == ["child"]
        assert (await store.session("jobbed")).state is SessionState.COMPLETED
        assert [q.question_id for q in await store.open_questions()] == ["q2"]
        assert not (await store.question("q1"))[1]
        [job] = await store.jobs()
        assert (job.id, job.title) == (1, "Water")
        events = await store.session_events("child")
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        [later] = await store.append(step_draft("child", 2))
        assert later.seq == len(events) + 1
        assert [hit.session_id for hit in await store.search("needle")] == ["child"]


async def test_an_older_store_has_the_shape_of_a_new_one(older: Path, tmp_path: Path) -> None:
    async with SqliteStore.open(older):
        pass
    new = tmp_path / "new"
    async with SqliteStore.open(new):
        pass
    assert shape(older / DATABASE_NAME) == shape(new / DATABASE_NAME)


async def test_blobs_that_old_events_name_are_counted_and_only_the_others_collected(
    older: Path,
) -> None:
    rows = "SELECT digest, size_bytes FROM blob"
    with closing(sqlite3.connect(older / DATABASE_NAME)) as database:
        before = {digest for digest, _ in database.execute(rows)}
    async with SqliteStore.open(older) as store:
        assert (await store.collect_blobs()).blobs == 1
        await store.delete_sessions("child", "parent")
        assert (await store.collect_blobs()).blobs == len(before) - 1
        with pytest.raises(UsageError):
            await store.session("child")
        for digest in before:
            with pytest.raises(StoreError, match="gone"):
                await store.read_blob(digest)
