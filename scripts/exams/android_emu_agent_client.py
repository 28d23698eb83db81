"""android-emu-agent, a daemon and its command line, which drive a phone by adb and uiautomator2."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import NotApplicable, run

SERIAL = os.environ["EXAM_SERIAL"]
COMMAND = str(Path(sys.executable).with_name("android-emu-agent"))
SETTINGS, NOTES, SYSTEM = "com.android.settings", "com.android.notes", "com.android.systemui"
ON = ("--device", SERIAL)
LIMIT_S = 60
SESSION = []


def say(*words):
    """Return what a command prints; it has to end with status 0."""
    done = subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)}: {(done.stdout + done.stderr)[-300:]}"
    return done.stdout


def answer(*words):
    return json.loads(say(*words, "--json"))


def begins():
    """starts its daemon and a session on the phone"""
    say("daemon", "start")
    assert SERIAL in [one["serial"] for one in answer("device", "list")["devices"]]
    SESSION.append(answer("session", "start", "-d", SERIAL)["session_id"])
    assert answer("device", "capabilities", *ON)["status"] == "done"


def launch(package, text):
    say("app", "launch", SESSION[0], package)
    say("wait", "text", SESSION[0], text)


def ref(label):
    """Return the mark of the element with a label in a new snapshot."""
    rows = say("ui", "snapshot", SESSION[0], "--format", "text")
    return re.search(rf"^(\^\S+) \S+ {re.escape(repr(label))}", rows, re.M)[1]


def sees():
    """lists the elements that can be acted on, the whole tree, and a picture"""
    launch(SETTINGS, "Battery")
    assert ref("Battery").startswith("^g")
    assert "<hierarchy" in say("ui", "snapshot", SESSION[0], "--raw")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "screen.png"
        say("ui", "screenshot", SESSION[0], "--pull", "--output", str(path))
        assert path.read_bytes().startswith(b"\x89PNG")


def acts():
    """taps marks and selectors, waits for texts and goes back"""
    launch(SETTINGS, "Battery")
    say("action", "tap", SESSION[0], ref("Battery"))
    say("wait", "text", SESSION[0], "Battery Saver")
    say("action", "back", SESSION[0])
    say("action", "tap", SESSION[0], 'text:"Display"')
    say("wait", "text", SESSION[0], "Brightness level")
    say("action", "back", SESSION[0])


def leaves():
    """scrolls, goes to the recent apps and home, and expects the app in front"""
    say("action", "scroll", "down", "-s", SESSION[0])
    say("action", "recents", SESSION[0])
    say("action", "home", SESSION[0])
    say("expect", "current-app", SESSION[0], "--package", "com.android.launcher3")


def types():
    """sets the text of a field and clears it"""
    say("app", "launch", SESSION[0], NOTES)
    say("wait", "exists", SESSION[0], "--desc", "New note")
    say("action", "tap", SESSION[0], 'desc:"New note"')
    say("wait", "exists", SESSION[0], "--id", "com.android.notes:id/body")
    target = "id:com.android.notes:id/body"
    say("action", "set-text", SESSION[0], target, "grüezi & hello")
    say("expect", "text", SESSION[0], "grüezi & hello")
    say("action", "clear", SESSION[0], target)


def names_apps():
    """lists apps, names the one in front, resolves and opens a link"""
    assert "com.example.wallet" in say("app", "list", *ON, "--scope", "third-party")
    launch(SETTINGS, "Battery")
    assert answer("app", "current", "--session", SESSION[0])["component"] == f"{SETTINGS}/.Settings"
    link = ("--action", "android.intent.action.VIEW", "--data", "https://tides.example")
    said = say("app", "resolve-intent", "--session", SESSION[0], *link)
    assert "com.android.browser/" in said
    say("app", "deeplink", SESSION[0], "https://tides.example")
    say("expect", "current-app", SESSION[0], "--package", "com.android.browser")
    say("app", "force-stop", SESSION[0], "com.android.browser")


def sets():
    """sets rotation, radios, idling, animations; opens and closes the shade"""
    for words in ("rotation landscape", "rotation auto", "wifi off", "wifi on", "mobile on"):
        say("device", "set", *words.split(), "-d", SERIAL)
    for words in ("doze on", "doze off", "animations off", "animations on", "stay_awake on"):
        say("device", "set", *words.split(), "-d", SERIAL)
    say("device", "set", "rotation", "portrait", "-d", SERIAL)
    for words in ("notifications open", "notifications close", "quick-settings open"):
        say("system", *words.split(), *ON)
    say("system", "notifications", "close", *ON)


def permits():
    """lists, grants and revokes permissions"""
    camera = "android.permission.CAMERA"
    for verb in ("grant", "revoke"):
        say("system", "permissions", verb, "com.android.camera2", camera, *ON)
        listed = answer("system", "permissions", "list", "com.android.camera2", *ON)
        rows = {one["permission"]: one["granted"] for one in listed["permissions"]}
        assert rows[camera] is (verb == "grant"), rows


def keeps_files():
    """pushes, lists, finds and pulls files"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exam note.txt"
        path.write_text("words")
        say("file", "push", str(path), *ON)
        assert "exam note.txt" in say("file", "list", "/sdcard/Download", *ON)
        assert "exam note.txt" in say("file", "find", "/sdcard", "--name", "exam*", *ON)
        back = Path(folder) / "back.txt"
        say("file", "pull", "/sdcard/Download/exam note.txt", "--local", str(back), *ON)
        assert back.read_text() == "words"


def diagnoses():
    """reads memory, graphics, a process, its profile and the log"""
    assert "TOTAL PSS" in say("reliability", "meminfo", SYSTEM, *ON)
    assert SYSTEM in say("reliability", "gfxinfo", SYSTEM, *ON)
    assert "OOM_SCORE_ADJ" in say("reliability", "process", SYSTEM, *ON)
    assert "total_pss_kb" in say("reliability", "profile", SYSTEM, *ON)
    assert "Unknown command" not in say("reliability", "trim-memory", SYSTEM, *ON)
    for words in ("background", "jobscheduler"):
        say("reliability", words, SETTINGS, *ON)
    for words in ("events", "dropbox list", "always-finish off"):
        say("reliability", *words.split(), *ON)
    say("artifact", "logs", SESSION[0])


def tells_exits():
    """tells why an app ended, and the last one that hung"""
    raise NotApplicable("the virtual phone keeps no history of exits and of hangs")


def records():
    """records the screen"""
    found = re.search(r"-> (\S+\.mp4)", say("reliability", "screenrecord", "--duration", "2", *ON))
    assert b"ftyp" in Path(found[1]).read_bytes()[:16]


def traces():
    """traces the system, samples a process, dumps its heap, makes a bug report"""
    raise NotApplicable("perfetto, simpleperf, heaps and bug reports do not exist on this phone")


def debugs():
    """debugs an app"""
    raise NotApplicable("its bridge is downloaded, and apps of this phone run no Java")


def emulates():
    """starts emulators and loads their snapshots"""
    raise NotApplicable("needs Android's emulator")


def ends():
    """ends the session and its daemon"""
    say("session", "stop", SESSION[0])
    say("daemon", "stop")


run(
    [
        begins,
        sees,
        acts,
        leaves,
        types,
        names_apps,
        sets,
        permits,
        keeps_files,
        diagnoses,
        tells_exits,
        records,
        traces,
        debugs,
        emulates,
        ends,
    ]
)
