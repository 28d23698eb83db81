"""Read processes and their terminals from `/proc`, each together with its start time.

Facts only; `agent.consent.judge` judges. Invariants: a process is known by its id and its start
time, so that a reused id is another process; what the system does not tell is None, never a guess.
"""

import os
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

_MOST_ANCESTORS = 256
_PTY_MAJORS = range(136, 144)  # Of Unix98 pseudo-terminals: devices.txt of Linux.
_STARTED = 19  # Field 22 of proc_pid_stat(5), counted after the name.
_SO_PEERPIDFD = 77  # Linux 6.5.
_PTMX = frozenset({"/dev/ptmx", "/dev/pts/ptmx"})
_TTY_INDEX = re.compile(r"^tty-index:\s*(\d+)$", re.MULTILINE)
_UID = re.compile(r"^Uid:\s*(\d+)", re.MULTILINE)
_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


TELLS = Path("/proc/self/stat").exists()
"""Whether this system tells of processes."""


class Process(msgspec.Struct, frozen=True):
    """One process at one moment."""

    pid: int
    started: int
    """In clock ticks since the computer started."""
    parent: int
    group: int
    session: int
    terminal: int
    """The device number of its controlling terminal; 0: it has none."""
    foreground: int
    """The process group that has the terminal's keyboard; −1 without a terminal."""
    uid: int
    """The real user."""
    cgroup: str = ""

    @property
    def key(self) -> tuple[int, int]:
        """Return what no other process has."""
        return self.pid, self.started

    @property
    def has_keyboard(self) -> bool:
        """Return whether what is typed at its terminal reaches it."""
        return self.terminal != 0 and self.foreground == self.group

    @property
    def leads_terminal(self) -> bool:
        """Return whether it is the session leader of a terminal, as a shell or a login is."""
        return self.terminal != 0 and self.pid == self.session


def look_at(pid: int) -> Process | None:
    """Return a process; None if it is gone, or the system does not tell."""
    try:
        stat = _read(f"/proc/{pid}/stat")
        uid = _UID.search(_read(f"/proc/{pid}/status"))
        # The name stands in brackets and may hold any character.
        fields = stat.rpartition(")")[2].split()
        found = [int(fields[at]) for at in (1, 2, 3, 4, 5, _STARTED)]
    except (OSError, ValueError, IndexError):
        return None
    if uid is None or fields[0] in {"Z", "X"}:
        return None
    cgroup = ""
    with suppress(OSError):
        cgroup = _read(f"/proc/{pid}/cgroup").strip()
    parent, group, session, terminal, foreground, started = found
    return Process(pid, started, parent, group, session, terminal, foreground, int(uid[1]), cgroup)


def ancestry(pid: int) -> tuple[Process, ...]:
    """Return a process and its ancestors, as far as the system tells; empty: it is gone."""
    found: list[Process] = []
    seen: set[int] = set()
    while pid > 0 and pid not in seen and len(found) < _MOST_ANCESTORS:
        seen.add(pid)
        process = look_at(pid)
        if process is None:
            break
        if found and process.started > found[-1].started:
            break  # The parent has ended, and its id is another's.
        found.append(process)
        pid = process.parent
    return tuple(found)


def opened_by(terminal: int, uid: int) -> Iterator[Process]:
    """Return the user's processes that hold the other end of a pseudo-terminal, and type into it.

    Args:
        terminal: the device number of the terminal.
        uid: whose processes are looked at; those of others cannot be.
    """
    major, minor = os.major(terminal), os.minor(terminal)
    if major not in _PTY_MAJORS:
        return
    index = minor + (major - _PTY_MAJORS[0]) * 256 if major > _PTY_MAJORS[0] else minor
    for place in Path("/proc").iterdir():
        if not place.name.isdecimal() or not _holds(place, index):
            continue
        found = look_at(int(place.name))
        if found is not None and found.uid == uid:
            yield found


def _holds(process: Path, index: int) -> bool:
    with suppress(OSError):
        for opened in (process / "fd").iterdir():
            with suppress(OSError):
                if str(opened.readlink()) not in _PTMX:
                    continue
                told = _TTY_INDEX.search(_read(f"{process}/fdinfo/{opened.name}"))
                if told is not None and int(told[1]) == index:
                    return True
    return False


def peer_process(connection: socket.socket, pid: int) -> tuple[Process, ...]:
    """Return the process at the other end of a unix socket, and its ancestors.

    Args:
        pid: as SO_PEERCRED tells it.

    Empty: it has ended, or the system does not tell.
    """
    if pid <= 0:
        return ()
    found = ancestry(pid)
    try:
        handle = struct.unpack("i", connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD, 4))[0]
    except OSError:
        return found
    # The handle stays with the process that connected, even if another process has its id now.
    try:
        told = _PID.search(_read(f"/proc/self/fdinfo/{handle}"))
    except OSError:
        return ()
    finally:
        os.close(handle)
    return found if told is not None and int(told[1]) == pid else ()


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")
