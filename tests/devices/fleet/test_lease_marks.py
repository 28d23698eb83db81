"""One driver per phone across cores that share nothing but the phone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.device_lease_file import PATH, DeviceLeaseFile, LeaseResult
from agent.devices.fleet.fleet import AdbFleet
from agent.errors import DeviceLostError
from agent.records import DeviceInfo
from virtual_phone.server.serve import PhoneHost

PATIENCE_S = 30.0


@pytest.fixture
async def serial(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[str]:
    client = AdbClient(adb_address)
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        await client.connect(serial)
        yield serial
        await client.disconnect(serial)


@pytest.fixture
async def fleets(
    adb_address: ServerAddress, serial: str
) -> AsyncIterator[tuple[AdbFleet, AdbFleet]]:
    """Two cores' fleets, as of two data directories."""
    pair = (AdbFleet([adb_address], key="one"), AdbFleet([adb_address], key="two"))
    for fleet in pair:
        await fleet.start()
        await fleet.wait_for(serial, timeout_s=PATIENCE_S)
    yield pair
    for fleet in pair:
        await fleet.close()


async def until_driven_by(fleet: AdbFleet, serial: str, driver: str) -> DeviceInfo:
    changes = fleet.changes()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for info in fleet.devices():
                if info.serial == serial and info.driver == driver:
                    return info
            await anext(changes)


async def overtake(adb: AdbClient, serial: str, other: DeviceLeaseFile) -> None:
    """Have another take a lease that has run out."""
    features = await adb.features(serial)
    aged = f"read e k x o < {PATH}; echo $e $k 0 $o > {PATH}"
    async with asyncio.timeout(PATIENCE_S):
        while (await other.take()).standing is not LeaseResult.OURS:
            await adb.shell(serial, aged, features=features, timeout_s=30)


async def test_two_cores_never_drive_one_phone(
    fleets: tuple[AdbFleet, AdbFleet], serial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", 0.1)
    first, second = fleets
    async with first.lease(serial, "s-1"):
        with pytest.raises(DeviceLostError, match="is driven by s-1@") as caught:
            async with second.lease(serial, "s-2"):
                pass
        assert "given back" in caught.value.remedy
        [info] = [info for info in second.devices() if info.serial == serial]
        assert info.driver.startswith("elsewhere: s-1@")
    await until_driven_by(second, serial, "")
    async with second.lease(serial, "s-2"):
        pass


async def test_a_lease_that_ran_out_is_taken_over_and_its_driver_acts_no_more(
    bare_adb: AdbClient,
    fleets: tuple[AdbFleet, AdbFleet],
    serial: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", 0.1)
    first, _ = fleets
    other = DeviceLeaseFile(bare_adb, serial, owner="s-9@there", key="nine")
    async with first.lease(serial, "s-1") as device:
        # Its heartbeat stopped for as long as a lease lasts, as a host does that is suspended.
        await overtake(bare_adb, serial, other)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await device.key("BACK")
                except DeviceLostError as error:
                    assert "taken over by s-9@there" in error.message
                    break
    await other.give_back()


async def test_who_was_overtaken_acts_no_more_also_when_the_phone_is_free_again(
    bare_adb: AdbClient,
    fleets: tuple[AdbFleet, AdbFleet],
    serial: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", 0.1)
    first, _ = fleets
    other = DeviceLeaseFile(bare_adb, serial, owner="s-9@there", key="nine")
    async with first.lease(serial, "s-1") as device:
        await overtake(bare_adb, serial, other)
        await other.give_back()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    await device.key("BACK")
                except DeviceLostError as error:
                    if "who gave it back" in error.message:
                        break
    async with asyncio.timeout(PATIENCE_S), first.lease(serial, "s-2") as device:
        await device.key("BACK")


async def test_a_host_that_stood_still_looks_whose_the_phone_is_before_it_acts(
    fleets: tuple[AdbFleet, AdbFleet], serial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_registry._SURE_S", 0.0)
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", PATIENCE_S * 100)
    first, _ = fleets
    async with first.lease(serial, "s-1") as device:
        with pytest.raises(DeviceLostError, match="another owner by now"):
            await device.key("BACK")
        monkeypatch.setattr("agent.devices.fleet.device_registry._SURE_S", PATIENCE_S)
        await device.key("BACK")


async def test_a_host_that_its_fleet_does_not_hear_lets_its_phones_go(
    adb_address: ServerAddress, serial: str, monkeypatch: pytest.MonkeyPatch, bare_adb: AdbClient
) -> None:
    monkeypatch.setattr("agent.devices.fleet.device_lease.RENEW_EVERY_S", 0.05)
    monkeypatch.setattr("agent.devices.fleet.device_lease._LOOK_S", 0.05)
    monkeypatch.setattr("agent.devices.fleet.device_lease_file.TTL_S", 1)
    heard = [True]
    cut = AdbFleet([adb_address], key="cut", may_keep=lambda: heard[0])
    await cut.start()
    await cut.wait_for(serial, timeout_s=PATIENCE_S)
    other = DeviceLeaseFile(bare_adb, serial, owner="s-9@there", key="nine")
    async with cut.lease(serial, "s-1") as device:
        await device.key("BACK")
        heard[0] = False
        async with asyncio.timeout(PATIENCE_S):
            while (await other.take()).standing is not LeaseResult.OURS:
                pass
        heard[0] = True
        with pytest.raises(DeviceLostError, match="taken over by"):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    await device.key("BACK")
                    await other.take()
    await other.give_back()
    await cut.close()


async def test_the_successor_on_a_data_directory_need_not_wait(
    adb_address: ServerAddress, bare_adb: AdbClient, serial: str
) -> None:
    killed = DeviceLeaseFile(bare_adb, serial, owner="s-1@here:1", key="same")
    async with asyncio.timeout(PATIENCE_S):
        while not any(r.serial == serial and r.state == "device" for r in await bare_adb.devices()):
            await asyncio.sleep(0)
    assert (await killed.take()).standing is LeaseResult.OURS
    heir = AdbFleet([adb_address], key="same")
    await heir.start()
    await heir.wait_for(serial, timeout_s=PATIENCE_S)
    async with heir.lease(serial, "s-1"):
        assert (await killed.look()).owner.startswith("s-1@")
    await heir.close()
    assert (await killed.look()).standing is LeaseResult.FREE
