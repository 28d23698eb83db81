"""The on-device service, as a client meets it on a phone: started by adb, asked over its port."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from support.connected import Connected
from support.patience import until
from support.uiautomator_client import FIELD, START, Client, Output, step, where
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost
from virtual_phone.shell.interpreter import Shell


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with PhoneHost(tmp_path) as host:
        served = host.served(host.serials[0])
        output = Output()
        shell = Shell(served.userland)
        running = asyncio.create_task(shell.run_text(START, {1: output, 2: output}))
        await until(lambda: "tcp:9008" in served.userland.sockets.names() or running.done())
        yield Client(served, output, running)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_the_service_answers_a_ping_and_says_what_phone_it_is(client: Client) -> None:
    assert await client.http("GET", "/ping") == (200, b"pong")
    info = await client.call("deviceInfo")
    assert isinstance(info, dict)
    assert (info["displayWidth"], info["displayHeight"]) == (1080, 2400)
    assert info["currentPackageName"] == "com.android.launcher3"
    assert info["screenOn"] is True
    assert info["sdkInt"] == 34


async def test_one_connection_may_carry_many_requests(client: Client) -> None:
    socket = client.connect()
    for _ in range(3):
        await socket.write(b"GET /ping HTTP/1.1\r\n\r\n")
        answer = b""
        while not answer.endswith(b"pong"):
            answer += await socket.read()
    socket.close()


async def test_no_parameters_may_be_an_empty_object(client: Client) -> None:
    request = {"jsonrpc": "2.0", "id": 7, "method": "isScreenOn", "params": {}}
    answer = await client.send(json.dumps(request).encode())
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": True}


async def test_an_object_is_found_by_each_way_of_saying_it(client: Client) -> None:
    await client.open("com.android.settings")
    info = await client.call("objInfo", where(text="Battery"))
    assert isinstance(info, dict)
    assert info["className"] == "android.widget.TextView"
    assert info["packageName"] == "com.android.settings"
    for selector in (
        where(textContains="BATT"),
        where(textMatches="Bat+ery"),
        where(text="Battery", className="android.widget.TextView"),
        where(resourceId=info["resourceName"], text="Battery"),
    ):
        assert await client.call("exist", selector) is True, selector
        assert await client.call("objInfo", selector) == info
    for selector in (where(text="battery"), where(textMatches="Bat"), where(text="No such")):
        assert await client.call("exist", selector) is False, selector


async def test_instances_children_and_siblings_narrow_an_object(client: Client) -> None:
    await client.open("com.android.settings")
    every = await client.call("objInfoOfAllInstances", where(className="android.widget.TextView"))
    assert isinstance(every, list)
    count = await client.call("count", where(className="android.widget.TextView"))
    assert count == len(every) > 5
    third = where(className="android.widget.TextView", instance=3)
    assert await client.call("objInfo", third) == every[3]
    assert await client.call("count", third) == 1
    past = where(className="android.widget.TextView", instance=count)
    assert await client.call("count", past) == 0
    inside = step(where(scrollable=True), "child", text="Battery")
    assert await client.call("count", inside) == 1
    other_root = step(where(text="Battery"), "child", text="Battery")
    assert await client.call("count", other_root) == 0
    beside = step(where(text="Battery"), "sibling", className="android.widget.TextView")
    texts = [one["text"] for one in await client.call("objInfoOfAllInstances", beside)]  # type: ignore[attr-defined]
    assert texts[0] == "Battery"
    assert len(texts) == 2, "its summary stands beside it"


async def test_what_is_not_there_is_the_exception_that_clients_know(client: Client) -> None:
    code, message = await client.fails("getText", where(text="No such"))
    assert code == -32002
    assert message.startswith("androidx.test.uiautomator.UiObjectNotFoundException")
    assert await client.fails("objInfo", "no-such-name") == (
        -32002,
        "androidx.test.uiautomator.UiObjectNotFoundException: no object 'no-such-name'",
    )


async def test_waiting_ends_when_the_object_comes_and_when_it_goes(client: Client) -> None:
    waiting = asyncio.create_task(client.call("waitForExists", where(text="Battery"), 5000))
    await asyncio.sleep(0)
    await client.open("com.android.settings")
    assert await waiting is True
    going = asyncio.create_task(client.call("waitUntilGone", where(text="Battery"), 5000))
    await client.call("pressKey", "home")
    assert await going is True
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await client.call("waitForExists", where(text="No such"), 100) is False
    assert 0.1 <= loop.time() - began < 20


async def test_clicks_and_long_clicks_reach_the_object(client: Client) -> None:
    await client.open("com.android.settings")
    assert await client.call("click", where(text="Battery")) is True
    assert await client.call("waitForExists", where(text="Adaptive Battery"), 3000) is True
    assert await client.call("pressKey", "back") is True
    info = await client.call("objInfo", where(text="Battery"))
    assert isinstance(info, dict)
    seen = info["visibleBounds"]
    x, y = (seen["left"] + seen["right"]) / 2, (seen["top"] + seen["bottom"]) / 2
    assert await client.call("click", x, y) is True
    assert await client.call("waitForExists", where(text="Adaptive Battery"), 3000) is True


async def test_a_list_scrolls_to_what_it_holds_and_says_when_it_ends(client: Client) -> None:
    await client.open("com.android.settings")
    a_list = where(scrollable=True)
    assert await client.call("exist", where(text="About phone")) is False
    assert await client.call("scrollTo", a_list, where(text="About phone"), True) is True
    assert await client.call("exist", where(text="About phone")) is True
    assert await client.call("flingToEnd", a_list, True, 50) is True
    assert await client.call("scrollForward", a_list, True, 20) is False
    assert await client.call("scrollToBeginning", a_list, True, 50, 20) is True
    assert await client.call("scrollBackward", a_list, True, 20) is False
    assert await client.call("scrollTo", a_list, where(text="No such"), True) is False


async def test_a_child_is_named_by_its_text_and_found_again_by_its_name(client: Client) -> None:
    await client.open("com.android.settings")
    words = where(className="android.widget.TextView")
    name = await client.call("childByText", where(scrollable=True), words, "About phone", True)
    assert isinstance(name, str)
    assert await client.call("getText", name) == "About phone"
    assert await client.call("click", name) is True
    assert await client.call("waitForExists", where(text="Device name"), 3000) is True
    code, _ = await client.fails("childByText", where(scrollable=True), words, "No such", False)
    assert code == -32002


async def test_text_is_set_read_pasted_and_cleared(client: Client) -> None:
    await client.open("com.android.notes")
    await client.call("click", where(description="New note"))
    body = where(className=FIELD, instance=1)
    assert await client.call("waitForExists", body, 3000) is True
    assert await client.call("setText", body, "Grüße 世界") is True
    assert await client.call("getText", body) == "Grüße 世界"
    await client.call("clearTextField", body)
    await client.call("setClipboard", None, "pasted ✓")
    assert await client.call("getClipboard") == "pasted ✓"
    await client.call("pasteClipboard")
    assert await client.call("getText", body) == "pasted ✓"
    await client.call("clearInputText")
    await client.call("pressKey", "back")
    assert "pasted" not in json.dumps(client.phone.state()["apps"])


async def test_a_dump_has_every_window_and_may_be_cut(client: Client) -> None:
    await client.open("com.android.notes")
    await client.call("click", where(description="New note"))
    await client.call("waitForExists", where(className=FIELD), 3000)
    await client.call("click", where(className=FIELD, instance=1))
    whole = str(await client.call("dumpWindowHierarchy", False, 50))
    active = str(await client.call("dumpWindowHierarchy", False, 50, True))
    assert whole.startswith("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n<hier")
    assert 'visible-to-user="true" bounds="[0,0][1080,2400]"' in whole
    assert 'package="com.android.systemui"' in whole
    assert 'package="com.android.systemui"' not in active
    assert 'package="com.android.notes"' in active
    shallow = str(await client.call("dumpWindowHierarchy", False, 2, True))
    assert 0 < shallow.count("<node") < active.count("<node")


async def test_a_null_root_is_an_empty_hierarchy_and_busy_screens_are_still_read(
    client: Client,
) -> None:
    faults = client.served.userland.faults
    faults.begin(FaultKind.NULL_ROOT)
    assert '<hierarchy rotation="0" />' in str(await client.call("dumpWindowHierarchy", False, 50))
    assert await client.call("count", where(className="android.widget.TextView")) == 0
    faults.clear()
    faults.begin(FaultKind.DUMP_NOT_IDLE)
    assert "<node" in str(await client.call("dumpWindowHierarchy", False, 50))


async def test_gestures_move_what_is_under_the_fingers(client: Client) -> None:
    await client.open("com.android.settings")
    top = await client.call("objInfo", where(text="Battery"))
    # Too slow to throw the list: what glides on would be elsewhere when it is looked at.
    await client.call("swipe", 540, 1500, 540, 1380, 300)
    moved = await client.call("objInfo", where(text="Battery"))
    assert isinstance(top, dict)
    assert isinstance(moved, dict)
    assert abs(top["bounds"]["top"] - moved["bounds"]["top"] - 120) < 60
    await client.call("swipePoints", [540, 1380, 540, 1440, 540, 1500], 150)
    back = await client.call("objInfo", where(text="Battery"))
    assert isinstance(back, dict)
    assert abs(top["bounds"]["top"] - back["bounds"]["top"]) < 60
    for action, y in ((0, 1600), (2, 1500), (2, 1300), (1, 1300)):
        assert await client.call("injectInputEvent", action, 540, y, 0) is True
    assert await client.call("drag", 540, 1400, 540, 1500, 10) is True
    assert await client.call("pinchIn", where(scrollable=True), 80, 10) is True
    points = [{"x": x, "y": 1200} for x in (300, 800, 400, 700)]
    assert await client.call("gesture", where(scrollable=True), *points, 10) is True


async def test_screen_orientation_shade_and_keys_follow(client: Client) -> None:
    await client.call("sleep")
    assert await client.call("isScreenOn") is False
    await client.call("wakeUp")
    assert await client.call("isScreenOn") is True
    client.phone.power.unlock()
    await client.call("setOrientation", "left")
    info = await client.call("deviceInfo")
    assert isinstance(info, dict)
    assert (info["displayRotation"], info["displayWidth"]) == (1, 2400)
    await client.call("setOrientation", "natural")
    await client.call("freezeRotation", False)
    assert client.phone.settings.get("system", "accelerometer_rotation") == "1"
    assert await client.call("openNotification") is True
    assert client.phone.shade.shown == "notifications"
    assert await client.call("pressKeyCode", 4) is True
    assert client.phone.shade.shown == ""
    assert await client.call("openQuickSettings") is True
    assert await client.call("pressKey", "no such key") is False


async def test_each_toast_is_told_until_it_is_forgotten(client: Client) -> None:
    assert await client.call("getLastToast") is None
    client.phone.toasts.show("Saved")
    assert await client.call("getLastToast") == "Saved"
    await client.call("clearLastToast")
    assert await client.call("getLastToast") is None
    client.phone.toasts.show("Saved")
    assert await client.call("getLastToast") == "Saved", "the same words again are another toast"
    await client.call("makeToast", "Hello", 1000)
    assert client.phone.toasts.shown == "Hello"


async def test_a_screenshot_is_a_picture_of_the_screen(client: Client) -> None:
    data = await client.call("takeScreenshot", 0.5, 80)
    assert isinstance(data, str)
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (picture.format, picture.size) == ("JPEG", (540, 1200))
    status, png = await client.http("GET", "/screenshot/0")
    assert status == 200
    assert Image.open(io.BytesIO(png)).size == (1080, 2400)


async def test_one_automation_at_a_time_and_stop_gives_it_back(client: Client) -> None:
    userland = client.served.userland
    second = Output()
    shell = Shell(userland)
    assert await shell.run_text(START.replace("9008", "9009"), {1: second, 2: second}) == 1
    assert "already registered!" in second.text
    dumped = Output()
    assert await shell.run_text("uiautomator dump", {1: dumped, 2: dumped}) == 137
    assert dumped.text == "Killed\n"
    assert await client.http("GET", "/stop") == (200, b"Server stopped!!!")
    async with asyncio.timeout(30):
        assert await client.running == 0
    assert not any(name.startswith("tcp:") for name in userland.sockets.names())
    assert await shell.run_text("uiautomator dump", {1: dumped, 2: dumped}) == 0


async def test_the_service_ends_with_the_adb_stream_that_started_it(connected: Connected) -> None:
    process = await asyncio.create_subprocess_exec(
        *connected.adb.arguments("exec-out", START, serial=connected.serial),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    names = connected.userland.sockets.names
    await until(lambda: "tcp:9008" in names())
    process.kill()
    await process.wait()
    await until(lambda: "tcp:9008" not in names())
    assert connected.userland.automation is None


async def test_an_installed_adb_keyboard_types_what_broadcasts_bring(client: Client) -> None:
    from virtual_phone.packages.installed import PackageInfo

    keyboard = "com.github.uiautomator/.AdbKeyboard"
    said = Output()
    shell = Shell(client.served.userland)

    async def run(line: str) -> str:
        said.text = ""
        await shell.run_text(line, {1: said, 2: said})
        return said.text

    assert "Unknown input method" in await run(f"ime set {keyboard}")
    client.phone.packages.install(PackageInfo("com.github.uiautomator", "Ui", system=False))
    assert keyboard in (await run("ime list -s -a")).splitlines()
    assert keyboard not in (await run("ime list -s")).splitlines()
    await run(f"ime enable {keyboard}")
    assert await run(f"ime set {keyboard}") == f"Input method {keyboard} selected for user #0\n"
    text = base64.b64encode("schön ☂".encode()).decode()
    line = f"am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text {text}"
    assert (await run(line)).endswith("result=0\n"), "no field has the focus"
    await client.open("com.android.notes")
    await client.call("click", where(description="New note"))
    await client.call("waitForExists", where(className=FIELD), 3000)
    await client.call("click", where(className=FIELD, instance=1))
    assert (await run(line)).endswith('result=-1, data="success"\n')
    assert await client.call("getText", where(className=FIELD, instance=1)) == "schön ☂"
    await run(f"ime disable {keyboard}")
    assert (await run(line)).endswith("result=0\n"), "it is not the one in use any more"
