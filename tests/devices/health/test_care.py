"""The operator's look at a phone through the core: elements, log, findings, repairs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import protocol
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.errors import DeviceLostError, UsageError, WrongStateError
from agent.runtime.runtime import Runtime
from agent.store.embedded.sqlite_store import SqliteStore
from tests.devices.conftest import Home
from tests.fakes import FakeFleet, FakeModel, PlayedTask
from tests.stage import Stage


@pytest.fixture
async def core(home: Home, tmp_path: Path) -> AsyncIterator[Runtime]:
    fleet = AdbFleet([home.server.address])
    stage = Stage(tmp_path, FakeFleet())
    async with SqliteStore.open(tmp_path) as store:
        core = await Runtime.spawn(
            stage.settings,
            store=store,
            fleet=fleet,
            models=lambda session: FakeModel(session.model),
            task=lambda: PlayedTask({}),
            wake_jobs=False,
        )
        try:
            for serial in home.phones.serials:
                await fleet.wait_for(serial, timeout_s=30)
            yield core
        finally:
            await core.close()


async def test_a_phone_can_be_looked_at_examined_and_put_right(core: Runtime, home: Home) -> None:
    serial = home.phones.serials[0]
    looked = (await core.request(protocol.DeviceLook(serial=serial))).look
    assert looked is not None
    assert [e.number for e in looked.elements] == list(range(1, len(looked.elements) + 1))
    assert any(element.label for element in looked.elements)
    assert looked.foreground.package
    device = await core._parts.fleet.device(serial)
    assert isinstance(device, AdbDevice)
    # A phone that nothing was done with has nothing to say.
    await device._shell.checked("log -t looked-at once", 10.0)
    lines = (await core.request(protocol.DeviceLog(serial=serial, last=20))).lines
    assert 0 < len(lines) <= 20 and any("looked-at" in line for line in lines)
    await device.key("KEYCODE_SLEEP")
    findings = {
        f.name: f for f in (await core.request(protocol.DeviceExamine(serial=serial))).findings
    }
    assert findings["shell"].ok
    assert not findings["screen"].ok
    assert findings["screen"].can_repair
    # The operator who has the wheel may repair too; nobody else waits for a lease.
    await core.request(protocol.WheelTake(serial=serial))
    [mended] = (await core.request(protocol.DeviceRepair(serial=serial, name="screen"))).findings
    assert (mended.name, mended.ok) == ("screen", True)
    await core.request(protocol.WheelHandBack(serial=serial))
    with pytest.raises(UsageError, match="cannot repair 'screen'"):
        await core.request(protocol.DeviceRepair(serial=serial, name="screen"))
    # Other tests get the same phone: it slept, and its screen is locked since.
    await device._shell.checked("wm dismiss-keyguard", 10.0)


async def test_a_phone_that_a_session_drives_is_not_repaired(core: Runtime, home: Home) -> None:
    serial = home.phones.serials[1]
    async with core._parts.fleet.lease(serial, "s-1"):
        with pytest.raises(WrongStateError, match="driven by s-1"):
            await core.request(protocol.DeviceRepair(serial=serial, name="screen"))


async def test_what_cannot_be_looked_at_says_why(core: Runtime, home: Home) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        await core.request(protocol.DeviceLook(serial="nowhere"))
    with pytest.raises(UsageError, match="2000 lines"):
        await core.request(protocol.DeviceLog(serial=home.phones.serials[0], last=5_000))
    with pytest.raises(UsageError, match="not a log filter"):
        await core.request(protocol.DeviceLog(serial=home.phones.serials[0], filters=("; reboot",)))


async def test_a_rack_that_reaches_no_phone_says_so(tmp_path: Path) -> None:
    async with Stage(tmp_path, FakeFleet("phone-1")).play() as stage:
        with pytest.raises(DeviceLostError, match="cannot be examined"):
            await stage.do(protocol.DeviceExamine(serial="phone-1"))
        looked = (await stage.do(protocol.DeviceLook(serial="phone-1"))).look
        assert looked is not None
        assert [element.label for element in looked.elements] == ["Go"]
