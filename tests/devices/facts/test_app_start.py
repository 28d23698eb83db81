"""Apps are started by the activity that Android names, and only if it does not refuse."""

import pytest

from agent.devices.shell.app_start import LAUNCHER_CATEGORIES, AppStarter
from agent.errors import DeviceError
from tests.devices.facts.said_phone import Answer, SaidPhone, failed

PACKAGE = "com.example.player"
MAIN = f"{PACKAGE}/.tv.MainActivity"
# PackageManagerShellCommand.runResolveActivity and runQueryIntentActivities, Android 10 to 14.
BRIEF = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n"
NONE = "No activity found\n"
CHOOSER = f"{BRIEF}android/com.android.internal.app.ResolverActivity\n"
LISTED = (
    f"2 activities found:\n  Activity #0:\n    {BRIEF}    {MAIN}\n"
    f"  Activity #1:\n    {BRIEF}    {PACKAGE}/.Other\n"
)
STARTING = f"Starting: Intent {{ act=android.intent.action.MAIN cmp={MAIN} }}\n"
# Monkey.run, Android 9 to 16.
MONKEY = "Events injected: 1\n## Network stats: elapsed time=21ms\n"
TURNING = "settings get system"
WINDOWLESS = failed("/system/bin/sh: cmd: not found\n", 127)


def resolving(category: str, answer: str = f"{BRIEF}{MAIN}\n") -> dict[str, Answer]:
    """Answer for one category, and say of the others that nothing was found."""
    return {
        "cmd package resolve-activity": NONE,
        "cmd package resolve-activity --brief -a android.intent.action.MAIN -c "
        f"android.intent.category.{category} {PACKAGE}": answer,
        "cmd package query-activities": "No activities found\n",
        "am start": STARTING,
        "monkey": MONKEY,
        TURNING: "0\n1\n",
        "settings put": "",
        "settings delete": "",
    }


async def launched(says: dict[str, Answer]) -> SaidPhone:
    phone = SaidPhone(says)
    await AppStarter(phone).launch(PACKAGE, timeout_s=5)
    return phone


def asked(phone: SaidPhone, program: str) -> list[str]:
    return [command for command in phone.ran if command.startswith(program)]


@pytest.mark.parametrize("category", LAUNCHER_CATEGORIES)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
async def test_every_category_of_launchers_is_tried(category: str, ends: str) -> None:
    answer = f"WARNING: linker: something{ends}{BRIEF}{MAIN}{ends}".replace("\n", ends)
    phone = await launched(resolving(category, answer))
    [start] = asked(phone, "am start")
    assert f"-n '{MAIN}'" in start
    assert f"-c android.intent.category.{category}" in start
    assert not asked(phone, "monkey")


async def test_the_first_of_several_activities_opens_the_app() -> None:
    says = resolving("LAUNCHER", CHOOSER)
    phone = await launched({**says, "cmd package query-activities": LISTED})
    assert f"-n '{MAIN}'" in asked(phone, "am start")[0]


async def test_a_launcher_of_another_package_opens_nothing() -> None:
    says = resolving("HOME", f"{BRIEF}com.example.home/.Home\n")
    with pytest.raises(DeviceError, match="cannot be started"):
        await launched(says)


@pytest.mark.parametrize(
    "said",
    [
        f"{STARTING}Warning: Activity not started, its current task has been brought to the "
        "front\n",
        f"{STARTING}Warning: Activity not started, intent has been delivered to currently running "
        "top-most instance.\n",
        "Starting: Intent { cmp=com.example.player/.ErrorActivity }\n",
        f"{STARTING}Status: ok\nLaunchState: WARM\nComplete\n",
    ],
)
async def test_an_app_that_was_open_is_brought_back(said: str) -> None:
    phone = await launched({**resolving("LAUNCHER"), "am start": said})
    assert not asked(phone, "monkey")


@pytest.mark.parametrize(
    "said",
    [
        # ActivityManagerShellCommand.runStartActivity: all of these end with 0 on some versions.
        f"{STARTING}Error type 3\nError: Activity class {{{MAIN}}} does not exist.\n",
        f"{STARTING}Error: Activity not started, you do not have permission to access it.\n",
        f"{STARTING}Error: Activity not started, unknown error code 102\n",
        f"{STARTING}\nException occurred while executing 'start':\njava.lang.SecurityException: "
        "Permission Denial: starting Intent\n",
        f"{STARTING}java.lang.SecurityException: Permission Denial: starting Intent\r\n",
    ],
)
async def test_a_refused_start_is_an_error_with_its_words(said: str) -> None:
    refused = ":Sending\n** Error: SecurityException: Permission Denial\nEvents injected: 0\n"
    says = {**resolving("LAUNCHER"), "am start": said, "monkey": refused}
    with pytest.raises(DeviceError, match=r"refused on phone: .*(Error|Exception|Denial)"):
        await launched(says)


async def test_monkey_is_the_last_way_and_leaves_the_rotation_as_it_was() -> None:
    says = {**resolving("LAUNCHER"), "cmd package": WINDOWLESS}
    del says["cmd package resolve-activity"]
    kept = {key: value for key, value in says.items() if not key.startswith("cmd package r")}
    phone = await launched(kept)
    [monkey] = asked(phone, "monkey")
    assert "--pct-syskeys 0" in monkey
    after = phone.ran[phone.ran.index(monkey) + 1 :]
    assert after == [
        "settings put system user_rotation 1",
        "settings put system accelerometer_rotation 0",
    ]


async def test_a_setting_that_was_not_there_is_removed_again() -> None:
    says: dict[str, Answer] = {"monkey": MONKEY, TURNING: "1\nnull\n", "settings": ""}
    phone = await launched(says)
    assert "settings delete system user_rotation" in phone.ran


@pytest.mark.parametrize(
    "said",
    [
        failed("** SYS_KEYS has no physical keys but with factor 2.0%.\n", 251),
        failed("** No activities found to run, monkey aborted.\n", 252),
        # Android before 7 always ends with 0.
        "** No activities found to run, monkey aborted.\r\n",
        "** SYS_KEYS has no physical keys but with factor 2.0%.\r\n",
        "** Error: SecurityException: Permission Denial\r\nEvents injected: 1\r\n",
    ],
)
async def test_what_monkey_did_not_start_is_an_error(said: Answer) -> None:
    phone = SaidPhone({"monkey": said, TURNING: "0\r\n2\r\n", "settings": ""})
    with pytest.raises(DeviceError):
        await AppStarter(phone).launch(PACKAGE, timeout_s=5)
    assert "settings put system user_rotation 2" in phone.ran
