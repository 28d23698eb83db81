"""The lock under which an adb server of our own is looked for, started or stopped.

Not the lock of a data directory (`agent.store.database.lock`): a client of the store's owner starts
virtual phones too. Invariant: it dies with whoever holds it, because the kernel drops it with the
file.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.errors import AdbError

LOCK_NAME = "start.lock"
LOCK_TIMEOUT_S = 30.0  # More than three tries to start a server take.
_PAUSE_S = 0.02


@asynccontextmanager
async def start_lock(folder: Path, *, timeout_s: float = LOCK_TIMEOUT_S) -> AsyncIterator[None]:
    """Keep other processes from starting or stopping the server of a folder, for the block.

    Raises AdbError when another process holds it for longer than `timeout_s`, or it cannot be made.
    """
    path = folder / LOCK_NAME
    try:
        descriptor = await asyncio.to_thread(_open, path)
    except OSError as error:
        raise AdbError(
            f"{path} cannot be written: {error.strerror}.",
            "Free space in the data directory or correct its permissions.",
        ) from error
    try:
        await _wait(descriptor, folder, timeout_s)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


async def _wait(descriptor: int, folder: Path, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                if _try_lock(descriptor):
                    return
                await asyncio.sleep(_PAUSE_S)
    except TimeoutError as error:
        raise AdbError(
            f"Another process has been starting an adb server in {folder} for {timeout_s:g} s.",
            "End that process, then try again.",
        ) from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
