"""A fleet on this computer: how soon work starts and is seen, what it costs; or chaos.

`python -m bench fleet` runs host processes on a PostgreSQL server of its own and consoles that
follow every event. Sessions arrive at a rate (`--rate`), as 500 phones that start one every 10 s
would ask for them, or all at once (`--rate 0`); see `_starts`. Hosts are stand-ins without phones
(`_stand_ins`), or with `--real` hosts whose virtual phones a pilot works on (`_real`); `--rate 0`
leaves those idle. Two cores are too few for twenty hosts: `--hosts 20 --phones 25 --consoles 5`
measures the computer then. `--chaos` breaks real hosts (`_chaos`), and ends with 1 when anything
was lost or acted twice; its control has no fence and has to be caught.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tests.store.postgres_server import running_server

if TYPE_CHECKING:
    from bench.fleets._starts import Idle, Measured

    Cells = dict[str, str]


def main(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    said = _parser().parse_args(list(options))
    if said.chaos:
        from bench.fleets._chaos import chaos

        sys.exit(0 if chaos(said.kills, said.restarts, set(said.only.split(",")) - {""}) else 1)
    dispatchers = (said.dispatchers or ("local" if said.real else "local,dbos")).split(",")
    needs_queues = not said.real or "dbos" in dispatchers
    if needs_queues and importlib.util.find_spec("dbos") is None:
        sys.exit("The queues that are measured are DBOS's: pip install -r requirements-fleet.lock")
    _starts(said, dispatchers)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench fleet")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--phones", type=int, default=10, help="on each host")
    parser.add_argument("--consoles", type=int, default=3)
    parser.add_argument(
        "--rate", help="sessions a second, several by commas; 0: all at once, or none with --real"
    )
    parser.add_argument("--seconds", type=float, default=30, help="of each rate")
    parser.add_argument("--warm-up", type=float, default=10, help="seconds before that")
    parser.add_argument("--dispatchers", help="local,dbos; with --real: local")
    parser.add_argument("--real", action="store_true", help="hosts with virtual phones")
    parser.add_argument("--steps", type=int, default=3, help="of each session")
    parser.add_argument("--pause-ms", type=int, default=2000, help="between two steps")
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("--kills", type=int, default=10, help="of hosts, in --chaos")
    parser.add_argument("--restarts", type=int, default=4, help="of the server, in --chaos")
    parser.add_argument("--only", default="", help="the rounds of --chaos to run, by their names")
    return parser


def _starts(said: argparse.Namespace, dispatchers: Sequence[str]) -> None:
    from bench.fleets._starts import Shape

    if said.real:
        from bench.fleets._real import measure
    else:
        from bench.fleets._stand_ins import measure
    phones = said.hosts * said.phones
    # 500 phones, each with a session every 10 s: 50 a second.
    usual = f"{phones / 10:g}" if said.real else f"{phones / 10:g},0"
    rates = [float(word) for word in (said.rate or usual).split(",")]
    room = str(60 + 12 * (said.hosts + said.consoles))
    columns: dict[str, Cells] = {}
    for dispatcher in dispatchers:
        for rate in rates:
            shape = Shape(
                said.hosts,
                said.phones,
                said.consoles,
                said.steps,
                said.pause_ms,
                dispatcher,
                rate,
                said.warm_up if rate else 0.0,
                said.seconds if rate else 0.0,
            )
            with running_server(is_durable=True, max_connections=room) as server:
                rested, starts = asyncio.run(measure(server, shape))
            without = "idle" if said.real else "all at once"
            columns[f"{dispatcher}, {f'{rate:g} a second' if rate else without}"] = {
                **(_at_work(starts) if starts else {}),
                **_idle(rested),
            }
    of_steps = f"of {said.steps} steps with {said.pause_ms / 1000:g} s between two"
    print(
        f"{said.hosts} host processes of {said.phones} {'virtual ' if said.real else ''}phones, "
        f"{said.consoles} consoles, sessions {'of one note' if said.real else of_steps}, "
        f"{os.cpu_count()} cores\n"
    )
    _print(columns)


def _print(columns: Mapping[str, Cells]) -> None:
    print("| | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for what in dict.fromkeys(what for cells in columns.values() for what in cells):
        print(f"| {what} | " + " | ".join(one.get(what, "–") for one in columns.values()) + " |")


def _at_work(one: Measured) -> Cells:
    from bench.fleets._starts import KEEPS_UP

    def at(values: list[float], *parts: float) -> str:
        return " / ".join(f"{_at(values, part):,.0f}" for part in parts) + " ms"

    kept_up = "" if one.in_time >= KEEPS_UP else ": did not keep up"
    return {
        "sessions asked for / started / ended": f"{one.asked} / {one.started} / {one.ended}",
        "asked for → started, p50 / p99": at(one.started_ms, 0.5, 0.99),
        "stored → at a console, p50 / p99": at(one.seen_ms, 0.5, 0.99),
        "started within a second of the last request": f"{one.in_time:.1%}{kept_up}",
        "asked late by this process, p99": at(one.late_ms, 0.99),
        "steps a second": f"{one.steps_s:,.0f}",
        "CPU a session, hosts + server": f"{one.host_cpu_ms:,.0f} + {one.server_cpu_ms:,.0f} ms",
        "transactions a session": f"{one.transactions:,.0f}",
        "CPU at work, with consoles": f"{one.busy:.2f} cores",
        "log": one.log,
    }


def _idle(one: Idle) -> Cells:
    kinds = " + ".join(one.parts)
    return {
        **({"all phones online after": f"{one.online_s:,.0f} s"} if one.online_s else {}),
        f"CPU idle, {kinds}": " + ".join(f"{part.idle:.2f}" for part in one.parts.values())
        + " cores",
        f"memory, {kinds}": " + ".join(f"{part.all_mb:,.0f}" for part in one.parts.values())
        + " MB",
        "memory of a host, its own": f"{one.parts['hosts'].own_mb:,.0f} MB",
        "connections": f"{one.connections}",
    }


def _at(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
