"""The phone as the stock adb binary meets it."""

import asyncio
import io
import json
import os
import random
import re
from pathlib import Path

import pytest
from PIL import Image

from support.adb import RealAdb
from support.connected import Connected
from virtual_phone.errors import PhoneError
from virtual_phone.server.serve import PhoneHost


async def test_a_phone_is_listed_with_its_model(connected: Connected) -> None:
    said = await connected.adb("devices", "-l")
    row = next(line for line in said.text.splitlines() if line.startswith(connected.serial))
    assert re.search(r"\bdevice product:\S+ model:\S+ device:\S+ transport_id:\d+", row)


async def test_exit_status_and_both_streams_cross_the_shell(connected: Connected) -> None:
    said = await connected.shell("echo hi; echo oops >&2; exit 7")
    assert (said.status, said.out, said.err) == (7, b"hi\n", b"oops\n")


async def test_an_unknown_command_answers_127_as_mksh_does(connected: Connected) -> None:
    said = await connected.shell("foo")
    assert said.status == 127
    assert said.err == b"/system/bin/sh: foo: inaccessible or not found\n"


async def test_five_megabytes_come_back_as_they_went(connected: Connected, tmp_path: Path) -> None:
    data = random.Random(1).randbytes(5_000_000)
    sent, back = tmp_path / "sent", tmp_path / "back"
    sent.write_bytes(data)
    sent.chmod(0o640)
    os.utime(sent, (1_600_000_000, 1_600_000_000))
    assert (await connected("push", str(sent), "/data/local/tmp/file")).status == 0
    assert (await connected.shell("stat -c '%a %s %Y' /data/local/tmp/file")).text == (
        "640 5000000 1600000000\n"
    )
    assert (await connected("pull", "-a", "/data/local/tmp/file", str(back))).status == 0
    assert back.read_bytes() == data
    assert back.stat().st_mtime == 1_600_000_000


