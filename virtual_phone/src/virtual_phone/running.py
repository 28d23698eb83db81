"""Which apps have a process, and its pid: one answer for ps, pidof, dumpsys and the log.

Not the shell's processes (`userland.processes`). Invariant: an app keeps its pid from its start
until it is stopped, crashes or the phone reboots, and then never has that one again at once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from virtual_phone.packages.installed import PackageTable

FIRST_PID, LAST_PID = 1200, 3999
FIRST_APP_UID = 10_000
ALWAYS = {
    "com.android.systemui": 10_035,
    "com.android.inputmethod.latin": 10_036,
    "com.android.phone": 1001,
    "android.process.acore": 10_037,
}
"""Processes that every phone has, by name, with their uids."""
_NAMED_UIDS = {"com.android.shell": 2000}
_NAMED_USERS = {1000: "system", 1001: "radio", 2000: "shell"}


class Change(StrEnum):
    """What became of a process."""

    STARTED = "started"
    STOPPED = "stopped"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class RunningApp:
    """An app's process."""

    pid: int
    uid: int
    name: str

    @property
    def user(self) -> str:
        """The user as `ps` prints it, such as u0_a42."""
        return _NAMED_USERS.get(self.uid, f"u0_a{self.uid - FIRST_APP_UID}")

    @property
    def record(self) -> str:
        """The process as the activity manager writes it, such as 1234:pkg/u0a42."""
        return f"{self.pid}:{self.name}/{self.user.replace('_', '')}"


class AppProcesses:
    """The processes of one phone's apps.

    Args:
        packages: where the uids are.
        tasks: returns the packages that have a task.
    """

    def __init__(self, packages: PackageTable, tasks: Callable[[], Iterable[str]]) -> None:
        self._packages = packages
        self._tasks = tasks
        self._running: dict[str, RunningApp] = {}
        self._next = FIRST_PID
        self.listener: Callable[[RunningApp, Change], None] | None = None

    def all(self) -> list[RunningApp]:
        """Return every process there is now, by pid."""
        wanted = list(dict.fromkeys([*ALWAYS, *self._tasks()]))
        for name in [name for name in self._running if name not in wanted]:
            self.end(name)
        for name in wanted:
            if name not in self._running:
                self._start(name)
        return sorted(self._running.values(), key=lambda one: one.pid)

    def runs(self, name: str) -> bool:
        """Return whether a package has had a process since it was last ended."""
        return name in self._running

    def of(self, name: str) -> RunningApp | None:
        """Return the process of a package, or None where it does not run."""
        self.all()
        return self._running.get(name)

    def end(self, name: str, change: Change = Change.STOPPED) -> None:
        """End a process; the package gets another pid when it starts again."""
        process = self._running.pop(name, None)
        if process is not None and self.listener is not None:
            self.listener(process, change)

    def end_all(self) -> None:
        """Forget every process, as a reboot does."""
        self._running.clear()
        self._next = FIRST_PID

    def uid_of(self, name: str) -> int:
        """Return a package's uid."""
        info = self._packages.get(name)
        return info.uid if info is not None else (_NAMED_UIDS | ALWAYS).get(name, 1000)

    def _start(self, name: str) -> None:
        taken = {one.pid for one in self._running.values()}
        while self._next in taken:
            self._next = self._next + 1 if self._next < LAST_PID else FIRST_PID
        process = RunningApp(self._next, self.uid_of(name), name)
        self._next = self._next + 7 if self._next + 7 <= LAST_PID else FIRST_PID
        self._running[name] = process
        if self.listener is not None:
            self.listener(process, Change.STARTED)
