"""Windows, pages and searches are the same over the daemon's socket as in the store."""

from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.protocol import SearchEvents, SumSpending
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.store import Store
from tests.small_core import SmallCore
from tests.store.conformance.stores import DATABASES
from tests.store.conftest import session_draft, step_draft
from tests.store.test_spendings import a_fortnight, at_ms


@pytest.fixture(params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_windows_pages_and_searches_cross_the_socket_whole(
    store: Store, tmp_path: Path
) -> None:
    await store.append(*(session_draft(f"s{number:02}") for number in range(30)))
    await store.append(*(step_draft("s07", number) for number in range(1, 1301)))
    async with serve(SmallCore(store), socket_path(tmp_path)):
        client = await Client.connect(socket_path(tmp_path))
        try:
            # More than one reply holds, read from either side.
            onward = await client.history("s07", after_seq=100, limit=1200)
            assert [event.seq for event in onward] == list(range(101, 1301))
            back = await client.history("s07", before_seq=1250, limit=1100)
            assert [event.seq for event in back] == list(range(150, 1250))
            assert await client.history("s07", before_seq=1) == ()
            page = await client.sessions(limit=5, before="s20")
            assert [one.session_id for one in page] == ["s19", "s18", "s17", "s16", "s15"]
            hits = await client.look_up(SearchEvents(query="tidy", limit=3))
            assert [hit.session_id for hit in hits] == ["s29", "s28", "s27"]
            assert hits == await store.search("tidy", limit=3)
            with pytest.raises(UsageError, match="no word"):
                await client.look_up(SearchEvents(query="-"))
        finally:
            await client.close()


async def test_what_was_spent_crosses_the_socket_whole(store: Store, tmp_path: Path) -> None:
    await a_fortnight(store)
    async with serve(SmallCore(store), socket_path(tmp_path)):
        client = await Client.connect(socket_path(tmp_path))
        try:
            assert await client.look_up(SumSpending(since_ms=at_ms(1))) == (
                await store.spendings.since(at_ms(1))
            )
        finally:
            await client.close()
