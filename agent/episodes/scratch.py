"""A folder for phones that live as long as a program: in memory where the system has a place there.

Invariants: it is this user's alone; what a program that was killed left is ended and removed by the
next one of the same user.
"""

import os
import shutil
import stat
import tempfile
from pathlib import Path

from agent.devices.adb.server import AdbServer
from agent.devices.resources.processes import is_running, start_mark

PREFIX = "switchboard-episodes-"
"""Names are PREFIX, process id, the process's start, and what makes them unique."""
_MEMORY = Path("/dev/shm")


def make_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder that is removed by `cleanup`."""
    mark = f"{PREFIX}{os.getpid()}-{_plain(start_mark(os.getpid()))}-"
    return tempfile.TemporaryDirectory(prefix=mark, dir=_place(), ignore_cleanup_errors=True)


async def remove_abandoned() -> int:
    """End and remove what programs of this user left that were killed; returns how many folders.

    Their phones have ended with them; their adb servers have not.
    """
    removed = 0
    for folder in _place().glob(f"{PREFIX}*"):
        pid, _, rest = folder.name.removeprefix(PREFIX).partition("-")
        if not pid.isdecimal() or not _is_ours(folder):
            continue
        mark = start_mark(int(pid))
        if is_running(int(pid), mark) and _plain(mark) == rest.rpartition("-")[0]:
            continue
        await AdbServer(folder / "adb").end_leftover()
        shutil.rmtree(folder, ignore_errors=True)
        removed += 1
    return removed


def _place() -> Path:
    """Return where such folders are: a phone is put back by removing and making its files, which
    is ten times as fast in memory."""
    usable = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK | os.X_OK)
    return _MEMORY if usable else Path(tempfile.gettempdir())


def _plain(mark: str) -> str:
    return "".join(filter(str.isalnum, mark))


def _is_ours(folder: Path) -> bool:
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()
