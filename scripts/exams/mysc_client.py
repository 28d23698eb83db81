"""mysc-core, which pushes the scrcpy server it carries, decodes its video and sends touches."""

from __future__ import annotations

import os
import time

import numpy
from adbutils import adb
from cases import run
from mysc_core.control import ControlAdapter, ControlKwargs
from mysc_core.device import MYDevice
from mysc_core.video import VideoAdapter, VideoKwargs

DEVICE = adb.device(os.environ["EXAM_SERIAL"])
SIDE = 720


def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def video(**options):
    return VideoAdapter(VideoKwargs(max_size=SIDE, max_fps=30, **options)).connect(DEVICE)


def scroll(seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        DEVICE.shell("input swipe 540 1700 540 900 150; input swipe 540 900 540 1700 150")


def reads_device():
    """reads what the device is"""
    known = MYDevice(DEVICE)
    assert known.device_info.is_scrcpy_supported and known.device_info.is_uhid_supported


def decodes():
    """decodes frames of a moving screen"""
    DEVICE.app_start("com.android.settings")
    adapter = video()
    scroll(3)
    frames, size = adapter.frame_n, adapter.last_frame and adapter.coordinate
    adapter.disconnect()
    assert frames > 20, frames
    assert max(size.width, size.height) == SIDE, size


def sees_changes():
    """sees the screen change"""
    DEVICE.keyevent("HOME")
    adapter = video()
    scroll(1)
    before = adapter.get_ndarray()
    DEVICE.app_start("com.android.settings")
    scroll(1)
    after = adapter.get_ndarray()
    adapter.disconnect()
    assert numpy.abs(before.astype(int) - after.astype(int)).mean() > 5


def restarts():
    """connects and disconnects five times"""
    for _ in range(5):
        adapter = video()
        assert adapter is not None and adapter.is_running
        adapter.disconnect()


def touches():
    """touches and pastes by the control socket"""
    DEVICE.shell("am start -n com.android.settings/.Settings")
    time.sleep(0.5)
    control = ControlAdapter(ControlKwargs(_clipboard=False)).connect(DEVICE)
    control.f_set_screen(True)
    control.f_text_paste("pasted by scrcpy", paste=False)
    assert until(lambda: "pasted by scrcpy" in DEVICE.shell("cmd clipboard get-primary-clip"))
    from mysc_core.utils.keys import UnifiedKeys  # noqa: F401  (part of what the control needs)

    control.disconnect()


def swipes():
    """swipes by touch events and the list moves"""
    from mysc_core.utils.params import Param  # noqa: F401

    DEVICE.shell("am force-stop com.android.settings; am start -n com.android.settings/.Settings")
    time.sleep(0.6)
    control = ControlAdapter(ControlKwargs(_clipboard=False)).connect(DEVICE)
    control.f_set_screen(True)
    before = DEVICE.shell("uiautomator dump /dev/tty")
    for step, y in enumerate(range(1700, 900, -40)):
        action = 0 if step == 0 else 2
        control.send_packet(control.packet__touch(action, 540, y, 1080, 2400, 1), True)
        time.sleep(0.01)
    control.send_packet(control.packet__touch(1, 540, 900, 1080, 2400, 1), True)
    assert until(lambda: DEVICE.shell("uiautomator dump /dev/tty") != before)
    control.disconnect()


run([reads_device, decodes, sees_changes, restarts, touches, swipes])
