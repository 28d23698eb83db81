"""A core whose store was taken over, deleted or replaced ends soon and says why, idle or not."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import FencedError, RuntimeDiedError, StoreGoneError
from agent.rpc.remote_core import Client
from agent.rpc.rpc_server import serve
from agent.store.embedded.sqlite_store import SqliteStore
from tests.fakes import FakeFleet
from tests.stage import PATIENCE_S, Stage

MOST_S = 2.0
"""How long a core may go on that has lost its store, besides what a loaded machine takes."""


def overtaken(directory: Path) -> None:
    with sqlite3.connect(directory / "switchboard.db") as database:
        database.execute("UPDATE owner SET epoch = epoch + 1")
    database.close()


def deleted(directory: Path) -> None:
    for path in directory.glob("switchboard.db*"):
        path.unlink()


def replaced(directory: Path) -> None:
    path = directory / "switchboard.db"
    path.rename(directory / "elsewhere")
    path.write_bytes(b"")


@pytest.mark.parametrize("loses", [overtaken, deleted, replaced])
async def test_an_idle_core_that_lost_its_store_ends_and_tells_every_listener_why(
    tmp_path: Path, loses: Callable[[Path], None]
) -> None:
    stage = Stage(tmp_path / "data", FakeFleet("phone-1"))
    heard: list[str] = []

    async def listen(client: Client, ready: asyncio.Event) -> None:
        try:
            async with client.events() as events:
                ready.set()
                async for _ in events:
                    pass
        except RuntimeDiedError as error:
            heard.append(error.message)

    async with stage.play(), serve(stage.core, tmp_path / "core.sock") as daemon:
        clients = [await Client.connect(daemon.path, name=name) for name in ("ann", "ben")]
        ready = [asyncio.Event() for _ in clients]
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as listening:
            for client, event in zip(clients, ready, strict=True):
                listening.create_task(listen(client, event))
            for event in ready:
                await event.wait()
            began = time.monotonic()
            await asyncio.to_thread(loses, stage.directory)
            await stage.core.wait_closed()
            took_s = time.monotonic() - began
        for client in clients:
            await client.close()
    assert took_s < PATIENCE_S
    assert len(heard) == 2
    assert all("its hold on the store" in said for said in heard), heard


@pytest.mark.parametrize(
    ("loses", "error"),
    [(overtaken, FencedError), (deleted, StoreGoneError), (replaced, StoreGoneError)],
)
async def test_a_store_knows_that_it_is_not_its_own_any_more_without_writing(
    tmp_path: Path, loses: Callable[[Path], None], error: type[Exception]
) -> None:
    async with SqliteStore.open(tmp_path) as store:
        await store.check_owned()
        await asyncio.to_thread(loses, tmp_path)
        with pytest.raises(error):
            await store.check_owned()
