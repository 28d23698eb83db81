"""Interactive shells, stdin, and the texts that other programs parse."""

import asyncio
import re
from pathlib import Path

import av

from support.connected import Connected


async def test_commands_come_from_stdin_line_by_line(connected: Connected) -> None:
    said = await connected(
        "shell", stdin=b"x=1\nif true\nthen echo multi $x\nfi\ncat\nline for cat\n"
    )
    assert said.text == "multi 1\nline for cat\n"
    assert (await connected("shell", stdin=b"exit 5\necho never\n")).status == 5


async def test_a_forced_terminal_has_a_prompt_an_echo_and_carriage_returns(
    connected: Connected,
) -> None:
    # One line: what is typed ahead is echoed when it arrives, in the middle of an answer or not.
    said = await connected("shell", "-t", "-t", stdin=b"tty; exit 6\n")
    assert said.status == 6
    assert said.out == b"vphone:/ $ tty; exit 6\r\n/dev/pts/0\r\n"


async def test_two_megabytes_go_through_stdin(connected: Connected) -> None:
    data = bytes(range(256)) * 8192
    assert (await connected.shell("cat", stdin=data)).out == data
    assert (await connected("exec-in", "cat > /data/local/tmp/in", stdin=data)).status == 0
    # The command on this side ends when it has sent all; the phone may still be taking it in.
    async with asyncio.timeout(60):
        while (await connected.shell("cat /data/local/tmp/in")).out != data:
            await asyncio.sleep(0.05)


async def test_focus_lines_have_the_modern_shape(connected: Connected) -> None:
    await connected.shell("am start -n com.android.settings/.Settings")
    text = (await connected.shell("dumpsys window")).text
    assert re.search(
        r"mCurrentFocus=Window\{[0-9a-f]+ u0 com\.android\.settings/com\.android\.settings\.\w+\}",
        text,
    )
    assert re.search(
        r"mFocusedApp=ActivityRecord\{[0-9a-f]+ u0 com\.android\.settings/\.Settings t\d+\}", text
    )
    top = (await connected.shell("dumpsys activity activities")).text
    assert re.search(r"topResumedActivity=ActivityRecord\{\w+ u0 com\.android\.settings/", top)


async def test_the_keyboard_and_the_screen_are_told_by_dumpsys(connected: Connected) -> None:
    assert "mInputShown=false" in (await connected.shell("dumpsys input_method")).text
    assert "mWakefulness=Awake" in (await connected.shell("dumpsys power")).text
    await connected.shell("input keyevent POWER")
    assert "mWakefulness=Asleep" in (await connected.shell("dumpsys power")).text
    assert "screenState=SCREEN_STATE_OFF" in (await connected.shell("dumpsys window policy")).text


async def test_logcat_shows_the_past_filters_and_goes_on(connected: Connected) -> None:
    await connected.shell("log -t probe -p w 'one two'; log -t other hidden")
    said = await connected.shell("logcat -d -v brief probe:V '*:S'")
    assert re.search(r"^W/probe +\( *\d+\): one two$", said.text, re.MULTILINE)
    assert "hidden" not in said.text
    live = await connected.shell("(sleep 0.2; log -t probe later) & logcat -m 1 -T 0 -s probe:I")
    assert "later" in live.text


async def test_a_recording_is_a_video_of_the_display(connected: Connected, tmp_path: Path) -> None:
    said = await connected.shell("screenrecord --time-limit 1 --size 360x800 /sdcard/v.mp4")
    assert said.status == 0
    await connected("pull", "/sdcard/v.mp4", str(tmp_path / "v.mp4"))
    with av.open(str(tmp_path / "v.mp4")) as video:
        frames = list(video.decode(video=0))
    assert (frames[0].width, frames[0].height) == (360, 800)
    assert frames[-1].time is not None and frames[-1].time >= 0.9


async def test_an_app_process_that_is_not_there_aborts(connected: Connected) -> None:
    said = await connected.shell("CLASSPATH=/data/local/tmp/x.jar app_process / com.no.Such 1")
    assert said.status == 134 and b"ClassNotFoundException: com.no.Such" in said.err
