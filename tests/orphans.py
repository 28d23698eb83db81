"""End what a killed run of tests or of a bench left at work: processes, namespaces, disks, folders.

All of it carries the process id of its owner: processes in their environment, the rest in its name.
Run as a program, this waits for the end of its standard input, which its owner holds open as long
as it lives, and sweeps then. It needs the standard library alone.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_MARK = "TESTS_OWNED_BY"
_FOLDER = re.compile(r"sw(?:pg|disk|rig)-(\d+)-\w+")
_NAMESPACE = re.compile(r"sw(\d+)n[0-9a-f]{2}")
_ENDS_S = 30.0
_LOOK_S = 0.02
_watchers: dict[int, subprocess.Popen[bytes]] = {}
"""By owner, as a fork is none of what its parent is."""


def own() -> None:
    """Mark what this process starts from now on as its own, to be ended when it is gone however it
    ends; what owners that are gone have left is ended now.
    """
    if os.getpid() in _watchers:
        return
    sweep()
    os.environ[_MARK] = str(os.getpid())
    environment = {name: value for name, value in os.environ.items() if name != _MARK}
    _watchers[os.getpid()] = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        stdin=subprocess.PIPE,
        env=environment,
        # Not what ends a whole group, as ctrl+c does, nor a folder that goes.
        start_new_session=True,
        cwd="/",
    )


def watcher_pid() -> int:
    """Return the process that waits for the end of this one, which has called `own`."""
    return _watchers[os.getpid()].pid


def folder_prefix(kind: str) -> str:
    """Return how the name of a folder of this process begins; a kind is pg, disk or rig."""
    own()
    return f"sw{kind}-{os.getpid()}-"


def namespace_name(number: int) -> str:
    """Return a name for a network namespace of this process, short enough for its links, too."""
    own()
    return f"sw{os.getpid()}n{number % 256:02x}"


def owned_by(pid: int) -> list[int]:
    """Return the processes that an owner has started, and theirs."""
    return [one for one, owner in _marked() if owner == pid]


def sweep() -> None:
    """End everything whose owner is gone."""
    end_s = time.monotonic() + _ENDS_S
    while orphans := [pid for pid, owner in _marked() if not _lives(owner)]:
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > end_s:
            break
        time.sleep(_LOOK_S)
    if shutil.which("ip"):
        for line in _said("ip", "netns", "list").splitlines():
            if line and (name := _of_the_gone(_NAMESPACE, line.split()[0])):
                _said("ip", "netns", "del", name)
    for folder in Path(tempfile.gettempdir()).glob("sw*-*-*"):
        if _of_the_gone(_FOLDER, folder.name):
            if folder.is_mount():
                _said("umount", "-l", str(folder))
            shutil.rmtree(folder, ignore_errors=True)
            # A server's own processes, which are not marked, end a moment after it.
            while folder.exists() and time.monotonic() < end_s:
                time.sleep(_LOOK_S)
                shutil.rmtree(folder, ignore_errors=True)


def _of_the_gone(pattern: re.Pattern[str], name: str) -> str:
    found = pattern.fullmatch(name)
    return name if found is not None and not _lives(int(found[1])) else ""


def _marked() -> list[tuple[int, int]]:
    """Return the processes that carry a mark, each with its owner."""
    mark = f"{_MARK}=".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        # One that has just ended, or is another user's, is none of ours.
        with suppress(OSError):
            for one in (entry / "environ").read_bytes().split(b"\0"):
                if one.startswith(mark) and one[len(mark) :].isdigit() and _lives(int(entry.name)):
                    found.append((int(entry.name), int(one[len(mark) :])))
    return found


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    parent = os.getppid()
    sys.stdin.buffer.read()
    while _lives(parent):  # It closes its files a moment before it is gone.
        time.sleep(_LOOK_S)
    sweep()
