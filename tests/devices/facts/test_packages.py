"""Users, packages and apps as Android 5 to 16 print them, and as phones refuse to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.facts.fact import Known, Unknown
from agent.devices.facts.packages import (
    launchable_command,
    packages_command,
    read_launchable,
    read_packages,
    read_user,
    read_version_codes,
)
from agent.devices.facts.users import read_current_user, read_unlocked, read_users
from agent.devices.health.state_findings import apps_finding
from agent.errors import DeviceError
from tests.devices.conftest import ScriptedPhone, scripted_device

# PackageManagerShellCommand.runListPackages, AOSP android-10 to android-14.
PLAIN = "package:com.android.settings\npackage:com.whatsapp\npackage:android\n"
CODES = "package:com.android.settings versionCode:34\npackage:com.whatsapp versionCode:2324 uid:1\n"
PATHS = "package:/data/app/~~a==/com.whatsapp-b==/base.apk=com.whatsapp\n"
# What 13 and newer print where a user is closed to the shell, as with a Samsung secure folder.
REFUSED = """\

Exception occurred while executing 'list':
java.lang.SecurityException: Shell does not have permission to access user 150
\tat com.android.server.am.ActivityManagerService.handleIncomingUser(ActivityManagerService.java:1)
"""


def answer(body: str, user: str = "0", rc: int = 0) -> str:
    return (
        f"@switchboard-packages user\n{user}\n@switchboard-packages list\n{body}"
        f"@switchboard-packages end {rc}\n"
    )


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_packages_are_read_in_every_form(ends: str) -> None:
    for text, names in (
        (PLAIN, {"com.android.settings", "com.whatsapp", "android"}),
        (CODES, {"com.android.settings", "com.whatsapp"}),
        (PATHS, {"com.whatsapp"}),
        (f"WARNING: linker: x\n{PLAIN}", {"com.android.settings", "com.whatsapp", "android"}),
    ):
        for said in (text, answer(text)):
            fact = read_packages(said.replace("\n", ends))
            assert isinstance(fact, Known)
            assert fact.value == names
    codes = read_version_codes(answer(CODES))
    assert isinstance(codes, Known)
    assert codes.value == {"com.android.settings": 34, "com.whatsapp": 2324}


@pytest.mark.parametrize(
    "text",
    [
        "",
        REFUSED,
        answer(REFUSED, rc=255),
        answer(f"{PLAIN}{REFUSED}", rc=255),
        answer(PLAIN, rc=137),
        answer(PLAIN).rpartition("@")[0],
        "cmd: Can't find service: package\n",
        "Error: Unknown option: --user\n",
        "Error: Could not access the Package Manager.  Is the system running?\n",
        "/system/bin/sh: pm: not found\n",
    ],
)
def test_a_list_that_failed_or_ended_early_is_unknown_and_never_empty(text: str) -> None:
    fact = read_packages(text)
    assert isinstance(fact, Unknown)
    assert "pm list packages" in fact.reason


def test_android_7_and_older_list_no_versions() -> None:
    fact = read_version_codes(answer(PLAIN))
    assert isinstance(fact, Unknown)
    assert "Android 7" in fact.reason


def test_the_current_user_is_named_to_the_phone() -> None:
    assert "--user $u" in packages_command()
    assert "--show-versioncode" in packages_command(versions=True)
    user = read_user(answer(PLAIN, "10"))
    assert isinstance(user, Known)
    assert user.value == 10
    assert isinstance(read_user(answer(PLAIN, "")), Unknown)


def test_users_and_profiles_are_read() -> None:
    text = (
        "Users:\n\tUserInfo{0:Owner:4c13} running\n\tUserInfo{10:Work: (mine):1030} running\n"
        "\tUserInfo{150:Secure Folder:61001030}\n\tUserInfo{999:XSpace:801010} running\n"
        "\tUserInfo{11:Guest:404}\n"
    )
    fact = read_users(text.replace("\n", "\r\n"))
    assert isinstance(fact, Known)
    assert [(one.number, one.name, one.is_profile, one.is_running) for one in fact.value] == [
        (0, "Owner", False, True),
        (10, "Work: (mine)", True, True),
        (150, "Secure Folder", True, False),
        (999, "XSpace", True, True),
        (11, "Guest", False, False),
    ]
    for failed in ("", "Error: unknown command 'list users'\n", "Users:\n"):
        assert isinstance(read_users(failed), Unknown)


@pytest.mark.parametrize(
    ("text", "user"),
    [("0\n", 0), ("WARNING: linker: x\n10\r\n", 10), ("", None), ("Error: no user 5\n", None)],
)
def test_the_current_user_is_a_number_alone(text: str, user: int | None) -> None:
    fact = read_current_user(text)
    assert (fact.value if isinstance(fact, Known) else None) == user


def query(*components: str) -> str:
    """Print what `cmd package query-activities --brief` does (Android 7 and newer)."""
    if not components:
        return "No activities found\n"
    rows = "".join(
        f"  Activity #{at}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 "
        f"isDefault=false\n    {one}\n"
        for at, one in enumerate(components)
    )
    return f"{len(components)} activities found:\n{rows}"


def started(*categories: str, state: str = "RUNNING_UNLOCKED") -> str:
    asked = "".join(f"@switchboard-packages category\n{one}" for one in categories)
    return (
        f"@switchboard-packages user\n0\n@switchboard-packages state\n{state}\n{asked}"
        "@switchboard-packages end 0\n"
    )


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        (started(query("com.a/.Main", "com.b/com.c.Main$2"), query()), {"com.a", "com.b"}),
        # A television opens its apps by another category, and a car by a third.
        (started(query(), query("com.tv/.Leanback"), query()), {"com.tv"}),
        (started(query("com.a/.Main"), query(), query("com.car/.Map")), {"com.a", "com.car"}),
        (started(query(), query()), set()),
        (started("cmd: not found\n", "cmd: not found\n"), None),
        (started(query("com.a/.Main"), "java.lang.SecurityException: no\n"), None),
        (started(query("com.a/.Main", "com.b/.Main").rpartition("    com.b")[0]), None),
        (started(query("com.a/.Main")).rpartition("@")[0], None),
        ("", None),
    ],
)
def test_what_can_be_started_is_asked_by_every_launcher(
    text: str, packages: set[str] | None
) -> None:
    said = read_launchable(text).packages
    assert (said.value if isinstance(said, Known) else None) == packages
    for category in ("LAUNCHER", "LEANBACK_LAUNCHER", "CAR_LAUNCHER"):
        assert f"android.intent.category.{category} " in launchable_command()


@pytest.mark.parametrize(
    ("state", "unlocked"),
    [
        ("RUNNING_UNLOCKED", True),
        ("RUNNING_LOCKED", False),
        ("RUNNING_UNLOCKING", False),
        ("Unknown command: get-started-user-state", None),
        ("User is not started: 0", None),
    ],
)
def test_a_user_that_is_locked_since_the_boot_is_known_to_be(
    state: str, unlocked: bool | None
) -> None:
    fact = read_launchable(started(query("com.a/.Main"), state=state)).unlocked
    assert (fact.value if isinstance(fact, Known) else None) == unlocked
    assert read_unlocked(state) == fact


@given(st.data())
def test_whatever_happens_to_the_lines_no_package_appears_or_is_missing_unsaid(
    data: st.DataObject,
) -> None:
    lines = answer(PLAIN).splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    match data.draw(st.sampled_from(["cut", "double", "warn", "fail"])):
        case "cut":
            lines = lines[:at]
        case "double":
            lines = [*lines[: at + 1], *lines[at:]]
        case "warn":
            lines.insert(at, "W/libc: Unable to set property\n")
        case _:
            lines.insert(at, REFUSED)
    fact = read_packages("".join(lines))
    if isinstance(fact, Known):
        assert fact.value == {"com.android.settings", "com.whatsapp", "android"}


async def listed(answers: dict[str, tuple[bytes, int]]) -> tuple[list[str], list[str]]:
    """Return the apps of a phone that answers so, and what it was asked."""
    phone = ScriptedPhone(answers)
    async with scripted_device(phone) as device:
        return [one.package for one in await device.apps()], phone.commands


async def test_a_phone_whose_user_is_locked_lists_what_is_installed() -> None:
    locked = started(query("com.dialer/.Main"), state="RUNNING_LOCKED").encode()
    apps, commands = await listed(
        {launchable_command(): (locked, 0), packages_command(): (answer(PLAIN).encode(), 0)}
    )
    assert apps == ["android", "com.android.settings", "com.whatsapp"]
    assert len(commands) == 2


async def test_a_phone_that_refuses_its_list_has_not_no_apps() -> None:
    no = "java.lang.SecurityException"
    with pytest.raises(DeviceError, match="no access to user 150") as caught:
        await listed(
            {
                launchable_command(): (started("cmd: not found\n").encode(), 0),
                packages_command(): (answer(f"{no}: no access to user 150\n").encode(), 0),
            }
        )
    assert "unlocked" in caught.value.remedy


@pytest.mark.parametrize(
    ("packages", "users", "ok", "words"),
    [
        (answer(PLAIN), "Users:\n\tUserInfo{0:Owner:4c13} running\n", True, "3 packages of user 0"),
        (
            answer(PLAIN),
            "Users:\n\tUserInfo{0:Owner:4c13} running\n\tUserInfo{150:Secure Folder:1030}\n",
            True,
            "not those of Secure Folder (150, a profile)",
        ),
        (answer(PLAIN), "Error: no\n", True, "3 packages"),
        (answer(REFUSED, rc=255), "", False, "SecurityException"),
    ],
)
def test_the_doctor_says_whose_apps_are_listed(
    packages: str, users: str, ok: bool, words: str
) -> None:
    finding = apps_finding(read_packages(packages), read_user(packages), read_users(users))
    assert finding.ok == ok
    assert words in finding.detail
