"""The hosts of a fleet: who is there, with which phones, and who is gone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import StoreError, UnwritableError
from agent.records import DeviceInfo, DeviceState, HostState
from agent.store.postgres.core_store import open_core
from agent.store.postgres.health import Finding, examine, summary
from agent.store.postgres.hosts import HostRecord, fits, hosts
from agent.store.postgres.link import Link
from agent.store.postgres.postgres_store import PostgresStore
from tests.store.conftest import question_draft, session_draft
from tests.store.postgres_server import PostgresServer

PATIENCE_S = 60.0
PATIENT_MS = 600_000
"""How long a host may be silent here: on a machine that is busy, a beat may be late."""
PHONES = (
    DeviceInfo(serial="one", state=DeviceState.ONLINE, name="Zoë's", tags=("rack 3",)),
    DeviceInfo(serial="two", state=DeviceState.OFFLINE, hardware_serial="R58M123ABC"),
)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.store.postgres.hosts.GONE_MS", PATIENT_MS)


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def database(dsn: str) -> str:
    return dsn.removeprefix("postgresql:///").partition("?")[0]


@pytest.fixture
async def link(dsn: str) -> AsyncIterator[Link]:
    looking = Link(dsn, "test", is_written=False)
    yield looking
    await looking.close()


def phones() -> tuple[DeviceInfo, ...]:
    return PHONES


@asynccontextmanager
async def joined(
    dsn: str,
    host: str,
    *,
    version: str,
    phones: Callable[[], tuple[DeviceInfo, ...]],
    labels: Iterable[str] = (),
) -> AsyncIterator[asyncio.Task[None]]:
    async with (
        PostgresStore.open(dsn, host) as store,
        store.present(dsn, version=version, labels=labels, phones=phones) as staying,
    ):
        yield staying


async def until(link: Link, name: str, state: HostState) -> HostRecord:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for one in await hosts(link):
                if one.name == name and one.state is state:
                    return one
            await asyncio.sleep(0.02)


async def fall_silent(staying: asyncio.Future[None], server: PostgresServer, database: str) -> None:
    """Stop a host's beat, as when its process stands still: its connection and lock stay."""
    staying.cancel()
    await asyncio.wait({staying})
    server.sql(
        f"UPDATE switchboard.host SET seen_ms = seen_ms - {PATIENT_MS} - 1", database=database
    )


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_a_host_is_there_with_its_phones_until_it_leaves(dsn: str, link: Link) -> None:
    seen = [PHONES[:1]]
    async with joined(
        dsn, "a", version="1.2.0", labels=["lab", "lab", "x"], phones=lambda: seen[0]
    ):
        [one] = await hosts(link)
        assert (one.name, one.state, one.version) == ("a", HostState.HERE, "1.2.0")
        assert one.labels == ("lab", "x")
        assert one.phones == PHONES[:1]
        assert not one.works
        async with asyncio.timeout(PATIENCE_S):
            while (await hosts(link))[0].beat_ms is None:
                await asyncio.sleep(0.02)
        seen[0] = PHONES
        async with asyncio.timeout(PATIENCE_S):
            while (await hosts(link))[0].phones != PHONES:
                await asyncio.sleep(0.02)
        with pytest.raises(StoreError, match="in use"):
            async with joined(dsn, "a", version="1.2.0", phones=phones):
                pass
    [left] = await hosts(link)
    assert left.state is HostState.LEFT
    assert left.phones == PHONES
    assert left.beat_ms is None


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_a_host_that_lost_its_connection_or_is_silent_is_gone(
    dsn: str, database: str, link: Link, postgres_server: PostgresServer
) -> None:
    async with joined(dsn, "a", version="1.2.0", phones=phones) as staying:
        await fall_silent(staying, postgres_server, database)
        gone = await until(link, "a", HostState.GONE)
        assert gone.silent_ms > PATIENT_MS
        assert gone.phones == PHONES
    async with joined(dsn, "a", version="1.2.0", phones=phones) as staying:
        staying.cancel()
        await asyncio.wait({staying})
        # It was heard of just now, and its process has ended.
        postgres_server.sql(
            "UPDATE switchboard.host SET seen_ms = seen_ms + 3600000; "
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'switchboard a host'",
            database=database,
        )
        assert (await until(link, "a", HostState.GONE)).silent_ms == 0


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_a_host_whose_connection_broke_is_there_again(
    dsn: str, database: str, link: Link, postgres_server: PostgresServer
) -> None:
    async with joined(dsn, "a", version="1.2.0", phones=phones):
        holder = (
            "SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE locktype = 'advisory' AND granted AND datname = current_database()"
        )
        before = postgres_server.sql(holder, database=database)
        postgres_server.sql(f"SELECT pg_terminate_backend({before})", database=database)
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(postgres_server.sql, holder, database=database) in (
                "",
                before,
            ):
                await asyncio.sleep(0.02)
        await until(link, "a", HostState.HERE)


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_a_host_whose_name_another_process_took_ends(
    dsn: str, database: str, postgres_server: PostgresServer
) -> None:
    async with joined(dsn, "a", version="1.2.0", phones=phones) as staying:
        # As the opening of a newer process under the same name.
        newer = "UPDATE switchboard.host SET epoch = nextval('switchboard.epoch')"
        postgres_server.sql(newer, database=database)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(staying)


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_a_core_is_a_host_and_versions_have_to_fit(
    dsn: str, link: Link, tmp_path: Path
) -> None:
    async with (
        open_core(dsn, "a", tmp_path) as store,
        store.present(dsn, version="1.2.0", phones=phones),
    ):
        await store.append(session_draft("s1"), question_draft("q1"))
        core = await until(link, "a", HostState.HERE)
        assert core.works
        assert core.phones == PHONES
        for far in ("1.4.0", "1.0.9", "2.2.0", "strange"):
            with pytest.raises(StoreError, match="within one minor version") as refused:
                async with joined(dsn, "b", version=far, phones=phones):
                    pass
            assert far in refused.value.message
            assert refused.value.remedy
        assert [one.name for one in await hosts(link)] == ["a"]
        async with joined(dsn, "b", version="1.3.0rc1", phones=phones):
            assert [one.works for one in await hosts(link)] == [True, False]
            total = await summary(link)
            assert (total.active, total.questions) == (1, 1)
            found = {one.name: one for one in await examine(link)}
            assert found["hosts"].detail == "2 here"
            assert found["cores"].ok
            assert found["versions"].ok
            assert "R58M123ABC" in found["phones"].detail
            assert not found["phones"].ok
    async with joined(dsn, "b", version="9.0.0", phones=phones):
        assert {one.name: one.state for one in await hosts(link)} == {
            "a": HostState.LEFT,
            "b": HostState.HERE,
        }


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
async def test_what_is_wrong_with_a_fleet_is_said_with_its_remedy(
    dsn: str, database: str, link: Link, postgres_server: PostgresServer
) -> None:
    async with joined(dsn, "a", version="1.2.0", phones=phones) as staying:
        await fall_silent(staying, postgres_server, database)
        found: dict[str, Finding] = {one.name: one for one in await examine(link)}
        wrong = {name for name, one in found.items() if not one.ok}
        assert wrong == {"hosts", "cores"}
        assert "a is gone for" in found["hosts"].detail
        assert all(found[name].remedy for name in wrong)
        with pytest.raises(UnwritableError):
            await link.rows("UPDATE host SET seen_ms = 0")


@pytest.mark.parametrize(
    ("one", "other", "fit"),
    [
        ("1.2.0", "1.2.9", True),
        ("1.2.0", "1.3.0.dev1", True),
        ("1.2", "1.1.5", True),
        ("1.2.0", "1.4.0", False),
        ("1.2.0", "2.2.0", False),
        ("0.9.0", "1.0.0", False),
        ("x", "x", True),
        ("x", "1.2.0", False),
        ("", "", True),
    ],
)
def test_versions_fit_within_one_minor(one: str, other: str, fit: bool) -> None:
    assert fits(one, other) is fit
    assert fits(other, one) is fit


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_two_versions_fit_alike_from_both_sides(one: str, other: str) -> None:
    assert fits(one, other) is fits(other, one)
    assert fits(one, one)
