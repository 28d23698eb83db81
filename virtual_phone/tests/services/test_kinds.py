"""Kinds of phone and versions differ in what their makers and Androids do, and in nothing else."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from virtual_phone.cli.main import run
from virtual_phone.embedded import EmbeddedHost, EmbeddedPhone
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.state.profiles import profile_names, profile_of

SETTINGS = "com.android.settings"
LAUNCH = f"monkey -p {SETTINGS} -c android.intent.category.LAUNCHER"
FOCUS = re.compile(r"mDisplayId=(\d+)|mCurrentFocus=(\S+)")

Make = Callable[..., EmbeddedPhone]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a phone of a kind and version."""
    hosts: list[EmbeddedHost] = []

    def phone(profile: str | None = None, android: int | None = None) -> EmbeddedPhone:
        host = EmbeddedHost(tmp_path / str(len(hosts)), profile=profile, android=android)
        hosts.append(host)
        made = host.new_phone()
        made.reset()
        return made

    yield phone
    for host in hosts:
        host.close()


async def focuses(phone: EmbeddedPhone) -> dict[str, bool]:
    """Return whether each display has a focused window, in the order in which they are listed."""
    _, text = await phone.shell("dumpsys window displays")
    found: dict[str, bool] = {}
    number = ""
    for display, window in FOCUS.findall(text):
        number = display or number
        if window:
            found[number] = window != "null"
    return found


def test_the_kinds_are_listed_with_what_they_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--profile", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["PROFILE", *profile_names()]
    for name, row in zip(profile_names(), rows[1:], strict=True):
        assert profile_of(name).summary in row
        assert f"Android {profile_of(name).android}" in row


@pytest.mark.parametrize("words", [["--profile", "brick"], ["--android", "12"]])
def test_an_unknown_kind_or_version_is_refused_with_the_known_ones(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *words]) == 2
    assert "Choose from" in capsys.readouterr().err


def test_a_version_stays_over_a_restart_and_a_reset(tmp_path: Path) -> None:
    phone = Phone(tmp_path, android=9)
    phone.reset()
    phone.close()
    again = Phone(tmp_path)
    assert again.properties["ro.build.version.sdk"] == "28"
    again.close()
    as_tablet = Phone(tmp_path, profile="tablet")
    assert as_tablet.properties["ro.build.version.release"] == "13"
    as_tablet.close()
    with pytest.raises(PhoneError):
        Phone(tmp_path, android=12)


async def test_a_cover_display_is_listed_first_and_last_where_it_is_used(make: Make) -> None:
    phone = make("flip")
    assert await focuses(phone) == {"1": False, "0": True}
    _, text = await phone.shell("dumpsys window displays | grep mFocusedApp")
    assert "SubHomeActivity" in text.splitlines()[0]
    await phone.shell(f"am start --display 1 -n {SETTINGS}/.Settings")
    assert await focuses(phone) == {"0": False, "1": True}
    phone.tap(500, 900)
    assert await focuses(phone) == {"1": False, "0": True}


async def test_a_program_s_display_keeps_its_focus_since_android_14(make: Make) -> None:
    for android, keeps in ((13, False), (14, True)):
        phone = make(android=android)
        phone._phone.displays.add(720, 1280, 320)
        await phone.shell(f"am start --display 1 -n {SETTINGS}/.Settings")
        phone.tap(500, 900)
        assert await focuses(phone) == {"1": keeps, "0": True}


async def test_every_user_s_packages_are_listed_or_the_shell_is_refused(make: Make) -> None:
    phone = make("samsung")
    status, text = await phone.shell("pm list packages")
    assert status == 255 and "Shell does not have permission to access user 150" in text
    assert "com.example.work" not in (await phone.shell("pm list packages --user 0"))[1]
    assert "com.example.work.mail" in (await phone.shell("pm list packages --user 10"))[1]
    assert (await phone.shell("pm list packages --user 150"))[0] == 255
    users = (await phone.shell("pm list users"))[1].splitlines()
    assert users[0] == "Users:" and len(users) == 4
    assert all(
        re.fullmatch(r"\tUserInfo\{\d+:[\w ]+:[0-9a-f]+\} running", row) for row in users[1:]
    )
    _, dump = await phone.shell("dumpsys package com.example.work.mail | grep installed=")
    assert re.findall(r"User (\d+).*?installed=(\w+)", dump) == [
        *(("0", "false"), ("10", "true"), ("150", "false"))
    ]
    assert (await phone.shell("am get-current-user"))[1] == "0\n"


async def test_a_clone_s_packages_are_listed_with_the_owner_s_since_android_13(make: Make) -> None:
    for android, listed in ((11, False), (14, True)):
        phone = make("hyperos", android)
        _, text = await phone.shell("pm list packages -U")
        assert ("com.example.chat.clone" in text) is listed
        uids = next(row for row in text.splitlines() if f"package:{SETTINGS} " in row)
        assert ("," in uids) is listed


async def test_monkey_leaves_the_screen_free_and_upright(make: Make) -> None:
    phone = make()
    await phone.shell("wm user-rotation lock 1")
    assert phone.rotation == 1
    assert (await phone.shell(f"{LAUNCH} 1"))[0] == 0
    asked = "settings get system accelerometer_rotation; settings get system user_rotation"
    assert (await phone.shell(asked))[1] == "1\n0\n"
    assert phone.rotation == 0


