"""The switchboard command as a process that need not import it first.

Most of what a short command takes is the import of its modules. Here one process imports them and
runs nothing; it forks for each command that it is sent. A fork has the words, environment, folder
and streams of its command, a pid to be signalled and killed by, and ends as any process does.
Tests of wheels, terminals, servers and demos start the command itself, with its imports.
"""

import gc
import importlib
import json
import os
import select
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SWITCHBOARD = [sys.executable, "-c", "from console.cli import main; main()"]

# None of them reads the environment as it is imported, as Rich and Textual do.
_IMPORTED = (
    "agent.runtime.runtime",
    "agent.state.event_text",
    "console.cli",
    "console.commands.daemon",
    "console.commands.run",
    "console.commands.sessions.sessions",
    "console.core.host",
    "console.core.stored_core",
    "console.runs.run",
)
_MOST_BYTES = 1 << 17
ROOT = Path(__file__).parents[2]
_FIRST_OF_OTHERS = 3

CAN_FORK = hasattr(os, "pidfd_open")
"""Whether this system tells the end of a process as it tells that of a stream (Linux)."""

spent_s = [0.0]
"""The CPU in seconds of the commands that have ended: no child's, to those who ask the system."""


class _Importer:
    """The process that has imported the command; it ends with the one that made it."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-m", "tests.end_to_end.warm", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                env={**os.environ, "LANG": "C.UTF-8"},
            )

    def fork(self, request: dict[str, Any], streams: list[int]) -> socket.socket:
        """Ask for a fork; returns where its pid comes, and its end."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            message = json.dumps(request).encode()
            socket.send_fds(self._requests, [message], [theirs.fileno(), *streams])
        return ours


class WarmProcess(subprocess.Popen[str]):
    """A Popen whose process is a fork of one that has imported the command.

    It takes the words of the command, with streams, `env`, `cwd` and `text` as Popen does.
    """

    _importer: "_Importer | None" = None
    _starting = threading.Lock()
    _status: socket.socket

    def _execute_child(self, args: Any, *more: Any) -> None:
        cwd, environment = more[4:6]
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = more[9:15]
        request = {
            "words": list(args),
            "environment": dict(os.environ if environment is None else environment),
            "folder": str(cwd or Path.cwd()),
        }
        given = enumerate((p2cread, c2pwrite, errwrite))
        streams = [at if stream == -1 else stream for at, stream in given]
        with WarmProcess._starting:
            WarmProcess._importer = WarmProcess._importer or _Importer()
        self._status = WarmProcess._importer.fork(request, streams)
        self.pid = int(self._status.recv(32))
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if not select.select([self._status], [], [], 0 if flags else None)[0]:
            return 0, 0
        with self._status:
            status, cpu_s = json.loads(self._status.recv(64))
        spent_s[0] += cpu_s
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = self._try_wait(os.WNOHANG) if self.returncode is None else (0, 0)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def start(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    folder: Path | None = None,
    warm: bool = CAN_FORK,
) -> subprocess.Popen[str]:
    """Start the command; its output comes through pipes.

    Args:
        words: those after `switchboard`.
        environment: all of it.
        stdin: as of Popen.
        folder: where it runs.
        warm: as a fork, whose command line, as the system shows it, is not that of the command.
    """
    return (WarmProcess if warm else subprocess.Popen)(
        list(words) if warm else [*SWITCHBOARD, *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )


def call(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    typed: str = "",
    folder: Path | None = None,
    bound_s: float = 120.0,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end.

    Args:
        words: those after `switchboard`.
        environment: all of it.
        typed: its input.
        folder: where it runs.
        bound_s: when it is killed and subprocess.TimeoutExpired raised, in seconds.
    """
    with start(words, environment, stdin=subprocess.PIPE, folder=folder) as process:
        try:
            out, err = process.communicate(typed, timeout=bound_s)
        finally:
            process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _fork_on_request(requests: socket.socket) -> Callable[[], None]:
    """Serve requests until nobody can ask any more; returns in each fork, with what it runs."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as ready:
        ready.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fd in running:
                    ready.unregister(key.fd)
                    pid, status = running.pop(key.fd)
                    _, code, used = os.wait4(pid, 0)
                    os.close(key.fd)
                    # Whoever asked may be gone.
                    with status, suppress(OSError):
                        status.send(json.dumps([code, used.ru_utime + used.ru_stime]).encode())
                    continue
                message, fds, _, _ = socket.recv_fds(requests, _MOST_BYTES, 4)
                if not message:
                    sys.exit()
                pid = os.fork()
                if not pid:
                    return lambda: _become(json.loads(message), fds[1:])
                status = socket.socket(fileno=fds[0])
                for stream in fds[1:]:
                    os.close(stream)
                with suppress(OSError):
                    status.send(str(pid).encode())
                end = os.pidfd_open(pid)
                running[end] = pid, status
                ready.register(end, selectors.EVENT_READ)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    for at, stream in enumerate(streams):
        os.dup2(stream, at)
    # As many may be open as to count through them takes minutes.
    for path in list(Path("/proc/self/fd").iterdir()):
        if (number := int(path.name)) >= _FIRST_OF_OTHERS:
            with suppress(OSError):
                os.close(number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    time.tzset()
    sys.argv = ["-c", *request["words"]]


if __name__ == "__main__":
    for _name in _IMPORTED:
        importlib.import_module(_name)
    # What is imported is shared with the forks for as long as nothing is written to it.
    gc.collect()
    gc.freeze()
    _fork_on_request(socket.socket(fileno=int(sys.argv[1])))()
    sys.modules["console.cli"].main()
