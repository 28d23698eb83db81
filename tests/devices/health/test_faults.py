"""What the device layer makes of a phone that misbehaves on demand."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.protocols import Device
from agent.devices.scrcpy.link import ScrcpySettings
from agent.errors import DeviceLostError, DeviceTimeoutError, TreeUnavailableError
from agent.records import DeviceState, FrameStatus, Point
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

NO_VIDEO = ScrcpySettings(video=False)
MIDDLE = Point(x=0.5, y=0.5)


@dataclass
class Bench:
    """A virtual phone whose faults a test can begin, and the fleet that sees it."""

    host: PhoneHost
    fleet: AdbFleet
    device: Device

    def fault(self, kind: FaultKind, value: float = 0.0) -> None:
        self.host.fault(self.device.serial, kind, value=value)

    def mend(self) -> None:
        self.host.served(self.device.serial).userland.faults.clear()


@pytest.fixture
async def bench(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[Bench]:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        device = await fleet.wait_for(serial, timeout_s=30)
        await device.info()
        yield Bench(host, fleet, device)
        await fleet.close()
        await client.disconnect(serial)


async def test_a_hung_shell_leaves_a_tap_unknown_within_its_time_out(bench: Bench) -> None:
    await bench.device.foreground()
    bench.fault(FaultKind.HUNG_SHELL)
    started = time.monotonic()
    with pytest.raises(DeviceTimeoutError, match="unknown"):
        await bench.device.tap(MIDDLE, timeout_s=0.3)
    assert time.monotonic() - started < 30
    bench.mend()
    await bench.device.tap(MIDDLE)


async def test_a_hung_dump_is_a_missing_tree_and_not_an_unknown_action(bench: Bench) -> None:
    bench.fault(FaultKind.HUNG_DUMP)
    with pytest.raises(TreeUnavailableError, match="did not finish"):
        await bench.device.tree(timeout_s=0.5)


async def test_a_screen_without_content_says_so(bench: Bench) -> None:
    bench.fault(FaultKind.NULL_ROOT)
    with pytest.raises(TreeUnavailableError, match="null root"):
        await bench.device.tree()
    bench.mend()
    assert (await bench.device.tree()).nodes


async def test_a_hung_phone_makes_live_frames_stale(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.frames.capture_feed.STALE_AFTER_S", 0.1)
    fleet = AdbFleet([bench.fleet.reach(bench.device.serial)[0].address], scrcpy=NO_VIDEO)
    await fleet.start()
    frames = fleet.frames(bench.device.serial, width_px=90, height_px=200, max_hz=30)
    async with asyncio.timeout(30):
        async for frame in frames:
            if frame.status is FrameStatus.STATIC:
                break
        shown = frame.rgb
        bench.fault(FaultKind.HUNG_SHELL)
        async for frame in frames:
            if frame.status is FrameStatus.STALE:
                break
    assert frame.rgb == shown
    bench.mend()
    await fleet.close()


async def test_a_phone_that_takes_its_trust_back_says_what_to_do(bench: Bench) -> None:
    changes = bench.fleet.changes()
    bench.fault(FaultKind.UNAUTHORIZED)
    async with asyncio.timeout(30):
        async for info in changes:
            if info.state is DeviceState.UNAUTHORIZED:
                break
    assert "Allow USB debugging" in info.note
    with pytest.raises(DeviceLostError, match="unauthorized"):
        await bench.fleet.device(bench.device.serial)


async def test_a_phone_that_drops_its_connections_is_lost(bench: Bench) -> None:
    changes = bench.fleet.changes()
    bench.fault(FaultKind.DISCONNECT)
    async with asyncio.timeout(30):
        async for info in changes:
            if info.state is not DeviceState.ONLINE:
                break
    assert info.note
    with pytest.raises(DeviceLostError):
        await bench.device.tap(MIDDLE, timeout_s=30)
    bench.mend()
    await bench.fleet.wait_for(bench.device.serial, timeout_s=30)
    await bench.device.tap(MIDDLE)


@pytest.mark.slow
async def test_a_phone_that_nobody_drives_and_that_hangs_is_listed_as_such_and_comes_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> DeviceState:
        (info,) = bench.fleet.devices()
        return info.state

    monkeypatch.setattr("agent.devices.fleet.device_lease.IDLE_EVERY_S", 0.05)
    bench.fault(FaultKind.HUNG_SHELL)
    async with asyncio.timeout(60):
        changes = bench.fleet.changes()
        while state() is not DeviceState.OFFLINE:
            await anext(changes)
        (info,) = bench.fleet.devices()
        assert "it does not answer" in info.note
        bench.mend()
        while state() is not DeviceState.ONLINE:
            await anext(changes)


async def test_a_phone_that_gives_no_word_is_asked_for_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.health.phone_checks._WORD_TIMEOUT_S", 0.3)
    care = await bench.fleet.maintenance(bench.device.serial)
    bench.fault(FaultKind.HUNG_SHELL)
    (only,) = await care.examine()
    assert not only.ok and "nothing else was asked" in only.detail