async def test_monkey_needs_keys_of_the_system_and_starts_nothing_without(make: Make) -> None:
    phone = make("keyless")
    status, text = await phone.shell(f"{LAUNCH} 1")
    assert status == 251 and "SYS_KEYS has no physical keys but with factor 2.0%" in text
    assert phone.front()[0] != SETTINGS
    assert (await phone.shell(f"{LAUNCH} --pct-syskeys 0 1"))[0] == 0
    assert phone.front()[0] == SETTINGS


async def test_a_television_starts_apps_from_the_leanback_launcher(make: Make) -> None:
    phone = make("tv")
    assert (await phone.shell(f"{LAUNCH} 1"))[0] == 252
    assert "No activity found" in (await phone.shell(f"cmd package resolve-activity {SETTINGS}"))[1]
    assert (await phone.shell(f"am start {SETTINGS}"))[0] == 1
    lean = "-a android.intent.action.MAIN -c android.intent.category.LEANBACK_LAUNCHER"
    _, text = await phone.shell(f"cmd package query-activities --brief {lean}")
    head, *rows = text.splitlines()
    count = int(head.removesuffix(" activities found:"))
    assert count > 5 and len(rows) == 3 * count
    assert rows[0] == "  Activity #0:" and rows[1].startswith("    priority=0 ")
    _, one = await phone.shell(f"cmd package resolve-activity --components {lean} -p {SETTINGS}")
    await phone.shell(f"am start -n {one}")
    assert phone.front()[0] == SETTINGS
    assert "touchscreen" not in (await phone.shell("pm list features; dumpsys input"))[1]
    phone.settle()
    before = phone.xml()
    phone.key(20)
    phone.settle()
    assert phone.xml() != before, "the D-pad moves the focus"


async def test_a_phone_that_refuses_injection_refuses_it_to_every_way_in(make: Make) -> None:
    phone = make("hyperos")
    await phone.shell(f"am start -n {SETTINGS}/.Settings")
    phone.settle()
    before = phone.xml()
    status, text = await phone.shell("input tap 500 900")
    assert status == 255 and "INJECT_EVENTS" in text
    phone.settle()
    assert phone.xml() == before
    assert (await phone.shell(f"{LAUNCH} 1"))[0] == 0, "starting an app is no injection"


async def test_a_second_display_has_a_keyguard_of_its_own(make: Make) -> None:
    phone = make("desk")
    _, text = await phone.shell("dumpsys activity activities | grep ' at display='")
    assert re.findall(r"KeyguardShowing=(\w+).* at display=(\d)", text) == [
        *(("false", "0"), ("true", "2"))
    ]
    _, text = await phone.shell("dumpsys window policy | grep -m1 showing=")
    assert text.strip() == "showing=false"


@pytest.mark.parametrize(
    ("profile", "android", "warned"),
    [("flip", 14, True), ("flip", 13, False), ("phone", 16, False), ("desk", 16, True)],
)
async def test_a_capture_of_several_panels_warns_since_android_14(
    make: Make, profile: str, android: int, warned: bool
) -> None:
    phone = make(profile, android)
    _, text = await phone.shell("screencap -p /data/local/tmp/x.png")
    assert text.startswith("[Warning] Multiple displays were found") is warned
    _, ids = await phone.shell("dumpsys SurfaceFlinger --display-id")
    number = ids.split()[1]
    _, text = await phone.shell(f"screencap -p -d {number} /data/local/tmp/x.png")
    assert text == ""


async def test_android_9_lacks_what_came_later(make: Make) -> None:
    phone = make(android=9)
    assert (await phone.shell("cmd notification list"))[0] == 255
    assert (await phone.shell("input -d 0 tap 5 5"))[0] == 255
    await phone.shell("uiautomator dump --windows /sdcard/x.xml")
    assert "<displays>" not in (await phone.shell("cat /sdcard/x.xml"))[1]


async def test_a_battery_says_what_it_was_set_to(make: Make) -> None:
    phone = make()
    say = "dumpsys battery | grep -E '"
    await phone.shell("dumpsys battery set scale 200; dumpsys battery set level 170")
    await phone.shell("dumpsys battery set ac 1; dumpsys battery set status 4")
    _, text = await phone.shell(f"{say}AC|status|level|scale|STOPPED'")
    assert text.split("\n")[:5] == [
        "  (UPDATES STOPPED -- use 'reset' to restart)",
        *("  AC powered: true", "  status: 4", "  level: 170", "  scale: 200"),
    ]
    await phone.shell("dumpsys battery reset")
    assert "STOPPED" not in (await phone.shell("dumpsys battery"))[1]


async def test_texts_of_notifications_are_redacted_unless_asked_for(make: Make) -> None:
    phone = make()
    await phone.shell("cmd notification post -t Secret tag words")
    _, text = await phone.shell("dumpsys notification")
    assert "Secret" not in text and "android.title=String [length=6]" in text
    assert "String (Secret)" in (await phone.shell("dumpsys notification --noredact"))[1]
