"""Silence proves nothing while this machine is too busy; otherwise it is noticed at once."""

import asyncio
from pathlib import Path

import pytest

from agent.devices.adb import host_load, liveness
from agent.devices.adb.client import AdbClient
from agent.devices.adb.host_load import HostLoad, stalled_s
from agent.devices.adb.liveness import answers, until_server_is_silent
from agent.errors import AdbError
from tests.devices.conftest import block, said, scripted_server

BOUND_S = 30.0


class SlowServer:
    """An adb server that keeps the first caller waiting and answers everybody after."""

    def __init__(self) -> None:
        self.calls = 0
        self.answered = asyncio.Event()

    async def handle(
        self, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.calls += 1
        if self.calls == 1:
            await reader.read()
            return
        if request.startswith("host:transport"):
            writer.write(b"OKAY")
            await said(reader)
            writer.write(b"OKAY\n")
        else:
            writer.write(b"OKAY" + block("0029"))
        self.answered.set()


def busy(monkeypatch: pytest.MonkeyPatch, is_busy: bool) -> None:
    """Say whether this machine is busy, and let the first wait end at once."""
    monkeypatch.setattr(liveness, "PATIENCE_S", 0.05)
    monkeypatch.setattr(liveness, "BUSY_PATIENCE_S", BOUND_S)
    monkeypatch.setattr(HostLoad, "is_felt", lambda _self, _allowed_s: is_busy)


async def test_a_server_that_is_late_on_a_busy_machine_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy(monkeypatch, True)
    server = SlowServer()
    async with scripted_server(server.handle) as address:
        asking = asyncio.create_task(until_server_is_silent(AdbClient(address)))
        answered = asyncio.create_task(server.answered.wait())
        try:
            async with asyncio.timeout(BOUND_S):
                await asyncio.wait({asking, answered}, return_when=asyncio.FIRST_COMPLETED)
            assert answered.done() and not asking.done()
        finally:
            asking.cancel()
            answered.cancel()
            await asyncio.gather(asking, answered, return_exceptions=True)


async def test_a_server_that_is_late_on_an_idle_machine_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy(monkeypatch, False)
    async with scripted_server(SlowServer().handle) as address, asyncio.timeout(BOUND_S):
        with pytest.raises(AdbError):
            await until_server_is_silent(AdbClient(address))


@pytest.mark.parametrize("is_busy", [True, False])
async def test_a_phone_that_is_late_is_silent_unless_the_machine_is_busy(
    monkeypatch: pytest.MonkeyPatch, is_busy: bool
) -> None:
    busy(monkeypatch, is_busy)
    async with scripted_server(SlowServer().handle) as address, asyncio.timeout(BOUND_S):
        assert await answers(AdbClient(address), "phone") is is_busy


async def test_strain_is_felt_when_programs_waited_for_a_core(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "cpu"
    monkeypatch.setattr(host_load, "PRESSURE_PATH", told)
    monkeypatch.setattr(host_load, "_LOAD_PER_CORE", 1e9)
    assert stalled_s() == 0.0
    assert not HostLoad().is_felt(BOUND_S)
    told.write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\nfull total=0\n")
    assert stalled_s() == 5.0
    meant = HostLoad()
    assert not meant.is_felt(BOUND_S)
    told.write_text("some avg10=9.00 avg60=0.00 avg300=0.00 total=99000000\nfull total=0\n")
    assert meant.is_felt(BOUND_S)


async def test_strain_is_felt_when_this_loop_itself_came_late() -> None:
    assert HostLoad().is_felt(-1.0)
