"""Cores that end, are killed or hang, and clients that die."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.config import load_settings
from agent.errors import RpcCode, RuntimeDiedError, StoreError
from agent.protocol import Event, JobList, SessionCreate
from agent.rpc.remote_core import Client, connect_or_none
from agent.rpc.rpc_client import RpcClient
from agent.rpc.rpc_messages import socket_path
from agent.store.embedded.sqlite_store import SqliteStore
from support.patience import until
from tests.daemon.bench import Bench, raw, serving


async def test_a_core_that_ends_is_an_error_to_every_waiting_caller(tmp_path: Path) -> None:
    async with serving(tmp_path) as bench:
        client = await Client.connect(bench.daemon.path)
        waiting = asyncio.create_task(client.request(JobList()))
        async with client.events() as events:
            following: asyncio.Future[Event] = asyncio.ensure_future(anext(aiter(events)))
            await until(lambda: bench.core.followers == 1)
            await bench.daemon.close()
            with pytest.raises(RuntimeDiedError, match="has ended"):
                await waiting
            with pytest.raises(RuntimeDiedError, match="has ended"):
                await following
        with pytest.raises(RuntimeDiedError) as dead:
            await client.overview()
        assert dead.value.remedy
        await client.close()
        await client.close()


SERVER = """
import asyncio, sys
from pathlib import Path
from agent.rpc.rpc_server import serve
from agent.rpc.rpc_messages import socket_path
from agent.store.embedded.sqlite_store import SqliteStore
from tests.small_core import SmallCore

async def main():
    directory = Path(sys.argv[1])
    path = socket_path(directory)
    async with SqliteStore.open(directory) as store, serve(SmallCore(store), path):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def other_process(directory: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVER,
        str(directory),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_killed_core_is_an_error_and_its_place_can_be_taken(tmp_path: Path) -> None:
    configured = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    async with other_process(tmp_path) as process:
        client = await connect_or_none(configured)
        assert client is not None
        assert client.pid == process.pid
        await client.request(SessionCreate(goal="kept"))
        with pytest.raises(StoreError, match=f"in use by process {process.pid}"):
            async with SqliteStore.open(tmp_path):
                pytest.fail("it has two owners")
        waiting = asyncio.create_task(client.request(JobList()))
        await client.sessions()
        process.kill()
        async with asyncio.timeout(30):
            with pytest.raises(RuntimeDiedError):
                await waiting
        await client.close()
    assert await connect_or_none(configured) is None
    async with serving(tmp_path) as bench:
        assert [s.goal for s in await bench.client.sessions()] == ["kept"]


async def test_a_core_that_hangs_is_an_error_too(tmp_path: Path) -> None:
    async with other_process(tmp_path) as process:
        caller = await RpcClient.connect(socket_path(tmp_path), ping_every_s=0.05, dead_after_s=0.5)
        client = Client(caller)
        process.send_signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(30):
                with pytest.raises(RuntimeDiedError, match="does not answer"):
                    await client.sessions()
            with pytest.raises(RuntimeDiedError, match="does not answer"):
                await RpcClient.connect(socket_path(tmp_path), timeout_s=0.3)
        finally:
            process.send_signal(signal.SIGCONT)
            await client.close()


# --- who is who ----------


async def test_each_connection_is_a_client_of_its_own_and_lets_go_when_it_dies(
    bench: Bench,
) -> None:
    other = await Client.connect(bench.daemon.path, name="console")
    await bench.client.request(SessionCreate(goal="one"))
    await other.request(SessionCreate(goal="two"))
    first, second = bench.core.clients
    assert first.client_id == bench.client.client_id and second.client_id == other.client_id
    assert second.name == f"console (process {os.getpid()})"
    await other.close()
    await until(lambda: second in bench.core.left)
    assert first not in bench.core.left


async def test_a_client_cannot_say_that_it_is_another(bench: Bench) -> None:
    async with raw(bench) as client:
        forged = b'{"id":1,"method":"request","params":{"op":{"type":"session_create","goal":"x"},'
        await client.say(forged + b'"client_id":"owner"}}')
        assert (await client.hear())["error"]["code"] == RpcCode.INVALID_ARGUMENT


async def test_the_status_names_the_process_its_clients_and_its_sessions(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="one"))
    status = await bench.client.status()
    assert (status.pid, status.socket) == (os.getpid(), str(bench.daemon.path))
    assert status.sessions == {"CREATED": 1}
    assert [client.client_id for client in status.clients] == [bench.client.client_id]
    assert Path(status.log).parent.parent == Path(status.data_dir)
