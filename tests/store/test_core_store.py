"""Cores on a fleet's database: one a host, each with a directory of its own; records; upkeep."""

import asyncio
import os
import zipfile
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest

from agent.errors import (
    FencedError,
    StoreError,
    StoreGoneError,
    UnwritableError,
    UsageError,
    WrongStateError,
)
from agent.hosts.fleet_register import FleetRegister
from agent.operators.operator import Operator
from agent.protocol import SessionHosted, ToolCallRequested
from agent.protocol.session_filter import facts_of
from agent.store.database.lock import DirectoryLock
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.postgres.backup import _TABLES, LEFT_OUT, back_up, restore
from agent.store.postgres.core_store import adopt, open_core, open_guest, open_stored
from agent.store.postgres.host_store import own_part
from agent.store.postgres.link import Link, _may_pass, _no_connection
from agent.store.postgres.opening import HostInUseError, migrate
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.postgres.schema import MIGRATIONS
from agent.store.postgres.upkeep import check, vacuum
from agent.store.store import EventDraft
from tests.store.conftest import (
    encoded,
    make_job,
    placed_job,
    placed_sessions,
    question_draft,
    session_draft,
    step_draft,
    unpruned,
)
from tests.store.postgres_server import PostgresServer

_BEFORE_FACTS = 8  # The last schema whose sessions and jobs were found by less.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def database(dsn: str) -> str:
    return dsn.removeprefix("postgresql:///").partition("?")[0]


async def filled(dsn: str, directory: Path) -> str:
    """Put something into every part of a store; returns the digest of a blob that is named."""
    async with open_core(dsn, "a", directory) as store:
        digest = await store.blobs.put(b"named" * 1000, "image/png")
        await store.blobs.put(b"unnamed" * 1000, "image/png")
        call = ToolCallRequested(
            step=1, call_id="c", tool="tap", arguments="{}", reply_digest=digest
        )
        drafts = (session_draft("s1", goal="buy züge\n\\."), EventDraft("s1", call))
        await store.append(*drafts, question_draft("q1"), *(step_draft("s1", n) for n in range(40)))
        await store.create_job(make_job)
        await store.acquire_lease("phone", "a", 1000)
    return digest


# --- one core ----------


async def test_one_core_of_each_host_works_on_a_database(dsn: str, tmp_path: Path) -> None:
    async with open_core(dsn, "a", tmp_path / "a") as first:
        with pytest.raises(HostInUseError, match="'a' is in use by another process"):
            async with open_core(dsn, "a", tmp_path / "b"):
                pass
        await first.append(session_draft("s1"))
        async with open_core(dsn, "b", tmp_path / "b") as second:
            assert [one.session_id for one in await second.sessions()] == ["s1"]
            assert second.epoch > first.epoch
            async with open_guest(dsn, "b", tmp_path / "c") as guest:
                assert guest.host.startswith("b guest ")
    for name in ("a/b", "a:1", "a@b", ""):
        with pytest.raises(UsageError):
            async with open_core(dsn, name, tmp_path / "d"):
                pass


