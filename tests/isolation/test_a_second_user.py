"""A second user of this computer, made for the test, who knows every port, path and process id."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent.devices.adb.server import find_adb
from support.adb import free_port
from tests.end_to_end.harness import (
    SWITCHBOARD,
    base_environment,
    children_of,
    end_all_of,
    wait_until,
)

NAME = f"stranger-{os.getpid()}"
BOUND_S = 90.0
KEY = "sk-a-key-that-nobody-else-may-read-0123456789"
PROBE = Path(__file__).with_name("stranger.py")

pytestmark = [
    pytest.mark.slow,
    # One worker makes the user, once.
    pytest.mark.xdist_group("a-second-user"),
    pytest.mark.skipif(
        os.geteuid() != 0 and "SWITCHBOARD_NEEDS_ALL" not in os.environ,
        reason="only root makes another user",
    ),
]


class Stranger:
    """A user of the system with a home and an adb of its own."""

    def __init__(self, home: Path) -> None:
        subprocess.run(
            ["useradd", "--no-create-home", "--home-dir", home, "--no-user-group", NAME],
            check=True,
            capture_output=True,
            timeout=BOUND_S,
        )
        self.entry = pwd.getpwnam(NAME)
        self.home = home
        os.chown(home, self.entry.pw_uid, self.entry.pw_gid)
        # The interpreter and adb of the tests may lie where no other user comes.
        self.adb = home / "adb"
        shutil.copy(find_adb(), self.adb)
        self.probe = home / "stranger.py"
        shutil.copy(PROBE, self.probe)
        for path in (self.adb, self.probe):
            path.chmod(0o755)

    def end(self) -> None:
        """Take the user away again."""
        subprocess.run(["userdel", NAME], check=True, capture_output=True, timeout=BOUND_S)

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, with nothing of ours but the words."""
        return subprocess.run(
            words,
            user=self.entry.pw_uid,
            group=self.entry.pw_gid,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BOUND_S * 2,
            check=False,
        )


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that every user may walk into, as one in /srv is."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def stranger(place: Path) -> Iterator[Stranger]:
    """The second user."""
    home = place / "stranger"
    home.mkdir(mode=0o700)
    made = Stranger(home)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture(scope="module")
