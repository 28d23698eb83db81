"""A real adb server for each worker, and phones it is connected to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.phone.phone import Phone
from agent.phone.serve import PhoneHost
from agent.phone.served_phone import ServedPhone
from agent.phone.userland.userland import Userland
from tests.adb import RealAdb, Said, real_adb_server


@pytest.fixture(scope="session")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAdb]:
    """The stock adb server on a port of its own."""
    with real_adb_server(tmp_path_factory.mktemp("adb")) as adb:
        yield adb


@dataclass
class Connected:
    """A phone as the adb command sees it, and as it is."""

    adb: RealAdb
    host: PhoneHost
    served: ServedPhone

    @property
    def phone(self) -> Phone:
        return self.served.phone

    @property
    def userland(self) -> Userland:
        return self.served.userland

    @property
    def serial(self) -> str:
        return self.served.serial

    async def __call__(self, *words: str, stdin: bytes = b"") -> Said:
        """Run an adb command on the phone."""
        return await self.adb(*words, serial=self.serial, stdin=stdin)

    async def shell(self, line: str, stdin: bytes = b"") -> Said:
        """Run a shell line on the phone."""
        return await self("shell", line, stdin=stdin)


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[PhoneHost]:
    """One served phone."""
    async with PhoneHost(tmp_path / "phones") as running:
        yield running


@pytest.fixture
async def connected(adb_server: RealAdb, host: PhoneHost) -> AsyncIterator[Connected]:
    """One phone, connected to the real adb server."""
    serial = host.serials[0]
    await adb_server.connect(serial)
    yield Connected(adb_server, host, host.served(serial))
    await adb_server("disconnect", serial)
