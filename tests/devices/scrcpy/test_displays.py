"""Displays beyond the main one: opened, driven, looked at, and gone with whatever kept them."""

import asyncio
from io import BytesIO

import pytest
from PIL import Image

from agent.devices.adb_device import AdbDevice
from agent.devices.protocols import Button, Dated
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.link import ScrcpySettings
from agent.devices.scrcpy.server_file import PhoneServer
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, DeviceLostError, TreeUnavailableError
from agent.records import FrameStatus, Point
from tests.devices.scrcpy.conftest import BOUND_S, Bench
from virtual_phone.server.faults import FaultKind

SETTINGS = "com.android.settings"


async def test_an_app_lives_on_a_display_that_nobody_sees(bench: Bench) -> None:
    assert await bench.device.displays.refusal() == ""
    before = await bench.device.foreground()
    display = await bench.device.displays.open(width_px=720, height_px=1280, dpi=320)
    assert display.number > 0
    assert display.size == (720, 1280)
    assert bench.device.displays.opened() == (display,)
    await display.start_app(SETTINGS)
    assert (await display.device.foreground()).package == SETTINGS
    # A part of a tree works on such a display, and is told the date too.
    assert isinstance(display.device, Dated)
    assert await display.device.local_time() == await bench.device.local_time() != ""
    assert await bench.device.foreground() == before, "the main display is as it was"
    await display.close()
    assert not display.is_open
    assert bench.device.displays.opened() == ()
    await display.close()
    async with asyncio.timeout(BOUND_S):
        while len(bench.phone.displays.all()) > 1:
            await asyncio.sleep(0)


async def test_pictures_and_touches_are_of_that_display(bench: Bench) -> None:
    display = await bench.device.displays.open(width_px=720, height_px=1280, dpi=320)
    empty = await display.capture()
    await display.device.launch(SETTINGS)
    shown = await display.capture()
    with Image.open(BytesIO(shown.data)) as image:
        assert image.size == (720, 1280)
    assert shown.frame.digest != empty.frame.digest
    assert shown.frame.captured_ms >= empty.frame.captured_ms
    await display.device.tap(Point(x=0.5, y=0.25))
    await bench.until(lambda: len(bench.touches) == 2)
    assert (bench.touches[0].x, bench.touches[0].y) == pytest.approx((0.5, 0.25), abs=0.01)
    frames = display.frames(width_px=90, height_px=160, max_hz=30)
    async with asyncio.timeout(BOUND_S):
        frame = await anext(frames)
    assert (frame.width_px, frame.height_px) == (90, 160)
    main = await bench.device.tree()
    tree = await display.device.tree()
    assert {node.package for node in tree.nodes} == {SETTINGS}
    assert SETTINGS not in {node.package for node in main.nodes}
    assert tree.nodes[0].bounds.right == 1.0
    assert (await bench.device.tree()).nodes == main.nodes
    await display.close()
    with pytest.raises(TreeUnavailableError, match="no window of display"):
        await display.device.tree()


async def test_an_app_is_brought_back_to_the_main_display(bench: Bench) -> None:
    display = await bench.device.displays.open()
    await display.start_app(SETTINGS)
    await display.attach(SETTINGS)
    async with asyncio.timeout(BOUND_S):
        while (await bench.device.foreground()).package != SETTINGS:
            await asyncio.sleep(0)
    await display.close()


async def test_a_display_goes_with_its_phone_and_says_so(bench: Bench) -> None:
    display = await bench.device.displays.open(width_px=360, height_px=640, dpi=160)
    frames = display.frames(width_px=90, height_px=160, max_hz=30)
    async with asyncio.timeout(BOUND_S):
        await anext(frames)
        bench.fault(FaultKind.DISCONNECT)
        async for frame in frames:
            if frame.status is FrameStatus.LOST:
                break
    assert not display.is_open
    with pytest.raises(DeviceLostError):
        await display.capture()
    bench.mend()
    await display.close()


async def test_an_app_that_is_not_there_is_an_error(bench: Bench) -> None:
    display = await bench.device.displays.open(width_px=360, height_px=640, dpi=160)
    for name in ("no.such.app", "a; reboot", "$(reboot)"):
        with pytest.raises(DeviceError):
            await display.start_app(name)
    await display.close()


async def test_an_old_server_says_at_planning_time_that_it_cannot(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def old(_shell: PhoneShell, _setting: str, *, timeout_s: float) -> PhoneServer:
        return PhoneServer(dialect("2.7"), "/dev/null")

    monkeypatch.setattr("agent.devices.scrcpy.link.prepare_server", old)
    assert "3.1 or newer" in await bench.device.displays.refusal()
    with pytest.raises(DeviceError, match=r"3\.1 or newer"):
        await bench.device.displays.open()


async def test_a_display_of_a_phone_that_is_driven_elsewhere_is_not_touched(bench: Bench) -> None:
    is_ours = True

    def may_act() -> None:
        if not is_ours:
            raise DeviceLostError(
                f"{bench.device.serial} was taken over.", "Wait until it is free."
            )

    client = bench.device._client
    device = AdbDevice(client, bench.device.serial, may_act=may_act, scrcpy=ScrcpySettings())
    display = await device.displays.open(width_px=360, height_px=640, dpi=160)
    await display.start_app(SETTINGS)
    is_ours = False
    there = display.device
    for act in (
        lambda: there.tap(Point(x=0.5, y=0.5)),
        lambda: there.scroll(Point(x=0.5, y=0.5), vertical=-1.0),
        lambda: there.key("ENTER"),
        lambda: there.press(Button.BACK),
        lambda: there.type_text("x"),
        lambda: there.set_clipboard("x"),
        lambda: there.launch(SETTINGS),
        lambda: display.attach(SETTINGS),
        lambda: device.displays.open(),
    ):
        with pytest.raises(DeviceLostError, match="taken over"):
            await act()
    assert not bench.touches
    assert (await display.device.foreground()).package == SETTINGS
    is_ours = True
    await display.device.tap(Point(x=0.5, y=0.25))
    await bench.until(lambda: len(bench.touches) == 2)
    await device.close()
