"""The History of a console attached to a core with many stored sessions, beside one with few.

Of each store (SQLite, PostgreSQL) and each number of sessions: a core as a process, started a few
times, and a console as a process. A step is what an operator does, until the store's answer is on
the screen: the CPU of console, core and database until then, in ms, since a machine may be busy.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from agent.config import load_settings
from agent.rpc.remote_core import connect_or_none
from agent.store.embedded.sqlite_store import SqliteStore
from bench.fleets._processes import own_mb, processes_of
from bench.storage._many_sessions import fill, fill_fleet
from console.app import SwitchboardApp
from console.cli_support.days import day_of
from console.screens.history.history import HistoryScreen
from tests import headless
from tests.end_to_end.harness import base_environment
from tests.store.postgres_server import PostgresServer, running_server

COUNTS = (500, 50_000)
SIZE = (160, 50)
_STARTS = 3
_ROUNDS = 5
_BOUND_S = 120.0
_CORE = "from console.cli import main; main()"
_PIDS = "BENCH_PIDS"  # The processes whose CPU counts beside the console's own.
_DAYS_AGO = 1
Took = dict[str, float]


def table(counts: tuple[int, ...] = COUNTS) -> None:
    columns: list[tuple[str, Took]] = []
    for kind in ("SQLite", "PostgreSQL"):
        for count in counts:
            columns.append((f"{kind}, {count:,}", _measured(kind, count)))
    print(f"| CPU ms, median | {' | '.join(_heads(columns))} |")
    print(f"|---{'|---' * (len(columns) + len(columns) // 2)}|")
    for step in columns[1][1]:
        cells: list[str] = []
        for (_, small), (_, large) in zip(columns[::2], columns[1::2], strict=True):
            if step not in small:
                # All fits on one page there.
                cells += ["–", f"{large[step]:.0f}", ""]
                continue
            ratio = large[step] / small[step]
            cells += [f"{small[step]:.0f}", f"{large[step]:.0f}", f"{ratio:.2f}"]
        print(f"| {step} | {' | '.join(cells)} |")


def _heads(columns: list[tuple[str, Took]]) -> Iterator[str]:
    for (small, _), (large, _) in zip(columns[::2], columns[1::2], strict=True):
        yield from (small, large, "ratio")


def _measured(kind: str, count: int) -> Took:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="swb-")))
        data = folder / "data"
        began = time.monotonic()
        data.mkdir(mode=0o700)
        environment = {**base_environment(folder), "SWITCHBOARD_DATA_DIR": str(data)}
        servers: list[int] = []
        if kind == "PostgreSQL":
            server = stack.enter_context(running_server(shared_buffers="128MB"))
            events, of_fleet = _filled_fleet(server, count)
            environment |= of_fleet
            servers = processes_of(server)[:1]
        else:
            events = asyncio.run(_filled(data, count))
        filled_s = time.monotonic() - began
        print(f"{kind}: {count:,} sessions, {events:,} events in {filled_s:.0f} s", file=sys.stderr)
        took: Took = {}
        starts = [_start(environment, stack, is_last=n == _STARTS - 1) for n in range(_STARTS)]
        took["a core starts"] = statistics.median(cpu_ms for cpu_ms, _ in starts)
        core = starts[-1][1]
        environment[_PIDS] = " ".join(map(str, (core, *servers)))
        took["memory of the core, its own, MB"] = own_mb(core)
        command = [sys.executable, "-m", "bench", "console_scale", "--history"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-4_000:])
        took |= json.loads(done.stdout.splitlines()[-1])
        took["memory of the core afterwards, MB"] = own_mb(core)
        print(json.dumps(took), file=sys.stderr)
        return took


async def _filled(data: Path, count: int) -> int:
    """Store sessions, and let the search index read them."""
    events = await fill(data, count, int(time.time() * 1000))
    async with SqliteStore.open(data) as store:
        while store.searching.indexed_id < events:
            # Each search waits a little for the index.
            await store.search("bluetooth", limit=1)
    return events


def _filled_fleet(server: PostgresServer, count: int) -> tuple[int, Mapping[str, str]]:
    """Store sessions in a new database; returns how many events, and the environment for it."""
    dsn = server.new_database()
    events = asyncio.run(fill_fleet(dsn, count, int(time.time() * 1000)))
    server.sql("VACUUM ANALYZE", database=dsn.removeprefix("postgresql:///").partition("?")[0])
    return events, {"SWITCHBOARD_STORE_DSN": dsn, "SWITCHBOARD_STORE_HOST": "bench"}


def _start(environment: Mapping[str, str], stack: ExitStack, *, is_last: bool) -> tuple[float, int]:
    """Start a core; returns its CPU until it answers, in ms, and its process."""
    with ExitStack() as own:
        pid = own.enter_context(_core(environment))
        asyncio.run(_answers(environment))
        cpu_ms = _cpu_ms([pid])
        if is_last:
            stack.push(own.pop_all())
        return cpu_ms, pid


def _cpu_ms(pids: Iterable[int]) -> float:
    """Return the CPU that processes and their children had so far, in all of their threads."""
    total, pids = 0, list(pids)
    for pid in list(pids):
        with suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            pids += map(int, children.split())
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                total += int(thread.read_text().split()[0])
    return total / 1e6


@contextmanager
def _core(environment: Mapping[str, str]) -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-c", _CORE, "daemon", "run", "--virtual-only", "--phones", "0"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(_BOUND_S)


async def _answers(environment: Mapping[str, str]) -> None:
    settings = load_settings(environ=environment)
    async with asyncio.timeout(_BOUND_S):
        while (client := await connect_or_none(settings, name="bench")) is None:  # noqa: ASYNC110
            # Nothing tells of a core that begins to listen.
            await asyncio.sleep(0.01)
        await client.overview()
        await client.close()


# --- the console ----------


async def console() -> Took:
    """Attach to the core that the environment names, and use the History."""
    headless.install()
    settings = load_settings()
    client = await connect_or_none(settings, name="bench")
    assert client is not None, "no core runs"
    app = SwitchboardApp(client, settings=settings, title="bench")
    async with app.run_test(size=SIZE) as pilot:
        await app.painted.wait()
        await app.bridge.opened()
        took = {step: statistics.median(times) for step, times in (await _walk(app, pilot)).items()}
    await app.close()
    await client.close()
    took["memory of the console, its own, MB"] = own_mb(os.getpid())
    return took


async def _walk(app: SwitchboardApp, pilot: Pilot[int]) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {}
    day = day_of(app.now_ms()) - timedelta(days=_DAYS_AGO)
    wishes = {
        "is:failed": "is:failed",
        "@rack-3/": "@rack-3/",
        "a phone": "@rack-3/emulator-5560",
        "a model": "model:qwen",
        "a day": f"on:{day.isoformat()}",
        "a rare tag": "tag:nightly",
        "facts that none has": "@rack-99/ is:failed",
        "a word, frequent": "bluetooth",
        "words that none has": "train zebra",
        "a word in the failed of one host": "is:failed @rack-3/ bluetooth",
    }
    for number in range(_ROUNDS):
        await _timed(took, "History opened", app, lambda: pilot.press("4"))
        screen = app.screen
        assert isinstance(screen, HistoryScreen)
        await _timed(took, "next page", app, lambda: pilot.press("G"), more=True)
        for step, wish in wishes.items():
            await _timed(took, f"filter: {step}", app, _typed(screen, wish))
            if not number and step in ("is:failed", "a word, frequent"):
                assert screen.table.rows, wish
            if step == "is:failed" and not screen.stored.has_all:
                await _timed(took, "its next page", app, lambda: pilot.press("G"), more=True)
            await _timed(took, "filter cleared", app, _typed(screen, ""))
        await pilot.press("1")
    return took


def _typed(screen: HistoryScreen, wish: str) -> Callable[[], object]:
    async def write() -> None:
        screen.query_one("#search", Input).value = wish
        if not wish:
            screen.focus_now(screen.table)

    return write


async def _timed(
    took: dict[str, list[float]],
    step: str,
    app: SwitchboardApp,
    work: Callable[[], object],
    *,
    more: bool = False,
) -> None:
    await headless.at_rest()
    screen = app.screen
    before = len(screen.stored.listed) if isinstance(screen, HistoryScreen) else 0
    others = [int(pid) for pid in os.environ[_PIDS].split()]
    began = time.perf_counter()
    began_ms = _cpu_ms(others) + time.process_time() * 1000
    await work()  # type: ignore[misc]
    while True:
        await headless.at_rest()
        screen = app.screen
        if isinstance(screen, HistoryScreen):
            stored = screen.stored
            is_done = not stored.is_reading
            if more:
                is_done = is_done and (len(stored.listed) > before or stored.has_all)
            if is_done:
                break
        if time.perf_counter() - began > _BOUND_S / 4:
            raise TimeoutError(f"{step} did not come")
        await asyncio.sleep(0.001)
    headless.look(app)
    ended_ms = time.process_time() * 1000
    took.setdefault(step, []).append(ended_ms + _cpu_ms(others) - began_ms)
