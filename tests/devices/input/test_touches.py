"""Hands on a phone, as getevent reports them; the virtual phone has no input devices."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.input.touch_panel import parse_touch, touches
from agent.errors import DeviceError, DeviceLostError
from tests.devices.conftest import said, scripted_server

REPORT = (
    b"add device 1: /dev/input/event2\n"
    b'  name:     "sec_touchscreen"\n'
    b"/dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000042            \n"
    b"/dev/input/event2: EV_ABS       ABS_MT_POSITION_X    0000012c            \n"
    b"/dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff            \n"
    b"/dev/input/event1: EV_KEY       KEY_VOLUMEUP         DOWN                \n"
    b"/dev/input/event1: EV_KEY       KEY_VOLUMEUP         UP                  \n"
)


def reporting(report: bytes) -> object:
    async def handle(
        request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"OKAY")
        assert (await said(reader)).startswith("exec:getevent")
        writer.write(b"OKAY" + report)

    return handle


async def test_fingers_and_buttons_that_go_down_are_told_and_nothing_else() -> None:
    async with scripted_server(reporting(REPORT)) as address:  # type: ignore[arg-type]
        seen = []
        with pytest.raises(DeviceLostError):
            async for touch in touches(AdbClient(address), "phone"):
                seen.append((touch.device, touch.button))
        assert seen == [("/dev/input/event2", ""), ("/dev/input/event1", "KEY_VOLUMEUP")]


async def test_a_phone_that_shows_no_touches_says_so() -> None:
    denied = b"could not open /dev/input: Permission denied\n"
    async with scripted_server(reporting(denied)) as address:  # type: ignore[arg-type]
        with pytest.raises(DeviceError, match="shows no touches"):
            async for _ in touches(AdbClient(address), "phone"):
                pass


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_line_parses(line: bytes) -> None:
    touch = parse_touch(line, 1)
    assert touch is None or touch.device.startswith("/dev/input/")
