"""The foreground app, in the words of many Android versions."""

from pathlib import Path

import pytest

from agent.devices.shell.focus import parse_current_size, parse_foreground, parse_natural_size

DATA = Path(__file__).parent.parent.parent / "data" / "devices"
RECORDED = {
    "app_drawer": "com.android.launcher3",
    "calculator": "com.android.calculator2",
    "calculator_landscape": "com.android.calculator2",
    "contacts": "com.android.contacts",
    "deskclock": "com.android.deskclock",
    "get_content_picker": "com.android.documentsui",
    "home": "com.android.launcher3",
    "home_clean": "com.android.launcher3",
    "notepad_edit_keyboard": "com.example.android.notepad",
    "notepad_list": "com.example.android.notepad",
    "notepad_list2": "com.example.android.notepad",
    # The shade has the focus; behind it stands the file picker.
    "notification_shade": "com.android.documentsui",
}


def package_of(lines: str) -> str:
    found = parse_foreground(lines)
    assert found is not None
    return found.package


@pytest.mark.parametrize(("name", "package"), RECORDED.items())
def test_a_recorded_screen_names_its_app(name: str, package: str) -> None:
    lines = (DATA / f"android-4.4.2/{name}.focus.txt").read_text(encoding="utf-8")
    assert package_of(lines) == package


@pytest.mark.parametrize(
    ("lines", "package", "activity"),
    [
        (
            "mFocusedApp=ActivityRecord{14d88c3 u0 com.android.systemui/.subscreen.SubHomeActivity "
            "t9}\nmFocusedApp=ActivityRecord{d72327 u0 eu.niko.smart.universal/"
            "crc648a3abc16689e594e.MainActivity t409}\nmCurrentFocus=Window{2785a60 u0 "
            "eu.niko.smart.universal/crc648a3abc16689e594e.MainActivity}\nmCurrentFocus=null",
            "eu.niko.smart.universal",
            "crc648a3abc16689e594e.MainActivity",
        ),
        (
            "mFocusedApp=null\nmFocusedApp=ActivityRecord{caf038a u0 com.android.systemui/"
            ".subscreen.SubHomeActivity t7}\nmFocusedApp=ActivityRecord{a646676 u0 "
            "com.example.android/.activity.main.MainActivity t285}\nmCurrentFocus=null\n"
            "mCurrentFocus=null\nmCurrentFocus=Window{5e9b13b u0 com.example.android/"
            "com.example.android.activity.main.MainActivity}}",
            "com.example.android",
            "com.example.android.activity.main.MainActivity",
        ),
        (
            "mFocusedApp=AppWindowToken{20fe217e token=Token{21878739 ActivityRecord{16425300 u0 "
            "a.b/.C, isShadow:false t10}}}",
            "a.b",
            "a.b.C",
        ),
        (
            "mFocusedApp=null\n  mCurrentFocus=Window{4330b6c0 u0 a.b/x.C paused=false}",
            "a.b",
            "x.C",
        ),
        (
            "mFocusedApp=AppWindowToken{38600b56 token=Token{9ea1171 ActivityRecord{2 u a.b/.C "
            "t181}}}",
            "a.b",
            "a.b.C",
        ),
        (
            "mCurrentFocus=Window{43 com.android.settings/com.android.settings.SubSettings "
            "paused=false}",
            "com.android.settings",
            "com.android.settings.SubSettings",
        ),
        ("mFocusedApp=null", "", ""),
        ("mCurrentFocus=null", "", ""),
    ],
)
def test_lines_of_other_androids_name_their_app(lines: str, package: str, activity: str) -> None:
    found = parse_foreground(lines)
    assert found is not None
    assert (found.package, found.activity) == (package, activity)


def test_the_recorded_lines_of_other_androids_are_the_ones_above() -> None:
    samples = (DATA / "appium-adb/focus_samples.txt").read_text(encoding="utf-8")
    assert samples.count("mFocusedApp=ActivityRecord{14d88c3") == 1
    assert package_of(samples) == "com.android.settings"


@pytest.mark.parametrize(
    "window",
    [
        "InputMethod",
        "NotificationShade",
        "StatusBar",
        "PopupWindow:9d3a1f",
        "com.android.systemui/com.android.systemui.recents.RecentsActivity",
        "Application Not Responding: a.b",
        "com.google.android.inputmethod.latin/com.google.android.apps.inputmethod.Latin",
    ],
)
def test_what_is_not_an_app_never_counts(window: str) -> None:
    lines = f"mCurrentFocus=Window{{1f u0 {window}}}\nmFocusedApp=ActivityRecord{{2 u0 a.b/.C t1}}"
    assert package_of(lines) == "a.b"


def test_a_window_title_cannot_pass_for_another_app() -> None:
    lines = (
        "mCurrentFocus=Window{1f u0 hello com.bank/.Main}\n"
        "mFocusedApp=ActivityRecord{2 u0 evil.app/.C t1}"
    )
    assert package_of(lines) == "evil.app"


def test_output_without_focus_lines_is_no_answer() -> None:
    assert parse_foreground("Can't find service: window") is None


@pytest.mark.parametrize(
    ("said", "shown"),
    [("mInputShown=true", True), ("  mIsInputViewShown=true", True), ("mInputShown=false", False)],
)
def test_the_keyboard_is_known_by_the_input_method(said: str, shown: bool) -> None:
    found = parse_foreground("mCurrentFocus=null", said)
    assert found is not None
    assert found.keyboard_shown is shown


def test_the_recorded_input_method_says_that_no_keyboard_shows() -> None:
    said = (DATA / "android-4.4.2/dumpsys_input_method.txt").read_bytes().decode()
    found = parse_foreground("mCurrentFocus=null", said)
    assert found is not None
    assert not found.keyboard_shown


def test_the_display_is_read_as_it_is_turned_now() -> None:
    recorded = (DATA / "android-4.4.2/dumpsys_window_displays.txt").read_bytes().decode()
    assert parse_current_size(recorded) == (480, 800)
    turned = "init=1080x2400 420dpi base=900x2000 cur=2000x900 app=1900x900"
    assert parse_current_size(turned) == (2000, 900)


def test_an_overridden_size_wins() -> None:
    assert parse_natural_size("Physical size: 1080x2400\nOverride size: 720x1600") == (720, 1600)
    assert parse_natural_size("Physical size: 1080x2400") == (1080, 2400)


@pytest.mark.parametrize("said", ["", "Physical size: 0x0", "Physical size: 99999999x1", "cur=1x2"])
def test_an_impossible_display_is_none(said: str) -> None:
    assert parse_natural_size(said) is None
    assert parse_current_size(said) is None
