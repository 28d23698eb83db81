"""What performance tools and farm clients read of a phone: /proc, binary logs, whole dumps."""

import struct

from support.connected import Connected
from virtual_phone.userland.userland import Userland

NOTES = "com.android.notes"
ENTRY = struct.Struct("<HHiIIIII")


async def test_a_process_has_a_directory_in_proc_while_it_runs(connected: Connected) -> None:
    connected.phone.activities.launch(NOTES)
    pid = (await connected.shell(f"pidof {NOTES}")).text.strip()
    stat = (await connected.shell(f"cat /proc/{pid}/stat")).text.split()
    assert (stat[0], stat[1], stat[2], len(stat)) == (pid, "(m.android.notes)", "S", 52)
    assert (await connected.shell(f"cat /proc/{pid}/cmdline")).text == f"{NOTES}\0"
    status = (await connected.shell(f"cat /proc/{pid}/status")).text
    uid = connected.phone.processes.uid_of(NOTES)
    assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status
    assert (await connected.shell(f"ls /proc/{pid}/task")).text == f"{pid}\n"
    assert pid in (await connected.shell("ls /proc")).text.split()
    await connected.shell(f"am force-stop {NOTES}")
    gone = await connected.shell(f"cat /proc/{pid}/stat")
    assert (gone.status, b"No such file" in gone.err) == (1, True)


async def test_no_path_below_proc_is_made_up(connected: Connected) -> None:
    pid = (await connected.shell("pidof system_server")).text.strip()
    for path in (
        "/proc/0",
        "/proc/999999",
        f"/proc/{pid}/no",
        f"/proc/{pid}/task/1",
        f"/proc/{pid}/stat/x",
        f"/proc/{pid}/task/{pid}/task",
        "/proc/x",
    ):
        assert (await connected.shell(f"stat {path}")).status == 1, path


async def test_every_core_is_counted_in_proc_stat(connected: Connected) -> None:
    rows = [row.split() for row in (await connected.shell("cat /proc/stat")).text.splitlines()]
    cores = [list(map(int, row[1:])) for row in rows if row[0][:3] == "cpu" and row[0] != "cpu"]
    whole = list(map(int, rows[0][1:]))
    assert (rows[0][0], len(cores), len(whole)) == ("cpu", 8, 10)
    assert whole == [sum(column) for column in zip(*cores, strict=True)]
    listed = (await connected.shell("ls /sys/devices/system/cpu")).text.split()
    assert sum(name.startswith("cpu") for name in listed) == len(cores)
    assert "Hardware\t: " in (await connected.shell("cat /proc/cpuinfo")).text


async def test_a_listener_is_in_proc_net(connected: Connected) -> None:
    async def hang_up(socket: object) -> None:
        del socket

    land: Userland = connected.userland
    land.sockets.listen("tcp:9008", hang_up)
    land.sockets.listen("localabstract:minicap", hang_up)
    row = (await connected.shell("grep 2330 /proc/net/tcp")).text.split()
    assert row[1:4] == ["0100007F:2330", "00000000:0000", "0A"]
    assert (await connected.shell("grep -c @minicap /proc/net/unix")).text == "1\n"


async def test_the_binary_log_has_entries_of_the_android_format(connected: Connected) -> None:
    await connected.shell("logcat -c; log -t stranger -p w 'héllo'")
    raw = (await connected("exec-out", "logcat -B -d -s stranger")).out
    size, header, _pid, _tid, seconds, nanoseconds, _buffer, _uid = ENTRY.unpack_from(raw)
    assert (size, header) == (len(raw) - ENTRY.size, ENTRY.size)
    assert raw[ENTRY.size :] == b"\x05stranger\0" + "héllo".encode() + b"\0"
    assert abs(seconds + nanoseconds / 1e9 - connected.phone.now()) < 3600


async def test_the_whole_window_dump_says_whether_the_phone_is_locked(connected: Connected) -> None:
    asked = "dumpsys window | grep -E 'isKeyguardShowing|mScreenOnFully'"
    awake = (await connected.shell(asked)).text
    assert "mScreenOnFully=true" in awake and "isKeyguardShowing=false" in awake
    await connected.shell("input keyevent 26")
    asleep = (await connected.shell(asked)).text
    assert "mScreenOnFully=false" in asleep and "isKeyguardShowing=true" in asleep


async def test_moving_a_file_onto_itself_keeps_it(connected: Connected) -> None:
    await connected.shell("echo kept > /data/local/tmp/one")
    moved = await connected.shell("cd /data/local/tmp && mv one ./one && cat one")
    assert (moved.status, moved.text) == (0, "kept\n")