async def test_directories_are_pushed_listed_and_pulled(
    connected: Connected, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    (tree / "déjà" / "deep").mkdir(parents=True)
    (tree / "déjà" / "a b.txt").write_text("one")
    (tree / "déjà" / "deep" / "empty").write_text("")
    (tree / "link").symlink_to("déjà/a b.txt")
    assert (await connected("push", str(tree), "/sdcard/")).status == 0
    assert (await connected.shell("cat '/sdcard/tree/déjà/a b.txt'")).text == "one"
    listed = await connected("ls", "/sdcard/tree/déjà")
    assert {line.split(" ", 3)[3] for line in listed.text.splitlines()} >= {"a b.txt", "deep"}
    assert (await connected("pull", "/sdcard/tree/déjà", str(tmp_path / "back"))).status == 0
    assert (tmp_path / "back" / "a b.txt").read_text() == "one"
    assert (tmp_path / "back" / "deep" / "empty").read_bytes() == b""


@pytest.mark.parametrize(
    ("target", "reason"),
    [("/system/new", "Read-only file system"), ("/data/app/x", "Permission denied")],
)
async def test_a_push_to_a_forbidden_place_says_why(
    connected: Connected, tmp_path: Path, target: str, reason: str
) -> None:
    (tmp_path / "f").write_bytes(b"x" * 300_000)
    said = await connected("push", str(tmp_path / "f"), target)
    assert said.status == 1
    assert reason.encode() in said.out + said.err
    assert (await connected.shell("echo still here")).text == "still here\n"


async def test_a_missing_file_cannot_be_pulled(connected: Connected, tmp_path: Path) -> None:
    said = await connected("pull", "/sdcard/nothing", str(tmp_path))
    assert said.status == 1
    assert b"No such file or directory" in said.out + said.err


async def test_a_full_phone_refuses_a_push_and_keeps_no_half_file(
    connected: Connected, tmp_path: Path
) -> None:
    connected.userland.files.full = True
    (tmp_path / "f").write_bytes(b"x" * 300_000)
    said = await connected("push", str(tmp_path / "f"), "/data/local/tmp/f")
    assert said.status == 1 and b"No space left on device" in said.out + said.err
    connected.userland.files.full = False
    assert (await connected.shell("ls /data/local/tmp/f")).status == 1


async def test_screencap_is_a_png_of_the_display(connected: Connected) -> None:
    said = await connected("exec-out", "screencap", "-p")
    with Image.open(io.BytesIO(said.out)) as picture:
        assert (picture.format, picture.size) == ("PNG", (1080, 2400))
    raw = await connected("exec-out", "screencap")
    assert raw.out[:16] == b"".join(n.to_bytes(4, "little") for n in (1080, 2400, 1, 1))
    assert len(raw.out) == 16 + 1080 * 2400 * 4


@pytest.mark.parametrize("path", ["/dev/tty", "/dev/stdout", "/proc/self/fd/1"])
async def test_the_tree_is_dumped_to_the_caller(connected: Connected, path: str) -> None:
    said = await connected("exec-out", "uiautomator", "dump", path)
    xml, end, message = said.text.partition("</hierarchy>")
    assert xml.startswith("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy")
    assert end and message == f"UI hierchary dumped to: {path}\n"


async def test_the_tree_is_dumped_to_a_file(connected: Connected, tmp_path: Path) -> None:
    said = await connected.shell("uiautomator dump")
    assert said.text == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    back = tmp_path / "dump.xml"
    assert (await connected("pull", "/sdcard/window_dump.xml", str(back))).status == 0
    assert back.read_text().endswith("</hierarchy>")


async def test_a_tap_opens_what_it_hits(connected: Connected) -> None:
    await connected.phone.animations.wait_idle()
    xml = connected.phone.windows.dump()
    found = re.search(r'content-desc="Settings"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', xml)
    assert found is not None
    left, top, right, bottom = map(int, found.groups())
    x, y = (left + right) // 2, (top + bottom) // 2
    assert (await connected.shell(f"input tap {x} {y}")).status == 0
    assert connected.phone.windows.focused_app.startswith("com.android.settings/")


async def test_a_swipe_lasts_as_long_as_it_was_told(connected: Connected) -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert (await connected.shell("input swipe 500 1800 500 1200 400")).status == 0
    assert loop.time() - started >= 0.4


async def test_keys_go_by_name_and_number(connected: Connected) -> None:
    await connected.shell("am start -n com.android.settings/.Settings")
    assert (await connected.shell("input keyevent KEYCODE_HOME")).status == 0
    assert connected.phone.windows.focused_app.startswith("com.android.launcher3/")
    await connected.shell("am start -n com.android.settings/.Settings")
    assert (await connected.shell("input keyevent 3")).status == 0
    assert connected.phone.windows.focused_app.startswith("com.android.launcher3/")
    assert (await connected.shell("input keyevent NO_SUCH_KEY")).status == 255


async def test_am_start_says_what_a_phone_says(connected: Connected) -> None:
    first = await connected.shell("am start -n com.android.settings/.Settings")
    assert first.text == (
        "Starting: Intent { flg=0x10000000 cmp=com.android.settings/.Settings }\n"
    )
    again = await connected.shell("am start -n com.android.settings/.Settings")
    assert again.err.decode() == (
        "Warning: Activity not started, intent has been delivered to currently running "
        "top-most instance.\n"
    )
    missing = await connected.shell("am start -n com.no/.Such")
    assert missing.status == 1
    assert missing.err.decode() == (
        "Error type 3\nError: Activity class {com.no/com.no.Such} does not exist.\n"
    )
    assert (await connected.shell("am force-stop com.android.settings")).status == 0
    assert connected.phone.windows.focused_app.startswith("com.android.launcher3/")


async def test_monkey_launches_or_aborts(connected: Connected) -> None:
    launched = await connected.shell(
        "monkey -p com.android.settings -c android.intent.category.LAUNCHER 1"
    )
    assert launched.status == 0 and "Events injected: 1" in launched.text
    assert connected.phone.windows.focused_app.startswith("com.android.settings/")
    aborted = await connected.shell("monkey -p com.nope 1")
    assert aborted.status == 252
    assert "** No activities found to run, monkey aborted." in aborted.text


async def test_settings_are_the_phones_own(connected: Connected) -> None:
    assert (await connected.shell("settings put global bluetooth_on 1")).status == 0
    assert connected.phone.settings.flag("global", "bluetooth_on")
    assert (await connected.shell("settings get global bluetooth_on")).text == "1\n"
    assert (await connected.shell("settings get system no_such_key")).text == "null\n"
    deleted = await connected.shell("settings delete global bluetooth_on")
    assert deleted.text == "Deleted 1 rows\n"
    assert (await connected.shell("settings get nowhere x")).status == 255


async def test_the_display_can_be_overridden_and_reset(connected: Connected) -> None:
    assert (await connected.shell("wm size")).text == "Physical size: 1080x2400\n"
    await connected.shell("wm size 720x1600; wm density 280")
    assert (await connected.shell("wm size; wm density")).text == (
        "Physical size: 1080x2400\nOverride size: 720x1600\n"
        "Physical density: 420\nOverride density: 280\n"
    )
    said = await connected("exec-out", "screencap", "-p")
    with Image.open(io.BytesIO(said.out)) as picture:
        assert picture.size == (720, 1600)
    await connected.shell("wm size reset; wm density reset")
    assert (await connected.shell("wm size")).text == "Physical size: 1080x2400\n"


async def test_the_true_state_is_a_socket_of_the_phone(connected: Connected) -> None:
    forwarded = await connected("forward", "tcp:0", "localabstract:virtual-phone-state")
    port = int(forwarded.text)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    state = json.loads(await reader.read(-1) or b"{}")
    writer.close()
    await connected("forward", "--remove", f"tcp:{port}")
    assert state["foreground"] == connected.phone.windows.focused_app


async def test_reverse_leads_from_the_phone_to_the_computer(connected: Connected) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        assert (await connected("reverse", "tcp:7000", f"tcp:{port}")).status == 0
        assert f"tcp:7000 tcp:{port}" in (await connected("reverse", "--list")).text
        assert (await connected.shell("echo hello | nc localhost 7000")).text == "HELLO\n"
        assert (await connected("reverse", "--remove", "tcp:7000")).status == 0
        assert (await connected.shell("echo hello | nc localhost 7000")).status == 1
        assert (await connected("reverse", "--remove", "tcp:7000")).status == 1
        chosen = await connected("reverse", "tcp:0", f"tcp:{port}")
        assert int(chosen.text) > 0
    finally:
        server.close()


async def test_a_reboot_comes_back_with_another_boot_id(connected: Connected) -> None:
    before = (await connected.shell("cat /proc/sys/kernel/random/boot_id")).text
    assert (await connected("reboot")).status == 0
    async with asyncio.timeout(30):
        await connected.served.rebooted()
    await connected.adb("disconnect", connected.serial)
    await connected.adb.connect(connected.serial)
    after = (await connected.shell("cat /proc/sys/kernel/random/boot_id")).text
    assert len(after.strip()) == 36 and after != before


async def test_a_phone_that_reboots_keeps_its_port(connected: Connected) -> None:
    assert (await connected("reboot")).status == 0
    booted = asyncio.ensure_future(connected.served.rebooted())
    tries = 0
    while not booted.done():
        _, writer = await asyncio.open_connection("127.0.0.1", connected.served.port)
        writer.close()
        tries += 1
    assert tries


async def test_root_is_refused_as_on_a_phone_one_buys(connected: Connected) -> None:
    said = await connected("root")
    assert b"adbd cannot run as root in production builds" in said.out + said.err
    assert (await connected.shell("id -u")).text == "2000\n"


async def test_closing_the_client_ends_the_command(connected: Connected) -> None:
    process = await asyncio.create_subprocess_exec(
        *connected.adb.arguments("shell", "echo ready; sleep 1000", serial=connected.serial),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env=connected.adb.environment,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    assert (await connected.shell("pidof sleep")).status == 0
    process.kill()
    await process.wait()
    gone = "for n in 1 2 3 4 5 6 7 8 9; do pidof sleep || exit 0; sleep 0.2; done; exit 1"
    assert (await connected.shell(gone)).status == 0


async def test_sixty_four_phones_answer_at_once(adb_server: RealAdb, tmp_path: Path) -> None:
    async with PhoneHost(tmp_path, count=64) as host:
        await asyncio.gather(*(adb_server("connect", serial) for serial in host.serials))
        said = await asyncio.gather(
            *(
                adb_server("shell", "getprop ro.serialno; echo $((6*7))", serial=serial)
                for serial in host.serials
            )
        )
        assert {one.text.split("\n")[1] for one in said} == {"42"}
        await asyncio.gather(*(adb_server("disconnect", serial) for serial in host.serials))


async def test_a_taken_port_is_a_clear_error(host: PhoneHost, tmp_path: Path) -> None:
    port = int(host.serials[0].rpartition(":")[2])
    with pytest.raises(PhoneError, match=f"port {port} is in use"):
        await PhoneHost(tmp_path / "other", port=port).start()


def test_ports_that_adb_adopts_as_emulators_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PhoneError, match="emulators"):
        PhoneHost(tmp_path, count=3, port=5553)


async def test_a_reset_takes_settings_and_files_back(connected: Connected) -> None:
    await connected.shell("settings put global bluetooth_on 1; echo mine > /sdcard/Download/f")
    connected.host.reset(connected.serial)
    said = await connected.shell("settings get global bluetooth_on; ls /sdcard/Download")
    assert said.text.splitlines() == [
        "0",
        "boarding-pass.pdf",
        "invoice-1042.pdf",
        "map-lake-district.png",
    ]


async def test_a_shell_that_a_signal_ended_says_which(connected: Connected) -> None:
    for number, status in ((9, 137), (15, 143), (1, 129)):
        assert (await connected.shell(f"kill -{number} $$; echo no")).status == status


async def test_an_empty_folder_arrives(connected: Connected, tmp_path: Path) -> None:
    (tmp_path / "empty one").mkdir()
    said = await connected("push", str(tmp_path / "empty one"), "/data/local/tmp")
    assert said.status == 0
    assert (await connected.shell("ls -d '/data/local/tmp/empty one'")).status == 0
