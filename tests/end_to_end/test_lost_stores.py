"""Cores that lost their store or their socket, as real processes: they end, or mend it."""

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.store.database.lock import owner_pid
from agent.store.embedded.sqlite_store import SqliteStore
from tests.end_to_end.harness import Workshop, is_alive, wait_until
from tests.end_to_end.servers.test_mcp import Pipes
from tests.end_to_end.test_daemon import daemon

MOST_S = 2.0
LOADED_S = 10.0  # What a loaded machine may add.
WHY = "its hold on the store failed"


def taken_over(data: Path, pid: int) -> None:
    """Let another own the store while the first is stopped and its lock does not hold."""

    async def own() -> None:
        async with SqliteStore.open(data):
            pass

    os.kill(pid, signal.SIGSTOP)
    try:
        (data / "lock").unlink()
        asyncio.run(own())
    finally:
        os.kill(pid, signal.SIGCONT)


def deleted(data: Path, pid: int) -> None:
    del pid
    shutil.rmtree(data)


def beheaded(data: Path, pid: int) -> None:
    """Remove the database alone."""
    del pid
    for path in data.glob("switchboard.db*"):
        path.unlink()


def moved(data: Path, pid: int) -> None:
    del pid
    data.rename(data.with_name("elsewhere"))


@pytest.mark.parametrize("loses", [taken_over, deleted, beheaded, moved])
def test_a_daemon_that_lost_its_store_ends_and_tells_each_client_why(
    workshop: Workshop, loses: Callable[[Path, int], None]
) -> None:
    assert workshop.call("daemon", "start", "--virtual-only", "--phones", "1").code == 0
    pid = owner_pid(workshop.data)
    assert pid is not None
    said = (workshop.data / "logs" / "daemon.out").open(encoding="utf-8")
    agent = Pipes(workshop)
    try:
        agent.begin()
        assert "device" in agent.call("list_phones")
        with socket.socket(socket.AF_UNIX) as idle:
            # A client that follows nothing and asks nothing: it too is told.
            idle.connect(str(workshop.data / "core.sock"))
            idle.settimeout(60)
            loses(workshop.data, pid)
            began = time.monotonic()
            wait_until(lambda: not is_alive(pid), "the daemon to end")
            assert time.monotonic() - began < MOST_S + LOADED_S
            assert WHY in idle.recv(65536).decode()
        assert WHY in agent.call("list_phones")
        assert WHY in said.read()
        if loses is moved:
            # Nothing is in the way of moving it back.
            assert not workshop.data.exists()
            elsewhere = str(workshop.data.with_name("elsewhere"))
            assert workshop.call("--data-dir", elsewhere, "store", "check").code == 0
    finally:
        said.close()
        agent.end()
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_browser_console_that_lost_its_store_ends_and_says_why(workshop: Workshop) -> None:
    words = ("web", "--phones", "1", "--virtual-only", "--port", "0", "--json")
    with workshop.running(*words) as server:
        server.wait_for(lambda line: "url" in line, "an address")
        beheaded(workshop.data, server.process.pid)
        assert server.wait() == 1
        assert WHY in "".join(server.speech)


def test_a_socket_that_was_removed_is_made_anew_and_who_is_connected_stays(
    workshop: Workshop,
) -> None:
    with daemon(workshop) as pid:
        path = workshop.data / "core.sock"
        with socket.socket(socket.AF_UNIX) as connected:
            connected.connect(str(path))
            path.unlink()
            wait_until(path.exists, "a socket")
            status = workshop.call("daemon", "status", "--json")
            assert status.code == 0 and status.json["pid"] == pid
            connected.sendall(b'{"id":1,"method":"ping"}\n')
            connected.settimeout(60)
            assert b'"pid"' in connected.recv(65536)
    assert not path.exists()
