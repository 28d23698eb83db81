"""The library uiautomator2 against the phone's on-device service, installed by its own means."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import uiautomator2
from cases import run
from uiautomator2.exceptions import UiObjectNotFoundError

SERIAL = os.environ["EXAM_SERIAL"]
SETTINGS, NOTES = "com.android.settings", "com.android.notes"
FIELD = "android.widget.EditText"
kept = []


def device():
    if not kept:
        kept.append(uiautomator2.connect(SERIAL))
    return kept[0]


def fresh(package):
    d = device()
    d.app_start(package, stop=True, wait=True)
    assert d.wait_activity(d.app_current()["activity"], timeout=5)
    time.sleep(0.4)
    return d


def new_note():
    d = fresh(NOTES)
    d(description="New note").click(timeout=5)
    body = d(className=FIELD, instance=1)
    assert body.wait(timeout=5)
    return d, body


def connects():
    """connects: pushes its jar and starts its service"""
    assert device().info["displayWidth"] > 0


def tells_device():
    """info, device_info, window_size and wlan_ip"""
    d = device()
    assert d.info["sdkInt"] == d.device_info["sdk"] == 34
    assert d.window_size() == (1080, 2400)
    assert d.wlan_ip is None or d.wlan_ip.count(".") == 3


def dumps():
    """dump_hierarchy, pretty and compressed"""
    d = fresh(SETTINGS)
    assert 'text="Battery"' in d.dump_hierarchy()
    assert len(d.dump_hierarchy(compressed=True)) < len(d.dump_hierarchy())
    assert d.dump_hierarchy(pretty=True).count("\n") > 20


def shoots():
    """screenshot"""
    assert device().screenshot().size == (1080, 2400)


def selects():
    """exists, count, info and instances of selectors"""
    d = fresh(SETTINGS)
    assert d(text="Battery").exists and not d(text="No such").exists
    words = d(className="android.widget.TextView")
    assert len(words) == words.count == len(list(words)) > 5
    assert words[3].info == words.info_list()[3]
    assert words[-1].info == words.info_list()[-1]
    assert d(textMatches="(?i)BATT.*").exists and d(textStartsWith="batt").exists


def relates():
    """child, sibling, child_by_text and left/right/up/down"""
    d = fresh(SETTINGS)
    assert d(scrollable=True).child(text="Battery").exists
    assert d(text="Battery").sibling(className="android.widget.TextView").count == 2
    found = d(scrollable=True).child_by_text("About phone", className="android.widget.LinearLayout")
    assert found.info["visibleBounds"]["bottom"] > 0
    d(scrollable=True).scroll.toBeginning()
    assert "%" in d(text="Battery").down(className="android.widget.TextView").info["text"]


def waits():
    """wait, wait_gone and the error of what is missing"""
    d = fresh(SETTINGS)
    assert d(text="Battery").wait(timeout=3) and d(text="No such").wait_gone(timeout=1)
    try:
        d(text="No such").click(timeout=0.5)
    except UiObjectNotFoundError:
        return
    raise AssertionError("clicked what is not there")


def clicks():
    """click, long_click, double_click and press back"""
    d = fresh(SETTINGS)
    d(text="Battery").click()
    assert d(text="Adaptive Battery").wait(timeout=3)
    d.press("back")
    assert d(text="Battery").wait(timeout=3)
    d(text="Battery").long_click()
    d.press("back")
    d.double_click(0.5, 0.5)


def scrolls():
    """scroll to, to the end and fling to the beginning"""
    d = fresh(SETTINGS)
    assert d(scrollable=True).scroll.to(text="About phone") and d(text="About phone").exists
    assert d(scrollable=True).scroll.toEnd()
    assert d(scrollable=True).fling.toBeginning(max_swipes=20)
    assert not d(text="About phone").exists


def types():
    """set_text, get_text, clear_text and send_keys"""
    d, body = new_note()
    body.set_text("Grüße 世界")
    assert body.get_text() == "Grüße 世界"
    body.clear_text()
    body.click()
    d.send_keys("by clipboard ✓")
    assert body.get_text() == "by clipboard ✓"
    d.clear_text()
    assert "clipboard" not in body.get_text()


def installs_keyboard():
    """its input method: install, choose, type, clear, hide, leave"""
    d, body = new_note()
    d.set_input_ime()
    assert "AdbKeyboard" in d.current_ime()
    body.click()
    d.send_keys("by broadcast 😀")
    assert body.get_text() == "by broadcast 😀"
    d.clear_text()
    assert "broadcast" not in body.get_text()
    d.send_action("done")
    d.hide_keyboard()
    d.set_input_ime(False)
    assert "AdbKeyboard" not in d.current_ime()
    assert d.app_uninstall("com.github.uiautomator")


def gestures():
    """swipe, swipe_ext, drag, swipe_points, touch, pinch and gesture"""
    d = fresh(SETTINGS)
    top = d(text="Battery").info["bounds"]["top"]
    d.swipe(540, 1600, 540, 1200, duration=1.5)
    assert abs(top - d(text="Battery").info["bounds"]["top"] - 400) < 60
    d.swipe_ext("down")
    d.drag(0.5, 0.5, 0.5, 0.4, duration=0.1)
    d.swipe_points([(540, 1200), (540, 1300), (540, 1600)], 0.1)
    d.touch.down(540, 1500).move(540, 1400).up(540, 1400)
    a_list = d(scrollable=True)
    a_list.pinch_in(percent=80, steps=10)
    a_list.pinch_out(percent=80, steps=10)
    a_list.gesture((300, 900), (800, 900), (400, 900), (700, 900), 10)


def watches():
    """xpath, watcher and watch_context"""
    d = fresh(SETTINGS)
    assert d.xpath('//*[@text="Battery"]').exists
    d.xpath("Battery").click()
    assert d.xpath("Adaptive Battery").wait(timeout=3)
    d.press("back")
    d.watcher.when("Battery").click()
    d.watcher.run()
    assert d(text="Adaptive Battery").wait(timeout=3)
    d.watcher.remove()
    d.press("back")
    with d.watch_context() as context:
        context.when("Battery").click()
        context.wait_stable(seconds=0.5, timeout=5)


def toasts():
    """toast: show, read, reset"""
    d = device()
    d.clear_toast()
    assert d.last_toast is None
    d.toast.show("from outside")
    assert d.toast.get_message(wait_timeout=2) == "from outside"
    d.toast.reset()
    assert d.last_toast is None


def copies():
    """clipboard"""
    d = device()
    d.set_clipboard("copied ✓", "label")
    assert d.clipboard == "copied ✓"


def turns():
    """orientation, freeze_rotation, screen_off, screen_on and unlock"""
    d = device()
    d.orientation = "left"
    assert d.orientation == "left" and d.info["displayWidth"] == 2400
    d.orientation = "natural"
    d.freeze_rotation(False)
    d.screen_off()
    assert not d.info["screenOn"]
    d.unlock()
    time.sleep(0.5)
    assert d.info["screenOn"] and d.info["currentPackageName"] != "com.android.systemui"


def opens_shade():
    """open_notification and open_quick_settings"""
    d = device()
    for show in (d.open_notification, d.open_quick_settings):
        show()
        assert d.info["currentPackageName"] == "com.android.systemui"
        d.press("back")


def manages_apps():
    """app_start, app_stop, app_list, app_info, app_clear, session and open_url"""
    d = device()
    assert SETTINGS in d.app_list() and d.app_info(SETTINGS)["versionName"]
    d.app_auto_grant_permissions("com.android.contacts")
    d.app_clear(NOTES)
    with d.session(SETTINGS) as session:
        assert session.running() and session(text="Battery").wait(timeout=5)
    assert SETTINGS not in d.app_list_running()
    d.open_url("https://example.com")
    time.sleep(0.5)
    assert d.app_current()["package"] == "com.android.browser"


def moves_files():
    """push, pull and shell"""
    d = device()
    folder = Path(tempfile.mkdtemp())
    (folder / "here").write_text("file")
    d.push(str(folder / "here"), "/sdcard/exam.txt")
    d.pull("/sdcard/exam.txt", str(folder / "back"))
    assert (folder / "back").read_text() == "file"
    assert d.shell("(exit 7)").exit_code == 7


def restarts():
    """reset_uiautomator, stop_uiautomator and starting again by itself"""
    d = device()
    d.reset_uiautomator()
    d.stop_uiautomator()
    assert d.info["sdkInt"] == 34


run(
    [
        connects,
        tells_device,
        dumps,
        shoots,
        selects,
        relates,
        waits,
        clicks,
        scrolls,
        types,
        installs_keyboard,
        gestures,
        watches,
        toasts,
        copies,
        turns,
        opens_shade,
        manages_apps,
        moves_files,
        restarts,
    ]
)
