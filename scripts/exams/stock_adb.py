"""Cases for a stock adb binary, with a server of its own version on a port of its own.

Runs in the exam's own process. Invariant: the server that was started is stopped.
"""

import contextlib
import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 60
PNG = b"\x89PNG\r\n\x1a\n"
TMP = "/data/local/tmp/stock"


def free_port() -> int:
    """Return a port that is free now and that no adb server takes for an emulator's."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if not 5554 <= port <= 5585 and port != 5037:
            return port


@contextlib.contextmanager
def server(binary: Path, libraries: Path | None, home: Path) -> "Iterator[StockAdb]":
    """Run an adb server until the end of the block."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "ADB_MDNS_AUTO_CONNECT": "0"}
    environment.pop("ANDROID_SERIAL", None)
    if libraries is not None:
        environment["LD_LIBRARY_PATH"] = str(libraries)
    port = free_port()
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [str(binary), "-L", f"tcp:localhost:{port}", "nodaemon", "server"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
        )
    try:
        deadline = time.monotonic() + 15
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "server.log").read_text(errors="replace")[-300:])
            time.sleep(0.05)
        yield StockAdb(binary, port, environment, home)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


@dataclass
class StockAdb:
    """An adb binary and the port of its server; `serial` once a phone is chosen."""

    binary: Path
    port: int
    environment: dict[str, str]
    folder: Path
    serial: str = ""

    def run(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run an adb command to its end."""
        chosen = ["-s", self.serial] if self.serial else []
        return subprocess.run(
            [str(self.binary), "-P", str(self.port), *chosen, *words],
            input=stdin,
            capture_output=True,
            timeout=LIMIT_S,
            env=self.environment,
            check=False,
        )

    def text(self, *words: str) -> str:
        """Return what a command that must succeed writes to stdout."""
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout[-200:], done.stderr[-200:])
        return done.stdout.decode()

    def version(self) -> str:
        """Return the version of the binary, as 29.0.6."""
        lines = self.text("version").splitlines()
        return next(line.split()[-1] for line in lines if line.startswith("Version"))


def connects(adb: StockAdb) -> None:
    """connects, lists the device and tells its state"""
    assert adb.serial in adb.text("connect", adb.serial)
    adb.text("wait-for-device")
    row = next(line for line in adb.text("devices", "-l").splitlines() if adb.serial in line)
    assert " device " in row, row
    assert "model:" in row, row
    assert adb.text("get-state") == "device\n"
    assert "shell_v2" in adb.text("features")


def runs(adb: StockAdb) -> None:
    """runs commands: output, error output, exit status, stdin"""
    done = adb.run("shell", "cat; echo err >&2; exit 7", stdin=b"in\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"in\n", b"err\n")
    assert adb.run("shell", "no-such-command").returncode == 127
    assert adb.run("shell", "-x", "echo old; exit 3").stdout == b"old\n"
    assert adb.run("shell", stdin=b"echo one\nexit 4\n").returncode == 4


def has_terminal(adb: StockAdb) -> None:
    """gives a terminal when asked"""
    assert b"/dev/pts" in adb.run("shell", "-tt", "tty").stdout


def pushes(adb: StockAdb) -> None:
    """pushes and pulls 20 MB unchanged"""
    here, back = adb.folder / "here", adb.folder / "back"
    here.write_bytes(os.urandom(20_000_000))
    here.chmod(0o640)
    os.utime(here, (1_600_000_000, 1_600_000_000))
    adb.text("push", str(here), f"{TMP}.bin")
    adb.text("pull", "-a", f"{TMP}.bin", str(back))
    assert here.read_bytes() == back.read_bytes()
    assert back.stat().st_mtime == 1_600_000_000
    assert adb.text("shell", f"stat -c '%s %Y' {TMP}.bin") == "20000000 1600000000\n"


def pushes_folders(adb: StockAdb) -> None:
    """pushes, syncs and pulls a folder of 50 files"""
    here = adb.folder / "tree"
    for number in range(50):
        path = here / f"ordner {number % 5}" / f"grüße {number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    adb.text("push", str(here), TMP)
    adb.text("push", "--sync", f"{here}/.", f"{TMP}/tree")
    adb.text("pull", f"{TMP}/tree" if _nested(adb) else TMP, str(adb.folder / "again"))
    again = {path.name: path.read_text() for path in (adb.folder / "again").rglob("*.txt")}
    assert again == {f"grüße {number}.txt": str(number) for number in range(50)}
    assert "ordner 0" in adb.text("shell", f"find {TMP}")


def _nested(adb: StockAdb) -> bool:
    return adb.run("shell", f"test -d '{TMP}/tree/ordner 0'").returncode == 0


def misses(adb: StockAdb) -> None:
    """says what cannot be pushed or pulled"""
    assert adb.run("pull", "/no/such", str(adb.folder / "x")).returncode == 1
    here = adb.folder / "small"
    here.write_text("x")
    done = adb.run("push", str(here), "/system/no")
    assert done.returncode == 1, done
    assert b"failed" in done.stderr + done.stdout, done


def captures(adb: StockAdb) -> None:
    """exec-out and exec-in keep bytes as they are"""
    assert adb.run("exec-out", "screencap -p").stdout.startswith(PNG)
    data = os.urandom(3_000_000)
    adb.run("exec-in", f"cat > {TMP}.in", stdin=data)
    assert adb.run("exec-out", f"cat {TMP}.in").stdout == data


def forwards(adb: StockAdb) -> None:
    """forwards a port to the phone, lists and removes it"""
    port = int(adb.text("forward", "tcp:0", "localabstract:virtual-phone-state"))
    with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
        assert peer.recv(1) == b"{"
    assert "localabstract:virtual-phone-state" in adb.text("forward", "--list")
    adb.text("forward", "--remove", f"tcp:{port}")
    assert str(port) not in adb.text("forward", "--list")
    assert adb.run("forward", "--remove", f"tcp:{port}").returncode == 1


def reverses(adb: StockAdb) -> None:
    """opens a port of the phone that leads here, lists and removes it"""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        port = int(adb.text("reverse", "tcp:0", f"tcp:{listener.getsockname()[1]}"))
        command = [str(adb.binary), "-P", str(adb.port), "-s", adb.serial]
        asking = subprocess.Popen(
            [*command, "shell", f"echo hello | nc localhost {port}"],
            stdout=subprocess.PIPE,
            env=adb.environment,
        )
        peer, _ = listener.accept()
        with peer:
            assert peer.recv(100) == b"hello\n"
            peer.sendall(b"back\n")
        assert asking.communicate(timeout=10)[0] == b"back\n"
    assert f"tcp:{port}" in adb.text("reverse", "--list")
    adb.text("reverse", "--remove-all")
    assert f"tcp:{port}" not in adb.text("reverse", "--list")


def installs(adb: StockAdb) -> None:
    """says what is no APK"""
    path = adb.folder / "no.apk"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "no manifest")
    done = adb.run("install", str(path))
    assert done.returncode == 1, done
    assert b"INSTALL_" in done.stdout + done.stderr, done
    assert adb.run("uninstall", "com.no.such").returncode == 1


def logs(adb: StockAdb) -> None:
    """reads and clears the log"""
    adb.text("shell", "log -t Exam written here")
    assert "Exam" in adb.text("logcat", "-d", "-s", "Exam")
    adb.text("logcat", "-c")
    assert "written here" not in adb.text("logcat", "-d", "-s", "Exam")


def roots(adb: StockAdb) -> None:
    """answers root and remount as a production build does"""
    done = adb.run("root")
    assert b"cannot run as root in production builds" in done.stdout + done.stderr, done
    assert adb.run("remount").returncode == 1


def hurries(adb: StockAdb) -> None:
    """runs 20 commands at once"""
    command = [str(adb.binary), "-P", str(adb.port), "-s", adb.serial, "shell"]
    running = [
        subprocess.Popen(
            [*command, f"sleep 0.3; echo {number}"], stdout=subprocess.PIPE, env=adb.environment
        )
        for number in range(20)
    ]
    said = [process.communicate(timeout=LIMIT_S)[0] for process in running]
    assert said == [b"%d\n" % number for number in range(20)]


def hangs_up(adb: StockAdb) -> None:
    """ends commands whose client was killed"""
    command = [str(adb.binary), "-P", str(adb.port), "-s", adb.serial]
    for words in (["shell"], ["exec-out"], ["shell", "-x"]):
        process = subprocess.Popen([*command, *words, "sleep 7331"], env=adb.environment)
        try:
            until(lambda: "sleep 7331" in adb.text("shell", "ps -A -o ARGS | grep '[7]331'; true"))
        finally:
            process.kill()
            process.wait()
        until(lambda: "sleep" not in adb.text("shell", "ps -A -o ARGS | grep '[7]331'; true"))


def reboots(adb: StockAdb) -> None:
    """reboots: goes away and comes back with a new boot id"""
    read = ("shell", "cat /proc/sys/kernel/random/boot_id")
    before = adb.text(*read)
    adb.run("reboot")
    until(lambda: adb.run("get-state").stdout != b"device\n")

    def is_back() -> bool:
        subprocess.run(
            [str(adb.binary), "-P", str(adb.port), "connect", adb.serial],
            capture_output=True,
            timeout=LIMIT_S,
            env=adb.environment,
            check=False,
        )
        return adb.run("get-state").stdout == b"device\n"

    until(is_back, 30)
    assert adb.text(*read) != before


def until(condition: Callable[[], bool], seconds: float = 15) -> None:
    """Wait for a condition; an AssertionError when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.1)


CASES: list[Callable[[StockAdb], None]] = [
    connects,
    runs,
    has_terminal,
    pushes,
    pushes_folders,
    misses,
    captures,
    forwards,
    reverses,
    installs,
    logs,
    roots,
    hurries,
    hangs_up,
    reboots,
]


def examine(adb: StockAdb) -> list[dict[str, str]]:
    """Run every case; return what became of each, as `cases.py` prints it."""
    from scripts.exams.android_cases import ANDROID_CASES
    from scripts.exams.cases import NotApplicable

    rows = []
    for case in [*CASES, *ANDROID_CASES]:
        name = (case.__doc__ or case.__name__).strip()
        try:
            case(adb)
        except NotApplicable as error:
            rows.append({"case": name, "outcome": "not applicable", "reason": str(error)})
        except (AssertionError, OSError, subprocess.SubprocessError, ValueError) as error:
            reason = f"{type(error).__name__}: {str(error)[:300]}"
            rows.append({"case": name, "outcome": "failed", "reason": reason})
        else:
            rows.append({"case": name, "outcome": "passed", "reason": ""})
    return rows
