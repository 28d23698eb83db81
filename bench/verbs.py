"""What one line of a shell that uses a phone costs beside the phone's own time.

`python -m bench verbs`. Each verb is a process of its own, as a shell starts it, on one virtual
phone: with a core that runs already, and without one, where the line opens the phone itself. The
phone's time is what the session's record says of looking, acting and waiting until the screen
rests; the rest is the line's: starting Python, reaching the core or making one, and ending. The CPU
of the process stands beside it, since it depends less on what else a machine has to do. Modules are
compiled by the first round, which is not counted, as an installation has compiled them.
"""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

from agent.config import load_settings
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.records import Session
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.store.embedded.sqlite_store import SqliteStore
from bench.exercises.house import house
from tests.end_to_end.harness import SWITCHBOARD, base_environment
from virtual_phone.server.serve import PhoneHost

ROUNDS = 4
TARGET_S = 0.5
LINES: tuple[tuple[str, ...], ...] = (
    ("launch", "Settings"),
    ("look",),
    ("shot", "screen.png"),
    ("tap", "Display"),
    ("press", "BACK"),
    ("swipe", "up"),
    ("wait", "System", "--for", "0"),
    ("launch", "Messages"),
    ("tap", "Dad"),
    ("type", "On my way", "--into", "Text message", "--clear"),
    # The keyboard, and the conversation: each round finds the list.
    ("press", "BACK"),
    ("press", "BACK"),
)
Newest = Callable[[], Awaitable[Session]]  # Read the session of the line that was run last.


class LineTime(NamedTuple):
    """What one line took, in seconds: the phone, all beside it, and the processor."""

    phone: float
    beside: float
    cpu: float


Taken = dict[str, list[LineTime]]  # By verb.


def main() -> None:
    """Print the table."""
    print("| verb | core | the phone, s p50 | beside it, s p50 | most | CPU, s p50 | target |")
    print("|---|---|---|---|---|---|---|")
    for way, taken in (
        ("runs", asyncio.run(_with_core())),
        ("for this line", asyncio.run(_without_core())),
    ):
        for verb, times in taken.items():
            _print(verb, way, times)
        _print("all", way, [one for times in taken.values() for one in times])


def _print(verb: str, way: str, times: list[LineTime]) -> None:
    phone, beside, cpu = (
        statistics.median(each)
        for each in (
            [one.phone for one in times],
            [one.beside for one in times],
            [one.cpu for one in times],
        )
    )
    most = max(one.beside for one in times)
    print(
        f"| {verb} | {way} | {phone:.2f} | {beside:.2f} | {most:.2f} | {cpu:.2f} "
        f"| ≤ {TARGET_S:g} |",
        flush=True,
    )


async def _with_core() -> Taken:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "data"
        settings = load_settings(overrides={"data_dir": str(data)}, environ={})
        async with house(folder, settings, phones=1) as at, serve(at.core, socket_path(data)):

            async def newest() -> Session:
                return (await at.core.sessions(limit=1))[0]

            return await _lines(at.serials[0], _environment(folder, data), newest)


async def _without_core() -> Taken:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "data"
        async with AsyncExitStack() as stack:
            host = await stack.enter_async_context(PhoneHost(folder / "phones", count=1))
            server = AdbServer(folder / "adb")
            stack.push_async_callback(server.stop)
            client = AdbClient(await server.start())
            (serial,) = host.serials
            await client.connect(serial)

            async def newest() -> Session:
                async with SqliteStore.open(data) as store:
                    return (await store.sessions(limit=1))[0]

            environment = _environment(folder, data)
            place = folder / "adb" / "server.sock"
            environment["ADB_SERVER_SOCKET"] = f"localfilesystem:{place}"
            return await _lines(serial, environment, newest)


def _environment(folder: Path, data: Path) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as those of an installation are."""
    environment = {**base_environment(folder), "SWITCHBOARD_DATA_DIR": str(data)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    return environment


async def _lines(serial: str, environment: dict[str, str], newest: Newest) -> Taken:
    """Run the lines in rounds; the first round, in which files are read first, is not counted."""
    taken: Taken = {verb: [] for verb, *_ in LINES}
    for turn in range(1 + ROUNDS):
        for verb, *more in LINES:
            command = [*SWITCHBOARD, "devices", verb, serial, *more]
            whole, cpu = await asyncio.to_thread(_run, command, environment)
            split = (await newest()).time
            phone = (split.observe_ms + split.act_ms + split.settle_ms) / 1000
            if turn:
                taken[verb].append(LineTime(phone, whole - phone, cpu))
    return taken


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a line. Returns how long it took and its CPU, in seconds; raises where it failed."""
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=environment["HOME"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(process.pid, 0)
    took = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said}")
    return took, used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
