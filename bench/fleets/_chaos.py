"""A fleet under force: real hosts with real phones on a PostgreSQL server of their own.

`python -m bench fleet --chaos --kills 50 --restarts 4`. Each round breaks one thing while the
offline pilot is at work on virtual phones, and compares the log, what hosts acknowledged, what an
observer saw, what was done on phones and what is on them. The control has no fences and has to be
caught. What this computer does not allow is left out, and said.
"""

import asyncio
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from tests.end_to_end.chaos import rounds
from tests.end_to_end.chaos.findings import Findings
from tests.end_to_end.chaos.network import namespace, why_not
from tests.orphans import folder_prefix
from tests.store.postgres_server import PostgresServer, running_server

Play = Callable[[PostgresServer, Path], Awaitable[Findings]]


class Round(NamedTuple):
    name: str
    what: str
    play: Play
    why_not: str = ""  # Why it cannot be played here; empty where it can.
    is_control: bool = False


def all_rounds(kills: int, restarts: int) -> tuple[Round, ...]:
    """List the rounds, and which cannot be played on this computer."""
    no_clock = "" if rounds.FAKETIME.exists() else "libfaketime is not installed"
    no_disk = "" if os.geteuid() == 0 else "a small disk takes root"
    no_net = why_not()
    no_queues = "" if importlib.util.find_spec("dbos") else "dbos is not installed"
    hour = rounds.HOUR_S
    return (
        Round(
            "kills", f"{kills} × kill -9 of a host", lambda s, f: rounds.kills(s, f, times=kills)
        ),
        Round(
            "queues",
            f"{-(-kills // 5)} × kill -9, with queues of DBOS",
            lambda s, f: rounds.kills(s, f, times=-(-kills // 5), dispatcher="dbos"),
            no_queues,
        ),
        Round("freeze", "a host frozen, its sessions taken, thawed", rounds.freeze),
        Round("cut", "a host cut off, joined again", _cut(moves=False), no_net),
        Round("cutmove", "a host cut off, its sessions taken", _cut(moves=True), no_net),
        Round(
            "restarts",
            f"{restarts} × the server killed (-m immediate)",
            lambda s, f: rounds.restarts(s, f, times=restarts),
        ),
        Round(
            "clocks",
            "clocks +1 h and -1 h, frozen, taken",
            lambda s, f: rounds.freeze(s, f, clocks=(hour, -hour)),
            no_clock,
        ),
        Round("disk", "the database's disk full", lambda _, f: rounds.full_disk(f), no_disk),
        Round("consoles", "6 × kill -9 of a client", lambda s, f: rounds.consoles(s, f, times=3)),
        Round("ticks", "3 × kill -9 at a job's time", lambda s, f: rounds.ticks(s, f, times=3)),
        Round(
            "control",
            "the control: no fences, frozen, taken, thawed",
            lambda s, f: rounds.freeze(s, f, is_fenced=False),
            is_control=True,
        ),
    )


def chaos(kills: int, restarts: int, only: set[str]) -> bool:
    """Play the rounds and print what they found; returns whether all was as it has to be."""
    print("| what | sessions | done | wait | events | acts | lost | old epoch | twice | s |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    known = all_rounds(kills, restarts)
    if unknown := only - {one.name for one in known}:
        sys.exit(f"There are no rounds {', '.join(sorted(unknown))}.")
    return all([_is_right(one) for one in known if not only or one.name in only])


def _is_right(one: Round) -> bool:
    if one.why_not:
        print(f"| {one.what} | left out: {one.why_not} |", flush=True)
        return True
    began_s = time.monotonic()
    folder = tempfile.TemporaryDirectory(prefix=folder_prefix("rig"))
    with folder as name, running_server(is_durable=True) as server:
        found = asyncio.run(_played(one, server, Path(name)))
    print(
        f"| {one.what} | {found.sessions} | {found.completed} | {found.waiting} | {found.events:,} "
        f"| {found.acts:,} | {found.lost} | {found.old} | {found.twice + found.doubled} "
        f"| {time.monotonic() - began_s:,.0f} |",
        flush=True,
    )
    for line in found.why[:20] if not one.is_control else ():
        print(f"  {line}", file=sys.stderr, flush=True)
    return found.old > 0 if one.is_control else found.is_exact


async def _played(one: Round, server: PostgresServer, folder: Path) -> Findings:
    return await one.play(server, folder)


def _cut(*, moves: bool) -> Play:
    async def play(_server: PostgresServer, folder: Path) -> Findings:
        with (
            namespace() as net,
            running_server(is_durable=True, listen_addresses=net.database) as server,
        ):
            return await rounds.partition(server, folder, net, moves=moves)

    return play
