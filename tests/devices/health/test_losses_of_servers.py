"""Sessions whose phone stops answering, moves to another port, or loses its adb server: what the
operator reads. As in `test_losses_of_sessions`, only the task is played.
"""

import asyncio
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.protocol import SessionFlagsChanged
from agent.records import DeviceState, SessionState
from tests.devices.health.test_losses_of_sessions import (
    PATIENCE_S,
    patient,
    staged,
    until_device,
    until_done,
    until_lost,
)
from tests.stage import Stage, of_type
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost


async def finished_session(stage: Stage, serial: str, finished: asyncio.Event) -> str:
    """Have a session work on a phone until it is told that it has finished."""
    stage.parts["go"] = patient(finished)  # type: ignore[assignment]
    await until_device(stage, serial, lambda info: info.state is DeviceState.ONLINE)
    session_id = await stage.create("go", serial=serial)
    await stage.reach(session_id, SessionState.RUNNING)
    return session_id


async def ended(stage: Stage, session_id: str, finished: asyncio.Event) -> list[str]:
    """Let the session end; give what its flags were changed for."""
    finished.set()
    assert (await until_done(stage, session_id)).state is SessionState.COMPLETED
    return [m.reason for m in of_type(await stage.msgs(session_id), SessionFlagsChanged)]


@pytest.mark.slow
async def test_a_phone_that_takes_calls_and_answers_none_is_lost_until_it_answers(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    finished = asyncio.Event()
    async with staged(tmp_path, adb_address) as (stage, host, serial):
        session_id = await finished_session(stage, serial, finished)
        host.fault(serial, FaultKind.HUNG_SHELL)
        info = await until_device(stage, serial, lambda one: one.state is DeviceState.OFFLINE)
        assert "adb lists the phone, but it does not answer" in info.note
        await until_lost(stage, session_id, lost=True)
        host.served(serial).userland.faults.clear()
        await until_lost(stage, session_id, lost=False)
        told = await ended(stage, session_id, finished)
        assert f"{serial} is away; waiting up to 120 s" in told[0]
        assert f"{serial} is back" in told


async def test_a_session_outlives_its_adb_server_and_goes_on_with_the_one_that_took_its_port(
    folder: Path, tmp_path: Path
) -> None:
    own = AdbServer(folder, on_port=True)
    address = await own.start()
    finished = asyncio.Event()
    async with staged(tmp_path / "staged", address, revive=own.revive) as (stage, _, serial):
        session_id = await finished_session(stage, serial, finished)
        await own.stop()
        info = await until_device(stage, serial, lambda one: one.state is DeviceState.GONE)
        assert f"adb server at {address}" in info.note
        await until_lost(stage, session_id, lost=True)
        # As a version fight ends: another adb has killed the server and started its own there.
        other = AdbServer(tmp_path / "other", on_port=True)
        other._choose_port = lambda known: asyncio.sleep(0, address.port)  # type: ignore[method-assign]
        await other.start()
        try:
            await until_lost(stage, session_id, lost=False)
            assert f"{serial} is back" in await ended(stage, session_id, finished)
        finally:
            await other.stop()


async def test_a_session_goes_on_with_its_wireless_phone_on_another_port(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    finished = asyncio.Event()
    client = AdbClient(adb_address)
    async with staged(tmp_path, adb_address) as (stage, host, old):
        session_id = await finished_session(stage, old, finished)
        await until_device(stage, old, lambda one: bool(one.hardware_serial))
        await host.close()
        await client.disconnect(old)
        await until_lost(stage, session_id, lost=True)
        async with PhoneHost(tmp_path / "phones") as again:
            (new,) = again.serials
            assert new != old
            await client.connect(new, timeout_s=PATIENCE_S)
            info = await until_device(stage, old, lambda one: one.state is DeviceState.ONLINE)
            assert info.listed_as == new
            await until_lost(stage, session_id, lost=False)
            assert f"{old} is back" in await ended(stage, session_id, finished)
            await client.disconnect(new)
