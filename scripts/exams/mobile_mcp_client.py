"""mobile-mcp, an MCP server: `mobile_mcp_client.py ROBOT NODE SCRIPT`.

ROBOT is `legacy` (Android's commands by adb) or `mobilecli` (its usual way, which starts a server
on the phone for what those commands do not do).
"""

import os
import re
import sys
from pathlib import Path

from cases import NotApplicable, run
from mcp_stdio import ToolError, serve

SERIAL = os.environ["EXAM_SERIAL"]
ROBOT, *SERVER = sys.argv[1:]
SETTINGS, NOTES = "com.android.settings", "com.android.notes"
OWN_SERVER = (
    "asks the server that it pushes to the phone and starts with app_process; "
    "files are never executed here"
)


def session():
    extra = {"MOBILEMCP_LEGACY_ROBOT": "1"} if ROBOT == "legacy" else {}
    return serve(SERVER, {**os.environ, **extra, "MOBILEMCP_DISABLE_TELEMETRY": "1"})


def needs_own_server():
    if ROBOT != "legacy":
        raise NotApplicable(OWN_SERVER)


def shown(server):
    return server.say("mobile_list_elements_on_screen", device=SERIAL)


def until(server, text):
    for _ in range(20):
        seen = shown(server)
        if text in seen:
            return seen
    raise AssertionError(f"{text!r} did not come: {seen[:400]}")


def middle(server, text):
    """Return where the element with this text or label is; each has a line."""
    row = re.compile(rf'(?:text|label)="{re.escape(text)}".* at=(\d+),(\d+) size=(\d+)x(\d+)')
    left, top, width, height = map(int, row.search(until(server, f'"{text}"')).groups())
    return left + width // 2, top + height // 2


def click(server, text):
    x, y = middle(server, text)
    server.say("mobile_click_on_screen_at_coordinates", device=SERIAL, x=x, y=y)


def lists_devices():
    """lists the phone among its devices"""
    with session() as server:
        assert SERIAL in server.say("mobile_list_available_devices")


def tells_size():
    """tells the size of the screen"""
    with session() as server:
        assert "1080x2400" in server.say("mobile_get_screen_size", device=SERIAL)


def lists_apps():
    """lists the apps that can be launched"""
    needs_own_server()
    with session() as server:
        said = server.say("mobile_list_apps", device=SERIAL)
        assert SETTINGS in said and NOTES in said, said


def tells_front():
    """tells the app in front"""
    if ROBOT == "legacy":
        raise NotApplicable("not in this mode, it says")
    with session() as server:
        server.say("mobile_launch_app", device=SERIAL, packageName=SETTINGS)
        assert SETTINGS in server.say("mobile_get_foreground_app", device=SERIAL)


def logs():
    """collects log lines as they come"""
    if ROBOT == "legacy":
        raise NotApplicable("not in this mode, it says")
    with session() as server:
        assert '"message"' in server.say("mobile_get_device_logs", device=SERIAL, limit=2)


def copies():
    """reads and writes the clipboard"""
    needs_own_server()
    raise NotApplicable("not in this mode, it says")


def launches():
    """launches an app, lists its elements, stops it"""
    with session() as server:
        server.say("mobile_launch_app", device=SERIAL, packageName=SETTINGS)
        until(server, "Battery")
        server.say("mobile_terminate_app", device=SERIAL, packageName=SETTINGS)


def types():
    """clicks, types ASCII, and reads the text back"""
    with session() as server:
        server.say("mobile_launch_app", device=SERIAL, packageName=NOTES)
        click(server, "New note")
        click(server, "Note")
        words = "it's 5 & 6 (seven)"
        server.say("mobile_type_keys", device=SERIAL, text=words, submit=False)
        until(server, "(seven)")


def types_more():
    """types text beyond ASCII"""
    needs_own_server()
    raise NotApplicable("needs its DeviceKit app on the phone, whose APK no registry carries")


def shoots():
    """takes a screenshot"""
    path = Path(os.environ["EXAM_FOLDER"]) / f"mobile-mcp-{ROBOT}.png"
    with session() as server:
        server.say("mobile_save_screenshot", device=SERIAL, saveTo=str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


def presses():
    """swipes, presses buttons, double-taps and long-presses"""
    with session() as server:
        server.say("mobile_launch_app", device=SERIAL, packageName=SETTINGS)
        until(server, "Battery")
        server.say("mobile_swipe_on_screen", device=SERIAL, direction="up")
        server.say("mobile_double_tap_on_screen", device=SERIAL, x=540, y=1200)
        server.say("mobile_long_press_on_screen_at_coordinates", device=SERIAL, x=540, y=1200)
        for button in ("BACK", "HOME", "ENTER", "VOLUME_UP"):
            server.say("mobile_press_button", device=SERIAL, button=button)


def turns():
    """turns the screen and tells its orientation"""
    with session() as server:
        for way in ("landscape", "portrait"):
            server.say("mobile_set_orientation", device=SERIAL, orientation=way)
            assert way in server.say("mobile_get_orientation", device=SERIAL)


def opens():
    """opens a web page, and refuses an app that is not there"""
    with session() as server:
        server.say("mobile_open_url", device=SERIAL, url="https://tides.example")
        until(server, "tides.example")
        try:
            server.say("mobile_launch_app", device=SERIAL, packageName="com.example.absent")
        except ToolError:
            return
        said = server.say("mobile_launch_app", device=SERIAL, packageName="com.example.absent")
        assert "Failed" in said or "not" in said, said


run(
    [
        lists_devices,
        tells_size,
        lists_apps,
        tells_front,
        logs,
        launches,
        types,
        types_more,
        copies,
        shoots,
        presses,
        turns,
        opens,
    ]
)
