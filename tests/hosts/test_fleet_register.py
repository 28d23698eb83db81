"""One register for a fleet: changed anywhere, known at every host, and never older than it was."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.hosts.fleet_register
from agent.errors import ConfigError, StoreError
from agent.hosts.fleet_register import KNOWN_NAME, FleetRegister, is_older
from agent.operators.changes import granted, with_token
from agent.operators.file_register import FILE_NAME
from agent.operators.operator import Operator, made_token
from agent.records import Right
from agent.store.postgres.backup import back_up, restore
from agent.store.postgres.health import Finding, examine
from agent.store.postgres.link import Link
from agent.store.postgres.operator_table import RegisterMetadata
from agent.store.postgres.postgres_store import PostgresStore
from tests.store.postgres_server import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")
PATIENCE_S = 60.0


@pytest.fixture
async def dsn(postgres_server: PostgresServer) -> str:
    made = postgres_server.new_database()
    async with PostgresStore.open(made, "maker"):
        return made


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


class Hosts:
    def __init__(self, dsn: str, directory: Path, stack: AsyncExitStack) -> None:
        self.dsn, self.directory, self._stack = dsn, directory, stack

    async def host(self, name: str) -> FleetRegister:
        data = self.directory / name
        data.mkdir(exist_ok=True)
        followed = FleetRegister.followed(self.dsn, data, name=name)
        return await self._stack.enter_async_context(followed)

    async def command(self, name: str = "desk") -> FleetRegister:
        return await self._stack.enter_async_context(
            FleetRegister.opened(self.dsn, self.directory / name)
        )


@pytest.fixture
def rack(dsn: str, tmp_path: Path, stack: AsyncExitStack) -> Hosts:
    return Hosts(dsn, tmp_path, stack)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.02)


def ana(*rights: Right) -> Operator:
    return granted(Operator(name="ana"), rights or (Right.DRIVE,), ("lab",))


async def test_a_change_is_known_at_every_host(rack: Hosts) -> None:
    first, second, desk = await rack.host("first"), await rack.host("second"), await rack.command()
    assert not first.is_used
    await desk.change("ana", lambda _: ana())
    for host in (first, second):
        await until(lambda host=host: host.find("ana") == ana())
        assert host.is_used
    await desk.change("ana", lambda _: None)
    for host in (first, second):
        await until(lambda host=host: not host.is_used)


async def test_two_administrators_at_once_lose_nothing(rack: Hosts) -> None:
    one, two = await rack.command("one"), await rack.command("two")
    await one.change("ana", lambda _: Operator(name="ana"))

    async def grant(register: FleetRegister, right: Right) -> None:
        for tag in ("a", "b", "c", "d"):
            await register.change(
                "ana", lambda known, tag=tag: granted(known["ana"], [right], [tag])
            )

    await asyncio.gather(grant(one, Right.DRIVE), grant(two, Right.APPROVE))
    await one.confirm()
    assert len(one.all_operators()[0].grants) == 8


@pytest.mark.slow
async def test_a_database_that_is_away_lets_no_operator_in_after_a_while(
    rack: Hosts, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, without = await rack.host("first"), await rack.command()
    await without.change("ana", lambda _: ana())
    await until(lambda: host.find("ana") is not None)
    monkeypatch.setattr(agent.hosts.fleet_register, "FRESH_S", 1.0)
    postgres_server.stop()
    try:
        await until(lambda: host.find("ana") is None)
        assert host.is_used
        with pytest.raises(ConfigError, match="cannot be read"):
            host.operators()
        with pytest.raises(StoreError):
            await host.change("eve", lambda _: Operator(name="eve"))
    finally:
        postgres_server.start()
    await until(lambda: host.find("ana") is not None)


async def test_a_host_without_operators_stays_its_users_while_the_database_is_away(
    rack: Hosts, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = await rack.host("first")
    monkeypatch.setattr(agent.hosts.fleet_register, "FRESH_S", 0.0)
    postgres_server.stop()
    try:
        assert not host.is_used
        with pytest.raises(ConfigError):
            host.operators()
    finally:
        postgres_server.start()


async def test_a_restored_backup_brings_no_operators_and_lets_none_in_until_confirmed(
    rack: Hosts, tmp_path: Path, postgres_server: PostgresServer, stack: AsyncExitStack
) -> None:
    desk = await rack.command()
    token, kept = made_token(desk.clock_ms(), 3_600_000)
    await desk.change("ana", lambda _: with_token(ana(), kept, desk.clock_ms()))
    file = tmp_path / "backup"
    await back_up(rack.dsn, file)
    for secret in (token, kept.sha256, "operator"):
        assert secret.encode() not in file.read_bytes().replace(b"has_operators", b"")
    other = Hosts(postgres_server.new_database(), tmp_path, stack)
    await restore(other.dsn, file)
    host, desk = await other.host("first"), await other.command()
    assert desk.all_operators() == ()
    assert not (await _finding(other.dsn)).ok
    assert host.is_used
    with pytest.raises(ConfigError, match="restored"):
        host.operators()
    await desk.change("ben", lambda _: Operator(name="ben"))
    await host.refresh()
    assert host.find("ben") is None
    await desk.confirm()
    await until(lambda: host.find("ben") is not None)
    assert host.find("ana") is None
    assert (await _finding(other.dsn)).detail == "1 in the register"


async def _finding(dsn: str) -> Finding:
    link = Link(dsn, "test", is_written=False)
    try:
        return next(one for one in await examine(link) if one.name == "operators")
    finally:
        await link.close()


async def test_a_store_without_operators_is_restored_open(
    rack: Hosts, tmp_path: Path, postgres_server: PostgresServer, stack: AsyncExitStack
) -> None:
    await back_up(rack.dsn, tmp_path / "backup")
    other = Hosts(postgres_server.new_database(), tmp_path, stack)
    await restore(other.dsn, tmp_path / "backup")
    assert not (await other.host("first")).is_used


async def test_an_older_copy_of_the_database_lets_no_operator_in_until_confirmed(
    rack: Hosts, stack: AsyncExitStack, postgres_server: PostgresServer
) -> None:
    """As PostgreSQL's own means bring one back: its rows are those of before."""
    desk = await rack.command()
    await desk.change("ana", lambda _: ana())
    saved = ("register", "register_change", "operator")
    database = rack.dsn.removeprefix("postgresql:///").partition("?")[0]

    def sql(text: str) -> None:
        postgres_server.sql(f"SET search_path = switchboard; {text}", database=database)

    for table in saved:
        sql(f"CREATE TABLE old_{table} AS SELECT * FROM {table}")
    await desk.change("ana", lambda _: None)
    await desk.change("ben", lambda _: Operator(name="ben"))
    host = await rack.host("first")
    assert host.find("ben") is not None
    for table in saved:
        sql(f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM old_{table}")
    await until(lambda: host.find("ben") is None)
    assert host.find("ana") is None
    with pytest.raises(ConfigError, match="older register"):
        host.operators()
    # Changes do not make it a newer one, also not as many as it lacks.
    for number in range(3):
        await desk.change("cleo", lambda _, n=number: Operator(name="cleo", made_ms=n))
    await host.refresh()
    assert host.find("cleo") is None
    again = await rack.host("first")
    assert again.find("cleo") is None, "a host that begins again remembers"
    await desk.confirm()
    await until(lambda: host.find("cleo") is not None)
    assert host.find("ana") is not None


async def test_operators_of_a_hosts_own_keep_everybody_out_until_they_are_brought_over(
    rack: Hosts,
) -> None:
    host = await rack.host("first")
    own = rack.directory / "first" / FILE_NAME
    await asyncio.to_thread(own.write_text, '{"version": 1, "operators": []}')
    assert host.is_used
    with pytest.raises(ConfigError, match="operators import") as refusal:
        host.operators()
    assert "import" in str(refusal.value)
    await asyncio.to_thread(own.unlink)
    assert not host.is_used


async def test_a_record_that_cannot_be_read_lets_that_operator_alone_out(
    rack: Hosts, postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    desk = await rack.command()
    for name in ("ana", "ben"):
        await desk.change(name, lambda _, name=name: Operator(name=name))
    database = rack.dsn.removeprefix("postgresql:///").partition("?")[0]
    record = """'{"name": "ana", "limit": "to-come"}'"""
    postgres_server.sql(
        f"UPDATE switchboard.operator SET record = {record} WHERE name = 'ana'", database=database
    )
    host = await rack.host("first")
    assert host.find("ana") is None
    assert host.find("ben") is not None
    assert "to-come" not in caplog.text
    with pytest.raises(ConfigError, match="newer Switchboard"):
        await desk.change("ana", lambda _: Operator(name="ana"))


async def test_what_a_host_knows_cannot_be_read_by_others_and_broken_is_refused(
    rack: Hosts,
) -> None:
    desk = await rack.command()
    await desk.change("ana", lambda _: ana())
    await rack.host("first")
    known = rack.directory / "first" / KNOWN_NAME
    assert (await asyncio.to_thread(known.stat)).st_mode & 0o777 == 0o600
    await asyncio.to_thread(known.write_text, "no JSON")
    with pytest.raises(ConfigError, match=KNOWN_NAME):
        await rack.host("first")


async def test_the_address_is_in_no_log(
    rack: Hosts, caplog: pytest.LogCaptureFixture, postgres_server: PostgresServer
) -> None:
    caplog.set_level(logging.DEBUG)
    host = await rack.host("first")
    postgres_server.stop()
    try:
        with pytest.raises(StoreError) as error:
            await host.refresh()
    finally:
        postgres_server.start()
    database = rack.dsn.removeprefix("postgresql:///").partition("?")[0]
    assert database not in caplog.text + str(error.value)


STANDINGS = st.builds(
    RegisterMetadata,
    store=st.just("s"),
    confirmed_ms=st.integers(0, 2),
    revision=st.integers(0, 3),
    mark=st.sampled_from("xyz"),
)


@given(known=STANDINGS, found=STANDINGS, then=st.sampled_from(["x", "y", "z", ""]))
def test_a_register_is_older_unless_it_holds_the_known_change_or_was_confirmed_later(
    known: RegisterMetadata, found: RegisterMetadata, then: str
) -> None:
    holds = found.confirmed_ms == known.confirmed_ms and then == known.mark
    is_later = found.confirmed_ms > known.confirmed_ms
    assert is_older(known, found, then) is not (
        is_later or (holds and found.revision >= known.revision)
    )
    assert not is_older(RegisterMetadata(), found, then)
