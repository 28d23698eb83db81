"""Each app has one process: every command that names it says the same pid."""

import re

from support.connected import Connected

NOTES = "com.android.notes"


async def test_every_command_says_the_same_pid_of_an_app(connected: Connected) -> None:
    await connected.shell(f"am start -W -n {NOTES}/.NotesListActivity")
    pid = (await connected.shell(f"pidof {NOTES}")).text.strip()
    assert pid.isdigit()
    row = (await connected.shell(f"ps -A | grep {NOTES}")).text.split()
    uid = re.search(r"uid:(\d+)", (await connected.shell(f"pm list packages -U {NOTES}")).text)
    assert uid is not None
    user = f"u0_a{int(uid[1]) - 10_000}"
    assert (row[0], row[1], row[-1]) == (user, pid, NOTES)
    record = f"{pid}:{NOTES}/{user.replace('_', '')}"
    for command in (
        "dumpsys activity activities",
        "dumpsys activity processes",
        "logcat -d -s ActivityManager",
    ):
        assert record in (await connected.shell(command)).text, command
    assert f"pid={pid} " in (await connected.shell("dumpsys activity top")).text
    assert f"(pid {pid} / activities)" in (await connected.shell("dumpsys meminfo")).text
    assert f"{pid}:{user.replace('_', '')}}}" in (await connected.shell("dumpsys window w")).text


async def test_two_apps_never_share_a_pid(connected: Connected) -> None:
    for package in (NOTES, "com.android.browser", "com.android.email"):
        connected.phone.activities.launch(package)
    pids = re.findall(r"(?m)^\s*(\d+)$", (await connected.shell("ps -A -o PID")).text)
    assert len(pids) == len(set(pids)) > 12


async def test_a_stopped_app_has_no_process_and_comes_back_with_another(
    connected: Connected,
) -> None:
    connected.phone.activities.launch(NOTES)
    first = (await connected.shell(f"pidof {NOTES}")).text
    await connected.shell(f"am force-stop {NOTES}")
    assert (await connected.shell(f"pidof {NOTES}")).status == 1
    connected.phone.activities.launch(NOTES)
    assert (await connected.shell(f"pidof {NOTES}")).text not in ("", first)


async def test_a_crash_is_logged_with_the_pid_of_the_app(connected: Connected) -> None:
    connected.phone.activities.launch(NOTES)
    pid = (await connected.shell(f"pidof {NOTES}")).text.strip()
    await connected.shell(f"am crash {NOTES}")
    log = (await connected.shell("logcat -d -b crash AndroidRuntime:E '*:S'")).text
    assert f"Process: {NOTES}, PID: {pid}" in log
    assert (await connected.shell(f"pidof {NOTES}")).text == ""
