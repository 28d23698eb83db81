"""A store that an older Switchboard made opens with everything that was in it.

`tests/data/store-schema-N.sql` is what the first version with that schema wrote, as
`sqlite3.Connection.iterdump` gives it; a schema gets such a file when the next one is begun. There
is none for schema 5, which no version ended with: only an upgrade that was cut off there leaves it.
`iterdump` gives a full-text table so that it cannot be read in again: in the file stands what makes
and fills it.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import FencedError, StoreError, UsageError
from agent.protocol.session_filter import facts_of
from agent.records import SessionState
from agent.store.database.schema import MIGRATIONS
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from tests.store.conftest import encoded, placed_job, placed_sessions, step_draft, unpruned

DATA = Path(__file__).parent.parent / "data"
DUMPS = {int(path.stem.split("-")[-1]): path for path in DATA.glob("store-schema-*.sql")}
NEVER_LAST = {5}


def restored(number: int, directory: Path) -> Path:
    """Make the data directory of an older version, as it left it."""
    with closing(sqlite3.connect(directory / DATABASE_NAME)) as database:
        database.executescript(DUMPS[number].read_text())
        [(version,)] = database.execute("PRAGMA user_version")
        assert version == number < len(MIGRATIONS)
    return directory


@pytest.fixture(params=sorted(DUMPS), ids="schema {}".format)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return restored(request.param, tmp_path)


def since(number: int) -> pytest.MarkDecorator:
    """Try what older versions wrote that had a schema or a newer one."""
    numbers = [number_ for number_ in sorted(DUMPS) if number_ >= number]
    return pytest.mark.parametrize("older", numbers, indirect=True, ids="schema {}".format)


def test_there_is_a_store_of_every_schema_that_a_version_had() -> None:
    assert DUMPS.keys() | NEVER_LAST == set(range(1, len(MIGRATIONS)))


def shape(path: Path) -> list[tuple[str, ...]]:
    """Return the columns of every table, and how every index, view and trigger was made."""
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
        return [
            (
                kind,
                name,
                str(database.execute(f"PRAGMA table_info({name})").fetchall()),
                "" if kind == "table" else " ".join(str(sql).split()),
            )
            for kind, name, sql in names.fetchall()
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
        assert (await store.blobs.collect()).blobs == 1
        await store.delete_sessions("child", "parent")
        assert (await store.blobs.collect()).blobs == len(before) - 1
        with pytest.raises(UsageError):
            await store.session("child")
        for digest in before:
            with pytest.raises(StoreError, match="gone"):
                await store.blobs.read(digest)


@since(2)
async def test_a_lease_of_an_older_store_is_free_and_its_epoch_goes_on(older: Path) -> None:
    async with SqliteStore.open(older) as store:
        past = await store.lease("phone-1")
        assert past is not None
        assert (past.owner, past.epoch, past.is_free(1)) == ("an older core", 1, True)
        taken = await store.acquire_lease("phone-1", "this core", 60_000)
        assert taken is not None
        assert taken.epoch == 2
        with pytest.raises(FencedError, match="taken over by this core"):
            await store.append(step_draft("child", 2), under=past)


@since(3)
async def test_what_was_kept_and_what_was_pruned_stays_so(older: Path) -> None:
    async with SqliteStore.open(older) as store:
        assert (await store.session("jobbed")).kept
        assert (await store.session("pruned")).pruned
        assert [one.session_id for one in await unpruned(store)] == ["jobbed", "parent"]


@since(4)
async def test_watchers_and_commitments_are_found_by_their_words(older: Path) -> None:
    async with SqliteStore.open(older) as store:
        [watcher] = await store.watches.watchers(query="parcel")
        assert (watcher.id, watcher.condition_json) == (1, {"contains": "parcel"})
        [commitment] = await store.watches.commitments(query="boat")
        assert (commitment.title, commitment.due_at) == ("Call Ada", 9)


@since(6)
async def test_the_runs_of_a_job_are_listed(older: Path) -> None:
    async with SqliteStore.open(older) as store:
        [run] = await store.job_runs.runs(1)
        assert (run.run_id, run.session_id, run.result) == ("r1", "jobbed", "Watered")


async def test_a_job_of_an_older_store_is_found_by_a_part_of_its_words_and_is_due(
    older: Path,
) -> None:
    async with SqliteStore.open(older) as store:
        assert [job.id for job in (await store.job_pages.page(query="ATE")).jobs] == [1]
        assert [job.title for job in await store.due_jobs(100)] == ["Water"]
        assert await store.due_jobs(98) == ()


async def test_what_older_sessions_and_jobs_are_found_by_is_what_a_new_store_finds(
    older: Path, tmp_path: Path
) -> None:
    sessions, job = placed_sessions(), placed_job()
    with closing(sqlite3.connect(older / DATABASE_NAME)) as database:
        for one in sessions:
            database.execute(
                "INSERT INTO session (session_id, parent_id, state, last_seq, record) "
                "VALUES (?, '', ?, 0, ?)",
                (one.session_id, one.state, encoded(one)),
            )
        database.execute(
            "INSERT INTO job (id, status, next_run_at, running_at, search, record) "
            "VALUES (7, 'active', 0, 0, 'water\nslowly\nactive', ?)",
            (encoded(job),),
        )
        database.commit()
    async with SqliteStore.open(older) as store:
        everything = await store.sessions()
        assert len(everything) > len(sessions)
        assert [one.id for one in (await store.job_pages.page(query="rack-3/")).jobs] == [7]
    with closing(sqlite3.connect(older / DATABASE_NAME)) as database:
        found = database.execute(
            "SELECT session_id, created_ms, place, model, labels FROM session"
        ).fetchall()
        assert dict((row[0], tuple(row[1:])) for row in found) == {
            one.session_id: facts_of(one) for one in everything
        }
        [(search,)] = database.execute("SELECT search FROM job WHERE id = 7").fetchall()
        assert search == f"water\nslowly\n{' '.join(job.places)}\nactive".casefold()


@pytest.mark.parametrize("reached", range(2, len(MIGRATIONS)))
async def test_an_upgrade_that_was_cut_off_goes_on_where_it_was(
    reached: int, tmp_path: Path
) -> None:
    restored(1, tmp_path)
    # An older Switchboard stored each schema in between.
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as database, database:
        for statement in (sql for one in MIGRATIONS[1:reached] for sql in one):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {reached}")
    async with SqliteStore.open(tmp_path) as store:
        assert [one.session_id for one in await store.children("parent")] == ["child"]
        assert [job.title for job in await store.jobs(query="water")] == ["Water"]
