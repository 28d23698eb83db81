"""The daemon as a real process: it outlives its clients, ends in order, and is taken up again."""

import fcntl
import os
import pty
import select
import signal
import stat
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.store.database.lock import owner_pid
from tests.end_to_end.harness import SWITCHBOARD, Workshop, is_alive, wait_until


@contextmanager
def daemon(workshop: Workshop, *options: str) -> Iterator[int]:
    """Run the daemon in the background for the length of the block; returns its process."""
    call = workshop.call("daemon", "start", "--virtual-only", *options)
    assert call.code == 0, call
    try:
        pid = owner_pid(workshop.data)
        assert pid is not None
        yield pid
    finally:
        workshop.call("daemon", "stop", "--force")
        assert owner_pid(workshop.data) is None


def test_start_status_stop_and_what_is_said_when_it_runs_or_does_not(workshop: Workshop) -> None:
    none = workshop.call("daemon", "status", "--json")
    assert none.code == 1 and none.json["running"] is False
    assert workshop.call("daemon", "stop").code == 0
    with daemon(workshop) as pid:
        again = workshop.call("daemon", "start", "--virtual-only")
        assert again.code == 0 and str(pid) in again.err
        status = workshop.call("daemon", "status", "--json").json
        assert (status["pid"], status["role"]) == (pid, "daemon run")
        assert status["dataDir"] == str(workshop.data)
        assert stat.S_IMODE(Path(status["socket"]).stat().st_mode) == 0o600
        # It has no terminal and is its own session: the end of a shell does not reach it.
        assert os.getsid(pid) == pid
        os.kill(pid, signal.SIGHUP)
        second = workshop.call("daemon", "run", "--virtual-only")
        assert second.code == 4 and "daemon status" in second.err
        assert workshop.call("daemon", "status").code == 0
        stopped = workshop.call("daemon", "stop")
        assert stopped.code == 0, stopped
        wait_until(lambda: not is_alive(pid), "the daemon to end")
    assert not (workshop.data / "core.sock").exists()


def test_a_daemon_that_cannot_start_says_why(workshop: Workshop) -> None:
    workshop.data.mkdir()
    (workshop.data / "config.toml").write_text("[run]\nmax_stepz = 1\n")
    call = workshop.call("daemon", "start", "--virtual-only")
    assert call.code in (1, 2) and "max_stepz" in call.err


@pytest.mark.slow
def test_sessions_live_on_in_the_daemon_and_after_its_death(workshop: Workshop) -> None:
    with daemon(workshop, "--phones", "1") as pid:
        ask = ("run", "order a pizza in the PizzaNow app", "--virtual", "--model", "pilot")
        done = workshop.call(*ask, "--json")
        [listed] = workshop.call("sessions", "list", "--json").json["data"]
        assert listed["goal"] == "order a pizza in the PizzaNow app" and done.code == 1
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: owner_pid(workshop.data) is None, "the kernel to drop the lock")
        # Without an owner the store is read as it is; a new daemon takes it up.
        assert len(workshop.call("sessions", "list", "--json").json["data"]) == 1
        assert workshop.call("daemon", "start", "--virtual-only").code == 0
        assert len(workshop.call("sessions", "list", "--json").json["data"]) == 1


@pytest.mark.slow
def test_a_console_whose_terminal_goes_works_on_until_its_sessions_are_done(
    bench: Workshop,
) -> None:
    controller, terminal = pty.openpty()
    console, drain, hang_up = _console_on(bench, controller, terminal)
    try:
        wait_until(lambda: owner_pid(bench.data) == console.pid, "the console to own the core")
        with bench.running(
            "run", 'tell Ben "hello"', "--device", bench.serial, "--json", "--model", "pilot"
        ) as asking:
            asking.wait_for_type("request_user_input")
            hang_up.set()
            drain.join(30)
            console.send_signal(signal.SIGHUP)

            def lingers() -> bool:
                status = bench.call("daemon", "status", "--json")
                return status.code == 0 and "without a terminal" in str(status.json["role"])

            wait_until(lingers, "the console to work on without its terminal", 90)
            assert bench.call("sessions", "answer", asking.seen[0]["session_id"], "no").code == 0
        console.wait(90)
    finally:
        if console.poll() is None:
            console.kill()
            console.wait()
    assert owner_pid(bench.data) is None


@pytest.mark.slow
def test_a_console_takes_the_place_of_a_daemon_that_was_killed(bench: Workshop) -> None:
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    assert bench.call("daemon", "start").code == 0
    pid = owner_pid(bench.data)
    assert pid is not None
    console, drain, hang_up = _console_on(bench, controller, terminal)
    try:

        def attached() -> bool:
            clients = bench.call("daemon", "status", "--json").json["clients"]
            return any(one["name"].startswith("console") for one in clients)

        wait_until(attached, "the console to be a client")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: owner_pid(bench.data) == console.pid, "the console to take over", 90)

        def serves() -> bool:
            status = bench.call("daemon", "status", "--json")
            return status.code == 0 and bool(status.json["pid"] == console.pid)

        wait_until(serves, "the console to serve")
    finally:
        console.terminate()
        console.wait(90)
        hang_up.set()
        drain.join(30)
    left = bench.data / "adb" / "server.json"
    assert not left.exists(), "the adb server of the killed one is ended with its heir"


def _console_on(
    bench: Workshop, controller: int, terminal: int
) -> tuple["subprocess.Popen[bytes]", threading.Thread, threading.Event]:
    """Start a console on a terminal; returns it, what reads it, and what hangs up."""
    console = subprocess.Popen(
        SWITCHBOARD,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**bench.environment, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(terminal)
    hang_up = threading.Event()
    drain = threading.Thread(target=_drain, args=(controller, hang_up), daemon=True)
    drain.start()
    return console, drain, hang_up


def _drain(controller: int, hang_up: threading.Event) -> None:
    """Read what a console draws, as a terminal does, until it hangs up."""
    while not hang_up.is_set():
        ready, _, _ = select.select([controller], [], [], 0.1)
        try:
            if ready and not os.read(controller, 65_536):
                break
        except OSError:
            break
    os.close(controller)
