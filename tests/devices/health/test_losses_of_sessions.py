"""Sessions on phones that are unplugged, rebooted or not trusted yet: what the operator reads.

The core, the store, the fleet, an adb server and the phones are real; only the task is played.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient, ServiceClosedError
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.fleet.server_watch import Revive
from agent.errors import AdbError, DeviceError, DeviceLostError
from agent.loop.task_context import TaskContext
from agent.protocol import SessionFlagsChanged, SessionStateChanged
from agent.records import DeviceInfo, DeviceState, Session, SessionState
from tests.fakes import FakeFleet
from tests.stage import Stage, of_type
from virtual_phone.adbd.gate import KeyGate
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

PATIENCE_S = 60.0


@asynccontextmanager
async def staged(
    folder: Path, address: ServerAddress, *, secure: bool = False, revive: Revive | None = None
) -> AsyncIterator[tuple[Stage, PhoneHost, str]]:
    """Run a core over one virtual phone, which adb has been told of."""
    async with PhoneHost(folder / "phones", secure=secure) as host:
        (serial,) = host.serials
        client = AdbClient(address)
        connecting = asyncio.create_task(client.connect(serial, timeout_s=PATIENCE_S))
        fleet = AdbFleet([address], revive=revive)
        stage = Stage(folder / "data", cast(FakeFleet, fleet))
        (folder / "data").mkdir(parents=True)
        async with stage.play():
            yield stage, host, serial
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        with suppress(AdbError):
            await client.disconnect(serial)


async def until_device(
    stage: Stage, serial: str, holds: Callable[[DeviceInfo], bool]
) -> DeviceInfo:
    changes = stage.fleet.changes()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for info in stage.fleet.devices():
                if info.serial == serial and holds(info):
                    return info
            await anext(changes)


async def until_lost(stage: Stage, session_id: str, *, lost: bool) -> Session:
    async with asyncio.timeout(PATIENCE_S), stage.core.events() as events:
        while True:
            session = await stage.store.session(session_id)
            if session.lost is lost:
                return session
            await anext(events)


async def until_done(stage: Stage, session_id: str) -> Session:
    async with asyncio.timeout(PATIENCE_S), stage.core.events() as events:
        while True:
            session = await stage.store.session(session_id)
            if session.state.is_terminal:
                return session
            await anext(events)


def patient(finished: asyncio.Event) -> Callable[[TaskContext], object]:
    """Play a task that looks at its phone again and again, waits for it, and then ends."""

    async def work(context: TaskContext) -> str:
        while not finished.is_set():
            await context.checkpoint()
            try:
                await context.device.foreground()
            except DeviceLostError:
                await context.wait_for_device()
            except DeviceError:
                await asyncio.sleep(0)
        await context.device.foreground()
        return "done"

    return work


async def test_a_phone_that_is_unplugged_and_plugged_in_again_is_gone_on_with(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    finished = asyncio.Event()
    async with staged(tmp_path, adb_address) as (stage, host, serial):
        stage.parts["go"] = patient(finished)  # type: ignore[assignment]
        await until_device(stage, serial, lambda info: info.state is DeviceState.ONLINE)
        session_id = await stage.create("go", serial=serial)
        await stage.reach(session_id, SessionState.RUNNING)
        host.fault(serial, FaultKind.DISCONNECT)
        lost = await until_lost(stage, session_id, lost=True)
        assert lost.state is SessionState.RUNNING
        assert lost.lost_until_ms > stage.clock()
        host.served(serial).userland.faults.clear()
        await AdbClient(adb_address).disconnect(serial)
        await AdbClient(adb_address).connect(serial)
        await until_lost(stage, session_id, lost=False)
        finished.set()
        assert (await until_done(stage, session_id)).state is SessionState.COMPLETED
        told = [m.reason for m in of_type(await stage.msgs(session_id), SessionFlagsChanged)]
        assert f"{serial} is away; waiting up to 120 s" in told[0]
        assert f"{serial} is back" in told


async def test_a_phone_that_reboots_is_gone_on_with(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    finished = asyncio.Event()
    async with staged(tmp_path, adb_address) as (stage, _, serial):
        stage.parts["go"] = patient(finished)  # type: ignore[assignment]
        await until_device(stage, serial, lambda info: info.state is DeviceState.ONLINE)
        session_id = await stage.create("go", serial=serial)
        await stage.reach(session_id, SessionState.RUNNING)
        # A phone that reboots may be away before it has answered.
        with suppress(ServiceClosedError):
            async with AdbClient(adb_address).open(serial, "reboot:", timeout_s=30) as stream:
                await stream.rest()
        await until_lost(stage, session_id, lost=True)
        await until_lost(stage, session_id, lost=False)
        finished.set()
        assert (await until_done(stage, session_id)).state is SessionState.COMPLETED


async def test_a_phone_that_is_not_trusted_yet_is_waited_for_with_the_remedy(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    finished = asyncio.Event()
    finished.set()
    async with staged(tmp_path, adb_address, secure=True) as (stage, host, serial):
        stage.parts["go"] = patient(finished)  # type: ignore[assignment]
        gate = host.served(serial).gate.gate
        assert isinstance(gate, KeyGate)
        async with asyncio.timeout(PATIENCE_S):
            await gate.wait_asked()
        info = await until_device(stage, serial, lambda i: i.state is DeviceState.UNAUTHORIZED)
        assert 'accept the dialog "Allow USB debugging?"' in info.note
        session_id = await stage.create("go", serial=serial)
        queued = await stage.store.session(session_id)
        assert queued.state is SessionState.QUEUED
        reasons = [m.reason for m in of_type(await stage.msgs(session_id), SessionStateChanged)]
        assert reasons[-1] == f"waiting for {serial}, which is unauthorized"
        gate.answer(True)
        assert (await until_done(stage, session_id)).state is SessionState.COMPLETED
