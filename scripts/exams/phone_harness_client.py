"""phone-harness, which drives an Android by `adb shell` and brings nothing to the phone."""

from __future__ import annotations

import os
import struct
import tempfile
from pathlib import Path

from cases import NotApplicable, adb, run
from phone_harness import helpers

SETTINGS, NOTES = "com.android.settings", "com.android.notes"


def texts():
    return [one["text"] for one in helpers.screen()]


def is_ready():
    """finds the phone, awake and unlocked"""
    assert helpers.connection_state() == "ready", helpers.connection_detail()
    window = helpers.find_window()
    assert (window["w"], window["h"]) == (1080, 2400), window


def shoots():
    """takes a screenshot"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "screen.png"
        helpers.screenshot(str(path))
        assert struct.unpack(">II", path.read_bytes()[16:24]) == (1080, 2400)


def tells_screen():
    """tells the size of its capture"""
    try:
        helpers.screen_info()
    except ModuleNotFoundError as error:
        raise NotApplicable(f"needs macOS: {error}") from error


def opens():
    """opens apps by package and by a part of its name, and tells the one in front"""
    assert helpers.open_app(SETTINGS) == SETTINGS
    assert helpers.wait_for_app(SETTINGS)
    assert helpers.open_app("calculator") == "com.android.calculator2"
    assert helpers.current_app() == "com.android.calculator2"


def opens_by_label():
    """opens an app by the label of its icon"""
    helpers.home()
    assert helpers.open_app("Wallet")


def reads():
    """reads the tree: texts, places, what can be clicked"""
    helpers.open_app(SETTINGS)
    assert helpers.wait_for_text("Battery")
    assert "Network & internet" in texts()
    nodes = helpers.find_nodes("Battery")
    assert nodes and 0 < nodes[0]["x"] < 1080


def taps():
    """taps a text, goes back, home and to the recent apps"""
    helpers.open_app(SETTINGS)
    helpers.wait_for_text("Battery")
    helpers.tap_text("Battery", exact=True)
    assert helpers.wait_for_text("Battery Saver")
    helpers.back()
    assert helpers.wait_for_text("Network & internet")
    helpers.app_switcher()
    helpers.home()
    assert helpers.current_app() == "com.android.launcher3"


def scrolls():
    """scrolls by motion events that hold still before they lift, without a fling"""
    helpers.open_app(SETTINGS)
    helpers.wait_for_text("Network & internet")
    helpers.scroll("down", 0.5)
    assert helpers.phone._motionevents is True
    assert "Network & internet" not in texts()
    assert helpers.scroll_until(lambda boxes: any(b["text"] == "About phone" for b in boxes))


def types():
    """types into a field, with signs that a shell would take"""
    helpers.open_app(NOTES)
    helpers.wait_for_text("New note")
    helpers.tap_ui("New note", exact=True)
    helpers.wait_for_text("Note", exact=True)
    helpers.tap_ui("Note", exact=True)
    helpers.type_text("one & two\nit's 5")
    assert helpers.wait_for_text("one & two")
    helpers.press("enter")


def lists():
    """lists packages and runs a shell line"""
    assert SETTINGS in helpers.list_apps(include_system=True)
    assert SETTINGS not in helpers.list_apps()
    assert helpers.shell("getprop ro.build.version.sdk").strip() == "34"


def state():
    """Return the state as it is now: the harness remembers it for two seconds."""
    helpers.phone._gate_at = 0.0
    return helpers.connection_state()


def wakes_and_refuses():
    """wakes a phone that sleeps, and acts on no locked one"""
    adb("shell", "input", "keyevent", "KEYCODE_SLEEP")
    assert state() == "locked"
    assert "Awake" in adb("shell", "dumpsys", "power")
    adb("shell", "wm", "dismiss-keyguard")
    assert state() == "ready"
    adb("shell", "locksettings", "set-pin", "2468")
    adb("shell", "input", "keyevent", "KEYCODE_SLEEP")
    assert state() == "locked"
    adb("shell", "wm", "dismiss-keyguard")
    adb("shell", "input", "text", "2468")
    adb("shell", "input", "keyevent", "KEYCODE_ENTER")
    adb("shell", "locksettings", "clear", "--old", "2468")
    assert state() == "ready"


assert os.environ["PHONE_HARNESS_PLATFORM"] == "android"
run(
    [
        is_ready,
        shoots,
        tells_screen,
        opens,
        opens_by_label,
        reads,
        taps,
        scrolls,
        types,
        lists,
        wakes_and_refuses,
    ]
)
