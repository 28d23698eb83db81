"""The adb driver of mobilerun (formerly droidrun), without its own app on the phone."""

from __future__ import annotations

import asyncio
import os
import re

from cases import NotApplicable, run
from mobilerun_core_local.driver.android.adb import AndroidDriver

SERIAL = os.environ["EXAM_SERIAL"]
SETTINGS, NOTES = "com.android.settings", "com.android.notes"


async def driver():
    found = AndroidDriver(SERIAL, portal_mode="disabled")
    await found.connect()
    return found


def texts(tree):
    words = []

    def walk(value):
        if isinstance(value, dict):
            words.extend(str(value[key]) for key in ("text", "contentDescription") if key in value)
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    walk(tree)
    return words


async def until_text(found, text):
    for _ in range(20):
        if text in texts(await found.get_ui_tree()):
            return
        await asyncio.sleep(0.3)
    raise AssertionError(f"{text!r} did not come: {texts(await found.get_ui_tree())[:40]}")


async def place(found, text):
    await until_text(found, text)
    dump = await found.device.shell("uiautomator dump /dev/tty")
    bounds = r'bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]'
    pattern = f'(?:text|content-desc)="{re.escape(text)}"[^>]*{bounds}'
    left, top, right, bottom = map(int, re.search(pattern, dump).groups())
    return (left + right) // 2, (top + bottom) // 2


async def probes():
    """looks for its own app on the phone and goes on without it"""
    found = AndroidDriver(SERIAL, portal_mode="auto")
    await found.connect()
    assert not found.portal_available


async def starts():
    """starts and stops an app"""
    found = await driver()
    await found.start_app(SETTINGS)
    await until_text(found, "Battery")
    await found.stop_app(SETTINGS)


async def reads_tree():
    """reads the tree with bounds"""
    found = await driver()
    await found.start_app(SETTINGS)
    await until_text(found, "Battery")
    tree = await found.get_ui_tree()
    assert "bounds" in str(tree).lower()


async def shoots():
    """takes a screenshot"""
    assert (await (await driver()).screenshot()).startswith(b"\x89PNG")


async def taps():
    """taps, swipes and presses buttons"""
    found = await driver()
    await found.start_app(SETTINGS)
    await until_text(found, "Battery")
    await found.swipe(540, 1800, 540, 600, 300)
    await found.tap(540, 1200)
    for button in ("back", "home", "enter"):
        await found.press_button(button)
    await found.press_key_code(3)


async def types():
    """types text into a field and clears it"""
    found = await driver()
    await found.start_app(NOTES)
    await until_text(found, "New note")
    for text in ("New note", "Note"):
        await found.tap(*await place(found, text))
        await asyncio.sleep(0.6)
    assert await found.input_text("hello from outside")
    await until_text(found, "hello from outside")
    assert await found.input_text("again", clear=True)
    await until_text(found, "again")


async def lists():
    """lists packages and tells the date"""
    found = await driver()
    assert SETTINGS in await found.list_packages(include_system=True)
    assert {"package": SETTINGS, "label": SETTINGS} in await found.get_apps()
    assert "20" in await found.get_date()


async def manages():
    """grants a permission, clears an app's data, opens a link"""
    found = await driver()
    await found.grant_permission("com.android.contacts", "android.permission.READ_CONTACTS")
    await found.clear_app_data(NOTES)
    await found.open_deep_link("https://example.com")


async def copies():
    """reads and writes the clipboard"""
    raise NotApplicable("served only by its own app on the phone, whose APK no registry carries")


run([probes, starts, reads_tree, shoots, taps, types, lists, manages, copies])
