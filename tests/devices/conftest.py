"""A real adb server per worker, virtual phones, and a scripted server for wire edge cases."""

import asyncio
import re
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.protocols import Button, Device

EVERY_PHONE = ""
Handler = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="session")
def shared_adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAddress]:
    """A real adb server on a port of its own, without devices of its own."""
    server = AdbServer(tmp_path_factory.mktemp("adb"))
    address = asyncio.run(server.start())
    yield address
    asyncio.run(server.stop())


@pytest.fixture
def adb_address(shared_adb: ServerAddress) -> Iterator[ServerAddress]:
    """The worker's adb server; a phone that the test leaves connected is forgotten.

    For ten minutes the server would try to connect to its port again, which by then may be the
    port of another worker's phone.
    """
    yield shared_adb
    asyncio.run(AdbClient(shared_adb).disconnect(EVERY_PHONE))


@pytest.fixture
def bare_adb(adb_address: ServerAddress) -> AdbClient:
    """A client of the real adb server, which knows no phone but what a test connects."""
    return AdbClient(adb_address)


@pytest.fixture
def nowhere() -> Iterator[ServerAddress]:
    """An address at which nothing listens, and nothing else can for as long as the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield ServerAddress("127.0.0.1", held.getsockname()[1])


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


@dataclass
class ScriptedPhone:
    """A phone behind a scripted server: its shell answers by the first words of a command."""

    answers: dict[str, tuple[bytes, int]]
    features: str = "shell_v2,cmd"
    crlf: bool = False  # Old phones turn LF into CR LF, have no exec service and no exit codes.
    commands: list[str] = field(default_factory=list)

    async def handle(
        self, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.endswith(":features"):
            writer.write(b"OKAY" + block(self.features))
            return
        writer.write(b"OKAY")
        service = await said(reader)
        kind, _, command = service.partition(":")
        if kind == "shell,v2,raw":
            output, code = self._answer(command)
            writer.write(b"OKAY" + packet(1, output) + packet(3, bytes([code])))
        elif kind == "shell":
            found = re.fullmatch(r"\((.*)\n\); echo (\S+=)\$\?", command, re.DOTALL)
            assert found is not None
            output, code = self._answer(found[1])
            output += found[2].encode() + b"%d\n" % code
            writer.write(b"OKAY" + (output.replace(b"\n", b"\r\n") if self.crlf else output))
        else:
            writer.write(b"FAIL" + block("closed"))

    def _answer(self, command: str) -> tuple[bytes, int]:
        if "; getprop " in command:
            return self._profile(command), 0
        self.commands.append(command)
        for beginning, answer in self.answers.items():
            if command.startswith(beginning):
                return answer
        return b"", 0

    def _profile(self, command: str) -> bytes:
        """Answer what a phone is asked first, each property below its heading."""
        values = self.answers.get("getprop", (b"Nexus\n14\n34\n1\n\n\n", 0))[0].split(b"\n")
        names = re.findall(r"getprop (\S+?);", command)
        (size,) = re.findall(r"echo '@([^']+)'; wm size", command)
        lines = [
            line
            for name, value in zip(names, values, strict=False)
            for line in (b"@" + name.encode(), value)
        ]
        return b"\n".join([*lines, b"@" + size.encode(), b"Physical size: 1080x2400", b""])


def packet(kind: int, data: bytes) -> bytes:
    """Encode one packet of the shell protocol, version 2."""
    return struct.pack("<BI", kind, len(data)) + data


@asynccontextmanager
async def scripted_device(phone: ScriptedPhone) -> AsyncIterator[AdbDevice]:
    async with scripted_server(phone.handle) as address:
        yield AdbDevice(AdbClient(address), "phone")


class Home:
    """Virtual phones that live as long as the worker, on a loop of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = AdbServer(folder / "adb")
        self.phones = VirtualPhones(folder / "phones", self.server, count=2)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[object, object, object]) -> None:
        """Do something on the phones' loop and wait for it."""
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def end(self) -> None:
        """Stop phones, server and loop."""
        self.run(self.phones.stop())
        self.run(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Two virtual phones on an adb server of their own."""
    home = Home(tmp_path_factory.mktemp("home"))
    try:
        home.run(home.phones.start())
        yield home
    finally:
        home.end()


@pytest.fixture
def adb(home: Home) -> AdbClient:
    """A client of the adb server that knows the virtual phones."""
    return AdbClient(home.server.address)


@pytest.fixture
async def fleet(home: Home) -> AsyncIterator[AdbFleet]:
    """A fleet over the virtual phones, both of them online and known."""
    fleet = AdbFleet([home.server.address])
    await fleet.start()
    changes = fleet.changes()
    async with asyncio.timeout(30):
        for serial in home.phones.serials:
            await fleet.wait_for(serial, timeout_s=30)
        while not all(info.android for info in fleet.devices()):
            await anext(changes)
    yield fleet
    await fleet.close()


@pytest.fixture
async def device(fleet: AdbFleet, home: Home) -> Device:
    """The first virtual phone, showing its home screen."""
    device = await fleet.device(home.phones.serials[0])
    await device.press(Button.HOME)
    return device


@pytest.fixture
async def own(folder: Path) -> AsyncIterator[AdbServer]:
    """An adb server of the test's own, not started; stopped in the end."""
    server = AdbServer(folder)
    yield server
    await server.stop()


@pytest.fixture
async def phones(folder: Path) -> AsyncIterator[VirtualPhones]:
    """Two virtual phones of the test's own, not started; ended with their server in the end."""
    server = AdbServer(folder / "adb")
    phones = VirtualPhones(folder / "phones", server, count=2)
    yield phones
    await phones.stop()
    await server.stop()
