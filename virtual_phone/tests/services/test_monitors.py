"""What runs, listens and sounds on a phone is told alike by every command that tells it."""

from __future__ import annotations

import re

import pytest

from support.connected import Connected


async def test_top_shows_the_processes_that_ps_shows(connected: Connected) -> None:
    connected.phone.launch("com.android.notes")
    rows = (await connected.shell("top -b -n 1")).text.splitlines()
    listed = {row.split()[0] for row in rows[5:]}
    assert rows[0].startswith(f"Tasks: {len(listed)} total,") and "ARGS" in rows[4]
    pids = set((await connected.shell("ps -A -o PID=")).text.split())
    # Each of the two commands was a process itself while it ran.
    assert len(listed ^ pids) <= 4 and len(listed & pids) > 8
    assert rows[5].endswith("com.android.notes")
    twice = (await connected.shell("top -q -b -n 2 -d 0.01 -m 1")).text.splitlines()
    assert len(twice) == 4


async def test_listeners_are_listed_while_they_listen(connected: Connected) -> None:
    assert "@virtual-phone-state" in (await connected.shell("netstat -lx")).text
    assert "switchboard" not in (await connected.shell("netstat")).text

    async def nothing(_: object) -> None:
        return

    connected.userland.sockets.listen("tcp:7912", nothing)
    for line in ("netstat -tln", "ss -tln"):
        assert re.search(r"127\.0\.0\.1:7912 ", (await connected.shell(line)).text), line
    connected.userland.sockets.close("tcp:7912")
    assert ":7912" not in (await connected.shell("netstat -tln")).text


async def test_volumes_are_one_truth_with_the_keys(connected: Connected) -> None:
    said = (await connected.shell("media volume --stream 3 --set 4 --get")).text
    assert said.splitlines() == [
        "[V] will control stream=3 (STREAM_MUSIC)",
        "[V] will set volume to index=4",
        "[V] will get volume",
        "[V] Connecting to AudioService",
        "[V] volume is 4 in range [0..15]",
    ]
    await connected.shell("input keyevent VOLUME_UP")
    said = (await connected.shell("cmd media_session volume --stream 3 --get")).text
    assert "volume is 5 in range" in said
    assert "invalid volume index 99" in (await connected.shell("media volume --set 99")).text
    assert connected.phone.settings.get("system", "volume_music") == "5"


@pytest.mark.parametrize(
    ("change", "ask", "before", "after"),
    [
        (
            "cmd location set-location-enabled false",
            "cmd location is-location-enabled",
            "true",
            "false",
        ),
        (
            "am start -a android.intent.action.DIAL -d tel:5550101; am start -n "
            "com.android.dialer/.InCallActivity",
            "dumpsys telephony.registry | grep -m1 mCallState",
            "mCallState=0",
            "mCallState=2",
        ),
        ("input keyevent 26", "dumpsys deviceidle get screen", "true", "false"),
    ],
)
async def test_a_dump_tells_what_was_changed(
    connected: Connected, change: str, ask: str, before: str, after: str
) -> None:
    assert (await connected.shell(ask)).text.strip() == before
    await connected.shell(change)
    assert (await connected.shell(ask)).text.strip() == after


async def test_a_bug_report_is_refused_and_a_locale_is_told(connected: Connected) -> None:
    said = await connected.shell("bugreportz")
    assert said.text.startswith("FAIL:") and said.status == 1
    assert (await connected.shell("settings get system system_locales")).text == "en-US\n"
