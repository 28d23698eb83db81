"""Reach a unix socket: whose path is longer than an address may be, or whose queue is full.

Invariants: no socket is put outside its own directory, for a folder in the shared temporary
directory could be made by another user first, who then blocks the socket or listens in its place;
a listener that has no room for one more caller now is waited for, and is not taken for a dead one.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_ADDRESS_BYTES = 100
"""What every unix takes: sun_path has 104 bytes on macOS (unix(4)) and 108 on Linux (unix(7))."""
_DESCRIPTORS = Path("/proc/self/fd")
"""Where Linux shows a process its open files; a path through it leads into an open directory."""
_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.05


@contextmanager
def short_address(path: Path) -> Iterator[str]:
    """Return an address for `bind` or `connect` to a socket, for the length of the block.

    It is the path itself, or where that is too long, one through the open directory.

    Raises:
        OSError: the directory cannot be opened, or the path is too long and this system has no way
            around that.
    """
    plain = os.fspath(path)
    if len(os.fsencode(plain)) <= LONGEST_ADDRESS_BYTES:
        yield plain
        return
    if not _DESCRIPTORS.is_dir() or len(os.fsencode(path.name)) > LONGEST_ADDRESS_BYTES // 2:
        raise OSError(
            f"its path is longer than {LONGEST_ADDRESS_BYTES} bytes; use a home with a shorter path"
        )
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"{_DESCRIPTORS}/{directory}/{path.name}"
    finally:
        os.close(directory)


def connect(one: socket.socket, path: Path, *, timeout_s: float) -> None:
    """Connect a socket, once the listener at a path takes one more caller; block meanwhile.

    Raises:
        TimeoutError: the listener had no room for one more caller in that time.
        OSError: nobody listens there, or it cannot be reached.
    """
    until_s = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    while not _connects(one, path):
        if time.monotonic() > until_s:
            raise TimeoutError(f"{path} took no further caller within {timeout_s:g} s")
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def _connects(one: socket.socket, path: Path) -> bool:
    """Connect a socket that does not block for ever; False while the listener's queue is full."""
    try:
        with short_address(path) as address:
            one.connect(address)
    except BlockingIOError:
        return False
    return True
