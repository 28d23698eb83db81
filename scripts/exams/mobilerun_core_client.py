"""mobilerun-core, the facade over mobilerun's drivers, on a phone without its Portal app."""

from __future__ import annotations

import base64
import os
import time

from cases import NotApplicable, run
from mobilerun_core import Mobilerun
from mobilerun_core.connection._unsupported import UnsupportedOperation

SERIAL = os.environ["EXAM_SERIAL"]
SETTINGS, NOTES = "com.android.settings", "com.android.notes"
PORTAL = "served only by its Portal app on the phone, whose APK no registry carries"


def device():
    return Mobilerun().connect(SERIAL)


def until(found, text):
    for _ in range(20):
        if text in str(found.ui()):
            return
        time.sleep(0.3)
    raise AssertionError(f"{text!r} did not come: {str(found.ui())[:300]}")


def connects():
    """finds the phone among adb's and says what it can do there"""
    found = device()
    assert found.capabilities["backend"] == "local-android-adb"
    assert {"tap", "type", "ui", "screenshot"} <= set(found.capabilities["actions"])


def reads():
    """reads the tree, filtered and whole"""
    found = device()
    found.start_app(SETTINGS)
    until(found, "Network & internet")
    assert "bounds" in str(found.ui(filter=False)).lower()


def shoots():
    """takes a screenshot"""
    assert base64.b64decode(device().screenshot()).startswith(b"\x89PNG")


def acts():
    """taps, swipes and presses keys by name and number"""
    found = device()
    found.start_app(SETTINGS)
    until(found, "Battery")
    found.swipe(540, 1800, 540, 600)
    found.tap(540, 1200)
    for key in ("back", "home", 3):
        found.key(key)


def types():
    """types into a field and clears it"""
    found = device()
    found.start_app(NOTES)
    until(found, "New note")
    tap_text(found, "New note")
    until(found, "Note")
    tap_text(found, "Note")
    found.type("hello from outside")
    until(found, "hello from outside")


def tap_text(found, text):
    """Tap the middle of the element with a text; its bounds are numbers by name."""

    def walk(value):
        if isinstance(value, dict):
            if text in (value.get("text"), value.get("contentDescription")):
                yield value
            for one in value.values():
                yield from walk(one)
        elif isinstance(value, list):
            for one in value:
                yield from walk(one)

    box = next(walk(dict(found.ui(filter=False))))["boundsInScreen"]
    found.tap((box["left"] + box["right"]) // 2, (box["top"] + box["bottom"]) // 2)
    time.sleep(0.6)


def manages():
    """lists apps, grants a permission, opens a link, stops an app and clears its data"""
    found = device()
    assert any(one["package_name"] == SETTINGS for one in found.list_apps(include_system_apps=True))
    found.grant_permission("com.android.contacts", "android.permission.READ_CONTACTS")
    found.open_deep_link("https://tides.example")
    until(found, "tides.example")
    found.stop_app(NOTES)
    assert "20" in found.time()


def copies():
    """reads and writes the clipboard"""
    try:
        device().get_clipboard()
    except UnsupportedOperation as error:
        raise NotApplicable(PORTAL) from error
    raise AssertionError("a clipboard without the app that serves it")


run([connects, reads, shoots, acts, types, manages, copies])
