"""The touch panel: a person's fingers are seen by who reads it, injected ones are not."""

import asyncio
import re
from pathlib import Path

import pytest

from support.connected import Connected
from support.hand import new_phone
from support.patience import until
from virtual_phone.input.touch_panel import PATH, TouchPanel


@pytest.mark.parametrize("rotation", range(4))
def test_a_point_of_the_display_and_of_the_glass_are_the_same_place(
    tmp_path: Path, rotation: int
) -> None:
    phone = new_phone(tmp_path)
    phone.settings.put("system", "user_rotation", str(rotation))
    panel = TouchPanel(phone)
    width, height, _ = phone.displays.size(0)
    for point in ((0, 0), (width - 1, 0), (12, 345), (width - 1, height - 1)):
        assert panel._to_display(*panel._to_glass(*point)) == point


async def test_getevent_shows_a_person_and_not_what_is_injected(connected: Connected) -> None:
    panel = connected.userland.touch_panel
    reading = asyncio.create_task(connected.shell("getevent -lt -c 11"))
    await until(lambda: bool(panel.listeners))
    await connected.shell("input tap 500 1000")
    panel.finger("down", 0, 321, 1234)
    panel.finger("up", 0, 321, 1234)
    lines = (await reading).text.splitlines()
    assert lines[0] == f"add device 1: {PATH}"
    rows = [re.sub(r"^\[ *\d+\.\d{6}\] ", "", line).split() for line in lines[2:]]
    assert [row[2:] for row in rows if row[0] == f"{PATH}:"] == [
        ["ABS_MT_SLOT", "00000000"],
        ["ABS_MT_TRACKING_ID", "00000001"],
        ["ABS_MT_POSITION_X", f"{321:08x}"],
        ["ABS_MT_POSITION_Y", f"{1234:08x}"],
        ["ABS_MT_TOUCH_MAJOR", "00000006"],
        ["ABS_MT_PRESSURE", "00000032"],
        ["BTN_TOUCH", "DOWN"],
        ["SYN_REPORT", "00000000"],
        ["ABS_MT_SLOT", "00000000"],
        ["ABS_MT_TRACKING_ID", "ffffffff"],
        ["BTN_TOUCH", "UP"],
    ]


async def test_what_is_written_to_the_panel_is_a_finger(connected: Connected) -> None:
    said = await connected.shell("getevent -lp | grep -E 'POSITION_[XY]'")
    assert [row.split("max ")[1].split(",")[0] for row in said.text.splitlines()] == [
        "1079",
        "2399",
    ]
    await connected.shell("am start -W -n com.android.settings/.Settings")
    before = connected.phone.compositor.version
    line = "; ".join(
        f"sendevent {PATH} {kind} {code} {value}"
        for kind, code, value in ((3, 57, 5), (3, 53, 540), (3, 54, 1), (0, 0, 0), (3, 57, -1))
    )
    assert (await connected.shell(line)).status == 0
    connected.userland.touch_panel.finger("down", 1, 540, 1500)
    connected.userland.touch_panel.finger("up", 1, 540, 1500)
    await until(lambda: connected.phone.compositor.version > before)
    assert (await connected.shell("sendevent /dev/input/event7 0 0 0")).status == 1


async def test_the_host_has_a_finger(connected: Connected) -> None:
    home = connected.phone.windows.focused_app
    await connected.shell("am start -W -n com.android.settings/.Settings")
    panel = connected.userland.touch_panel
    reading = asyncio.create_task(connected.shell("getevent -c 1 | grep -c event1"))
    await until(lambda: bool(panel.listeners))
    await connected.host.swipe(connected.serial, 540, 2395, 540, 1200, duration_ms=120)
    assert (await reading).text.strip() == "2"
    await until(lambda: connected.phone.windows.focused_app == home)
