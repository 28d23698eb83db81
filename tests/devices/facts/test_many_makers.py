"""What other makers and versions print, a case of each class that was once read wrongly.

The shapes are of public sources, which each test names; names and figures are made up.
"""

import pytest

from agent.devices.adb.device_list import parse_rows
from agent.devices.facts.battery import read_battery
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.foreground import Front, read_front
from agent.devices.facts.keyguard import read_locked
from agent.devices.facts.notifications import read_notifications
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import read_viewport_rotation, read_viewport_size
from agent.devices.facts.storage import read_free_percent
from tests.devices.facts.notification_texts import AFTER, HEADING, Post, record
from tests.devices.facts.shapes import NAME, Shown, displays_text, policy_text


def value(fact: Fact[object]) -> object:
    return fact.value if isinstance(fact, Known) else None


def test_a_window_of_a_samsung_names_its_display_and_process_too() -> None:
    # Android 6 and 7 of Samsung, quoted in many questions about `mCurrentFocus`.
    text = f"  mCurrentFocus=Window{{20d5ec u0 d0 p5089 {NAME}/{NAME}.EditActivity}}\n"
    front = read_front(text)
    assert isinstance(front, Known)
    assert front.value.package == NAME


def test_behind_the_lock_screen_of_android_4_no_app_is_in_front() -> None:
    # PhoneWindowManager of Android 4: the keyguard has a window with this title.
    record_ = f"AppWindowToken{{42a0 token=Token{{42c1 ActivityRecord{{42b9 u0 {NAME}/.A t2}}}}}}"
    text = f"  mCurrentFocus=Window{{41f0a2b8 u0 Keyguard}}\n  mFocusedApp={record_}\n"
    front = read_front(text)
    assert isinstance(front, Unknown) or front.value == Front(cover=front.value.cover)


def viewport(width: int, height: int, turned: int, active: str) -> str:
    """DisplayViewport.toString, Android 9 to 16; `isActive` since 10."""
    return (
        f"DisplayViewport{{type=INTERNAL, valid=true{active}, displayId=0, uniqueId='local:{width}'"
        f", orientation={turned}, logicalFrame=Rect(0, 0 - {width}, {height}), "
        f"physicalFrame=Rect(0, 0 - {width}, {height})}}"
    )


def test_of_a_fold_the_panel_that_is_lit_has_the_size() -> None:
    inner = viewport(1812, 2176, 0, ", isActive=false")
    outer = viewport(2316, 904, 1, ", isActive=true")
    for both in (f"{inner}, {outer}", f"{outer}, {inner}"):
        text = f"DISPLAY MANAGER (dumpsys display)\n  mViewports=[{both}]\n"
        assert value(read_viewport_size(text)) == (2316, 904)
        assert value(read_viewport_rotation(text)) == 1


def test_of_a_phone_that_is_off_the_one_panel_has_the_size() -> None:
    text = f"  mViewports=[{viewport(1080, 2400, 0, ', isActive=false')}]\n"
    assert value(read_viewport_size(text)) == (1080, 2400)


def test_of_two_panels_that_are_off_no_size_is_known() -> None:
    off = ", isActive=false"
    text = f"  mViewports=[{viewport(1812, 2176, 0, off)}, {viewport(904, 2316, 0, off)}]\n"
    assert value(read_viewport_size(text)) is None


@pytest.mark.parametrize("others", [True, False])
def test_another_display_is_locked_by_its_own_words(others: bool) -> None:
    # KeyguardController.dump of Android 13 and newer: a line for each display.
    own = (
        f"  KeyguardController:\n    KeyguardShowing={str(others).lower()} AodShowing=false "
        "KeyguardGoingAway=false Occluded=false at display=2\n"
    )
    text = policy_text(14, showing=not others) + own
    assert value(read_locked(text, 2)) is others
    assert value(read_locked(text)) is not others


def test_of_a_display_that_nobody_speaks_of_no_lock_is_known() -> None:
    assert value(read_locked(policy_text(14, showing=True), 7)) is None


def test_a_line_of_a_log_is_no_heading() -> None:
    log = "I/KeyguardServiceDelegate(  902): showing=false\n"
    assert value(read_locked(log + policy_text(14, showing=True))) is True


def test_a_phone_at_an_ear_is_not_known_to_take_touches() -> None:
    # PowerManagerService.dump of Android 5 to 11 in a call.
    said = "  mWakefulness=Awake\n  mProximityPositive=true\nDisplay Power: state=OFF\n"
    assert value(read_awake(said)) is None


BATTERY = """\
Current Battery Service state:
  AC powered: true
  USB powered: false
  status: 2
  health: 2
  present: {present}
  level: {level}
  scale: 100
"""


@pytest.mark.parametrize("level", [0, 50])
def test_what_has_no_battery_has_no_level(level: int) -> None:
    # Boxes for televisions and cars print their kernel's defaults.
    battery = read_battery(BATTERY.format(present="false", level=level))
    assert isinstance(battery, Known)
    assert value(battery.value.level_percent) is None
    assert value(battery.value.charging) is None


def test_a_battery_of_a_keyboard_is_not_the_phones() -> None:
    dock = "Dock Battery Service state:\n  status: 2\n  present: true\n  level: 12\n  scale: 100\n"
    battery = read_battery(dock + BATTERY.format(present="true", level=70))
    assert isinstance(battery, Known)
    assert value(battery.value.level_percent) == 70


DF = "Filesystem 1K-blocks Used Available Use% Mounted on\n"
DATA, OTHER = "/dev/sda2 100 30 70 30% /data\n", "/dev/fuse 100 90 10 90% /mnt/x\n"


@pytest.mark.parametrize("rows", [DATA + OTHER, OTHER + DATA])
def test_of_several_file_systems_the_one_of_the_data_counts(rows: str) -> None:
    assert value(read_free_percent(DF + rows)) == 70
    assert value(read_free_percent(DF + OTHER + OTHER.replace("90%", "80%"))) is None


@pytest.mark.parametrize(
    "said",
    [
        "ssh: connect to host 10.0.0.5 port 22: Connection refused",
        "cannot reach host",
        "this device is unknown",
    ],
)
def test_a_sentence_with_the_word_of_a_state_is_no_device(said: str) -> None:
    assert parse_rows(f"{said}\nList of devices attached\n") == ()


def test_a_serial_with_a_blank_is_a_device() -> None:
    long = "adb-2233fd19-9mU6UL (2)._adb-tls-connect._tcp device product:a transport_id:6"
    short = f"{'A 1':<22} device product:a transport_id:7"
    assert [row.transport_id for row in parse_rows(f"{long}\n{short}\n")] == [6, 7]


@pytest.mark.parametrize("kind", ["String", "SpannableString", "SpannableStringBuilder"])
def test_android_6_prints_the_kind_of_a_text_in_its_place(kind: str) -> None:
    # NotificationRecord.dump of Android 5 and 6, which hides texts without their lengths.
    hidden = record(Post(title="T", text="t")).replace("String (T)", kind)
    hidden = hidden.replace("String (t)", kind)
    shade = read_notifications(f"{HEADING}{hidden}{AFTER}@mark\n", "@mark")
    assert isinstance(shade, Known)
    assert "hides the texts of 1" in shade.value.lost


def test_an_unlocked_main_display_stays_what_it_was() -> None:
    text = displays_text(14, [Shown()])
    front = read_front(text)
    assert isinstance(front, Known)
    assert front.value.package == NAME
