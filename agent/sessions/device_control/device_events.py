"""Turn what the fleet sees of phones into facts, and let waiting sessions look again.

Not the watch itself, which is the fleet's. Invariants: a device is told of only where something
about it is news, and of an adb server when it goes away and when it answers again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agent.errors import SwitchboardError
from agent.protocol import AdbServerChanged, DeviceChanged, ErrorEvent, EventMsg
from agent.records import DeviceInfo
from agent.sessions.registry.live_session import error_event
from agent.sessions.registry.services import Services
from agent.store.store import EventDraft
from agent.text import clean

_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class DeviceNews:
    """The news of one core's phones.

    Args:
        tell_error: stores what went wrong, for every listener.
    """

    def __init__(
        self, parts: Services, tell_error: Callable[[ErrorEvent], Awaitable[None]]
    ) -> None:
        self._parts = parts
        self._tell_error = tell_error
        self._told: dict[str, DeviceInfo] = {}
        self._away: dict[str, str] = {}

    async def run(self) -> None:
        """Turn what the fleet sees into events, and let waiting sessions look again."""
        told = ""
        while True:
            try:
                await self._follow()
            except SwitchboardError as error:
                _log.warning("The device watch failed: %s", error)
                # Once: an adb server that stays away would fill the store.
                if told != error.message:
                    told = error.message
                    await self._tell_error(error_event(error, retryable=True))
            await asyncio.sleep(_RETRY_S)

    async def _follow(self) -> None:
        fleet = self._parts.fleet
        changes = fleet.changes()
        upcoming = asyncio.ensure_future(anext(changes, None))
        servers = asyncio.ensure_future(fleet.servers_changed.wait())
        try:
            # Look once the watch is on, so that nothing falls between the two.
            await asyncio.sleep(0)
            self._parts.assignment.consider()
            await self.tell()
            await self._tell_servers()
            while True:
                either: set[asyncio.Future[Any]] = {upcoming, servers}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if servers.done():
                    servers = asyncio.ensure_future(fleet.servers_changed.wait())
                    await self._tell_servers()
                if upcoming.done():
                    if (info := upcoming.result()) is None:
                        return
                    upcoming = asyncio.ensure_future(anext(changes, None))
                    self._parts.assignment.device_changed(info)
                    await self.tell(info)
        finally:
            upcoming.cancel()
            servers.cancel()

    async def _tell_servers(self) -> None:
        """Store which adb servers went away, and which answer again, since that was last told."""
        now = {one.address: one.why for one in self._parts.fleet.servers_away()}
        news = {address: "" for address in self._away if address not in now}
        news |= {address: why for address, why in now.items() if self._away.get(address) != why}
        msgs = [AdbServerChanged(address=one, why=clean(why, 1000)) for one, why in news.items()]
        if msgs:
            await self._parts.store.append(*(EventDraft("", msg) for msg in msgs))
            self._away = now

    async def tell(self, *changed: DeviceInfo) -> None:
        """Store what differs from what was last told of each device."""
        now = {info.serial: info for info in (*changed, *self._parts.fleet.devices())}
        new = [info for info in now.values() if self._told.get(info.serial) != info]
        if not new:
            return
        msgs: list[EventMsg] = [DeviceChanged(device=info) for info in new]
        await self._parts.store.append(*(EventDraft("", msg) for msg in msgs))
        self._told.update((info.serial, info) for info in new)
