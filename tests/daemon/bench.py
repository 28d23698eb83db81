"""A daemon over a small core, a client of it, and a raw connection to it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agent.core import Core
from agent.protocol import StepStarted
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import Daemon, serve
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from tests.small_core import SmallCore


class Bench:
    """A store, a small core on it, the daemon that serves it and a client."""

    def __init__(self, store: SqliteStore, core: SmallCore, daemon: Daemon, client: Client) -> None:
        self.store = store
        self.core = core
        self.daemon = daemon
        self.client = client

    async def steps(self, session_id: str, count: int) -> None:
        drafts = [EventDraft(session_id, StepStarted(step=step)) for step in range(count)]
        await self.store.append(*drafts)


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(directory))
        core = SmallCore(store)
        served: Core = core
        daemon = await stack.enter_async_context(serve(served, socket_path(directory)))
        client = await Client.connect(daemon.path)
        stack.push_async_callback(client.close)
        yield Bench(store, core, daemon, client)


class Raw:
    """A client that says what it wants, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, *lines: bytes) -> None:
        self.writer.write(b"".join(line + b"\n" for line in lines))
        await self.writer.drain()

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            answer: dict[str, Any] = json.loads(await self.reader.readline())
            return answer


@asynccontextmanager
async def raw(bench: Bench) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_unix_connection(bench.daemon.path, limit=1 << 26)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()
