"""A real adb server per worker, virtual phones, and a scripted server for wire edge cases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.devices.client import AdbClient, ServerAddress
from agent.devices.server import AdbServer

Handler = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="session")
def adb_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAddress]:
    """A real adb server on a port of its own, without devices of its own."""
    server = AdbServer(tmp_path_factory.mktemp("adb"))
    address = asyncio.run(server.start())
    yield address
    asyncio.run(server.stop())


@pytest.fixture
def adb(adb_address: ServerAddress) -> AdbClient:
    """A client of the real adb server."""
    return AdbClient(adb_address)


async def said(reader: asyncio.StreamReader) -> str:
    """Read one request of the server protocol."""
    length = int(await reader.readexactly(4), 16)
    return (await reader.readexactly(length)).decode()


def block(text: str) -> bytes:
    """Encode text as the server protocol does."""
    data = text.encode()
    return b"%04x" % len(data) + data


@asynccontextmanager
async def scripted_server(handler: Handler) -> AsyncIterator[ServerAddress]:
    """Answer the first request of each connection by a handler, on a real socket."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(await said(reader), reader, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield ServerAddress("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()


def phone_without(features: str, answers: dict[str, bytes]) -> Handler:
    """Script a server with one phone: its features and what each service sends before it ends.

    A service is found by its beginning; one that is not listed is closed, as an old phone does.
    """

    async def handle(
        request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.endswith(":features"):
            writer.write(b"OKAY" + block(features))
            return
        writer.write(b"OKAY")
        service = await said(reader)
        for beginning, answer in answers.items():
            if service.startswith(beginning):
                writer.write(b"OKAY" + answer)
                return
        writer.write(b"FAIL" + block("closed"))

    return handle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data directory of the test's own."""
    made = tmp_path / "data"
    made.mkdir()
    return made
