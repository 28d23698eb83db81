"""nexus-android, an MCP server: `nexus_client.py SERVER`; its reader on the phone does not run."""

import os
import re
import sys

from cases import NotApplicable, run
from mcp_stdio import ToolError, serve

SERIAL = os.environ["EXAM_SERIAL"]
SETTINGS, NOTES = "com.android.settings", "com.android.notes"


def session():
    return serve(
        sys.argv[1:],
        {
            **os.environ,
            "NEXUS_ANDROID_SERIAL": SERIAL,
            "NEXUS_ANDROID_ADB": os.environ["ADBUTILS_ADB_PATH"],
            "NEXUS_ANDROID_ADB_DOWNLOAD": "0",
            "NEXUS_ANDROID_UPDATE": "0",
            "NEXUS_JOURNAL": "0",
        },
    )


def launch(server, app):
    said = server.say("launch", app=app, then="elements")
    assert "in the foreground, read back" in said, said[:200]


def tells_link():
    """tells the link and the state of the screen"""
    with session() as server:
        said = server.say("phone")
        assert "Android 14" in said and "screen on" in said, said


def looks():
    """shows the elements and a picture with their numbers"""
    with session() as server:
        launch(server, SETTINGS)
        text, pictures = server.call("look", show="both")
        assert "Network & internet" in text
        assert pictures and pictures[0][8:12] == b"WEBP"


def acts():
    """taps by text, scrolls, goes back and home, each read back"""
    with session() as server:
        launch(server, SETTINGS)
        said = server.say("act", steps=[{"do": "tap", "target": "Battery"}])
        assert "Battery Saver" in said, said[:400]
        said = server.say("act", steps=[{"do": "key", "keys": "back"}], then="none")
        assert "read back" in said, said
        server.say("act", steps=[{"do": "scroll", "direction": "down"}])
        said = server.say("act", steps=[{"do": "key", "keys": "home"}], then="none")
        assert "home screen in the foreground (read back)" in said, said


def types():
    """types into a field and reads it back"""
    with session() as server:
        launch(server, NOTES)
        server.say("act", steps=[{"do": "tap", "target": "New note"}])
        steps = [{"do": "type", "target": "Note", "text": "one & two"}]
        said = server.say("act", steps=steps)
        assert "one & two" in said, said[:400]


def heeds_owner():
    """tells when the phone was last touched, so that it does not act into a person's gesture"""
    with session() as server:
        launch(server, SETTINGS)
        said = server.say("act", steps=[{"do": "tap", "target": "Battery"}])
        assert "does not report its last touch" not in said, said[:300]


def reads_messages():
    """lists conversations, reads one, and finds one by its person"""
    with session() as server:
        listed = server.say("messages")
        assert "Ana Silva" in listed and "UNREAD" in listed, listed[:400]
        number = int(re.search(r"\[(\d+)\] Ana Silva", listed)[1])
        assert "Saturday" in server.say("messages", conversation=number)
        assert "Saturday" in server.say("messages", contact="Ana Silva")


def reads_notifications():
    """reads notifications with their texts"""
    with session() as server:
        said = server.say("notifications", all=True)
        assert "Call me when you have a minute" in said, said[:400]


def informs():
    """tells calls, contacts and the calendar"""
    with session() as server:
        assert "incoming" in server.say("info", kind="calls")
        assert "Ana Silva: +1 555 0101" in server.say("info", kind="contacts", query="ana")
        assert "Team meeting" in server.say("info", kind="calendar")


def sets():
    """reads and changes settings, each read back"""
    with session() as server:
        assert "on" in server.say("settings", name="wifi")
        for name, value in (("brightness", "40"), ("volume", "60"), ("dnd", "priority")):
            said = server.say("settings", name=name, value=value)
            assert value in said and "read back" in said, said


def keeps_files():
    """lists, pulls and pushes files, captures the screen"""
    with session() as server:
        listed = server.say("files")
        name = re.search(r"(\S+)\.pdf", listed)[1]
        assert name in server.say("files", action="pull", path=f"/sdcard/Download/{name}.pdf")
        assert "Screenshot saved" in server.say("capture")


def checks():
    """checks the phone's health, its apps and its logs"""
    with session() as server:
        said = server.say("checkup")
        assert "Battery: " in said and "Storage: " in said, said
        assert "version" in server.say("apps", action="info", app=NOTES).lower()
        assert server.say("logs").startswith("No crash")


def copies():
    """reads and writes the clipboard"""
    raise NotApplicable("by a scrcpy server that it downloads; no registry carries it")


def reads_quickly():
    """reads the screen by its own reader on the phone"""
    raise NotApplicable("a file that it pushes and starts with app_process; none is executed here")


def maps():
    """maps the settings by the resources of their app"""
    raise NotApplicable("the built-in apps have no code or resources in their APKs")


def functions():
    """calls functions of apps"""
    raise NotApplicable("came with Android 16; this phone is Android 14")


def refuses_lock():
    """acts on no locked phone"""
    from cases import adb

    adb("shell", "locksettings", "set-pin", "2468")
    adb("shell", "input", "keyevent", "KEYCODE_SLEEP")
    adb("shell", "input", "keyevent", "KEYCODE_WAKEUP")
    try:
        with session() as server:
            try:
                said = server.say("act", steps=[{"do": "tap", "target": "100,900"}])
            except ToolError as error:
                said = str(error)
            assert "locked" in said.lower(), said[:300]
    finally:
        adb("shell", "input", "text", "2468")
        adb("shell", "input", "keyevent", "KEYCODE_ENTER")
        adb("shell", "locksettings", "clear", "--old", "2468")


run(
    [
        tells_link,
        looks,
        acts,
        types,
        heeds_owner,
        reads_messages,
        reads_notifications,
        informs,
        sets,
        keeps_files,
        checks,
        copies,
        reads_quickly,
        maps,
        functions,
        refuses_lock,
    ]
)
