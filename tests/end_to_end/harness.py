"""What the end-to-end tests share: the switchboard command as a real process, and its event lines.

Everything waits for a condition with a bound; every process that is started is ended by its pid.
"""

import json
import os
import queue
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agent.consent.script_tokens import ScriptToken, ScriptTokens
from agent.devices.adb.server import find_adb
from console.cli_support.new_file import write_new
from tests.end_to_end import warm
from tests.end_to_end.warm import CAN_FORK, start
from tests.end_to_end.warm import SWITCHBOARD as SWITCHBOARD

BOUND_S = 90.0

Line = dict[str, Any]


class Call:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def lines(self) -> list[Line]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}"


def script_token(data: Path, folder: Path) -> Path:
    """Make a token that may approve everything for an hour; returns its file, in a folder."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    now_ms = time.time_ns() // 1_000_000
    token = ScriptToken(
        token_id="", name="tests", sha256="", made_ms=now_ms, until_ms=now_ms + 3_600_000
    )
    path = folder / "script.token"
    path.unlink(missing_ok=True)
    write_new(path, ScriptTokens(data).create(token))
    return path


class Workshop:
    """A data directory, an environment, and the commands that run in them."""

    def __init__(self, data: Path, environment: Mapping[str, str]) -> None:
        self.data = data
        self.environment = {
            **environment,
            "SWITCHBOARD_DATA_DIR": str(data),
            "PYTHONUNBUFFERED": "1",
        }

    def let_scripts_approve(self) -> None:
        """Give the commands a token that may approve everything for an hour."""
        path = script_token(self.data, self.data.parent)
        self.environment["SWITCHBOARD_OPERATOR_SCRIPT_TOKEN_FILE"] = str(path)

    def let_no_script_approve(self) -> None:
        """Take the token from the commands again."""
        self.environment.pop("SWITCHBOARD_OPERATOR_SCRIPT_TOKEN_FILE", None)

    def call(self, *words: str, bound_s: float = BOUND_S, **more: str) -> Call:
        done = warm.call(words, {**self.environment, **more}, bound_s=bound_s)
        return Call(done.returncode, done.stdout, done.stderr)

    def call_apart(self, *words: str) -> None:
        """Run a command that is no child of this process, as cron would; it has to succeed."""
        done = self.data.parent / "apart"
        done.unlink(missing_ok=True)
        line = f"({shlex.join([*SWITCHBOARD, *words])} >{done}.out 2>&1; echo $? >{done}) &"
        subprocess.run(["setsid", "sh", "-c", line], check=True, env=self.environment)
        wait_until(lambda: done.exists() and done.read_text() != "", "the command to end")
        assert done.read_text() == "0\n", Path(f"{done}.out").read_text()

    @contextmanager
    def running(self, *words: str, warm: bool = CAN_FORK, **more: str) -> "Iterator[Running]":
        """Run the command beside the test; it is killed at the end if it still runs."""
        running = Running(start(words, {**self.environment, **more}, warm=warm))
        try:
            yield running
        finally:
            running.end()


class Running:
    """The command at work: its lines as they come, its speech, its end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.seen: list[Line] = []
        self.speech: list[str] = []
        self._coming: queue.Queue[Line | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._read_speech, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # A killed process may leave half a line; what is whole counts as published.
            if line.endswith("\n"):
                self._coming.put(json.loads(line))
        self._coming.put(None)

    def _read_speech(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.speech.append(line)

    def wait_for(self, fits: Callable[[Line], bool], what: str, bound_s: float = BOUND_S) -> Line:
        """Wait for an event line that fits; the error shows what came instead."""
        deadline = time.monotonic() + bound_s
        while True:
            try:
                line = self._coming.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {what} within {bound_s} s\n{self}") from None
            if line is None:
                raise AssertionError(f"ended before {what}\n{self}")
            self.seen.append(line)
            if fits(line):
                return line

    def wait_for_type(self, kind: str, bound_s: float = BOUND_S) -> Line:
        """Wait for an event of a type; returns its body."""
        msg: Line = self.wait_for(lambda e: e["msg"]["type"] == kind, kind, bound_s)["msg"]
        return msg

    def wait(self, bound_s: float = BOUND_S) -> int:
        """Wait for the end; returns the exit code."""
        try:
            code = self.process.wait(bound_s)
        except subprocess.TimeoutExpired:
            while not self._coming.empty():
                self.seen.append(self._coming.get_nowait() or {})
            raise AssertionError(f"it did not end within {bound_s} s\n{self}") from None
        for thread in self._threads:
            thread.join(30)
        while (line := self._coming.get(timeout=30)) is not None:
            self.seen.append(line)
        return code

    def kill(self) -> None:
        """End it as kill -9 does."""
        self.process.send_signal(signal.SIGKILL)
        self.wait()

    def end(self) -> None:
        """End it in order, or by force when it does not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(45)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not any(t.is_alive() for t in self._threads):
                stream.close()

    def __repr__(self) -> str:
        events = "\n".join(json.dumps(line)[:300] for line in self.seen[-30:])
        return (
            f"{self.process.args}\n--- events\n{events}\n--- speech\n{''.join(self.speech[-60:])}"
        )


def children_of(pid: int) -> set[int]:
    """List the living descendants of a process, as Linux's /proc tells them."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            # The command name may hold anything, so the fields count from its closing bracket.
            fields = stat.rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    grown = True
    while grown:
        grown = False
        for child, parent in parents.items():
            if (parent == pid or parent in found) and child not in found:
                found.add(child)
                grown = True
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def end_all_of(data: Path) -> None:
    """End what a failed test, or one that kills, left at work in a data directory."""
    mark = f"SWITCHBOARD_DATA_DIR={data}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        # A process that has just ended, or is another user's, is none of ours.
        with suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def wait_until(true: Callable[[], bool], what: str, bound_s: float = BOUND_S) -> None:
    """Wait for a condition that nothing announces.

    Between two looks passes three times what a look takes, a second at most: it may be a process,
    and must leave the cores to those it looks at.
    """
    deadline = time.monotonic() + bound_s
    while True:
        began = time.monotonic()
        if true():
            return
        now = time.monotonic()
        assert now < deadline, f"not within {bound_s} s: {what}"
        threading.Event().wait(min(max(0.02, 3 * (now - began)), 1.0))


@contextmanager
def serving(workshop: Workshop, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a command that serves until it is told to stop.

    Yields:
        The address that it prints, and the process.
    """
    process = start(words, workshop.environment)
    try:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read()
        yield address, process
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextmanager
def adb_server_of_its_own(environment: dict[str, str], port: int) -> Iterator[None]:
    """Run an adb server that knows only what is connected by name: no USB phone, no emulator.

    The environment names it from then on.
    """
    server = subprocess.Popen(
        [find_adb(), "-L", f"tcp:localhost:{port}", "nodaemon", "server"],
        env={
            **environment,
            "ADB_USB": "0",
            "ADB_MDNS": "0",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    environment["ADB_SERVER_SOCKET"] = f"tcp:127.0.0.1:{port}"
    try:
        wait_until(lambda: _listens(port), "the adb server answers")
        assert server.poll() is None, "another server answers"
        yield
    finally:
        server.terminate()
        server.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def base_environment(home: Path) -> dict[str, str]:
    """Return an environment that reaches nothing of the person who runs the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SWITCHBOARD_", "OPENAI_", "ADB_", "ANDROID_", "TMUX", "LC_"))
        # They would say how large a terminal is that the test makes itself.
        and name not in {"COLUMNS", "LINES"}
    }
    # Without Unicode a console writes other letters than those that tests look for.
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8"}
