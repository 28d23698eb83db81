"""kill -9 at random moments: how many acknowledged events are lost; and what many sessions cost.

`python -m bench durability`. A program appends from sixteen tasks and says what was acknowledged;
it is killed, and what it had said is looked for in the store. The negative control says so before
the store has answered, so that a loss is known to be seen. SWITCHBOARD_BENCH_KILLS sets how often.
"""

import asyncio
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from agent.state.commit import Commit
from agent.store.embedded.sqlite_store import DATABASE_NAME, SqliteStore
from agent.store.store import Listener
from bench.storage.store import opening_draft, step_draft

KILLS = int(os.environ.get("SWITCHBOARD_BENCH_KILLS", "100"))
SESSIONS = 64
LISTENERS = 5
PUBLISHED = 40_000
ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print the tables."""
    print("| killed | rounds | acknowledged | lost | integrity |\n|---|---|---|---|---|")
    _kill("honest", KILLS)
    _kill("early", max(5, KILLS // 10))
    asyncio.run(_publish())


def _kill(manner: str, rounds: int) -> None:
    chance = random.Random(1)
    acknowledged = lost = 0
    sound = "ok"
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for _ in range(rounds):
            told = _killed_after(directory, manner, chance.uniform(0.02, 0.4))
            with closing(sqlite3.connect(directory / DATABASE_NAME)) as database:
                stored = {row[0] for row in database.execute("SELECT id FROM event")}
                [(found,)] = database.execute("PRAGMA quick_check(1)")
            sound = sound if found == "ok" else str(found)
            acknowledged += len(told)
            lost += len(told - stored)
    what = "the store" if manner == "honest" else "acknowledged too early (the control)"
    print(f"| {what} | {rounds} | {acknowledged:,} | {lost:,} | {sound} |", flush=True)


def _killed_after(directory: Path, manner: str, seconds: float) -> set[int]:
    """Let the appender work for some time after its first word, kill it, and give its words."""
    command = [sys.executable, "-m", "tests.store.appender", str(directory), manner]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as program:
        assert program.stdout is not None
        lines = [program.stdout.readline()]
        # What it says meanwhile waits in the pipe, which slows it down and changes nothing else.
        os.set_blocking(program.stdout.fileno(), False)
        until = time.monotonic() + seconds
        data = b""
        while time.monotonic() < until:
            data += program.stdout.read() or b""
            time.sleep(0.005)
        program.kill()
        program.wait()
        os.set_blocking(program.stdout.fileno(), True)
        data += program.stdout.read()
    lines += data.splitlines(keepends=True)
    # A word that was cut off was never said.
    whole = (line.split() for line in lines if line.endswith(b"\n"))
    return {int(number) for mark, number in whole if mark in {b"a", b"p"}}


async def _publish() -> None:
    """Append from many sessions at once, to several listeners; each must see every event."""
    with tempfile.TemporaryDirectory() as name:
        async with SqliteStore.open(Path(name)) as store:
            names = [f"s{number}" for number in range(SESSIONS)]
            await store.append(*(opening_draft(one) for one in names))
            first = await store.last_event_id()
            seen: list[list[int]] = [[] for _ in range(LISTENERS)]
            for listener in seen:
                store.subscribe(_noting(listener))
            times: list[float] = []

            async def work(session_id: str) -> None:
                for step in range(0, PUBLISHED // SESSIONS, 5):
                    begun = time.perf_counter()
                    await store.append(*(step_draft(session_id, step + n) for n in range(5)))
                    times.append(time.perf_counter() - begun)

            started, cpu_s = time.perf_counter(), time.process_time()
            await asyncio.gather(*(work(one) for one in names))
            spent_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_s
            last = await store.last_event_id()
    wanted = list(range(first + 1, last + 1))
    whole = sum(ids == wanted for ids in seen)
    cuts = statistics.quantiles(times, n=100)
    rate = len(wanted) / spent_s
    print(f"\n{SESSIONS} sessions, each appending 5 events of a step at a time (1 KB each)\n")
    print(
        "| events/s | CPU µs an event | append p50 ms | p99 ms | listeners that saw all, in order |"
    )
    print("|---|---|---|---|---|")
    print(
        f"| {rate:,.0f} (target ≥ 20,000) | {cpu_s / len(wanted) * 1e6:.0f} "
        f"| {cuts[49] * 1000:.1f} | {cuts[98] * 1000:.1f} | {whole} of {LISTENERS} |"
    )


def _noting(ids: list[int]) -> Listener:
    def listener(commit: Commit) -> None:
        ids.extend(event.event_id for event in commit.events)

    return listener
