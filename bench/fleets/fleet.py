"""A fleet on this computer: how soon work starts and is seen, what it costs; or chaos.

`python -m bench fleet` runs host processes on a PostgreSQL server of its own and consoles that
follow every event. Sessions arrive at a rate (`--rate`), as 500 phones that start one every 10 s
would ask for them, or all at once (`--rate 0`); see `bench._fleet_starts`. Two cores are too few
for twenty hosts: `--hosts 20 --phones 25 --consoles 5` measures the computer then.
`--chaos` breaks real hosts (`bench._chaos`), and ends with 1 when anything was lost or acted twice;
its control has no fence and has to be caught.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.store.postgres_server import running_server

if TYPE_CHECKING:
    from bench._fleet_starts import Measured


def main(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    said = _parser().parse_args(list(options))
    if said.chaos:
        from bench._chaos import chaos

        sys.exit(0 if chaos(said.kills, said.restarts, set(said.only.split(",")) - {""}) else 1)
    if importlib.util.find_spec("dbos") is None:
        sys.exit("The queues that are measured are DBOS's: pip install -r requirements-fleet.lock")
    _starts(said)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench fleet")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--phones", type=int, default=10, help="on each host")
    parser.add_argument("--consoles", type=int, default=3)
    parser.add_argument("--rate", help="sessions a second, several by commas; 0: all at once")
    parser.add_argument("--seconds", type=float, default=30, help="of each rate")
    parser.add_argument("--warm-up", type=float, default=10, help="seconds before that")
    parser.add_argument("--dispatchers", default="local,dbos")
    parser.add_argument("--steps", type=int, default=3, help="of each session")
    parser.add_argument("--pause-ms", type=int, default=2000, help="between two steps")
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("--kills", type=int, default=10, help="of hosts, in --chaos")
    parser.add_argument("--restarts", type=int, default=4, help="of the server, in --chaos")
    parser.add_argument("--only", default="", help="the rounds of --chaos to run, by their names")
    return parser


def _starts(said: argparse.Namespace) -> None:
    from bench._fleet_starts import KEEPS_UP, Shape, measure

    phones = said.hosts * said.phones
    # 500 phones, each with a session every 10 s: 50 a second.
    rates = [float(word) for word in (said.rate or f"{phones / 10:g},0").split(",")]
    room = {"max_connections": str(60 + 12 * (said.hosts + said.consoles))}
    found: list[tuple[Shape, Measured]] = []
    for dispatcher in said.dispatchers.split(","):
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
            with running_server(is_durable=True, **room) as server:
                found.append((shape, asyncio.run(measure(server, shape))))
    print(
        f"{said.hosts} host processes of {said.phones} phones, {said.consoles} consoles, "
        f"sessions of {said.steps} steps with {said.pause_ms / 1000:g} s between two, "
        f"{os.cpu_count()} cores\n"
    )
    heads = [
        f"{shape.dispatcher}, {f'{shape.rate:g} a second' if shape.rate else 'all at once'}"
        for shape, _ in found
    ]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(found) + 1) + "|")
    for what, cells in _rows([one for _, one in found], KEEPS_UP):
        print(f"| {what} | " + " | ".join(cells) + " |")


def _rows(found: list[Measured], keeps_up: float) -> list[tuple[str, list[str]]]:
    def at(values: list[float], *parts: float) -> str:
        return " / ".join(f"{_at(values, part):,.0f}" for part in parts) + " ms"

    return [
        ("asked for → started, p50 / p99", [at(one.started_ms, 0.5, 0.99) for one in found]),
        ("stored → at a console, p50 / p99", [at(one.seen_ms, 0.5, 0.99) for one in found]),
        (
            "started within a second of the last request",
            [
                f"{one.in_time:.1%}{'' if one.in_time >= keeps_up else ': did not keep up'}"
                for one in found
            ],
        ),
        ("asked late by this process, p99", [at(one.late_ms, 0.99) for one in found]),
        ("steps a second", [f"{one.steps_s:,.0f}" for one in found]),
        (
            "CPU a session, hosts + server",
            [f"{one.host_cpu_ms:,.0f} + {one.server_cpu_ms:,.0f} ms" for one in found],
        ),
        ("transactions a session", [f"{one.transactions:,.0f}" for one in found]),
        ("CPU at work, with consoles", [f"{one.busy:.2f} cores" for one in found]),
        (
            "CPU idle, hosts + server",
            [f"{one.idle[0]:.2f} + {one.idle[1]:.2f} cores" for one in found],
        ),
        ("memory of a host, its own", [f"{one.memory_mb:,.0f} MB" for one in found]),
        ("connections", [f"{one.connections}" for one in found]),
        ("log", [one.log for one in found]),
    ]


def _at(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
