"""How soon sessions start and are seen on a fleet of stand-ins: hosts without phones and models.

A session is `--steps` stored events with a pause between two. It is asked for as hosts ask each
other (`local`) or by a queue (`dbos`): at random moments at a rate, whatever came of those before
(open loop), or all at once. What a start costs in CPU and transactions says more than its time on a
computer that others use.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from agent.protocol import SessionStateChanged, StepStarted
from agent.records import SessionState
from agent.state.commit import Commit
from bench._processes import cpu_s, processes_of, resident_mb
from tests.store.fleet.fleet_chaos import PATIENCE_S, ROOT, Fleet, fleet
from tests.store.postgres_server import PostgresServer

IDLE_S = 5.0
KEEPS_UP = 0.95
"""It kept up when so much of what was asked for within the time had started a second later."""


class Shape(NamedTuple):
    """What is measured."""

    hosts: int
    phones: int
    """On each host."""
    consoles: int
    steps: int
    pause_ms: int
    dispatcher: str
    rate: float
    """Sessions a second; 0: one for each phone, all at once."""
    warm_up_s: float = 0.0
    seconds: float = 0.0

    def moments(self, chance: random.Random) -> list[float]:
        """Return when sessions are asked for, in seconds from the beginning."""
        if not self.rate:
            return [0.0] * (self.hosts * self.phones)
        found, at = [], chance.expovariate(self.rate)
        while at < self.warm_up_s + self.seconds:
            found.append(at)
            at += chance.expovariate(self.rate)
        return found


class Measured(NamedTuple):
    """What was found."""

    started_ms: list[float]
    seen_ms: list[float]
    late_ms: list[float]
    """How late this process itself was in asking."""
    in_time: float
    """The share of what was asked for that had started a second after the time was over."""
    steps_s: float
    host_cpu_ms: float
    """Of all hosts, a start; the steps are in it."""
    server_cpu_ms: float
    transactions: float
    """A start."""
    busy: float
    """Cores of hosts, server and consoles."""
    idle: tuple[float, float]
    memory_mb: float
    connections: int
    log: str


class _Watch:
    """What the log says of the sessions, as this process is told."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.all_done = asyncio.Event()
        self.first_ms: dict[str, int] = {}
        self.done: set[str] = set()
        self.steps = 0

    def __call__(self, commit: Commit) -> None:
        for event in commit.events:
            if isinstance(event.msg, StepStarted):
                self.first_ms.setdefault(event.session_id, event.ts_ms)
                self.steps += 1
            elif (
                isinstance(event.msg, SessionStateChanged)
                and event.msg.state is SessionState.COMPLETED
            ):
                self.done.add(event.session_id)
                if len(self.done) == self.expected:
                    self.all_done.set()


async def measure(server: PostgresServer, shape: Shape) -> Measured:
    """Run a fleet once."""
    moments = shape.moments(random.Random(1))
    watch = _Watch(len(moments))
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        one = await stack.enter_async_context(
            fleet(
                server.new_database(),
                folder,
                hosts=shape.hosts,
                sessions=len(moments),
                phones=shape.hosts * shape.phones,
                steps=shape.steps,
                pause_ms=shape.pause_ms,
                dispatcher=shape.dispatcher,
            )
        )
        stack.callback(one.store.subscribe(watch))
        consoles = await stack.enter_async_context(_consoles(one, folder, shape.consoles))
        hosts = [process.pid for process in one.processes.values()]
        servers = processes_of(server)
        idle = await _idle(hosts, servers)
        memory = statistics.median(resident_mb(pid) for pid in hosts)
        connections = int(
            server.sql("SELECT count(*) FROM pg_stat_activity WHERE client_port = -1")
        )
        watched = [*hosts, *(process.pid for process in consoles)]
        before = _Cost(server, hosts, watched)
        asked_ms, late_ms = await _ask(one, moments)
        in_time = await _in_time(watch, asked_ms)
        async with asyncio.timeout(PATIENCE_S):
            await watch.all_done.wait()
        after = _Cost(server, hosts, watched)
        seen = await _seen(consoles)
        found = await one.look()
    warm = {name for name, at in zip(one.sessions, moments, strict=True) if at >= shape.warm_up_s}
    took_s, starts = after.at_s - before.at_s, len(moments)
    return Measured(
        started_ms=[watch.first_ms[name] - asked_ms[name] for name in asked_ms if name in warm],
        seen_ms=seen,
        late_ms=late_ms,
        in_time=in_time,
        steps_s=watch.steps / took_s,
        host_cpu_ms=(after.hosts_s - before.hosts_s) / starts * 1000,
        server_cpu_ms=(after.server_s - before.server_s) / starts * 1000,
        transactions=(after.transactions - before.transactions) / starts,
        busy=(after.all_s - before.all_s) / took_s,
        idle=idle,
        memory_mb=memory,
        connections=connections,
        log=f"{'exact' if found.is_exact else 'NOT EXACT'}: {found.stored:,} of {found.acted:,}",
    )


class _Cost:
    """What was used so far."""

    def __init__(self, server: PostgresServer, hosts: Sequence[int], others: Sequence[int]) -> None:
        self.at_s = time.monotonic()
        self.hosts_s = cpu_s(hosts)
        self.server_s = cpu_s(processes_of(server))
        self.all_s = cpu_s(others) + self.server_s
        counted = "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database"
        self.transactions = int(server.sql(counted))


async def _idle(hosts: Sequence[int], servers: Sequence[int]) -> tuple[float, float]:
    before = cpu_s(hosts), cpu_s(servers)
    await asyncio.sleep(IDLE_S)
    return (cpu_s(hosts) - before[0]) / IDLE_S, (cpu_s(servers) - before[1]) / IDLE_S


@asynccontextmanager
async def _consoles(
    one: Fleet, folder: Path, count: int
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Have consoles follow the log."""
    found: list[asyncio.subprocess.Process] = []
    try:
        for number in range(count):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench._fleet_console", str(folder / "dsn")),
                f"console-{number}",
                stdout=asyncio.subprocess.PIPE,
                cwd=ROOT,
            )
            found.append(process)
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        yield found
    finally:
        for process in found:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _seen(consoles: Sequence[asyncio.subprocess.Process]) -> list[float]:
    """End the consoles; returns how late each step was at each."""
    found: list[float] = []
    for process in consoles:
        process.terminate()
    for process in consoles:
        said, _ = await process.communicate()
        found += json.loads(said)
    return found


async def _ask(one: Fleet, moments: Sequence[float]) -> tuple[dict[str, float], list[float]]:
    """Ask for each session at its moment; returns when each was asked for, and how late."""
    asked_ms: dict[str, float] = {}
    late_ms: list[float] = []
    loop = asyncio.get_running_loop()
    began = loop.time() + 0.1

    async def ask(number: int, at: float) -> None:
        await asyncio.sleep(max(0.0, began + at - loop.time()))
        late_ms.append((loop.time() - began - at) * 1000)
        name = one.sessions[number]
        # From when it was due: what waits for this process waits.
        asked_ms[name] = time.time() * 1000 - max(0.0, late_ms[-1])
        await one.ask(name, one.names[number % len(one.names)])

    await asyncio.gather(*(ask(number, at) for number, at in enumerate(moments)))
    return asked_ms, late_ms


async def _in_time(watch: _Watch, asked_ms: dict[str, float]) -> float:
    last = max(asked_ms.values())
    await asyncio.sleep(max(0.0, 1.5 + last / 1000 - time.time()))
    return sum(ts <= last + 1000 for ts in watch.first_ms.values()) / len(asked_ms)
