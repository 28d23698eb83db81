"""What runs on the phone: the system's processes and the shell's; the apps' are `phone.running`.

Not processes of this machine. Invariant: a shell process is in the table exactly while its task
runs, so `ps`, `pidof` and `kill` tell and do the truth.
"""

import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from virtual_phone.running import RunningApp

FIRST_PID = 4000
PID_LIMIT = 32768
ZYGOTE = 420

SYSTEM = (
    (1, 0, "root", "init", "/system/bin/init second_stage"),
    (2, 0, "root", "[kthreadd]", "[kthreadd]"),
    (271, 1, "logd", "logd", "/system/bin/logd"),
    (272, 1, "lmkd", "lmkd", "/system/bin/lmkd"),
    (273, 1, "system", "servicemanager", "/system/bin/servicemanager"),
    (420, 1, "root", "zygote64", "zygote64"),
    (446, 1, "system", "surfaceflinger", "/system/bin/surfaceflinger"),
    (512, 1, "shell", "adbd", "/apex/com.android.adbd/bin/adbd --root_seclabel=u:r:su:s0"),
    (655, 420, "system", "system_server", "system_server"),
)
"""pid, ppid, user, name, command line of what every phone runs."""


@dataclass(slots=True)
class Process:
    """One process; `stop` ends it (None for those that only the system may end)."""

    pid: int
    ppid: int
    user: str
    name: str
    args: str
    stop: Callable[[signal.Signals], None] | None = None


class ProcessTable:
    """Processes by pid."""

    def __init__(self) -> None:
        self._running: dict[int, Process] = {}
        self._next_pid = FIRST_PID

    def new_pid(self) -> int:
        while self._next_pid in self._running:
            self._advance()
        pid = self._next_pid
        self._advance()
        return pid

    def _advance(self) -> None:
        self._next_pid = self._next_pid + 1 if self._next_pid < PID_LIMIT else FIRST_PID

    def add(self, process: Process) -> None:
        """Put a started process into the table."""
        self._running[process.pid] = process

    def remove(self, pid: int) -> None:
        """Take an ended process out of the table."""
        self._running.pop(pid, None)

    def all(self, apps: Iterable[RunningApp]) -> list[Process]:
        """Return every process, by pid, with those of the apps."""
        system = [Process(pid, ppid, user, name, args) for pid, ppid, user, name, args in SYSTEM]
        of_apps = [Process(one.pid, ZYGOTE, one.user, one.name, one.name) for one in apps]
        everyone = system + of_apps + list(self._running.values())
        return sorted(everyone, key=lambda process: process.pid)

    def get(self, pid: int) -> Process | None:
        """Return a process of the shell, or None."""
        return self._running.get(pid)

    def stop_all(self) -> None:
        """End every process of the shell (reboot)."""
        for process in list(self._running.values()):
            if process.stop is not None:
                process.stop(signal.SIGKILL)
