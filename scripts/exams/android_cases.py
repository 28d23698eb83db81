"""The exchanges of the Android project's own tests of adb with a device, by a stock adb binary.

Written after packages/modules/adb/test_device.py, class by class; that file wants a device of its
own and a checkout, so the cases are ours and the exchanges are theirs. Files are in
`android_files`. Invariant: each case leaves the phone as it found it.
"""

import os
import pty
import random
import re
import select
import signal
import socket
import string
import subprocess
import time
from collections.abc import Callable

from scripts.exams.android_files import FILE_CASES
from scripts.exams.stock_adb import LIMIT_S, StockAdb, until


def _popen(adb: StockAdb, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(adb.binary), "-P", str(adb.port), "-s", adb.serial, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=adb.environment,
    )


def keeps_forwards(adb: StockAdb) -> None:
    """ForwardReverseTest: forwards are listed, not rebound when told, removed one by one and all"""
    adb.text("forward", "--remove-all")
    one, other = "localfilesystem:/tmp/a", "localfilesystem:/tmp/b"
    first, second = int(adb.text("forward", "tcp:0", one)), int(adb.text("forward", "tcp:0", other))
    assert f"{adb.serial} tcp:{first} {one}" in adb.text("forward", "--list")
    done = adb.run("forward", "--no-rebind", f"tcp:{first}", other)
    assert done.returncode == 1, done
    assert b"cannot rebind" in done.stderr, done
    adb.text("forward", f"tcp:{first}", other)
    assert f"tcp:{first} {other}" in adb.text("forward", "--list")
    adb.text("forward", "--remove", f"tcp:{second}")
    assert f"tcp:{second}" not in adb.text("forward", "--list")
    adb.text("forward", "--remove-all")
    assert adb.text("forward", "--list").strip() == ""


def keeps_reverses(adb: StockAdb) -> None:
    """ForwardReverseTest: reverses likewise"""
    adb.text("reverse", "--remove-all")
    adb.text("reverse", "tcp:15566", "tcp:16655")
    adb.text("reverse", "tcp:17798", "tcp:18765")
    listed = adb.text("reverse", "--list")
    assert "tcp:15566 tcp:16655" in listed, listed
    assert "tcp:17798 tcp:18765" in listed, listed
    done = adb.run("reverse", "--no-rebind", "tcp:15566", "tcp:16656")
    assert done.returncode == 1, done
    assert "tcp:15566 tcp:16655" in adb.text("reverse", "--list")
    adb.text("reverse", "--remove", "tcp:15566")
    assert "tcp:15566" not in adb.text("reverse", "--list")
    assert adb.run("reverse", "--remove", "tcp:15566").returncode == 1
    adb.text("reverse", "--remove-all")
    assert adb.text("reverse", "--list").strip() == ""


