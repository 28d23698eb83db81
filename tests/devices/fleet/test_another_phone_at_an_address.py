"""An address that a phone had is another's later: what was its phone's is not done to the other."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.device_lease_file import DeviceLeaseFile, LeaseResult
from agent.devices.fleet.fleet import AdbFleet
from agent.errors import DeviceLostError
from agent.records import DeviceInfo, DeviceState
from support.adb import free_pair
from virtual_phone.server.serve import PhoneHost

PATIENCE_S = 30.0


@pytest.fixture
async def fleet(adb_address: ServerAddress) -> AsyncIterator[AdbFleet]:
    made = AdbFleet([adb_address], key="one")
    await made.start()
    yield made
    await made.close()


async def until(fleet: AdbFleet, serial: str, state: DeviceState) -> DeviceInfo:
    """Wait until a device is in a state, and has said who it is."""
    changes = fleet.changes()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for info in fleet.devices():
                if (info.serial, info.state) == (serial, state) and info.hardware_serial:
                    return info
            await anext(changes)


async def test_a_phone_that_has_the_address_of_one_that_is_driven_is_another_device(
    bare_adb: AdbClient, fleet: AdbFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", 0.05)
    port = free_pair()
    serial = f"127.0.0.1:{port + 1}"
    elsewhere = f"{serial}@{bare_adb.address}"
    async with PhoneHost(tmp_path / "ours", port=port + 1):
        await bare_adb.connect(serial)
        ours = await until(fleet, serial, DeviceState.ONLINE)
        leased = fleet.lease(serial, "s-1")
        device = await leased.__aenter__()
    await bare_adb.disconnect(serial)
    await until(fleet, serial, DeviceState.GONE)
    # The second of two phones, which is not the phone that had this port, and says so.
    async with PhoneHost(tmp_path / "theirs", count=2, port=port):
        await bare_adb.connect(serial)
        theirs = await until(fleet, elsewhere, DeviceState.ONLINE)
        assert theirs.hardware_serial != ours.hardware_serial
        away = await until(fleet, serial, DeviceState.GONE)
        assert away.note.startswith(f"Another phone ({theirs.hardware_serial}) answers at {serial}")
        with pytest.raises(DeviceLostError):
            await device.key("HOME")
        with pytest.raises(DeviceLostError, match="gone"):
            fleet.reach(serial)
        await leased.__aexit__(None, None, None)
        mark = DeviceLeaseFile(bare_adb, serial, owner="s-9@there", key="nine")
        assert (await mark.look()).standing is LeaseResult.FREE
        assert (await mark.take()).epoch == 1, "nobody has ever driven it"
        await mark.give_back()
        await bare_adb.disconnect(serial)
    async with PhoneHost(tmp_path / "ours", port=port + 1):
        await bare_adb.connect(serial)
        back = await until(fleet, serial, DeviceState.ONLINE)
        assert back.hardware_serial == ours.hardware_serial
        assert (await until(fleet, elsewhere, DeviceState.GONE)).note
        assert (await (await fleet.device(serial)).foreground()).package
        await bare_adb.disconnect(serial)


async def test_a_phone_that_comes_back_to_its_address_is_the_same_device(
    bare_adb: AdbClient, fleet: AdbFleet, tmp_path: Path
) -> None:
    async with PhoneHost(tmp_path / "ours") as host:
        (serial,) = host.serials
        await bare_adb.connect(serial)
        await until(fleet, serial, DeviceState.ONLINE)
        await bare_adb.disconnect(serial)
        await until(fleet, serial, DeviceState.GONE)
        await bare_adb.connect(serial)
        await until(fleet, serial, DeviceState.ONLINE)
        assert [one.serial for one in fleet.devices()].count(serial) == 1
        async with fleet.lease(serial, "s-1") as device:
            await device.key("HOME")
        await bare_adb.disconnect(serial)