def core(place: Path) -> Iterator[dict[str, Any]]:
    """A running core with two virtual phones, and all that the stranger is told about it."""
    data, home = place / "data", place / "home"
    home.mkdir(mode=0o755, exist_ok=True)
    environment = {
        **base_environment(home),
        "SWITCHBOARD_DATA_DIR": str(data),
        "OPENAI_API_KEY": KEY,
    }
    daemon = subprocess.Popen(
        [*SWITCHBOARD, "daemon", "run", "--phones", "2", "--virtual-only"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: len(ports_of(daemon.pid)) >= 2, "two phones listen")
        wait_until(
            lambda: _called(environment, "run", "open Settings", "--model", "pilot"), "a run"
        )
        # A person may have opened the folders to look into them; what lies in them stays closed.
        for folder in (data, *(path for path in data.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        # adb's server leaves its parent; the core notes which process it is.
        server = json.loads((data / "adb" / "server.json").read_text())["pid"]
        pids = sorted({daemon.pid, server, *children_of(daemon.pid)})
        known = place / "known.txt"
        known.write_text("That the probe would see it.")
        known.chmod(0o644)
        yield {
            "known": str(known),
            "data": str(data),
            "pids": pids,
            "ports": sorted(ports_of(daemon.pid)),
            "paths": sorted({str(known), *opened_by(pids)}),
            "sockets": sorted(
                unix_sockets_of(pids) | {str(path) for path in data.rglob("*") if path.is_socket()}
            ),
        }
    finally:
        daemon.terminate()
        daemon.wait(BOUND_S)
        end_all_of(data)


def _called(environment: dict[str, str], *words: str) -> bool:
    """Call the command beside the core; tell whether it succeeded."""
    done = subprocess.run(
        [*SWITCHBOARD, *words],
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=BOUND_S * 2,
        check=False,
    )
    return done.returncode == 0


def inodes_of(pids: list[int]) -> set[str]:
    """Return the sockets that processes have open."""
    return {
        target.removeprefix("socket:[").removesuffix("]")
        for target in opened_by(pids, kind="socket:[")
    }


def opened_by(pids: list[int], kind: str = "/") -> set[str]:
    """Return what processes have open that begins so (proc(5), /proc/PID/fd)."""
    found = set()
    for pid in pids:
        # A process, and what it has open, may go while this looks.
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    found.add(str(entry.readlink()))
    return {name for name in found if name.startswith(kind) and not name.startswith("/dev/null")}


def unix_sockets_of(pids: list[int]) -> set[str]:
    """Return the names of the unix sockets of processes; abstract ones begin with an @."""
    inodes = inodes_of(pids)
    rows = (row.split() for row in Path("/proc/net/unix").read_text().splitlines()[1:])
    return {row[7] for row in rows if len(row) > 7 and row[6] in inodes}


def ports_of(pid: int) -> set[int]:
    """Return the TCP ports on which a process and its children listen."""
    inodes = inodes_of(sorted({pid, *children_of(pid)}))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            row = line.split()
            if row[3] == "0A" and row[9] in inodes:
                found.add(int(row[1].rpartition(":")[2], 16))
    return found


@pytest.fixture(scope="module")
def reached_by_stranger(stranger: Stranger, core: dict[str, Any]) -> dict[str, list[str]]:
    """Return what the stranger reached, by kind; it tells what it tried as well."""
    done = stranger.run("/usr/bin/python3", stranger.probe, json.dumps(core))
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_safety_the_stranger_is_another_user_and_tries_everything(
    stranger: Stranger, core: dict[str, Any], reached_by_stranger: dict[str, list[str]]
) -> None:
    assert reached_by_stranger["uid"] == [str(stranger.entry.pw_uid)]
    assert stranger.entry.pw_uid not in {0, 65534}
    files = [path for path in Path(core["data"]).rglob("*") if path.is_file()]
    assert len(reached_by_stranger["tried"]) > len(files) > 5
    assert len(core["pids"]) >= 3
    assert core["sockets"]


def test_safety_no_file_of_the_core_opens_for_another_user(
    reached_by_stranger: dict[str, list[str]], core: dict[str, Any]
) -> None:
    assert reached_by_stranger["files"] == [f"rb {core['known']}"], "only what is open to everybody"


def test_safety_no_socket_of_the_core_answers_another_user(
    reached_by_stranger: dict[str, list[str]],
) -> None:
    assert reached_by_stranger["sockets"] == []


def test_safety_no_process_tells_another_user_its_environment_or_memory(
    reached_by_stranger: dict[str, list[str]], core: dict[str, Any]
) -> None:
    assert reached_by_stranger["processes"] == []
    for pid in core["pids"]:
        # What everybody may read of a process is what it was called with.
        assert KEY not in Path(f"/proc/{pid}/cmdline").read_text()


def test_safety_no_memory_is_shared_with_another_user(
    reached_by_stranger: dict[str, list[str]], core: dict[str, Any]
) -> None:
    assert reached_by_stranger["memory"] == []
    rows = (row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:])
    open_to_others = [row for row in rows if int(row[4]) in core["pids"] and int(row[2], 8) & 0o077]
    assert open_to_others == []


def test_safety_the_strangers_adb_gets_into_no_phone(
    stranger: Stranger, core: dict[str, Any]
) -> None:
    assert len(core["ports"]) >= 2
    own = str(free_port())
    adb = (str(stranger.adb), "-P", own)
    try:
        for port in core["ports"]:
            serial = f"127.0.0.1:{port}"
            stranger.run(*adb, "connect", serial)
            for words in (
                ("shell", "echo in"),
                ("exec-out", "screencap"),
                ("pull", "/sdcard", "."),
                ("forward", f"tcp:{free_port()}", "localabstract:virtual-phone-control"),
            ):
                said = stranger.run(*adb, "-s", serial, *words)
                assert said.returncode != 0, (serial, words, said.stdout)
                assert "in\n" not in said.stdout
    finally:
        stranger.run(*adb, "kill-server")


def test_safety_the_cores_adb_server_takes_no_call_of_another_user(
    stranger: Stranger, core: dict[str, Any]
) -> None:
    folder = f"{core['data']}/adb/"
    servers = [name for name in core["sockets"] if name.startswith(folder)]
    assert servers, core["sockets"]
    for name in servers:
        said = stranger.run(str(stranger.adb), "-L", f"localfilesystem:{name}", "devices")
        assert said.returncode != 0
        assert "emulator" not in said.stdout
        assert "127.0.0.1" not in said.stdout
