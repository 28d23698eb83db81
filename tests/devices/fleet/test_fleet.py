"""The fleet over virtual phones: appearing, going, coming back, and one driver at a time."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.health.doctor import examine
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.protocols import Button
from agent.devices.resources.processes import is_running, start_mark, wait_gone
from agent.errors import AdbError, DeviceLostError, UsageError
from agent.records import DeviceInfo, DeviceState, FrameStatus
from tests.devices.conftest import Home, block, scripted_server

NOTICED_WITHIN_S = 30.0  # A bound for any machine; on an idle one it takes less than two seconds.


async def until_state(fleet: AdbFleet, serial: str, state: DeviceState) -> DeviceInfo:
    """Wait, within a bound, until a device has a state."""
    changes = fleet.changes()
    async with asyncio.timeout(NOTICED_WITHIN_S):
        for info in fleet.devices():
            if info.serial == serial and info.state is state:
                return info
        async for info in changes:
            if info.serial == serial and info.state is state:
                return info
    raise AssertionError("the fleet was closed")


async def test_devices_are_known_with_what_they_are(fleet: AdbFleet, home: Home) -> None:
    infos = {info.serial: info for info in fleet.devices()}
    assert set(infos) == set(home.phones.serials)
    for info in infos.values():
        assert info.state is DeviceState.ONLINE
        assert info.model
        assert info.android
        assert (info.width_px, info.height_px) == (1080, 2400)
        assert info.virtual
        assert info.note == ""


async def test_doctor_finds_the_virtual_phones_of_a_core_that_runs(
    home: Home, adb_address: ServerAddress
) -> None:
    found = {one.name: one for one in await examine(home.folder, [adb_address])}
    assert all(found[f"device {serial}"].ok for serial in home.phones.serials)
    assert "devices" not in found, "a phone is connected"


async def test_an_unknown_serial_is_a_usage_error(fleet: AdbFleet) -> None:
    with pytest.raises(UsageError, match="nosuch") as caught:
        await fleet.device("nosuch")
    assert "127.0.0.1:" in caught.value.remedy
    with pytest.raises(UsageError):
        async with fleet.lease("nosuch", "a"):
            pass
    with pytest.raises(UsageError):
        await anext(fleet.frames("nosuch", width_px=1, height_px=1, max_hz=1))


async def test_waiting_for_a_device_that_never_comes_ends(fleet: AdbFleet) -> None:
    started = time.monotonic()
    with pytest.raises(DeviceLostError, match="nosuch"):
        await fleet.wait_for("nosuch", timeout_s=0.1)
    assert time.monotonic() - started < 10


async def test_a_lost_device_is_noticed_explained_and_comes_back(
    fleet: AdbFleet, home: Home
) -> None:
    serial = home.phones.serials[1]
    client = AdbClient(home.server.address)
    device = await fleet.device(serial)
    frames = fleet.frames(serial, width_px=90, height_px=200, max_hz=30)
    async with asyncio.timeout(30):
        while (await anext(frames)).rgb == b"":
            pass
        await client.disconnect(serial)
        gone = await until_state(fleet, serial, DeviceState.GONE)
        assert "adb connect" in gone.note
        async for frame in frames:
            if frame.status is FrameStatus.LOST:
                break
        assert serial in frame.detail
        with pytest.raises(DeviceLostError, match="gone"):
            await fleet.device(serial)
        with pytest.raises(DeviceLostError):
            await device.press(Button.HOME)
        waiting = asyncio.create_task(fleet.wait_for(serial, timeout_s=30))
        await client.connect(serial)
        assert await waiting is device
        await device.press(Button.HOME)
        async for frame in frames:
            if frame.rgb:
                break
    await frames.aclose()  # type: ignore[attr-defined]


async def test_one_phone_has_one_driver_and_waiting_is_fair(fleet: AdbFleet, home: Home) -> None:
    serial = home.phones.serials[0]
    order: list[str] = []
    inside = 0

    async def drive(driver: str) -> None:
        nonlocal inside
        async with fleet.lease(serial, driver):
            inside += 1
            assert inside == 1
            order.append(driver)
            assert [info.driver for info in fleet.devices() if info.serial == serial] == [driver]
            await asyncio.sleep(0)
            inside -= 1

    drivers = [f"session-{number}" for number in range(64)]
    async with asyncio.timeout(30):
        await asyncio.gather(*(drive(driver) for driver in drivers))
    assert order == drivers
    assert [info.driver for info in fleet.devices() if info.serial == serial] == [""]


async def test_a_cancelled_driver_lets_the_next_one_in(fleet: AdbFleet, home: Home) -> None:
    serial = home.phones.serials[0]
    holding = asyncio.Event()

    async def hold(driver: str) -> None:
        async with fleet.lease(serial, driver):
            holding.set()
            await asyncio.Event().wait()

    first = asyncio.create_task(hold("first"))
    held = asyncio.create_task(holding.wait())
    await asyncio.wait({first, held}, return_when=asyncio.FIRST_COMPLETED)
    assert held.done(), await first
    second = asyncio.create_task(hold("second"))
    await asyncio.sleep(0)
    second.cancel()
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    async with asyncio.timeout(30), fleet.lease(serial, "third") as device:
        assert device.serial == serial


async def test_a_failing_driver_frees_the_phone(fleet: AdbFleet, home: Home) -> None:
    serial = home.phones.serials[0]
    with pytest.raises(RuntimeError):
        async with fleet.lease(serial, "first"):
            raise RuntimeError("the driver failed")
    async with asyncio.timeout(30), fleet.lease(serial, "second"):
        pass


async def test_a_server_that_is_killed_comes_back_with_its_phones(phones: VirtualPhones) -> None:
    serial, _ = await phones.start()
    fleet = AdbFleet([phones.server.address], revive=phones.revive)
    await fleet.start()
    device = await fleet.wait_for(serial, timeout_s=30)
    changes = fleet.changes()
    os.kill(phones.server.pid, signal.SIGKILL)
    async with asyncio.timeout(NOTICED_WITHIN_S):
        async for info in changes:
            if info.state is DeviceState.GONE:
                break
    assert "adb server" in info.note
    await fleet.wait_for(serial, timeout_s=30)
    await device.press(Button.HOME)
    await fleet.close()


@pytest.mark.slow
async def test_phones_that_are_killed_are_noticed_and_come_back_by_themselves(
    phones: VirtualPhones,
) -> None:
    serials = await phones.start()
    fleet = AdbFleet([phones.server.address])
    await fleet.start()
    for serial in serials:
        await fleet.wait_for(serial, timeout_s=30)
    changes = fleet.changes()
    os.kill(phones.pid, signal.SIGKILL)
    async with asyncio.timeout(NOTICED_WITHIN_S):
        while any(info.state is DeviceState.ONLINE for info in fleet.devices()):
            await anext(changes)
    for serial in serials:
        device = await fleet.wait_for(serial, timeout_s=30)
        await device.press(Button.HOME)
    await fleet.close()


async def test_phones_keep_their_serials_over_a_restart(
    phones: VirtualPhones, folder: Path
) -> None:
    serials = await phones.start()
    await phones.stop()
    assert phones.serials == ()
    heirs = VirtualPhones(folder / "phones", phones.server, count=2)
    assert await heirs.start() == serials
    await heirs.stop()


@pytest.mark.slow
async def test_phones_and_nobody_else_end_with_a_killed_switchboard(folder: Path) -> None:
    script = (
        "import asyncio, pathlib, sys\n"
        "from agent.devices.adb.server import AdbServer\n"
        "from agent.devices.pool.virtual_phones import VirtualPhones\n"
        "async def main():\n"
        "    folder = pathlib.Path(sys.argv[1])\n"
        "    server = AdbServer(folder / 'adb')\n"
        "    phones = VirtualPhones(folder / 'phones', server)\n"
        "    await phones.start()\n"
        "    print(phones.pid, server.pid, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(folder), stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    async with asyncio.timeout(30):
        phones_pid, server_pid = map(int, (await parent.stdout.readline()).split())
    phones_mark, server_mark = start_mark(phones_pid), start_mark(server_pid)
    parent.kill()
    await parent.wait()
    assert await asyncio.to_thread(wait_gone, phones_pid, phones_mark, 10.0)
    assert is_running(server_pid, server_mark)
    heir = AdbServer(folder / "adb")
    await heir.start()
    assert heir.pid == server_pid
    await heir.stop()


async def test_a_port_that_another_program_took_is_named_with_the_remedy(
    phones: VirtualPhones, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.pool.virtual_phones.PORT_TIMEOUT_S", 0.1)
    serial, _ = await phones.start()
    await phones.stop()
    taken = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", int(serial[10:]))
    with pytest.raises(AdbError, match="in use") as caught:
        await phones.start()
    assert "ports.json" in caught.value.remedy
    taken.close()


async def test_no_server_at_all_is_an_error_at_the_start(nowhere: ServerAddress) -> None:
    with pytest.raises(AdbError, match="No adb server answers"):
        await AdbFleet([nowhere]).start()


async def test_states_of_a_server_become_devices_with_a_remedy() -> None:
    async def server(
        request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request == "host:version":
            writer.write(b"OKAY" + block("0029"))
        elif request.startswith("host:track-devices"):
            writer.write(b"OKAY" + block("a unauthorized usb:1-1\nb no permissions (x); see [y]\n"))
            await writer.drain()
            await reader.read()

    async with scripted_server(server) as address:
        fleet = AdbFleet([address])
        await fleet.start()
        infos = {info.serial: info for info in fleet.devices()}
        assert "accept the dialog" in infos["a"].note
        assert "udev" in infos["b"].note
        with pytest.raises(DeviceLostError, match="unauthorized"):
            await fleet.device("a")
        await fleet.close()


async def test_closing_ends_those_who_listen(home: Home) -> None:
    fleet = AdbFleet([home.server.address])
    await fleet.start()
    changes = fleet.changes()
    frames = fleet.frames(home.phones.serials[0], width_px=9, height_px=20, max_hz=5)

    async def drain() -> None:
        async for _ in changes:
            pass
        async for _ in frames:
            pass

    async with asyncio.timeout(30):
        await anext(frames)
        draining = asyncio.create_task(drain())
        await fleet.close()
        await draining


@pytest.mark.slow
async def test_phones_of_a_killed_owner_are_all_connected_again(tmp_path: Path) -> None:
    """An adb server that still tries for the phones that were must not swallow the new ones."""
    server = AdbServer(tmp_path / "adb")
    try:
        for since_s in (0.0, 0.05, 0.15, 0.25, 0.3) * 2:
            killed = VirtualPhones(tmp_path / "phones", server, count=3)
            serials = await killed.start()
            assert killed._keeper is not None
            killed._keeper.cancel()
            os.kill(killed.pid, signal.SIGKILL)
            # The server notices, and tries again in a rhythm of its own.
            await asyncio.sleep(since_s)
            phones = VirtualPhones(tmp_path / "phones", server, count=3)
            try:
                assert await phones.start() == serials
                async with asyncio.timeout(NOTICED_WITHIN_S):
                    while not await _are_all_devices(server, serials):
                        await asyncio.sleep(0.05)
            finally:
                await phones.stop()
    finally:
        await server.stop()


async def _are_all_devices(server: AdbServer, serials: tuple[str, ...]) -> bool:
    rows = {row.serial: row.state for row in await AdbClient(server.address).devices()}
    return all(rows.get(serial) is DeviceState.ONLINE for serial in serials)
