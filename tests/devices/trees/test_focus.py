"""The foreground app, in the words of many Android versions."""

from pathlib import Path

import pytest

from agent.devices.facts.fact import Known, Unknown
from agent.devices.facts.foreground import Front, read_front
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.sizes import read_natural_size, read_size
from tests.devices.facts.shapes import Shown, display_section, on

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


def front_of(lines: str) -> Front:
    found = read_front(lines)
    assert isinstance(found, Known), found
    return found.value


def package_of(lines: str) -> str:
    return front_of(lines).package


@pytest.mark.parametrize(("name", "package"), RECORDED.items())
def test_a_recorded_screen_names_its_app(name: str, package: str) -> None:
    lines = (DATA / f"android-4.4.2/{name}.focus.txt").read_text(encoding="utf-8")
    assert package_of(lines) == package


SAMPLES = [
    ("a flip", "com.example.heating", "crc640a1b2c3d4e5f6a7b.StartActivity"),
    ("three displays", "com.example.recipes", "com.example.recipes.list.main.ListActivity"),
    ("a record with a comma", "com.example.radio", "com.example.radio.Player"),
    ("a window that says", "com.example.radio", "com.example.radio.Player"),
    ("a window without a user", "com.example.radio", "com.example.radio.Settings"),
    ("a user without its number", "com.example.radio", "com.example.radio.Player"),
    ("nothing has the focus", "", ""),
    ("no window has the focus", "", ""),
]


def sample(name: str) -> str:
    """Return the lines of one sample, found by the beginning of its heading."""
    text = (DATA / "windows/focus_samples.txt").read_text(encoding="utf-8")
    [found] = [one for one in text.split("## ")[1:] if one.startswith(name)]
    return found.partition("\n")[2]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r\r\n"])
@pytest.mark.parametrize(("name", "package", "activity"), SAMPLES)
def test_lines_of_other_androids_name_their_app(
    name: str, package: str, activity: str, ends: str
) -> None:
    front = front_of(sample(name).replace("\n", ends))
    assert (front.package, front.activity) == (package, activity)


def test_the_recorded_lines_of_other_androids_are_the_ones_above() -> None:
    text = (DATA / "windows/focus_samples.txt").read_text(encoding="utf-8")
    assert text.count("\n## ") == len(SAMPLES)


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
    section = display_section(14, on(Shown(), focus=window, app="a.b/.C"))
    assert package_of("\n".join(section)) == "a.b"


def test_a_window_title_cannot_pass_for_another_app() -> None:
    lines = (
        "mCurrentFocus=Window{1f u0 hello com.bank/.Main}\n"
        "mFocusedApp=ActivityRecord{2 u0 evil.app/.C t1}"
    )
    assert package_of(lines) == "evil.app"


def test_output_without_focus_lines_is_no_answer() -> None:
    assert isinstance(read_front("Can't find service: window"), Unknown)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("mInputShown=true", True),
        ("mInputShown=true  mIsInputViewShown=true", True),
        ("mInputShown=false", False),
    ],
)
def test_the_keyboard_is_known_by_the_input_method(said: str, shown: bool) -> None:
    found = read_keyboard_shown(said)
    assert isinstance(found, Known)
    assert found.value is shown


def test_the_recorded_input_method_says_that_no_keyboard_shows() -> None:
    said = (DATA / "android-4.4.2/dumpsys_input_method.txt").read_bytes().decode()
    found = read_keyboard_shown(said)
    assert isinstance(found, Known)
    assert found.value is False


def test_the_display_is_read_as_it_is_turned_now() -> None:
    recorded = read_size((DATA / "android-4.4.2/dumpsys_window_displays.txt").read_bytes().decode())
    turned = read_size("init=1080x2400 420dpi base=900x2000 cur=2000x900 app=1900x900")
    assert isinstance(recorded, Known)
    assert isinstance(turned, Known)
    assert (recorded.value, turned.value) == ((480, 800), (2000, 900))


def test_an_overridden_size_wins() -> None:
    overridden = read_natural_size("Physical size: 1080x2400\nOverride size: 720x1600")
    plain = read_natural_size("Physical size: 1080x2400")
    assert isinstance(overridden, Known)
    assert isinstance(plain, Known)
    assert (overridden.value, plain.value) == ((720, 1600), (1080, 2400))


@pytest.mark.parametrize("said", ["", "Physical size: 0x0", "Physical size: 99999999x1", "cur=1x2"])
def test_an_impossible_display_is_none(said: str) -> None:
    assert isinstance(read_natural_size(said), Unknown)
    assert isinstance(read_size(said), Unknown)
