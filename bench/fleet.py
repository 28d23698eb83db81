"""A fleet on this computer: how soon work starts and is seen, what it costs; or chaos.

`python -m bench fleet` runs host processes on a PostgreSQL server of its own, a session on each
phone, and consoles that follow every event. A step of a session is a stored event and a pause: no
phone and no model, so that what is measured is the queue, the log and the notices. Two cores are
too few for twenty hosts: `--hosts 20 --phones 25 --consoles 5` measures the computer then.
`--chaos` breaks real hosts instead (`bench._chaos`), and ends with 1 when anything was lost or
acted twice; its control has no fence and has to be caught.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agent.protocol import StepStarted
from agent.state.commit import Commit
from agent.store.postgres.postgres_store import PostgresStore
from tests.store.postgres_server import PostgresServer, running_server

if TYPE_CHECKING:
    from tests.store.fleet.fleet_chaos import Findings

IDLE_S = 5.0
TICKS = os.sysconf("SC_CLK_TCK")


def main(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench fleet")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--phones", type=int, default=10, help="on each host")
    parser.add_argument("--consoles", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20, help="of each session")
    parser.add_argument("--pause-ms", type=int, default=500, help="between two steps")
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("--kills", type=int, default=10, help="of hosts, in --chaos")
    parser.add_argument("--restarts", type=int, default=4, help="of the server, in --chaos")
    parser.add_argument("--only", default="", help="the rounds of --chaos to run, by their names")
    said = parser.parse_args(list(options))
    if said.chaos:
        from bench._chaos import chaos

        sys.exit(0 if chaos(said.kills, said.restarts, set(said.only.split(",")) - {""}) else 1)
    if importlib.util.find_spec("dbos") is None:
        sys.exit("The queues that are measured are DBOS's: pip install -r requirements-fleet.lock")
    room = {"max_connections": str(40 + 10 * (said.hosts + said.consoles))}
    with running_server(is_durable=True, **room) as server:
        asyncio.run(_measure(server, said))


# --- how fast ----------


async def _measure(server: PostgresServer, said: argparse.Namespace) -> None:
    from tests.store.fleet.fleet_chaos import fleet

    dsn, count = server.new_database(), said.hosts * said.phones
    seen_ms: list[float] = []
    first_ms: dict[str, int] = {}

    def follow(commit: Commit) -> None:
        now = time.time() * 1000
        for event in commit.events:
            if isinstance(event.msg, StepStarted):
                seen_ms.append(now - event.ts_ms)
                first_ms.setdefault(event.session_id, event.ts_ms)

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        one = await stack.enter_async_context(
            fleet(
                dsn,
                folder,
                hosts=said.hosts,
                sessions=count,
                steps=said.steps,
                pause_ms=said.pause_ms,
            )
        )
        for number in range(said.consoles):
            console = await stack.enter_async_context(PostgresStore.open(dsn, f"console-{number}"))
            stack.callback(console.subscribe(follow))
        hosts = [process.pid for process in one.processes.values()]
        servers = _below(server)
        before = _cpu_s(hosts), _cpu_s(servers)
        await asyncio.sleep(IDLE_S)
        idle = [
            (now - then) / IDLE_S
            for now, then in zip((_cpu_s(hosts), _cpu_s(servers)), before, strict=True)
        ]
        memory = statistics.median(_resident_mb(pid) for pid in hosts)
        connections = int(
            server.sql("SELECT count(*) FROM pg_stat_activity WHERE client_port = -1")
        )
        asked_ms: dict[str, float] = {}
        for number, name in enumerate(one.sessions):
            asked_ms[name] = time.time() * 1000
            await one.dispatcher.send(name, one.names[number % said.hosts])
        before_s, began = _cpu_s([*hosts, *_below(server)]), time.monotonic()
        await one.until(one.done)
        took_s = time.monotonic() - began
        busy = (_cpu_s([*hosts, *_below(server)]) - before_s) / took_s
        found = await one.look()
    started = [first_ms[name] - asked_ms[name] for name in asked_ms]
    print(
        f"{said.hosts} host processes of {said.phones} phones, {said.consoles} consoles, "
        f"{os.cpu_count()} cores\n\n| | p50 | p99 |\n|---|---|---|"
    )
    for what, values in (("asked for → started", started), ("stored → at a console", seen_ms)):
        print(f"| {what} | {_at(values, 0.5):,.0f} ms | {_at(values, 0.99):,.0f} ms |")
    print(
        f"\n| | |\n|---|---|\n| events, to all consoles | {len(seen_ms):,} |\n"
        f"| steps a second | {found.stored / took_s:,.0f} |\n"
        f"| memory of a host | {memory:,.0f} MB |\n| connections | {connections} |\n"
        f"| CPU idle, hosts + server | {idle[0]:.2f} + {idle[1]:.2f} cores |\n"
        f"| CPU at work, all but this process | {busy:.2f} cores |\n"
        f"| log | {_told(found)} |"
    )


def _at(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def _below(server: PostgresServer) -> list[int]:
    """Return the processes of the server."""
    main_pid = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
    found = [main_pid]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == main_pid:
            found.append(int(entry.name))
    return found


def _cpu_s(pids: Sequence[int]) -> float:
    """Return the CPU that processes used, those that are gone left out."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _told(found: Findings) -> str:
    return f"{'exact' if found.is_exact else 'NOT EXACT'}: {found.stored:,} of {found.acted:,}"
