"""One phone: what it is asked, what it answers, and how it fails."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.frames.png import png_size
from agent.devices.protocols import Button, Device
from agent.devices.trees.dump import TREE_PATH
from agent.errors import (
    DeviceError,
    DeviceLostError,
    TextEntryError,
    TreeUnavailableError,
    UsageError,
)
from agent.records import Point
from tests.devices.conftest import ScriptedPhone, phone_without, scripted_device, scripted_server

DATA = Path(__file__).parent.parent.parent / "data" / "devices"
MARK = b"switchboard-tree-follows\n"
SIZE = b"Physical size: 1080x2400\n"
DISPLAY = b"  init=1080x2400 420dpi cur=1080x2400 app=1080x2274\n"
OLD = b"Nexus 5\n4.4.2\n19\n1\n\n\n"


# --- a virtual phone over a real adb server ----------


async def test_a_picture_is_a_whole_png_with_its_own_digest(device: Device) -> None:
    first, second = await device.capture(), await device.capture()
    assert png_size("phone", first.data) == (first.frame.width_px, first.frame.height_px)
    assert (first.frame.width_px, first.frame.height_px) == (1080, 2400)
    assert len(second.frame.digest) == 64


async def test_the_tree_of_the_home_screen_has_nodes_in_place(device: Device) -> None:
    tree = await device.tree()
    assert tree.xml.startswith(b"<?xml")
    assert tree.started_ms <= tree.ended_ms
    assert {node.package for node in tree.nodes if node.package} != set()
    assert any(node.clickable for node in tree.nodes)


async def test_apps_are_listed_and_launch_into_the_foreground(device: Device) -> None:
    packages = [app.package for app in await device.apps()]
    assert packages == sorted(packages)
    assert "com.android.settings" in packages
    await device.launch("com.android.settings")
    assert (await device.foreground()).package == "com.android.settings"
    await device.press(Button.HOME)
    assert (await device.foreground()).package != "com.android.settings"


async def test_the_shade_is_opened_by_a_button_that_no_phone_has(device: Device) -> None:
    await device.press(Button.NOTIFICATIONS)
    packages = {node.package for node in (await device.tree()).nodes}
    assert "com.android.systemui" in packages
    await device.press(Button.BACK)


async def test_launching_what_is_not_there_is_an_error(device: Device) -> None:
    with pytest.raises(DeviceError, match=r"no\.such\.app"):
        await device.launch("no.such.app")
    for hostile in ("", "a; reboot", "$(reboot)", "-v"):
        with pytest.raises(UsageError):
            await device.launch(hostile)


async def test_gestures_take_their_time(device: Device) -> None:
    middle, above = Point(x=0.5, y=0.6), Point(x=0.5, y=0.4)
    for gesture, least_s in (
        (device.swipe(middle, above, duration_ms=400), 0.4),
        (device.long_press(above, duration_ms=500), 0.5),
    ):
        started = time.monotonic()
        await gesture
        assert least_s * 0.9 < time.monotonic() - started < least_s + 20


async def test_typed_text_arrives_in_the_field_exactly(device: Device) -> None:
    await device.launch("com.android.settings")
    field = next(
        (node for node in (await device.tree()).nodes if "search" in node.resource_id.lower()), None
    )
    assert field is not None
    await device.tap(field.bounds.center)
    text = '100%s it\'s $HOME "x" `y` \\ & ; * ~'
    await device.type_text(text)
    shown = [node.text for node in (await device.tree()).nodes]
    assert text in shown
    for _ in text:
        await device.press(Button.DELETE)
    await device.press(Button.HOME)


# --- where the pixels go ----------


@settings(max_examples=40)
@given(x=st.floats(allow_nan=False), y=st.floats(allow_nan=False))
async def test_a_touch_always_lands_on_the_screen(x: float, y: float) -> None:
    phone = ScriptedPhone({"dumpsys window displays": (DISPLAY, 0)})
    async with scripted_device(phone) as device:
        await device.tap(Point(x=x, y=y))
    verb, across, down = phone.commands[-1].split()[1:]
    assert verb == "tap"
    assert 0 <= int(across) < 1080
    assert 0 <= int(down) < 2400


@pytest.mark.parametrize(
    ("at", "pixel"),
    [((0, 0), "0 0"), ((1, 1), "1079 2399"), ((0.5, 0.5), "540 1200"), ((1.5, -0.5), "1079 0")],
)
async def test_normalized_places_become_pixels(at: tuple[float, float], pixel: str) -> None:
    phone = ScriptedPhone({"dumpsys window displays": (DISPLAY, 0)})
    async with scripted_device(phone) as device:
        await device.tap(Point(x=at[0], y=at[1]))
    assert phone.commands[-1] == f"input tap {pixel}"


async def test_a_turned_screen_turns_the_pixels() -> None:
    xml = b'<hierarchy rotation="1"><node bounds="[0,0][2400,1080]"/></hierarchy>'
    phone = ScriptedPhone({"wm size": (SIZE + MARK + xml, 0)})
    async with scripted_device(phone) as device:
        (node,) = (await device.tree()).nodes
        await device.tap(Point(x=1, y=1))
    assert node.bounds.right == node.bounds.bottom == 1
    assert phone.commands[-1] == "input tap 2399 1079"


async def test_a_place_that_is_no_number_is_refused() -> None:
    async with scripted_device(ScriptedPhone({})) as device:
        with pytest.raises(UsageError):
            await device.tap(Point(x=float("nan"), y=0.5))


# --- failures keep their words ----------


@pytest.mark.parametrize(
    ("said", "code", "why"),
    [
        (b"ERROR: null root node returned by UiTestAutomationBridge.\n", 0, "null root"),
        (b"ERROR: could not get idle state.\n", 1, "never came to rest"),
        (b"java.lang.IllegalStateException: UiAutomationService already registered!", 1, "another"),
        (b"Killed \n", 137, "killed"),
        (b"sh: uiautomator: not found\n", 127, "no uiautomator"),
        (b"something new\n", 1, "something new"),
        (b"", 0, "nothing"),
    ],
)
async def test_a_missing_tree_says_why(said: bytes, code: int, why: str) -> None:
    phone = ScriptedPhone({"wm size": (SIZE + said + MARK, code)})
    async with scripted_device(phone) as device:
        with pytest.raises(TreeUnavailableError, match=why) as caught:
            await device.tree()
    assert caught.value.remedy


async def test_a_tree_is_never_an_old_one() -> None:
    phone = ScriptedPhone({"wm size": (SIZE + MARK + b"<hierarchy/>", 0)})
    async with scripted_device(phone) as device:
        assert (await device.tree()).nodes == ()
    (command,) = phone.commands
    assert command.index(f"rm -f {TREE_PATH}") < command.index("uiautomator dump")


async def test_an_old_phone_is_not_asked_for_its_size_with_every_tree() -> None:
    phone = ScriptedPhone({"rm -f": (MARK + b"<hierarchy/>", 0)}, features="shell_v2")
    async with scripted_device(phone) as device:
        assert (await device.tree()).nodes == ()
    assert phone.commands[0].startswith("rm -f")


async def test_a_picture_that_fails_is_an_error_with_the_phones_words() -> None:
    phone = ScriptedPhone({"screencap": (b"screencap: cannot capture a secure display\n", 1)})
    async with scripted_device(phone) as device:
        with pytest.raises(DeviceError, match="secure display"):
            await device.capture()


async def test_a_warning_before_a_picture_is_skipped() -> None:
    data = (DATA / "android-4.4.2/calculator_landscape.png").read_bytes()
    warning = b"[Warning] Multiple displays were found, but no display id was specified!\n"
    phone = ScriptedPhone({"screencap": (warning + data, 0)})
    async with scripted_device(phone) as device:
        assert (await device.capture()).data == data


async def test_an_old_phone_without_exec_gives_its_picture_turned() -> None:
    data = (DATA / "android-4.4.2/calculator_landscape.png").read_bytes()
    phone = ScriptedPhone(
        {
            "getprop": (OLD, 0),
            "screencap": (data, 0),
            "dumpsys display": (b"    mCurrentOrientation=1\n", 0),
        },
        features="",
        crlf=True,
    )
    async with scripted_device(phone) as device:
        frame = (await device.capture()).frame
    assert (frame.width_px, frame.height_px) == (800, 480)


async def test_an_old_phone_without_grep_still_names_its_foreground() -> None:
    focus = (DATA / "android-4.4.2/notification_shade.focus.txt").read_bytes()
    phone = ScriptedPhone(
        {
            "getprop": (OLD, 0),
            "dumpsys window displays | grep": (b"/system/bin/sh: grep: not found\n", 127),
            "dumpsys window displays;": (focus, 0),
        },
        features="",
        crlf=True,
    )
    async with scripted_device(phone) as device:
        assert (await device.foreground()).package == "com.android.documentsui"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"", 1),
        (
            b"java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS",
            0,
        ),
        (b"Error: Invalid arguments for command: tap\n", 0),
    ],
)
async def test_a_refused_touch_is_an_error(said: bytes, code: int) -> None:
    phone = ScriptedPhone({"dumpsys": (DISPLAY, 0), "input": (said, code)})
    async with scripted_device(phone) as device:
        with pytest.raises(DeviceError) as caught:
            await device.tap(Point(x=0.5, y=0.5))
    if b"INJECT_EVENTS" in said:
        assert "Security settings" in caught.value.remedy


async def test_text_that_cannot_arrive_sends_nothing() -> None:
    phone = ScriptedPhone({})
    async with scripted_device(phone) as device:
        with pytest.raises(TextEntryError):
            await device.type_text("abc 世界")
        await device.type_text("")
    assert not [command for command in phone.commands if command.startswith("input")]


async def test_text_goes_through_adb_keyboard_where_it_is_the_keyboard() -> None:
    phone = ScriptedPhone(
        {
            "settings get": (b"com.android.adbkeyboard/.AdbIME\n", 0),
            "am broadcast": (b"Broadcasting: Intent\nBroadcast completed: result=0\n", 0),
        }
    )
    async with scripted_device(phone) as device:
        await device.type_text("世界")
    assert phone.commands[-1].startswith("am broadcast -a ADB_INPUT_B64 --es msg ")


async def test_every_button_has_a_key_code() -> None:
    phone = ScriptedPhone({})
    async with scripted_device(phone) as device:
        for button in Button:
            await device.press(button)
    assert len(set(phone.commands)) == len(Button)


async def test_a_phone_that_closes_its_shell_is_lost() -> None:
    async with scripted_server(phone_without("shell_v2", {})) as address:
        with pytest.raises(DeviceLostError):
            await AdbDevice(AdbClient(address), "phone").press(Button.HOME)