async def test_a_core_that_another_took_the_place_of_writes_nothing_more(
    dsn: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        frozen = await stack.enter_async_context(open_core(dsn, "a", tmp_path / "a"))
        await frozen.append(session_draft("s1"))
        # As after a network that was cut: the server has forgotten the first, which goes on.
        await frozen._standing.close()
        async with open_core(dsn, "a", tmp_path / "b") as newer:
            with pytest.raises(FencedError, match="newer process is host a"):
                await frozen.check_owned()
            for _ in range(2):
                with pytest.raises(FencedError):
                    await frozen.append(step_draft("s1", 1))
            [event] = await newer.append(step_draft("s1", 2))
            assert event.seq == 2


async def test_what_belongs_to_a_host_is_its_alone(dsn: str, tmp_path: Path) -> None:
    async with (
        open_core(dsn, "a", tmp_path / "a") as one,
        open_core(dsn, "b", tmp_path / "b") as other,
    ):
        ours, theirs = own_part(one), own_part(other)
        await ours.append(session_draft("s1"), question_draft("q1"))
        job = await ours.create_job(make_job)
        for number, store in enumerate((ours, theirs, ours), 1):
            assert await store.next_number("watcher", 0) == number
        assert (await theirs.session("s1")).host == job.host == "a"
        assert await ours.next_due_ms() is not None
        assert [one.id for one in await ours.due_jobs(1 << 60)] == [job.id]
        assert len(await ours.open_questions()) == len(await unpruned(ours)) == 1
        assert await ours.sessions(active_only=True)
        assert not await theirs.sessions(active_only=True)
        assert not await theirs.open_questions()
        assert not await unpruned(theirs)
        assert not await theirs.due_jobs(1 << 60)
        assert await theirs.next_due_ms() is None
        with pytest.raises(WrongStateError, match="belongs to host a"):
            await theirs.append(step_draft("s1", 1))
        with pytest.raises(WrongStateError, match="belongs to host a"):
            await theirs.delete_sessions("s1")
        hosted = EventDraft("s1", SessionHosted(host="b", serial="b/phone"))
        await theirs.append(hosted)
        with pytest.raises(WrongStateError, match="belongs to host b"):
            await ours.append(step_draft("s1", 1))
        await theirs.append(step_draft("s1", 1))
        assert (await ours.session("s1")).serial == "b/phone"


async def test_a_data_directory_is_of_one_store_and_one_process(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    embedded = tmp_path / "embedded"
    async with SqliteStore.open(embedded):
        pass
    with pytest.raises(StoreError, match="has a store of its own"):
        async with open_core(dsn, "a", embedded):
            pass
    await filled(dsn, tmp_path / "data")
    with pytest.raises(StoreGoneError, match="has no store"):
        async with open_core(postgres_server.new_database(), "a", tmp_path / "data"):
            pass
    with pytest.raises(StoreGoneError, match=r"in a fleet.s database"):
        async with SqliteStore.open(tmp_path / "data"):
            pass
    lock = DirectoryLock.take(tmp_path / "data")
    try:
        with pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
            async with open_core(dsn, "a", tmp_path / "data"):
                pass
    finally:
        lock.release()


async def test_a_database_that_was_put_back_is_noticed_at_the_next_start(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    directory, file = tmp_path / "data", tmp_path / "backup"
    await filled(dsn, directory)
    await back_up(dsn, file)
    async with open_core(dsn, "a", directory) as store:
        await store.append(step_draft("s1", 99))
        last = await store.last_event_id()
    postgres_server.sql("DROP SCHEMA switchboard CASCADE", database=database)
    await restore(dsn, file)
    with pytest.raises(StoreGoneError, match=f"ends at event {last - 1}, and had {last}"):
        async with open_core(dsn, "a", directory):
            pass
    assert not (await check(dsn, directory)).is_sound
    assert len(await adopt(dsn, "a", directory)) == 1
    assert (await check(dsn, directory)).is_sound
    async with open_core(dsn, "a", directory) as store:
        [event] = await store.append(step_draft("s1", 100))
        assert event.event_id == last


# --- servers that cannot be used ----------


async def refusal(dsn: str, directory: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        async with open_core(dsn, "a", directory):
            pass
    return caught.value


async def test_a_database_that_takes_no_writes_is_refused_and_can_be_read(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    postgres_server.sql(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    refused = await refusal(dsn, tmp_path / "data")
    assert isinstance(refused, UnwritableError)
    assert "takes no writes" in refused.message
    async with open_stored(dsn, tmp_path / "data") as store:
        assert len(await store.sessions()) == 1


async def test_a_replica_is_refused_and_can_be_read(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    with postgres_server.replica() as directory:
        replica = dsn.replace(str(postgres_server.directory), str(directory))
        refused = await refusal(replica, tmp_path / "data")
        assert isinstance(refused, UnwritableError)
        assert "is a replica" in refused.message
        assert "target_session_attrs=read-write" in refused.remedy
        async with open_stored(replica, tmp_path / "data") as store:
            assert len(await store.sessions()) == 1
            assert len(await store.search("züge")) == 1
        both = dsn.replace("?host=", f"?host={directory},")
        async with open_core(
            f"{both}&target_session_attrs=read-write", "a", tmp_path / "data"
        ) as store:
            await store.append(step_draft("s1", 1))


async def test_a_wrong_password_is_said_at_once_and_told_to_nobody(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with postgres_server.asking_for_passwords(database):
        wrong = dsn.replace("user=switchboard", "user=switchboard&password=hunter2")
        refused = await refusal(wrong, tmp_path / "data")
    assert "refuses the role or its password" in refused.message
    assert "hunter2" not in f"{refused} {refused.remedy}"
    assert dsn not in f"{refused} {refused.remedy}"


def said_of(text: str) -> str:
    """Return what is said where libpq refuses a connection with a text."""
    return str(_no_connection(psycopg.OperationalError(f"connection failed: {text}")))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('root certificate file "/secret/root.crt" does not exist', "no certificate of an"),
        ("SSL error: certificate verify failed", "is not of the authority that is trusted"),
        ('server certificate for "secret" does not match host name "x"', "for another name"),
        ("server does not support SSL, but SSL was required", "does not offer TLS"),
        ('no pg_hba.conf entry for host "secret", user "x", no encryption', "by TLS only"),
    ],
)
def test_a_mistake_of_tls_is_told_at_once_with_what_to_check(text: str, why: str) -> None:
    said = said_of(text)
    assert why in said
    assert "sslrootcert" in said
    assert "secret" not in said
    assert not _may_pass(psycopg.OperationalError(text))


async def test_a_host_may_have_a_role_of_its_own_and_a_reader_one_that_only_reads(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    for sql in (
        "CREATE ROLE rack_3 LOGIN",
        "GRANT switchboard TO rack_3",
        "ALTER ROLE rack_3 SET role switchboard",
        "CREATE ROLE looker LOGIN",
        "GRANT pg_read_all_data TO looker",
    ):
        postgres_server.sql(sql)
    own = dsn.replace("user=switchboard", "user=rack_3")
    async with open_core(own, "rack-3", tmp_path / "rack-3") as store:
        await store.append(session_draft("s2"))
    async with FleetRegister.opened(own, tmp_path / "rack-3") as register:
        await register.change("ana", lambda _: Operator(name="ana"))
    link = Link(dsn, "test")
    assert await link.rows("SELECT operator, role FROM register_change") == [("ana", "rack_3")]
    await link.close()
    reading = dsn.replace("user=switchboard", "user=looker")
    async with open_stored(reading, tmp_path / "looker") as records:
        assert len(await records.sessions()) == 2
    assert "permission denied" in (await refusal(reading, tmp_path / "looker")).message


# --- versions ----------


async def test_an_older_schema_is_brought_up_to_date_by_a_core_alone(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    link = Link(dsn, "older")
    async with link.transaction():
        await link.rows("CREATE SCHEMA switchboard")
        await migrate(link, 0, 1)
        await link.rows("UPDATE tip SET version = 1, store = 'older'")
        await link.commit()
    await link.close()
    with pytest.raises(StoreError, match="older Switchboard"):
        async with open_stored(dsn, tmp_path / "data"):
            pass
    with pytest.raises(StoreError, match="older Switchboard"):
        await check(dsn, tmp_path / "data")
    version = "SELECT version FROM switchboard.tip"
    assert postgres_server.sql(version, database=database) == "1"
    async with open_core(dsn, "a", tmp_path / "data") as store:
        assert store.identity == "older"
        await store.append(session_draft("s1"))
    assert postgres_server.sql(version, database=database) == str(len(MIGRATIONS))


async def test_what_older_sessions_and_jobs_are_found_by_is_what_a_new_store_finds(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    link = Link(dsn, "older")
    sessions, job = placed_sessions(), placed_job()
    async with link.transaction():
        await link.rows("CREATE SCHEMA switchboard")
        await migrate(link, 0, _BEFORE_FACTS)
        await link.rows("UPDATE tip SET version = ?, store = 'older'", (_BEFORE_FACTS,))
        for one in sessions:
            await link.rows(
                "INSERT INTO session "
                "(session_id, parent_id, state, last_seq, job_id, is_pruned, record) "
                "VALUES (?, '', ?, 0, 0, 0, ?)",
                (one.session_id, one.state, encoded(one)),
            )
        await link.rows(
            "INSERT INTO job (id, status, next_run_at, running_at, search, record) "
            "VALUES (7, 'active', 0, 0, 'water' || chr(10) || 'slowly' || chr(10) || 'active', ?)",
            (encoded(job),),
        )
        await link.commit()
    async with open_core(dsn, "a", tmp_path / "data") as store:
        assert len(await store.sessions()) == len(sessions)
    columns = "session_id, created_ms, place, model, labels"
    found = await link.rows(f"SELECT {columns} FROM session")
    assert {row[0]: tuple(row[1:]) for row in found} == {
        one.session_id: facts_of(one) for one in sessions
    }
    [(search,)] = await link.rows("SELECT search FROM job")
    assert search == f"water\nslowly\n{' '.join(job.places)}\nactive".casefold()
    await link.close()


async def test_a_newer_schema_is_not_read(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    postgres_server.sql("UPDATE switchboard.tip SET version = 99", database=database)
    assert "newer Switchboard" in (await refusal(dsn, tmp_path / "data")).message
    with pytest.raises(StoreError, match="newer Switchboard"):
        async with open_stored(dsn, tmp_path / "data"):
            pass


# --- records ----------


async def test_records_are_read_beside_a_core_and_change_nothing(dsn: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no Switchboard store"):
        async with open_stored(dsn, tmp_path / "none"):
            pass
    digest = await filled(dsn, tmp_path / "a")
    async with (
        open_core(dsn, "a", tmp_path / "a") as core,
        open_stored(dsn, tmp_path / "elsewhere") as records,
    ):
        await core.append(session_draft("s2"))
        assert [one.session_id for one in await records.sessions()] == ["s2", "s1"]
        assert await records.last_event_id() == await core.last_event_id()
        assert await records.blobs.read(digest) == b"named" * 1000
        assert len(await records.open_questions()) == 1
        with pytest.raises(UnwritableError, match="read-only"):
            await records.append(step_draft("s1", 1))
        with pytest.raises(UnwritableError):
            await records.blobs.put(b"x", "text/plain")
    assert not (tmp_path / "elsewhere").exists()


# --- upkeep ----------


async def test_a_check_names_what_is_wrong_beside_a_core(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    digest = await filled(dsn, tmp_path / "data")
    async with open_core(dsn, "a", tmp_path / "data"):
        found = await check(dsn, tmp_path / "data")
        assert found.is_sound, found
        assert (found.events, found.sessions, found.blobs) == (44, 1, 2)
        assert found.size_bytes > 0
        for sql in (
            "DELETE FROM switchboard.event WHERE id = 10",
            "UPDATE switchboard.event SET body = '{}' WHERE id = 11",
            f"UPDATE switchboard.blob SET data = 'x' WHERE digest = '{digest}'",
        ):
            postgres_server.sql(sql, database=database)
        told = "\n".join((await check(dsn, tmp_path / "data")).findings)
    assert "Session s1 should have 43 events and has 42" in told
    assert "Event 11 cannot be read" in told
    assert f"Blob {digest} is damaged" in told


async def test_what_nothing_names_goes(dsn: str, tmp_path: Path) -> None:
    digest = await filled(dsn, tmp_path / "data")
    async with open_core(dsn, "a", tmp_path / "data") as store:
        assert (await store.blobs.collect()).blobs == 1
        assert await store.blobs.read(digest)
    await vacuum(dsn)


# --- backups ----------


async def test_a_backup_under_work_is_restored_whole(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    digest = await filled(dsn, tmp_path / "data")
    file = tmp_path / "backup"
    async with open_core(dsn, "a", tmp_path / "data") as store:

        async def write() -> None:
            for step in range(200):
                await store.append(step_draft("s1", step))

        writing = asyncio.create_task(write())
        made = await back_up(dsn, file)
        await writing
        expected = await store.events(after=0, limit=made.events)
        identity = store.identity
    other = postgres_server.new_database()
    assert await restore(other, file) == made
    assert (await check(other, tmp_path / "elsewhere")).is_sound
    async with open_core(other, "a", tmp_path / "restored") as again:
        assert again.identity == identity
        assert (await again.events(after=0, limit=10_000))[: len(expected)] == expected
        assert await again.blobs.read(digest) == b"named" * 1000
        assert len(await again.search("züge")) == 1
        assert len(await again.open_questions()) == 1
        assert (await again.create_job(make_job)).id == 2
        assert (await again.append(session_draft("s2")))[0].event_id > made.events
        epoch = again.epoch
    async with PostgresStore.open(other, "b") as joined:
        assert joined.epoch > epoch
    with pytest.raises(StoreError, match="already has a store"):
        await restore(other, file)
    with pytest.raises(UsageError, match="already exists"):
        await back_up(dsn, file)


async def test_a_backup_does_not_say_how_a_host_is_reached(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    file = tmp_path / "backup"
    async with (
        open_core(dsn, "a", tmp_path / "data") as store,
        store.present(dsn, version="1.0.0", phones=tuple, wire=lambda: "the saffron word"),
    ):
        await back_up(dsn, file)
    with zipfile.ZipFile(file) as kept:
        assert b"1.0.0" in kept.read("host")
        assert not any(b"saffron" in kept.read(name) for name in kept.namelist())
    other = postgres_server.new_database()
    await restore(other, file)
    assert (await check(other, tmp_path / "elsewhere")).is_sound


async def test_a_backup_that_is_not_whole_leaves_the_database_empty(
    dsn: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    file, broken = tmp_path / "backup", tmp_path / "broken"
    await back_up(dsn, file)
    whole = file.read_bytes()
    other = postgres_server.new_database()
    name = other.removeprefix("postgresql:///").partition("?")[0]
    flipped = bytearray(whole)
    flipped[whole.index(b"named" * 10)] ^= 1
    for data in (b"", b"no zip", whole[: len(whole) // 2], whole[:-30], bytes(flipped)):
        broken.write_bytes(data)
        with pytest.raises(StoreError, match="not a complete backup"):
            await restore(other, broken)
    with zipfile.ZipFile(file) as good:
        parts = {one: good.read(one) for one in good.namelist()}
    for changed in (
        {"event": parts["event"][:-200]},
        {"question": parts["session"]},
        {"session": parts["session"][:19] + b"\xff\xff"},
        {"manifest.json": parts["manifest.json"].replace(b'"version":', b'"version":9')},
        {"manifest.json": b"[]"},
    ):
        with zipfile.ZipFile(broken, "w") as bad:
            for one, content in (parts | changed).items():
                bad.writestr(one, content)
        with pytest.raises(StoreError):
            await restore(other, broken)
    schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'switchboard'"
    assert postgres_server.sql(schemas, database=name) == "0"


async def test_a_backup_has_every_table(
    dsn: str, database: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    await filled(dsn, tmp_path / "data")
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'switchboard'"
    assert set(postgres_server.sql(tables, database=database).split()) == {*_TABLES, *LEFT_OUT}
