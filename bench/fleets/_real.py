"""A measured fleet of real parts: hosts, virtual phones, adb servers, and clients as consoles.

Each host is `switchboard host serve`, which also writes down what it does, with an adb server and a
process of virtual phones to itself. A console is a client of a host's core that follows every
event. A session is the offline pilot's, which writes one note. They are asked for at a rate, in
turn on the phones; at a rate of 0 none is.
"""

import asyncio
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from bench.fleets._processes import below
from bench.fleets._starts import Idle, Measured, Shape, Watch, consoles, idle, offer
from tests.end_to_end.chaos.rack import Rack, rack
from tests.orphans import folder_prefix
from tests.store.postgres_server import PostgresServer

_IDLE_S = 30.0  # So much that what hosts do now and then, as looking at batteries, is in it.


class _Notes:
    """Sessions that write a note each, in turn on the phones of a fleet."""

    def __init__(self, one: Rack) -> None:
        self._fleet = one
        self._hosts = sorted(one.phones)

    async def ask(self, number: int) -> str:
        turn, which = divmod(number, len(self._hosts))
        serials = self._fleet.phones[host := self._hosts[which]]
        serial = serials[turn % len(serials)]
        return await self._fleet.begin_notes(host, serial, f"note {number}", 1)

    async def rest(self) -> None:
        await self._fleet.until_rest()

    async def look(self) -> str:
        found = await self._fleet.look()
        for line in found.why[:20]:
            print(line, file=sys.stderr)
        return (
            f"{'exact' if found.is_exact else 'NOT EXACT'}: {found.events:,} events, "
            f"{found.completed} done, {found.failed} failed, {found.waiting} wait"
        )


async def measure(server: PostgresServer, shape: Shape) -> tuple[Idle, Measured | None]:
    """Run a fleet once; at a rate of 0 only idle."""
    watch = Watch()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=folder_prefix("rig"))))
        one = await stack.enter_async_context(rack(server, folder, dispatcher=shape.dispatcher))
        began_s = time.monotonic()
        await _start(one, shape)
        online_s = time.monotonic() - began_s
        stack.callback(one.store.subscribe(watch))
        names = sorted(one.hosts)
        following = await stack.enter_async_context(
            consoles(
                *(
                    ((), one.environment(names[number % len(names)]))
                    for number in range(shape.consoles)
                )
            )
        )
        kinds = {
            "hosts": [process.pid for process in one.hosts.values()],
            "phones": below(*(process.pid for process in one.servers_of_phones.values())),
            "adb": _adb_servers(one),
            "consoles": [process.pid for process in following],
        }
        rested = (await idle(server, kinds, _IDLE_S))._replace(online_s=online_s)
        if not shape.rate:
            return rested, None
        return rested, await offer(
            server,
            shape,
            _Notes(one),
            watch,
            hosts=kinds["hosts"],
            others=[*kinds["phones"], *kinds["adb"]],
            consoles=following,
        )


async def _start(one: Rack, shape: Shape) -> None:
    """Start the phones and hosts, as many at once as there are processors."""
    turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def start(name: str) -> None:
        async with turns:
            await one.serve_phones(name, shape.phones)
            await one.start(name, phones=shape.phones)

    async with asyncio.TaskGroup() as group:
        for number in range(shape.hosts):
            group.create_task(start(f"host-{number}"))


def _adb_servers(one: Rack) -> list[int]:
    """Return the adb servers of the phones, and those that hosts started."""
    of_hosts = {process.pid for process in one.hosts.values()}
    return [
        *(process.pid for process in one.adb_servers.values()),
        *(pid for pid in below(*of_hosts) if pid not in of_hosts),
    ]
