"""A listener whose queue is full is waited for: on real sockets."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.rpc.rpc_server import is_stale
from agent.unix_sockets import connect, connected, short_address

BOUND_S = 30.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x" / "listener.sock"


@pytest.fixture
def crowded(path: Path) -> Iterator[socket.socket]:
    """A listener that accepts nobody yet, and whose queue has no room."""
    path.parent.mkdir()
    callers: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listener:
        with short_address(path) as address:
            listener.bind(address)
        listener.listen(0)
        while True:
            caller = socket.socket(socket.AF_UNIX)
            callers.append(caller)
            caller.setblocking(False)
            with short_address(path) as address:
                try:
                    caller.connect(address)
                except BlockingIOError:
                    break
        yield listener
        for caller in callers:
            caller.close()


async def test_a_caller_waits_until_there_is_room(crowded: socket.socket, path: Path) -> None:
    calling = asyncio.create_task(connected(path))
    # It has been refused at least once before anything else runs.
    await asyncio.sleep(0)
    assert not calling.done()
    first, _ = crowded.accept()
    first.close()
    async with asyncio.timeout(BOUND_S):
        ours = await calling
    with ours:
        second, _ = crowded.accept()
        with second:
            await asyncio.get_running_loop().sock_sendall(ours, b"here")
            assert second.recv(4) == b"here"


async def test_who_waits_no_more_leaves_nothing_open(crowded: socket.socket, path: Path) -> None:
    before = open_files()
    calling = asyncio.create_task(connected(path))
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert open_files() == before


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_caller_that_blocks_waits_too_and_no_longer_than_it_may(
    crowded: socket.socket, path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as late:
        late.settimeout(BOUND_S)
        with pytest.raises(TimeoutError, match="took no further caller"):
            connect(late, path, timeout_s=0.0)
        accepting = threading.Thread(target=lambda: crowded.accept()[0].close())
        accepting.start()
        connect(late, path, timeout_s=BOUND_S)
        accepting.join()
        assert late.gettimeout() == BOUND_S


def test_a_crowded_listener_is_no_stale_one(crowded: socket.socket, path: Path) -> None:
    assert not is_stale(path)


async def test_where_nobody_listens_is_said_at_once(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await connected(path)
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as left, short_address(path) as address:
        left.bind(address)
    with pytest.raises(ConnectionRefusedError):
        await connected(path)
