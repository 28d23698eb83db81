"""A real adb server for each worker, phones it is connected to, nobody's environment."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.adb import RealAdb, real_adb_server
from support.command import command
from support.connected import Connected
from virtual_phone.server.serve import PhoneHost

# What the machine and the person at it have set would decide what a test finds.
for _name in list(os.environ):
    if _name.startswith(("ADB_", "ANDROID_", "PYTHONUNBUFFERED", "VIRTUAL_PHONE_")):
        del os.environ[_name]

# On a machine that is busy, one example may take any time, and so may drawing its data.
settings.register_profile(
    "virtual-phone", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("virtual-phone")


@pytest.fixture(scope="session")
def shared_adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAdb]:
    """The stock adb server on a port of its own."""
    with real_adb_server(tmp_path_factory.mktemp("adb")) as adb:
        yield adb


@pytest.fixture
def adb_server(shared_adb: RealAdb) -> Iterator[RealAdb]:
    """The worker's adb server; a phone that the test leaves connected is forgotten.

    For ten minutes the server would try to connect to its port again, which by then may be the
    port of another worker's phone.
    """
    yield shared_adb
    shared_adb.forget_every_phone()


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[PhoneHost]:
    async with PhoneHost(tmp_path / "phones") as running:
        yield running


@pytest.fixture
async def connected(adb_server: RealAdb, host: PhoneHost) -> AsyncIterator[Connected]:
    """One phone, connected to the real adb server."""
    serial = host.serials[0]
    await adb_server.connect(serial)
    yield Connected(adb_server, host, host.served(serial))
    await adb_server("disconnect", serial)


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command keeps its phones."""
    monkeypatch.setenv("VIRTUAL_PHONE_HOME", str(tmp_path / "phones"))
    return tmp_path / "phones"


@pytest.fixture
def serial(homes: Path) -> Iterator[str]:
    """The serial of a phone that another process serves."""
    process = subprocess.Popen(
        [command(), "serve", "--until-eof"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["serial"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
