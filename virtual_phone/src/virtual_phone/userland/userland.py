"""Everything of the phone that is not its screen, gathered: what shell and adbd work on.

Not the phone itself (windows, apps, input: `virtual_phone.phone`). Invariant: one per phone; what
belongs to a boot (boot id, processes, `reverse` rules) is replaced when the phone reboots.
"""

import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from virtual_phone.input.touch_panel import TouchPanel
from virtual_phone.running import Change, RunningApp
from virtual_phone.server.faults import Faults
from virtual_phone.userland.apk_files import add_apks
from virtual_phone.userland.files import PhoneFiles
from virtual_phone.userland.log import LogRing
from virtual_phone.userland.proc import add_proc
from virtual_phone.userland.processes import ProcessTable
from virtual_phone.userland.sockets import SocketTable
from virtual_phone.userland.tree import GeneratedFile, Tree

if TYPE_CHECKING:
    from virtual_phone.display.scene import Scene
    from virtual_phone.phone import Phone
    from virtual_phone.shell.call import Call, Descriptors

AppProcess = Callable[["Call", list[str]], Awaitable[int]]
"""What `app_process / CLASS ARGS…` runs: the call and the arguments after the class."""


@dataclass(slots=True)
class Boot:
    """One boot of the phone: its id, and when it started (seconds since 1970)."""

    boot_id: str
    at: float


class Userland:
    """The phone below its screen.

    Args:
        phone: the phone whose screen, settings and packages the commands work on.
        home: the phone's home directory on the host.
        name: how the phone is called; seeds what is random.
    """

    def __init__(self, phone: "Phone", home: Path, name: str) -> None:
        from virtual_phone.commands.packages.installing import InstallSessions

        self.phone = phone
        self.name = name
        self.random = random.Random(name)
        self.boot = self._new_boot()
        self.sockets = SocketTable()
        self.processes = ProcessTable()
        self.log = LogRing()
        self.faults = Faults()
        self.touch_panel = TouchPanel(phone)
        self.frozen_scenes: dict[int, Scene] = {}
        """What displays show while they are frozen (`virtual_phone.display.frozen_display`)."""
        self.install_sessions = InstallSessions()
        phone.processes.listener = self._on_process
        self.app_processes: dict[str, AppProcess] = {}
        self.automation: object | None = None
        """Who holds the accessibility automation; a phone gives it to one program at a time."""
        self.on_reboot: Callable[[str], None] | None = None
        phone.power.on_power = lambda how: (
            self.on_reboot(how) if self.on_reboot is not None else None
        )
        self.files: PhoneFiles[Userland] = PhoneFiles(
            home, shared_tree(), self, self.boot.at, phone.storage
        )

    def _new_boot(self) -> Boot:
        return Boot(str(uuid.uuid4()), self.phone.now())

    def now(self) -> float:
        """Return the phone's time, seconds since 1970."""
        return self.phone.now()

    def uptime_s(self) -> float:
        """Return the seconds since the phone booted."""
        return max(0.0, self.now() - self.boot.at)

    def is_terminal(self, descriptors: "Descriptors") -> bool:
        return bool(getattr(descriptors.get(0), "is_terminal", False))

    def note(self, level: str, tag: str, message: str, *, pid: int = 655) -> None:
        """Write to the phone's log."""
        self.log.write(self.now(), level, tag, message, pid=pid)

    def _on_process(self, process: RunningApp, change: Change) -> None:
        """Log what the activity manager says of an app's process."""
        match change:
            case Change.STARTED:
                self.note(
                    "I", "ActivityManager", f"Start proc {process.record} for next-top-activity"
                )
            case Change.STOPPED:
                self.note("I", "ActivityManager", f"Killing {process.record} (adj 0): stop")
            case Change.CRASHED:
                said = f"FATAL EXCEPTION: main\nProcess: {process.name}, PID: {process.pid}"
                self.note("E", "AndroidRuntime", said, pid=process.pid)
                self.note(
                    "I",
                    "ActivityManager",
                    f"Process {process.name} (pid {process.pid}) has died: fg  TOP",
                )
            case _:
                assert_never(change)

    def reboot(self) -> None:
        """Begin a new boot: other id, no shell process left."""
        self.processes.stop_all()
        self.phone.processes.end_all()
        self.boot = self._new_boot()
        self.log.clear()


_TREE: Tree[Userland] | None = None


def shared_tree() -> Tree[Userland]:
    """Return the read-only tree, made once for all phones of the process."""
    global _TREE
    if _TREE is None:
        _TREE = _build_tree()
    return _TREE


def _build_tree() -> Tree[Userland]:
    from virtual_phone.commands import register_all
    from virtual_phone.shell.call import TABLE

    register_all()
    tree: Tree[Userland] = Tree()
    tree.add("/system/build.prop", GeneratedFile(_build_prop))
    tree.add("/system/bin/sh", GeneratedFile(lambda _: b"\x7fELF", 0o755))
    tree.add_programs(TABLE.names())
    tree.add(
        "/system/etc/hosts",
        GeneratedFile(lambda _: b"127.0.0.1       localhost\n::1             ip6-localhost\n"),
    )
    tree.add("/dev/input/event1", GeneratedFile(lambda _: b"", 0o660))
    add_proc(tree)
    add_apks(tree)
    tree.add(
        "/proc/sys/kernel/random/boot_id",
        GeneratedFile(lambda land: f"{land.boot.boot_id}\n".encode()),
    )
    tree.add(
        "/sys/class/power_supply/battery/capacity",
        GeneratedFile(lambda land: f"{land.phone.state_record.battery_level}\n".encode()),
    )
    return tree


def _build_prop(land: Userland) -> bytes:
    rows = (f"{key}={value}\n" for key, value in land.phone.properties.items())
    return "".join(row for row in rows if row.startswith("ro.")).encode()