def echoes(adb: StockAdb) -> None:
    """ForwardReverseTest: a forward to a reverse comes back here, and carries both ways"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(15)
        port = int(adb.text("reverse", "tcp:0", f"tcp:{listener.getsockname()[1]}"))
        here = int(adb.text("forward", "tcp:0", f"tcp:{port}"))
        with socket.create_connection(("127.0.0.1", here), timeout=15) as client:
            peer, _ = listener.accept()
            with peer:
                peer.settimeout(15)
                for end, other in ((client, peer), (peer, client)):
                    data = os.urandom(100_000)
                    end.sendall(data)
                    got = b""
                    while len(got) < len(data):
                        got += other.recv(65536)
                    assert got == data
                peer.shutdown(socket.SHUT_RDWR)
            assert client.recv(1) == b""
    adb.text("reverse", "--remove-all")
    adb.text("forward", "--remove-all")


def answers_exactly(adb: StockAdb) -> None:
    """ShellTest: output and status exactly as they are; 32 KB of command; /proc/uptime"""
    up, idle = adb.text("shell", "cat", "/proc/uptime").split()
    assert float(up) > 0.0
    assert float(idle) >= 0.0
    assert adb.run("shell", "false").returncode == 1
    assert adb.run("shell", "echo foo").stdout == b"foo\n"
    assert adb.run("shell", "echo", "-n", "1").stdout == b"1"
    word = "".join(random.choices(string.ascii_letters, k=32 * 1024))
    assert adb.run("shell", "echo", word).stdout == word.encode() + b"\n"
    done = adb.run("shell", "echo foo; echo bar >&2; exit 17")
    assert (done.returncode, done.stdout, done.stderr) == (17, b"foo\n", b"bar\n")
    assert adb.run("shell", "-n", "cat").stdout == b""


def tells_terminals(adb: StockAdb) -> None:
    """ShellTest.test_pty_logic: -t, -tt, -T and none, with and without a terminal here"""
    for options, here, wanted in (
        ((), False, False),
        (("-t",), False, False),
        (("-tt",), False, True),
        (("-t", "-t"), False, True),
        (("-T",), False, False),
        ((), True, False),
        (("-t",), True, True),
        (("-tt",), True, True),
        (("-T",), True, False),
    ):
        inner, outer = pty.openpty() if here else (-1, -1)
        done = subprocess.run(
            [
                str(adb.binary),
                "-P",
                str(adb.port),
                "-s",
                adb.serial,
                "shell",
                *options,
                "[ -t 0 ] && echo has-terminal",
            ],
            stdin=outer if here else subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            env=adb.environment,
            check=False,
        )
        for number in (inner, outer):
            if number >= 0:
                os.close(number)
        assert (b"has-terminal" in done.stdout) == wanted, (options, here, done)


def has_prompt(adb: StockAdb) -> None:
    """ShellTest: an interactive shell at a terminal of a size, Ctrl-C and exit status included"""
    inner, outer = pty.openpty()
    running = subprocess.Popen(
        [str(adb.binary), "-P", str(adb.port), "-s", adb.serial, "shell"],
        stdin=outer,
        stdout=outer,
        stderr=outer,
        env=adb.environment,
        start_new_session=True,
    )
    os.close(outer)
    seen = b""

    def read_until(pattern: bytes) -> None:
        nonlocal seen
        deadline = time.monotonic() + 15
        while not re.search(pattern, seen):
            assert time.monotonic() < deadline, seen[-300:]
            if select.select([inner], [], [], 0.5)[0]:
                seen += os.read(inner, 4096)
        seen = b""

    try:
        read_until(rb"\$ $")
        os.write(inner, b"echo $((6*7))x\n")
        read_until(rb"\r\n42x\r\n.*\$ $")
        os.write(inner, b"sleep 600\n")
        read_until(rb"sleep 600\r\n")
        os.write(inner, b"\x03")
        read_until(rb"\$ $")
        os.write(inner, b"exit 9\n")
        assert running.wait(15) == 9
    finally:
        running.kill()
        running.wait()
        os.close(inner)


def ends_with_its_client(adb: StockAdb) -> None:
    """ShellTest.test_non_interactive_sigint: a command ends when adb is interrupted"""
    running = _popen(adb, "shell", "echo $$; sleep 600")
    assert running.stdout is not None
    pid = running.stdout.readline().decode().strip()
    assert adb.run("shell", "kill", "-0", pid).returncode == 0
    assert adb.run("shell", f"ps -p {pid} | grep {pid}").returncode == 0
    running.send_signal(signal.SIGINT)
    running.wait(15)
    until(lambda: adb.run("shell", "kill", "-0", pid).returncode != 0)


def hangs_up_shells(adb: StockAdb) -> None:
    """ShellTest.test_sighup: traps of a shell see SIGHUP, not SIGINT, when its client goes"""
    log = "/data/local/tmp/adb_signal_test.log"
    adb.text("shell", f"rm -f {log}")
    script = (
        f'trap "echo SIGINT > {log}; exit 0" SIGINT; trap "echo SIGHUP > {log}; exit 0" SIGHUP; '
        "echo Waiting; read"
    )
    running = _popen(adb, "shell", script)
    assert running.stdout is not None
    assert running.stdout.readline() == b"Waiting\n"
    running.send_signal(signal.SIGINT)
    running.wait(15)
    until(lambda: adb.run("shell", "cat", log).stdout.strip() == b"SIGHUP")
    assert adb.run("shell", "kill -9 $$").returncode == 137


def feeds(adb: StockAdb) -> None:
    """ShellTest.test_non_interactive_stdin: small and large input, and its end"""
    for size in (3, 1 << 20):
        data = os.urandom(size)
        assert adb.run("shell", "cat", stdin=data).stdout == data
    running = _popen(adb, "shell", "exec 1>&- 2>&- 0<&-; exit 5")
    assert running.wait(15) == 5


def exits_exactly(adb: StockAdb) -> None:
    """ShellTest.test_exit_stress: each status arrives"""
    running = {code: _popen(adb, "shell", f"exit {code}") for code in range(0, 256, 17)}
    for code, process in running.items():
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == code


def escapes(adb: StockAdb) -> None:
    """ArgumentEscapingTest: words are joined here and split there"""
    assert adb.run("shell", "sh -c 'echo hello; echo world'").stdout == b"hello\nworld\n"
    assert adb.run("shell", "sh", "-c", "'echo hello; echo world'").stdout == b"hello\nworld\n"
    assert adb.run("shell", "sh", "-c", "echo hello; echo world").stdout == b"\nworld\n"
    assert adb.run("shell", "printf '%s|' a 'b c' \"d\\\"e\" $((1+1))").stdout == b'a|b c|d"e|2|'
    for name in ("-text;ls;1.apk", "-Live Hold'em.apk"):
        path = adb.folder / f"exam{name}"
        path.write_bytes(b"no apk at all")
        done = adb.run("install", str(path))
        assert done.returncode == 1, done
        assert b"Failure" in done.stdout + done.stderr or b"failed to install" in done.stderr, done


def checks_ports(adb: StockAdb) -> None:
    """TcpIpTest: ports that are none"""
    for word in ("0", "foo", "-1", "65536", "123456"):
        assert adb.run("tcpip", word).returncode == 1, word


def tells_properties(adb: StockAdb) -> None:
    """SystemPropertiesTest: getprop of one, of all, and setprop"""
    assert adb.text("shell", "getprop", "ro.hardware").strip()
    listed = adb.text("shell", "getprop")
    assert re.search(r"^\[ro\.hardware\]: \[.+\]$", listed, re.M), listed[:200]
    assert all(re.match(r"^\[[^]]+\]: \[.*$", line) for line in listed.splitlines())
    adb.text("shell", "setprop", "debug.exam", "'two words'")
    assert adb.text("shell", "getprop", "debug.exam") == "two words\n"


def gives_frames(adb: StockAdb) -> None:
    """FramebufferTest: the framebuffer service gives a whole picture"""
    with socket.create_connection(("127.0.0.1", adb.port), timeout=30) as peer:
        for word in (f"host:transport:{adb.serial}", "framebuffer:"):
            peer.sendall(b"%04x" % len(word) + word.encode())
            assert peer.recv(4) == b"OKAY"
        data = bytearray()
        while chunk := peer.recv(1 << 20):
            data += chunk
    version, bits, _, size, width, height = (
        int.from_bytes(data[at : at + 4], "little") for at in range(0, 24, 4)
    )
    assert version in (1, 2)
    assert size == width * height * bits // 8
    assert len(data) == size + (52 if version == 1 else 56)


def tells_itself(adb: StockAdb) -> None:
    """host commands: serial number, device path, state, waits, jdwp, emu, bugreport, keygen"""
    assert adb.text("get-serialno").strip() == adb.serial
    assert adb.text("get-devpath").strip()
    assert adb.text("get-state") == "device\n"
    for words in (("wait-for-device",), ("wait-for-any-device",), ("wait-for-local-device",)):
        adb.text(*words)
    assert adb.run("emu", "avd", "name").returncode == 1
    assert adb.run("disconnect", "127.0.0.1:1").returncode == 1
    running = _popen(adb, "jdwp")
    time.sleep(0.5)
    running.kill()
    output, _ = running.communicate(timeout=15)
    assert all(line.isdigit() for line in output.split()), output
    assert adb.run("raw", "sink:0").returncode in (0, 1)


def reconnects(adb: StockAdb) -> None:
    """DeviceOfflineTest: disconnect, wait for it, connect, reconnect from both sides"""
    adb.text("disconnect", adb.serial)
    assert adb.run("get-state").returncode == 1
    assert adb.serial not in adb.text("devices")
    assert "connected to" in adb.text("connect", adb.serial)
    assert "already connected" in adb.text("connect", adb.serial)
    for words in (("reconnect",), ("reconnect", "device")):
        adb.run(*words)

        def is_back() -> bool:
            adb.run("connect", adb.serial)
            return adb.run("get-state").stdout == b"device\n"

        until(is_back, 30)


def finds_nobody(adb: StockAdb) -> None:
    """unknown services and devices are refused, and the connection lives"""
    assert adb.run("raw", "no-such-service:").returncode != 0
    done = adb.run("bugreport", str(adb.folder / "report.zip"))
    assert done.returncode != 0, done
    assert b"bugreportz" in done.stderr, done
    assert adb.run("usb").returncode in (0, 1)
    until(lambda: adb.run("connect", adb.serial).returncode == 0)
    until(lambda: adb.run("shell", "echo", "alive").stdout == b"alive\n")


ANDROID_CASES: list[Callable[[StockAdb], None]] = [
    keeps_forwards,
    keeps_reverses,
    echoes,
    answers_exactly,
    tells_terminals,
    has_prompt,
    ends_with_its_client,
    hangs_up_shells,
    feeds,
    exits_exactly,
    escapes,
    checks_ports,
    tells_properties,
    *FILE_CASES,
    gives_frames,
    tells_itself,
    reconnects,
    finds_nobody,
]
