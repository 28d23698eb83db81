"""Who comes when too many are connected is told so, and an operator's single calls get through."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent.errors import WrongStateError
from agent.protocol import SessionCreate
from agent.rpc.remote_core import Client
from agent.rpc.rpc_server import MAX_CLIENTS, SPARE_CLIENTS
from tests.daemon.bench import serving


async def test_beyond_the_most_clients_single_calls_are_served_and_the_rest_is_told_why(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as bench, AsyncExitStack() as stack:

        async def connect(name: str) -> Client:
            client = await Client.connect(bench.daemon.path, name=name)
            stack.push_async_callback(client.close)
            return client

        for number in range(MAX_CLIENTS - 1):
            await connect(f"watcher {number}")
        spare = await connect("a command")
        assert (await spare.request(SessionCreate(goal="stop"))).session_id
        listed = (await spare.status()).clients
        assert any(one.name.startswith("a command") for one in listed)
        assert len(listed) == MAX_CLIENTS + 1
        with pytest.raises(WrongStateError, match="too many clients"):
            async with spare.events() as events:
                await anext(events)
        for number in range(SPARE_CLIENTS - 1):
            await connect(f"command {number}")
        with pytest.raises(
            WrongStateError, match=f"too many clients: {MAX_CLIENTS + SPARE_CLIENTS}"
        ):
            await connect("one too many")
        # Those who were there go on, and a place that is free again is given again.
        assert (await bench.client.request(SessionCreate(goal="on"))).session_id
        await spare.close()
