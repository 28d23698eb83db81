"""How soon sessions start and are seen on a fleet, and what it costs, at work and idle.

A session is asked for at random moments at a rate, whatever came of those before (open loop), or
all are at once. What a start costs in CPU and transactions says more than its time on a computer
that others use. What the hosts are, stand-ins or real ones, is beside (`_stand_ins`, `_real`).
"""

import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from agent.protocol import SessionStateChanged, StepStarted
from agent.state.commit import Commit
from bench.fleets._processes import cpu_s, memory_mb, own_mb, processes_of
from tests.store.postgres_server import PostgresServer

ROOT = Path(__file__).resolve().parents[2]
KEEPS_UP = 0.95
"""It kept up when so much of what was asked for within the time had started a second later."""


class Shape(NamedTuple):
    hosts: int
    phones: int  # On each host.
    consoles: int
    steps: int
    pause_ms: int
    dispatcher: str
    rate: float  # Sessions a second; 0: one for each phone, all at once.
    warm_up_s: float = 0.0
    seconds: float = 0.0

    def moments(self) -> list[float]:
        """Return when sessions are asked for, in seconds from the beginning."""
        if not self.rate:
            return [0.0] * (self.hosts * self.phones)
        chance = random.Random(1)
        found, at = [], chance.expovariate(self.rate)
        while at < self.warm_up_s + self.seconds:
            found.append(at)
            at += chance.expovariate(self.rate)
        return found


class Part(NamedTuple):
    """What processes of one kind cost while nothing is asked for."""

    own_mb: float  # The median of one process, what it shares with others not counted.
    all_mb: float
    idle: float  # Cores.


class Idle(NamedTuple):
    """What a fleet costs while nothing is asked for."""

    parts: Mapping[str, Part]
    connections: int
    online_s: float = 0.0
    """When all phones were online, from the first start of a phone; 0 where there are none."""


class Measured(NamedTuple):
    """What was found while sessions were asked for."""

    asked: int
    started: int
    ended: int
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
    """Cores of hosts with what serves their phones, server and consoles."""
    log: str


class Watch:
    """What the log says of the sessions, as this process is told."""

    def __init__(self) -> None:
        self.first_ms: dict[str, int] = {}
        self.ended: set[str] = set()
        self.steps = 0

    def __call__(self, commit: Commit) -> None:
        for event in commit.events:
            match event.msg:
                case StepStarted():
                    self.first_ms.setdefault(event.session_id, event.ts_ms)
                    self.steps += 1
                case SessionStateChanged(state=state) if state.is_terminal:
                    self.ended.add(event.session_id)
                case _:
                    pass


class Work(Protocol):
    async def ask(self, number: int) -> str:
        """Ask for a session; returns its id."""

    async def rest(self) -> None:
        """Wait until every session has ended or waits."""

    async def look(self) -> str:
        """Return what comparing the log with what was done found."""


class _Request(NamedTuple):
    moment_s: float
    due_ms: float
    late_ms: float


async def idle(
    server: PostgresServer, kinds: Mapping[str, Sequence[int]], seconds: float = 5.0
) -> Idle:
    """Measure processes, by kind, while nothing is asked for; the database's are added."""
    found = {**kinds, "database": processes_of(server)}
    before = {kind: cpu_s(pids) for kind, pids in found.items()}
    await asyncio.sleep(seconds)
    parts = {
        kind: Part(
            statistics.median(own_mb(pid) for pid in kinds.get(kind, pids[:1])),
            memory_mb(pids),
            (cpu_s(pids) - before[kind]) / seconds,
        )
        for kind, pids in found.items()
    }
    counted = "SELECT count(*) FROM pg_stat_activity WHERE client_port = -1"
    return Idle(parts, int(server.sql(counted)))


async def offer(
    server: PostgresServer,
    shape: Shape,
    work: Work,
    watch: Watch,
    *,
    hosts: Sequence[int],
    others: Sequence[int],
    consoles: Sequence[asyncio.subprocess.Process],
) -> Measured:
    """Ask for sessions, wait for them, and end the consoles.

    Args:
        hosts: ids of their processes.
        others: ids of processes that work beside them, consoles left out.
    """
    moments = shape.moments()
    watched = [*hosts, *others, *(process.pid for process in consoles)]
    before = _Cost(server, hosts, watched)
    asked = await _ask(work, moments)
    in_time = await _in_time(watch, asked)
    await work.rest()
    after = _Cost(server, hosts, watched)
    seen = await _lateness(consoles)
    took_s, starts = after.at_s - before.at_s, len(moments)
    return Measured(
        asked=starts,
        started=len(watch.first_ms),
        ended=len(watch.ended),
        started_ms=[
            watch.first_ms[name] - one.due_ms
            for name, one in asked.items()
            if one.moment_s >= shape.warm_up_s and name in watch.first_ms
        ],
        seen_ms=seen,
        late_ms=[one.late_ms for one in asked.values()],
        in_time=in_time,
        steps_s=watch.steps / took_s,
        host_cpu_ms=(after.hosts_s - before.hosts_s) / starts * 1000,
        server_cpu_ms=(after.server_s - before.server_s) / starts * 1000,
        transactions=(after.transactions - before.transactions) / starts,
        busy=(after.all_s - before.all_s) / took_s,
        log=await work.look(),
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


@asynccontextmanager
async def consoles(
    *which: tuple[Sequence[str], Mapping[str, str] | None],
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Have consoles follow the log: the arguments and the environment of each."""
    found: list[asyncio.subprocess.Process] = []
    try:
        for arguments, environment in which:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.fleets._console", *arguments),
                stdout=asyncio.subprocess.PIPE,
                cwd=ROOT,
                env=environment,
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


async def _lateness(consoles: Sequence[asyncio.subprocess.Process]) -> list[float]:
    """End the consoles; returns how late each step was at each."""
    found: list[float] = []
    for process in consoles:
        process.terminate()
    for process in consoles:
        said, _ = await process.communicate()
        found += json.loads(said)
    return found


async def _ask(work: Work, moments: Sequence[float]) -> dict[str, _Request]:
    """Ask for each session at its moment; returns what was asked for by its id."""
    found: dict[str, _Request] = {}
    loop = asyncio.get_running_loop()
    began = loop.time() + 0.1

    async def ask(number: int, at: float) -> None:
        await asyncio.sleep(max(0.0, began + at - loop.time()))
        late_ms = (loop.time() - began - at) * 1000
        # From when it was due: what waits for this process waits.
        due_ms = time.time() * 1000 - max(0.0, late_ms)
        found[await work.ask(number)] = _Request(at, due_ms, late_ms)

    await asyncio.gather(*(ask(number, at) for number, at in enumerate(moments)))
    return found


async def _in_time(watch: Watch, asked: Mapping[str, _Request]) -> float:
    last = max(one.due_ms for one in asked.values())
    await asyncio.sleep(max(0.0, 1.5 + last / 1000 - time.time()))
    return sum(ts <= last + 1000 for ts in watch.first_ms.values()) / len(asked)
