"""What hosts ask of each other, through a real database: what becomes of it where one ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from agent.core import ClientInfo
from agent.hosts.peers import Peers
from agent.protocol import JobList, Op, Reply
from agent.store.postgres.link import Link
from agent.store.postgres.op_table import STALE_MS, OpTable, channel_of
from agent.store.postgres.postgres_store import PostgresStore
from tests.store.postgres_server import PostgresServer

PATIENCE_S = 60.0
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]


@pytest.fixture
def dsn(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


class RecordingCore:
    """A core that notes who has asked, and who has left."""

    def __init__(self) -> None:
        self.asked: list[ClientInfo] = []
        self.left: list[ClientInfo] = []
        self.some_left = asyncio.Event()

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        self.asked.append(client)
        return Reply(submission_id="done")

    async def leave(self, client: ClientInfo) -> None:
        self.left.append(client)
        self.some_left.set()


@asynccontextmanager
async def host(
    dsn: str, name: str, core: RecordingCore
) -> AsyncIterator[tuple[Peers, PostgresStore]]:
    async with (
        PostgresStore.open(dsn, name) as store,
        store.present(dsn, version="1.0.0", phones=tuple),
    ):
        peers = Peers(dsn, store, unhosted=name)
        async with peers.serve(core):
            yield peers, store


async def test_what_nobody_waits_for_any_more_is_not_done(
    dsn: str, postgres_server: PostgresServer
) -> None:
    """Who asked was killed before it could withdraw it; the host comes back much later."""
    database = dsn.removeprefix("postgresql:///").partition("?")[0]
    async with PostgresStore.open(dsn, "lab") as store:
        link = Link(dsn, "test")
        table = OpTable(link)
        await table.put("lab", "desk", "old")
        postgres_server.sql(
            f"UPDATE switchboard.op SET asked_ms = asked_ms - {STALE_MS}", database=database
        )
        new = await table.put("lab", "desk", "new")
        assert [(one.op_id, one.body) for one in await table.take("lab", store.epoch)] == [
            (new, "new")
        ]
        assert await table.take("lab", store.epoch) == []
        await link.close()


async def test_clients_of_a_host_that_began_anew_between_two_looks_are_gone(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they had taken is free again, although the host was never seen to be away."""
    monkeypatch.setattr("agent.hosts.peers.LOOK_S", 2.0)
    lab, old, new = RecordingCore(), ClientInfo("c-1", "ana"), ClientInfo("c-2", "ben")
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE_S):
        await stack.enter_async_context(host(dsn, "lab", lab))
        async with host(dsn, "desk", RecordingCore()) as (peers, _):
            # It ends with its client there, of which nobody says that it has left.
            await peers.request("lab", old, JobList())
        again, _ = await stack.enter_async_context(host(dsn, "desk", RecordingCore()))
        await again.request("lab", new, JobList())
        await lab.some_left.wait()
        assert [one.name for one in lab.asked] == ["ana", "ben"]
        assert [one.name for one in lab.left] == ["ana"]


async def test_only_the_host_that_is_asked_is_woken(dsn: str) -> None:
    asking, asked, other = (Link(dsn, name) for name in ("asking", "asked", "other"))
    try:
        async with PostgresStore.open(dsn, "a"):
            for link, name in ((asked, "b"), (other, "c")):
                await link.rows(f"LISTEN {channel_of(name)}")
            await OpTable(asking).put("b", "a", "{}")
            assert await asked.notices(PATIENCE_S)
            # What the server sends comes in order: with the second, the first would be there.
            await OpTable(asking).put("c", "a", "{}")
            [taken] = await OpTable(other).take("c", 1)
            assert await other.notices(PATIENCE_S)
            assert not await other.notices(0.2)
            assert taken.from_host == "a"
    finally:
        for link in (asking, asked, other):
            await link.close()
