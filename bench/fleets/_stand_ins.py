"""A measured fleet of stand-ins: hosts without phones and models.

A session is `--steps` stored events with a pause between two. It is asked for as hosts ask each
other (`local`) or by a queue (`dbos`).
"""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from bench.fleets._starts import Idle, Measured, Shape, Watch, consoles, idle, offer
from tests.store.fleet.fleet_chaos import Fleet, fleet
from tests.store.postgres_server import PostgresServer


class _StandIns:
    def __init__(self, one: Fleet, watch: Watch) -> None:
        self._fleet = one
        self._watch = watch

    async def ask(self, number: int) -> str:
        one = self._fleet
        await one.ask(one.sessions[number], one.names[number % len(one.names)])
        return one.sessions[number]

    async def rest(self) -> None:
        async def have_ended() -> bool:
            return len(self._watch.ended) == len(self._fleet.sessions)

        await self._fleet.until(have_ended)

    async def look(self) -> str:
        found = await self._fleet.look()
        return f"{'exact' if found.is_exact else 'NOT EXACT'}: {found.stored:,} of {found.acted:,}"


async def measure(server: PostgresServer, shape: Shape) -> tuple[Idle, Measured]:
    """Run a fleet once."""
    watch = Watch()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        one = await stack.enter_async_context(
            fleet(
                server.new_database(),
                folder,
                hosts=shape.hosts,
                sessions=len(shape.moments()),
                phones=shape.hosts * shape.phones,
                steps=shape.steps,
                pause_ms=shape.pause_ms,
                dispatcher=shape.dispatcher,
            )
        )
        stack.callback(one.store.subscribe(watch))
        following = await stack.enter_async_context(
            consoles(
                *(((str(folder / "dsn"), f"console-{n}"), None) for n in range(shape.consoles))
            )
        )
        hosts = [process.pid for process in one.processes.values()]
        rested = await idle(server, {"hosts": hosts})
        work = _StandIns(one, watch)
        return rested, await offer(
            server, shape, work, watch, hosts=hosts, others=(), consoles=following
        )
