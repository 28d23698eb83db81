"""Watch the adb servers: follow what each pushes, notice those that die or fall silent, come back.

Not the registry of devices (`agent.devices.fleet.device_registry`). Invariants: devices are never
polled for; each server is watched by itself, so that one that is down costs the others nothing;
phones that were connected over the network when a server died are connected again by its successor.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.device_list import DeviceRow
from agent.devices.adb.discovery import find_again
from agent.devices.adb.liveness import until_server_is_silent
from agent.devices.adb.places import MDNS_CONNECT, is_wireless
from agent.devices.fleet.device_registry import DeviceRegistry
from agent.errors import DeviceError
from agent.records import DeviceState, identifies

START_TIMEOUT_S = 10.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0
SEEK_EVERY_S = 2.0
Revive = Callable[[ServerAddress], Awaitable[None]]
_log = logging.getLogger(__name__)


class Watch:
    """Keep a registry true to what its servers say."""

    def __init__(
        self,
        clients: Mapping[ServerAddress, AdbClient],
        registry: DeviceRegistry,
        revive: Revive | None,
    ) -> None:
        self._clients = clients
        self._registry = registry
        self._revive = revive
        self._tasks: list[asyncio.Task[None]] = []
        self._links: set[asyncio.Task[None]] = set()
        self._away: dict[ServerAddress, str] = {}
        self._changed = asyncio.Event()
        self._early: dict[ServerAddress, Sequence[DeviceRow]] | None = {}
        """First lists, until all are there: names then follow the order of the servers."""

    async def start(self) -> None:
        """Begin; returns when the first lists are there. Raises AdbError when no server answers."""
        if self._tasks:
            return
        first = {address: asyncio.Event() for address in self._clients}
        answers = await asyncio.gather(
            *(client.version() for client in self._clients.values()), return_exceptions=True
        )
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if len(failures) == len(answers):
            raise failures[0]
        self._tasks = [
            asyncio.create_task(self._track(address, first[address]), name=f"track {address}")
            for address in self._clients
        ]
        self._tasks.append(asyncio.create_task(self._seek(), name="seek wireless phones"))
        lists = [
            first[address].wait()
            for address, answer in zip(self._clients, answers, strict=True)
            if not isinstance(answer, BaseException)
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(START_TIMEOUT_S):
                await asyncio.gather(*lists)
        early, self._early = self._early or {}, None
        for address in self._clients:
            if address in early:
                self._registry.apply(address, early[address])

    @property
    def unreachable(self) -> Mapping[ServerAddress, str]:
        """The servers that do not answer now: why, and what to do about it."""
        return dict(self._away)

    @property
    def changed(self) -> asyncio.Event:
        """Set when a server goes away or answers again; taken before looking, it misses none."""
        return self._changed

    async def close(self) -> None:
        tasks = [*self._tasks, *self._links]
        self._tasks = []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _track(self, address: ServerAddress, listed: asyncio.Event) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await _first_failure(
                    self._listen(address, listed), until_server_is_silent(self._clients[address])
                )
            except DeviceError as error:
                if address not in self._away:
                    # Why it went, not how each attempt to reach it since has failed.
                    self._away[address] = str(error)
                    self._signal()
                self._registry.lose_server(address, error)
            if asyncio.get_running_loop().time() - began > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            await asyncio.sleep(pause_s)
            if self._revive is not None and pause_s > FIRST_PAUSE_S:
                # Its owner reports its own failure; the next round meets it here again.
                with suppress(DeviceError):
                    await self._revive(address)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _listen(self, address: ServerAddress, listed: asyncio.Event) -> None:
        is_first = True
        async for rows in self._clients[address].track_devices():
            if self._away.pop(address, ""):
                self._signal()
            if is_first:
                self._link_again(address, rows)
                is_first = False
            if self._early is not None:
                self._early[address] = rows
            else:
                self._registry.apply(address, rows)
            listed.set()

    def _signal(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _link_again(self, address: ServerAddress, rows: Sequence[DeviceRow]) -> None:
        """Connect what was connected over the network when the server before this one died."""
        listed = {row.serial for row in rows}
        for entry in self._registry.entries:
            serial = entry.place.serial
            if not (entry.away_with_server and entry.place.address == address):
                continue
            entry.away_with_server = False
            if serial not in listed and is_wireless(serial) and MDNS_CONNECT not in serial:
                self._link(address, serial)

    def _link(self, address: ServerAddress, target: str) -> None:
        async def connect() -> None:
            try:
                await self._clients[address].connect(target)
            except DeviceError as error:
                _log.info("A wireless phone was not connected again: %s", error)

        task = asyncio.create_task(connect(), name=f"connect {target}")
        self._links.add(task)
        task.add_done_callback(self._links.discard)

    async def _seek(self) -> None:
        """While a wireless phone is away, look by mDNS whether it is on another port."""
        while True:
            changed = self._registry.changed
            missing = [
                entry
                for entry in self._registry.entries
                if entry.info.state is DeviceState.GONE
                and is_wireless(entry.place.serial)
                and not entry.info.virtual
                and identifies(entry.info.hardware_serial)
            ]
            if not missing:
                await changed.wait()
                continue
            for entry in missing:
                client = self._registry.client(entry)
                try:
                    target = await find_again(client, entry.info.hardware_serial)
                    if target and entry.info.state is DeviceState.GONE:
                        await client.connect(target)
                except DeviceError as error:
                    _log.debug("No wireless phone was found again: %s", error)
            await asyncio.sleep(SEEK_EVERY_S)


async def _first_failure(*works: Coroutine[object, object, None]) -> None:
    """Do several things at once until one ends; the others are cancelled. Raises what it raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
