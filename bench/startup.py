"""How long an operator waits for the console: the first paint with ten thousand sessions stored,
and the help page, each in a process of its own on a real terminal.

`python -m bench startup`. The peer of the first paint is a Textual app with one label, started the
same way; of the help page, an interpreter that does nothing. The CPU of the process until then, in
all of its threads, stands beside the time: it depends less on what else a machine has to do.
"""

import asyncio
import os
import pty
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from agent.devices.adb.server import find_adb
from agent.protocol import SessionStateChanged
from agent.records import SessionState
from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
from bench.storage.history import SESSIONS, opening_of
from support.adb import free_port
from tests.end_to_end.harness import base_environment, end_all_of

ROUNDS = 7
BOUND_S = 30.0
CONSOLE = "from console.cli import main; main()"
PEER = (
    "from textual.app import App\nfrom textual.widgets import Label\n"
    "class Peer(App):\n    def compose(self):\n        yield Label('first paint')\nPeer().run()"
)


class Duration(NamedTuple):
    ms: float
    cpu_ms: float


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        asyncio.run(_fill(data))
        port = free_port()
        environment = {
            **base_environment(Path(name)),
            "SWITCHBOARD_DATA_DIR": str(data),
            "ADB_SERVER_SOCKET": f"tcp:127.0.0.1:{port}",
            "TERM": "xterm-256color",
            "COLUMNS": "160",
            "LINES": "50",
        }
        paints: list[Duration] = []
        lists: list[Duration] = []
        peers: list[Duration] = []
        helps: list[Duration] = []
        nothings: list[Duration] = []
        # One without phones: what is measured is the console.
        server = subprocess.Popen(
            [find_adb(), "-L", f"tcp:localhost:{port}", "nodaemon", "server"],
            env={**environment, "ADB_USB": "0", "ADB_MDNS": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(ROUNDS):
                peers.append(_time_to_words(PEER, [b"first paint"], environment)[0])
                paint, listed = _time_to_words(
                    CONSOLE, [b"Switchboard", b"Turn on Bluetooth"], environment
                )
                paints.append(paint)
                lists.append(listed)
                nothings.append(_ran("pass", environment))
                helps.append(_ran(CONSOLE, environment, "--help"))
        finally:
            end_all_of(data)
            server.terminate()
            server.wait(BOUND_S)
    print(f"{SESSIONS:,} sessions stored; medians of {ROUNDS}\n")
    print("| what | ms (CPU) | peer | ms (CPU) | ratio | target |\n|---|---|---|---|---|---|")
    _row("first paint of the console", paints, "a label in Textual", peers, "< 1000 ms")
    _row("its sessions listed", lists, "a label in Textual", peers, "")
    _row("`switchboard --help`", helps, "an empty program", nothings, "< 250 ms")


async def _fill(data: Path) -> None:
    async with SqliteStore.open(data) as store:
        for first in range(0, SESSIONS, 500):
            drafts: list[EventDraft] = []
            for number in range(first, first + 500):
                session_id = f"s{number:05}"
                drafts += opening_of(session_id)
                done = SessionStateChanged(state=SessionState.COMPLETED)
                drafts.append(EventDraft(session_id, done))
            await store.append(*drafts)


def _time_to_words(code: str, words: list[bytes], environment: dict[str, str]) -> list[Duration]:
    """Run a program on a terminal until words came, one after the other; how long to each."""
    ours, theirs = pty.openpty()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    seen, came = b"", []
    try:
        for word in words:
            while word not in seen:
                if not select.select([ours], [], [], BOUND_S)[0]:
                    raise RuntimeError(f"{word!r} did not come; seen: {seen[-500:]!r}")
                try:
                    seen += os.read(ours, 65_536)
                except OSError as error:
                    raise RuntimeError(f"{word!r} did not come; seen: {seen[-500:]!r}") from error
            came.append(Duration((time.perf_counter() - began) * 1000, _cpu_ms(process.pid)))
    finally:
        process.send_signal(signal.SIGTERM)
        _drain_until_ended(process, ours)
        os.close(ours)
    return came


def _cpu_ms(pid: int) -> float:
    """CPU that a process had so far, in all of its threads (Linux, proc_pid_schedstat(5))."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


def _drain_until_ended(process: subprocess.Popen[bytes], ours: int) -> None:
    deadline = time.monotonic() + BOUND_S
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
        if select.select([ours], [], [], 0.05)[0]:
            try:
                os.read(ours, 65_536)
            except OSError:
                break
    process.wait()


def _ran(code: str, environment: dict[str, str], *words: str) -> Duration:
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Duration((time.perf_counter() - began) * 1000, cpu_s * 1000)


def _row(what: str, ours: list[Duration], peer: str, theirs: list[Duration], target: str) -> None:
    mine, other = _median(ours), _median(theirs)
    print(
        f"| {what} | {mine.ms:.0f} ({mine.cpu_ms:.0f}) | {peer} | {other.ms:.0f}"
        f" ({other.cpu_ms:.0f}) | {mine.ms / other.ms:.1f}× | {target} |"
    )


def _median(all_of_them: list[Duration]) -> Duration:
    return Duration(
        statistics.median(one.ms for one in all_of_them),
        statistics.median(one.cpu_ms for one in all_of_them),
    )
