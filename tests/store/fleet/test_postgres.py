"""What only a store with many hosts can get wrong: order, names, lost answers, dying servers."""

import asyncio
import logging
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import FencedError, StoreError, StoreGoneError, UsageError, WrongStateError
from agent.protocol import AgentMessage, Event, QuestionAnswered, ToolCallRequested
from agent.records import JobStatus
from agent.store.changes.write_queue import StoreAwayError, UnknownOutcomeError
from agent.store.postgres.link import Link
from agent.store.postgres.opening import CHANNEL
from agent.store.postgres.postgres_store import PostgresStore
from agent.store.postgres.schema import MIGRATIONS
from agent.store.postgres.words import query_of, vector_of
from agent.store.rows import Statement
from agent.store.store import EventDraft, Store
from tests.store.conftest import make_job, question_draft, session_draft, step_draft
from tests.store.postgres_server import PostgresServer, running_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
PATIENCE_S = 60.0


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def database(dsn: str) -> str:
    """The name of the database behind `dsn`."""
    return dsn.removeprefix("postgresql:///").partition("?")[0]


@pytest.fixture
async def fleet(dsn: str) -> AsyncIterator[list[PostgresStore]]:
    """The store as three hosts have it open."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(PostgresStore.open(dsn, name)) for name in "abc"]


async def until_seen(seen: list[Event], count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) < count:
            await asyncio.sleep(0.005)


# --- many hosts ----------


async def test_a_commit_without_events_wakes_no_other_host(
    fleet: list[PostgresStore], dsn: str
) -> None:
    listening = Link(dsn, "listening")
    try:
        await listening.rows(f"LISTEN {CHANNEL}")
        assert await fleet[0].acquire_lease("phone", "a", 60_000)
        assert not await listening.notices(0.5)
        await fleet[0].append(session_draft("s"))
        assert await listening.notices(PATIENCE_S)
    finally:
        await listening.close()


async def test_the_server_compiles_no_statement_however_large_it_estimates_it(
    fleet: list[PostgresStore], dsn: str
) -> None:
    link = Link(dsn, "test")
    try:
        every = ", ".join(f"operator o{number}" for number in range(4))
        plan = await link.rows(f"EXPLAIN SELECT count(*) FROM {every}")
    finally:
        await link.close()
    assert "Nested Loop" in str(plan)
    assert "JIT" not in str(plan)


async def test_what_was_deleted_before_a_host_looked_leaves_no_gap(
    fleet: list[PostgresStore],
) -> None:
    seen: list[Event] = []
    await fleet[0].append(session_draft("s"), session_draft("kept"))
    await fleet[0].delete_sessions("s")
    async with AsyncExitStack() as stack:
        stack.callback(fleet[1].subscribe(lambda commit: seen.extend(commit.events)))
        await fleet[1].append(step_draft("kept", 1))
        assert fleet[1].newest_event_id == await fleet[0].last_event_id()


async def test_all_hosts_write_one_log_without_gaps_and_hear_it_in_one_order(
    fleet: list[PostgresStore],
) -> None:
    heard: list[list[Event]] = [[], [], []]
    for store, seen in zip(fleet, heard, strict=True):
        store.subscribe(lambda commit, seen=seen: seen.extend(commit.events))
    names = [f"s{number}" for number in range(6)]
    await fleet[0].append(*(session_draft(name) for name in names))
    await asyncio.gather(
        *(
            store.append(EventDraft(name, AgentMessage(step=step, text=f"{step}")))
            for step in range(25)
            for store in fleet
            for name in names
        )
    )
    total = 6 + 25 * 3 * 6
    for seen in heard:
        await until_seen(seen, total)
        assert [event.event_id for event in seen] == list(range(1, total + 1))
    for name in names:
        events = await fleet[1].session_events(name)
        assert [event.seq for event in events] == list(range(1, 77))
        assert [one async for one in _as_records(fleet, name)] == [await fleet[0].session(name)] * 3


async def _as_records(fleet: list[PostgresStore], name: str) -> AsyncIterator[object]:
    for store in fleet:
        yield await store.session(name)


async def test_what_one_host_decided_the_others_cannot_decide_again(
    fleet: list[PostgresStore],
) -> None:
    await fleet[0].append(session_draft("s1"), question_draft("q1"))
    answers = [
        store.append(EventDraft("s1", QuestionAnswered(question_id="q1", answer="yes")))
        for store in fleet
    ]
    outcomes = await asyncio.gather(*answers, return_exceptions=True)
    assert sorted(isinstance(one, WrongStateError) for one in outcomes) == [False, True, True]
    job = await fleet[0].create_job(make_job)
    running = make_job(job.id, status=JobStatus.RUNNING)
    claims = [
        store.replace_job(running, expect=JobStatus.ACTIVE, reason="claimed")
        for _ in range(4)
        for store in fleet
    ]
    assert sum(await asyncio.gather(*claims)) == 1
    made = await asyncio.gather(*(store.create_job(make_job) for store in fleet for _ in range(5)))
    assert sorted(job.id for job in made) == list(range(2, 17))
    got = await asyncio.gather(
        *(store.acquire_lease("phone", f"{n}", 60_000) for n, store in enumerate(fleet))
    )
    assert sum(lease is not None for lease in got) == 1


async def test_a_lease_that_another_host_took_over_fences_what_is_remembered_of_it(
    dsn: str,
) -> None:
    now = [1_000_000]
    async with (
        PostgresStore.open(dsn, "a", clock_ms=lambda: now[0]) as a,
        PostgresStore.open(dsn, "b", clock_ms=lambda: now[0]) as b,
    ):
        lease = await a.acquire_lease("phone", "a", 1000)
        await a.append(session_draft("s1"), under=lease)
        now[0] += 5000
        later = await b.acquire_lease("phone", "b", 1000)
        with pytest.raises(FencedError):
            await a.append(step_draft("s1", 1), under=lease)
        await b.append(step_draft("s1", 2), under=later)
        assert len(await a.session_events("s1")) == 2


async def test_what_another_host_deleted_is_not_remembered(fleet: list[PostgresStore]) -> None:
    a, b, _ = fleet
    await a.append(session_draft("s1", goal="secret"), step_draft("s1", 1))
    await b.delete_sessions("s1")
    with pytest.raises(UsageError):
        await a.append(step_draft("s1", 2))
    assert await a.search("secret") == ()
    [event] = await a.append(session_draft("s1"))
    assert event.seq == 1


async def test_a_read_on_one_host_never_runs_ahead_of_what_its_listeners_were_told(
    fleet: list[PostgresStore],
) -> None:
    a, b, _ = fleet
    told: list[Event] = []
    b.subscribe(lambda commit: told.extend(commit.events))
    await a.append(session_draft("s1"))

    async def write() -> None:
        for step in range(150):
            await a.append(step_draft("s1", step))

    writing = asyncio.create_task(write())
    reads = 0
    while not writing.done():
        for event in await b.session_events("s1", after_seq=max(len(told) - 1, 0)):
            assert event.event_id <= told[-1].event_id
            reads += 1
    await writing
    assert reads


async def test_a_host_that_was_far_behind_catches_up_before_it_holds_up_the_others(
    fleet: list[PostgresStore],
) -> None:
    a, b, _ = fleet
    heard: list[Event] = []
    b.subscribe(lambda commit: heard.extend(commit.events))
    await b._queue._taking.acquire()
    try:
        await a.append(session_draft("s1"), *(step_draft("s1", n) for n in range(3000)))
    finally:
        b._queue._taking.release()
    [event] = await b.append(step_draft("s1", 1))
    assert event.seq == 3002
    assert [one.event_id for one in heard] == list(range(1, 3003))


async def test_hosts_that_begin_at_once_make_one_store(dsn: str) -> None:
    async with AsyncExitStack() as stack:
        opening = [
            stack.enter_async_context(PostgresStore.open(dsn, f"host {number}"))
            for number in range(6)
        ]
        stores = await asyncio.gather(*opening)
        assert len({store.identity for store in stores}) == 1
        assert len({store.epoch for store in stores}) == 6


async def test_a_blob_of_an_open_host_is_left_for_its_event_and_then_goes_by_uses(
    fleet: list[PostgresStore],
) -> None:
    a, b, _ = fleet
    digest = await a.blobs.put(b"picture", "image/png")
    assert (await b.blobs.collect()).blobs == 0
    call = ToolCallRequested(step=1, call_id="c", tool="tap", arguments="{}", reply_digest=digest)
    await a.append(session_draft("s1"), EventDraft("s1", call))
    assert (await b.blobs.collect()).blobs == 0
    assert await b.blobs.read(digest) == b"picture"
    await a.delete_sessions("s1")
    assert (await b.blobs.collect()).blobs == 1


# --- names and identity ----------


async def test_a_hosts_name_is_used_once_at_a_time(dsn: str) -> None:
    async with PostgresStore.open(dsn, "a") as first:
        with pytest.raises(StoreError, match="in use"):
            async with PostgresStore.open(dsn, "a"):
                pass
        epoch = first.epoch
    async with PostgresStore.open(dsn, "a") as second:
        assert second.epoch > epoch
        for name in ("", "  ", "a\nb", "x" * 101):
            with pytest.raises(UsageError):
                async with PostgresStore.open(dsn, name):
                    pass


async def test_a_host_whose_name_a_newer_process_took_writes_nothing_more(
    dsn: str, database: str, postgres_server: PostgresServer
) -> None:
    async with PostgresStore.open(dsn, "a") as frozen:
        await frozen.append(session_draft("s1"))
        # As after a network that was cut: the server has forgotten the first, which goes on.
        await frozen._standing.close()
        async with PostgresStore.open(dsn, "a") as newer:
            with pytest.raises(FencedError):
                await frozen.check_owned()
            with pytest.raises(FencedError):
                await frozen.append(step_draft("s1", 1))
            with pytest.raises(FencedError):
                await frozen.append(step_draft("s1", 2))
            [event] = await newer.append(step_draft("s1", 3))
            assert event.seq == 2


async def test_a_store_knows_itself(
    dsn: str, database: str, postgres_server: PostgresServer
) -> None:
    async with PostgresStore.open(dsn, "a") as store:
        identity = store.identity
        await store.append(session_draft("s1"))
    async with PostgresStore.open(dsn, "a", expected=identity) as store:
        assert [one.session_id for one in await store.sessions()] == ["s1"]
    with pytest.raises(StoreGoneError, match="another store"):
        async with PostgresStore.open(dsn, "a", expected="0" * 16):
            pass
    with pytest.raises(StoreGoneError, match="has no store"):
        async with PostgresStore.open(postgres_server.new_database(), "a", expected=identity):
            pass
    newer = len(MIGRATIONS) + 1
    postgres_server.sql(f"UPDATE switchboard.tip SET version = {newer}", database=database)
    with pytest.raises(StoreError, match="newer Switchboard"):
        async with PostgresStore.open(dsn, "a"):
            pass


async def test_a_schema_of_another_program_is_left_alone(
    dsn: str, database: str, postgres_server: PostgresServer
) -> None:
    sql = "CREATE SCHEMA switchboard; CREATE TABLE switchboard.event (x int)"
    postgres_server.sql(sql, database=database)
    with pytest.raises(StoreError, match="another program"):
        async with PostgresStore.open(dsn, "a"):
            pass
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'switchboard'"
    assert postgres_server.sql(tables, database=database) == "1"


@pytest.mark.parametrize(
    "loss",
    [
        "DROP SCHEMA switchboard CASCADE",
        "DELETE FROM switchboard.tip",
        "UPDATE switchboard.tip SET store = 'another'",
        "UPDATE switchboard.tip SET event_id = 1",
    ],
)
async def test_a_database_that_was_lost_or_put_back_in_use_is_not_written(
    dsn: str, database: str, postgres_server: PostgresServer, loss: str
) -> None:
    async with PostgresStore.open(dsn, "a") as store:
        await store.append(session_draft("s1"), step_draft("s1", 1))
        postgres_server.sql(loss, database=database)
        if "event_id" not in loss:
            with pytest.raises(StoreGoneError):
                await store.check_owned()
        for _ in range(2):
            with pytest.raises(StoreError):
                await store.append(step_draft("s1", 2))
    if "DROP" not in loss:
        count = "SELECT count(*) FROM switchboard.event"
        assert postgres_server.sql(count, database=database) == "2"


# --- what is never told ----------


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://someone:hunter2@127.0.0.1:1/fleet?connect_timeout=1",
        "postgresql://someone:hun@ter2@nowhere.invalid/fleet",
        "postgresql://someone:hunter2/x@nowhere.invalid:99999999/fleet",
        "host='unclosed password=hunter2",
        "postgresql://[hunter2",
    ],
)
async def test_no_error_and_no_log_tells_the_address(
    address: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    link = Link(address, "test", patience_s=0.1)
    with pytest.raises(StoreError) as caught:
        await link.rows("SELECT 1")
    told = f"{caught.value} {caught.value.remedy} {caplog.text}"
    assert "hunter2" not in told and "ter2" not in told and address not in told
    assert caught.value.remedy


# --- a server that fails ----------


async def test_a_commit_whose_answer_is_lost_is_stored_once(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PostgresStore.open(dsn, "a") as store:
        await store.append(session_draft("s1"))
        commit, lost = Link.commit, ["after", "before"]

        async def losing(link: Link, *last: Statement) -> None:
            if link is not store._writing or not lost:
                await commit(link, *last)
                return
            when = lost.pop()
            if when == "after":
                await commit(link, *last)
            await link._drop()
            raise StoreAwayError("The connection broke.")

        monkeypatch.setattr(Link, "commit", losing)
        for step in (1, 2, 3):
            await store.append(step_draft("s1", step))
        assert lost == []
        steps = [getattr(one.msg, "step", 0) for one in await store.session_events("s1")]
        assert steps == [0, 1, 2, 3]


async def test_a_commit_that_nobody_can_say_anything_of_is_told_as_such_and_heard_later(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PostgresStore.open(dsn, "a") as store:
        await store.append(session_draft("s1"))
        heard: list[Event] = []
        store.subscribe(lambda commit: heard.extend(commit.events))
        commit = Link.commit

        async def losing(link: Link, *last: Statement) -> None:
            await commit(link, *last)
            await link._drop()
            monkeypatch.setattr(link, "_dsn", "host=/nowhere")
            monkeypatch.setattr(link, "_patience_s", 0.1)
            raise StoreAwayError("The connection broke.")

        with monkeypatch.context() as patch:
            patch.setattr(Link, "commit", losing)
            with pytest.raises(UnknownOutcomeError, match="unknown"):
                await store.append(step_draft("s1", 1))
        monkeypatch.setattr(store._writing, "_dsn", dsn)
        await store.append(step_draft("s1", 2))
        assert [getattr(event.msg, "step", 0) for event in heard] == [1, 2]
        assert [one.seq for one in await store.session_events("s1")] == [1, 2, 3]


async def test_a_host_that_freezes_in_a_commit_keeps_the_others_waiting_for_seconds_only(
    dsn: str,
) -> None:
    frozen = Link(dsn, "frozen")
    async with PostgresStore.open(dsn, "a") as other:
        await other.append(session_draft("s1"))
        with pytest.raises(StoreAwayError):
            async with frozen.transaction():
                await frozen.rows("SELECT one FROM tip FOR UPDATE")
                async with asyncio.timeout(14):
                    await other.append(step_draft("s1", 1))
                await frozen.rows("SELECT 1")
        await frozen.close()
        assert [one.seq for one in await other.session_events("s1")] == [1, 2]


async def test_the_server_dies_three_times_and_nothing_acknowledged_is_lost_or_doubled() -> None:
    with running_server(is_durable=True) as server:
        dsn = server.new_database()
        async with PostgresStore.open(dsn, "a") as a, PostgresStore.open(dsn, "b") as b:
            names = [f"s{number}" for number in range(8)]
            acknowledged: list[str] = []
            heard: list[Event] = []
            b.subscribe(lambda commit: heard.extend(commit.events))
            await a.append(*(session_draft(name) for name in names))
            stop = asyncio.Event()

            async def write(store: Store, name: str, who: str) -> None:
                step = 0
                while not stop.is_set():
                    step += 1
                    said = f"{who} {name} {step}"
                    try:
                        await store.append(EventDraft(name, AgentMessage(step=step, text=said)))
                    except UnknownOutcomeError:
                        continue
                    acknowledged.append(said)

            writing = [
                asyncio.create_task(write(store, name, who))
                for store, who in ((a, "a"), (b, "b"))
                for name in names
            ]
            for _ in range(3):
                before = len(acknowledged)
                async with asyncio.timeout(PATIENCE_S):
                    while len(acknowledged) < before + 200:
                        await asyncio.sleep(0.01)
                await asyncio.to_thread(server.stop, signal.SIGQUIT)
                await asyncio.to_thread(server.start, is_durable=True)
            before = len(acknowledged)
            async with asyncio.timeout(PATIENCE_S):
                while len(acknowledged) < before + 200:
                    await asyncio.sleep(0.01)
            stop.set()
            await asyncio.gather(*writing)
            last = await a.last_event_id()
            events = await a.events(after=0, limit=1 << 30)
            assert [event.event_id for event in events] == list(range(1, last + 1))
            stored = [event.msg.text for event in events if isinstance(event.msg, AgentMessage)]
            assert len(stored) == len(set(stored))
            assert set(acknowledged) <= set(stored)
            await until_seen(heard, last)
            assert [event.event_id for event in heard] == list(range(1, last + 1))


@pytest.mark.parametrize("manner", ["honest", "early"])
async def test_a_host_that_is_killed_leaves_all_it_acknowledged_and_its_name(
    dsn: str, manner: str
) -> None:
    """Early is the control: it acknowledges what is not stored yet, and has to be caught."""
    program = [sys.executable, "-m", "tests.store.postgres_appender", dsn, "killed", manner]
    lost: set[str] = set()
    root = Path(__file__).parents[3]
    async with PostgresStore.open(dsn, "witness") as witness:
        for _ in range(5):
            process = await asyncio.to_thread(
                subprocess.Popen, program, cwd=root, stdout=subprocess.PIPE, text=True
            )
            assert process.stdout is not None
            said = [await asyncio.to_thread(process.stdout.readline) for _ in range(40)]
            process.kill()
            said += await asyncio.to_thread(process.stdout.readlines)
            await asyncio.to_thread(process.wait)
            process.stdout.close()
            acknowledged = {line.strip() for line in said if line.endswith("\n")}
            assert len(acknowledged) >= 40
            events = await witness.events(after=0, limit=1 << 30)
            stored = {event.msg.text for event in events if isinstance(event.msg, AgentMessage)}
            lost |= acknowledged - stored
    assert bool(lost) == (manner == "early")


# --- words ----------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


async def test_no_text_and_no_query_is_an_error_of_the_servers(dsn: str) -> None:
    link = Link(dsn, "test")

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(TEXTS, TEXTS)
    def every(text: str, query: str) -> None:
        vectors.append(vector_of(text))
        try:
            queries.append(query_of(query))
        except UsageError:
            queries.append("'x'")

    vectors: list[str] = []
    queries: list[str] = []
    try:
        every()
        for vector, query in zip(vectors, queries, strict=True):
            await link.rows("SELECT (?::tsvector @@ ?::tsquery)::int", (vector, query))
    finally:
        await link.close()


async def test_a_host_goes_on_at_the_replica_that_takes_the_servers_place() -> None:
    with running_server(is_durable=True) as server:
        dsn = server.new_database()
        database = dsn.removeprefix("postgresql:///").partition("?")[0]
        with server.replica() as socket:
            both = f"host={server.directory},{socket} user=switchboard dbname={database}"
            address = f"{both} target_session_attrs=read-write"
            async with PostgresStore.open(address, "a") as store:
                await store.append(session_draft("s"), step_draft("s", 1))
                replica = Link(f"host={socket} user=switchboard dbname={database}", "replica")
                try:
                    async with asyncio.timeout(PATIENCE_S):
                        while await replica.rows("SELECT event_id FROM tip") != [(2,)]:
                            await asyncio.sleep(0.05)
                    await asyncio.to_thread(server.stop, signal.SIGQUIT)
                    await replica.rows("SELECT pg_promote()::int")
                finally:
                    await replica.close()
                await store.append(step_draft("s", 2))
                assert [one.seq for one in await store.session_events("s")] == [1, 2, 3]
