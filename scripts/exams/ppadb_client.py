"""pure-python-adb, by way of an adb server: its device, its plugins and its files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from cases import run
from ppadb.client import Client

SERIAL = os.environ["EXAM_SERIAL"]
CLIENT = Client("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
SETTINGS = "com.android.settings"


def device():
    return CLIENT.device(SERIAL)


def lists():
    """lists the device and its state"""
    assert SERIAL in [one.serial for one in CLIENT.devices("device")]
    assert device().get_state() == "device"


def runs():
    """runs commands and reads properties"""
    assert device().shell("echo hi") == "hi\n"
    assert device().get_properties()["ro.build.version.sdk"] == "34"


def measures():
    """reads size, density and battery"""
    size = device().wm_size()
    assert (size.width, size.height) == (1080, 2400)
    assert device().wm_density() == 2
    assert device().get_battery_level() == 87


def starts():
    """tells which activities there are, the front one last"""
    device().shell(f"am start -W -n {SETTINGS}/.Settings")
    assert device().get_top_activities()[-1].package == SETTINGS


def counts():
    """reads processor times of the phone, a process and its threads"""
    phone = device()
    assert phone.cpu_count() == 8
    assert phone.cpu_times().idle > 0
    pid = int(phone.get_pid(SETTINGS))
    assert phone.get_pid_cpu(pid) is not None
    assert str(pid) in [row.strip() for row in phone.get_tids(pid)]


def packs():
    """lists packages and features, clears one"""
    phone = device()
    assert phone.is_installed(SETTINGS) and not phone.is_installed("no.such")
    assert phone.get_package_version_name(SETTINGS) == "14"
    assert phone.list_features()["android.hardware.touchscreen"]
    assert phone.clear("com.android.calculator2")
    assert phone.uninstall("no.such") is False


def touches():
    """taps, swipes, types and presses keys"""
    phone = device()
    phone.input_tap(10, 10)
    phone.input_swipe(500, 1500, 500, 900, 100)
    phone.input_text("hello")
    phone.input_keyevent(3)


def captures():
    """takes a screenshot"""
    assert bytes(device().screencap()).startswith(b"\x89PNG\r\n\x1a\n")


def copies():
    """pushes and pulls a file of 3 MB unchanged"""
    folder = Path(tempfile.mkdtemp())
    data = os.urandom(3_000_000)
    (folder / "here").write_bytes(data)
    device().push(str(folder / "here"), "/data/local/tmp/ppadb.bin")
    device().pull("/data/local/tmp/ppadb.bin", str(folder / "back"))
    assert (folder / "back").read_bytes() == data


def forwards():
    """forwards a port and takes it back"""
    phone = device()
    phone.forward("tcp:27311", "tcp:9008")
    assert phone.list_forward()["tcp:27311"] == "tcp:9008"
    phone.killforward("tcp:27311")


def asks_for_root():
    """is refused root as on a production build"""
    try:
        device().root()
    except RuntimeError as error:
        assert "production" in str(error), error
    else:
        raise AssertionError("it was given root")


run(
    [
        lists,
        runs,
        measures,
        starts,
        counts,
        packs,
        touches,
        captures,
        copies,
        forwards,
        asks_for_root,
    ]
)
