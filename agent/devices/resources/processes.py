"""Recognise a process after our own was killed, and end it.

A process id is used again by the system; with the time the process began it is one process only.
Invariant: a process whose start cannot be proved to be the one written down is never signalled.
"""

import asyncio
import os
import platform
import signal
import subprocess
import time
from pathlib import Path

_PAUSE_S = 0.02


def start_mark(pid: int) -> str:
    """Return when a process began, in the system's own terms; empty when it is gone."""
    if platform.system() == "Linux":
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        # proc(5): the command, in parentheses, may hold anything; field 22 is the start time.
        fields = stat.rpartition(")")[2].split()
        return "" if fields[0] in {"Z", "X"} else fields[19]
    found = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        timeout=5,
    )
    return found.stdout.strip()


def is_running(pid: int, mark: str) -> bool:
    """Return whether the process that began at `mark` still runs under `pid`."""
    return pid > 0 and bool(mark) and start_mark(pid) == mark


async def end_process(
    pid: int, mark: str, child: subprocess.Popen[bytes] | None, timeout_s: float
) -> None:
    """End a process, kindly first and then by force, and reap it when it is our child."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_running(pid, mark):
            break
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            break
        await asyncio.to_thread(wait_gone, pid, mark, timeout_s)
    if child is not None and child.pid == pid:
        await asyncio.to_thread(child.wait, timeout_s)


def wait_gone(pid: int, mark: str, timeout_s: float) -> bool:
    """Wait until a process, which need not be our child, is gone; say whether it is. Blocking."""
    until = time.monotonic() + timeout_s
    while is_running(pid, mark):
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE_S)
    return True
