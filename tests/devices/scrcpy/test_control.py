"""Fingers, keys and clipboard over the control socket, as the phone sees them."""

import asyncio

import pytest

from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.gestures import Drag, MultiSwipe, Pinch, Rotate
from agent.devices.protocols import Button
from agent.devices.scrcpy import server_file
from agent.devices.scrcpy.link import ScrcpySettings
from agent.errors import DeviceError, DeviceTimeoutError
from agent.records import Point
from tests.devices.conftest import ScriptedPhone, scripted_server
from tests.devices.scrcpy.conftest import Bench
from virtual_phone.server.faults import FaultKind

MIDDLE = Point(x=0.5, y=0.5)


async def test_a_tap_is_one_finger_at_its_place(bench: Bench) -> None:
    await bench.device.control()
    await bench.device.tap(Point(x=0.25, y=0.75))
    await bench.until(lambda: len(bench.touches) == 2)
    assert [one.action for one in bench.touches] == ["down", "up"]
    for one in bench.touches:
        assert (one.x, one.y) == pytest.approx((0.25, 0.75), abs=0.002)


async def test_a_long_press_and_a_swipe_take_their_true_time(bench: Bench) -> None:
    await bench.device.control()
    await bench.device.long_press(MIDDLE, duration_ms=400)
    await bench.until(lambda: len(bench.touches) == 2)
    down, up = bench.touches
    # The phone takes note when it is served: on a busy machine the first event may come late.
    assert up.at_s - down.at_s > 0.2
    bench.touches.clear()
    await bench.device.swipe(Point(x=0.5, y=0.7), Point(x=0.5, y=0.3), duration_ms=300)
    await bench.until(lambda: bool(bench.touches) and bench.touches[-1].action == "up")
    moves = [one.y for one in bench.touches]
    assert len(moves) > 10
    assert moves == sorted(moves, reverse=True)
    assert moves[-1] == pytest.approx(0.3, abs=0.002)
    assert bench.touches[-1].at_s - bench.touches[0].at_s > 0.15


@pytest.mark.parametrize(
    ("gesture", "fingers"),
    [
        (Pinch(MIDDLE, 2.0, duration_ms=120), 2),
        (Rotate(MIDDLE, 90, duration_ms=120), 2),
        (MultiSwipe(Point(x=0.5, y=0.3), Point(x=0.5, y=0.6), duration_ms=120), 3),
        (Drag(MIDDLE, Point(x=0.5, y=0.4), hold_ms=60, duration_ms=60), 1),
    ],
)
async def test_several_fingers_are_down_together(
    bench: Bench, gesture: Pinch | Rotate | MultiSwipe | Drag, fingers: int
) -> None:
    await bench.device.perform(gesture)
    await bench.until(lambda: sum(one.action == "up" for one in bench.touches) == fingers)
    actions = [one.action for one in bench.touches]
    assert actions[:fingers] == ["down"] * fingers
    assert actions[-fingers:] == ["up"] * fingers
    assert len({one.pointer for one in bench.touches}) == fingers


async def test_keys_wheels_and_starting_reach_the_phone(bench: Bench) -> None:
    await bench.device.control()
    await bench.device.launch("com.android.settings")
    assert (await bench.device.foreground()).package == "com.android.settings"
    await bench.device.scroll(MIDDLE, vertical=-3)
    await bench.device.press(Button.HOME)
    async with asyncio.timeout(30):
        while (await bench.device.foreground()).package == "com.android.settings":
            pass
    await bench.device.key("KEYCODE_WAKEUP")


async def test_the_clipboard_is_set_acknowledged_and_read_back(bench: Bench) -> None:
    text = "naïve 世界 🌍\nsecond line $HOME `id`"
    await bench.device.set_clipboard(text)
    assert bench.phone.clipboard.text == text
    assert await bench.device.clipboard() == text


async def test_a_gesture_that_is_cancelled_lifts_its_fingers(bench: Bench) -> None:
    await bench.device.control()
    pressing = asyncio.create_task(bench.device.long_press(MIDDLE, duration_ms=30_000))
    await bench.until(lambda: len(bench.touches) == 1)
    pressing.cancel()
    await asyncio.wait({pressing})
    await bench.until(lambda: len(bench.touches) == 2)
    assert bench.touches[-1].action == "up"


async def test_a_socket_that_breaks_in_a_gesture_leaves_it_unknown_and_unrepeated(
    bench: Bench,
) -> None:
    await bench.device.control()
    swiping = asyncio.create_task(
        bench.device.swipe(Point(x=0.5, y=0.7), Point(x=0.5, y=0.3), duration_ms=4000)
    )
    await bench.until(lambda: len(bench.touches) > 3)
    bench.fault(FaultKind.DISCONNECT)
    with pytest.raises(DeviceTimeoutError, match="unknown"):
        await swiping
    bench.mend()
    assert sum(one.action == "down" for one in bench.touches) == 1


async def test_a_socket_that_broke_before_is_opened_again(bench: Bench) -> None:
    channel = await bench.device.control()
    await channel.close()
    again = await bench.device.control()
    assert again is not channel
    await bench.device.tap(MIDDLE)
    await bench.until(lambda: len(bench.touches) == 2)


async def test_without_a_server_one_finger_goes_by_input_and_two_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_file, "_installed", lambda: iter(()))
    monkeypatch.setattr(server_file, "_packaged", lambda: None)
    phone = ScriptedPhone(
        {"dumpsys window displays": (b"  init=1080x2400 420dpi cur=1080x2400 app=1080x2274\n", 0)}
    )
    async with scripted_server(phone.handle) as address:
        device = AdbDevice(AdbClient(address), "phone", scrcpy=ScrcpySettings())
        await device.make_ready()
        await device.tap(MIDDLE)
        assert phone.commands[-1] == "input tap 540 1200"
        with pytest.raises(DeviceError, match="no scrcpy server"):
            await device.perform(Pinch(MIDDLE, 2.0))
        with pytest.raises(DeviceError, match="no scrcpy server"):
            await device.clipboard()
        await device.release_input()
