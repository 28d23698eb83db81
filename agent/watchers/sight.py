"""Look at what watchers watch: the notifications and screens of phones, pages, the clock.

Not what counts as a match (`agent.watchers.matching`). Invariants: looking takes no lease and does
nothing to a phone; a phone that is away is no failure, for it comes back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar, assert_never, runtime_checkable

from msgspec.structs import replace

from agent.devices.device import Device, Rack
from agent.devices.notifications import Notification
from agent.errors import DeviceError, DeviceLostError
from agent.records import DeviceState, UiNode, Watcher, WatcherType
from agent.watchers.matching import (
    Look,
    notifications_look,
    page_look,
    screen_look,
    time_look,
)
from agent.watchers.reading import condition_of
from agent.watchers.web import fetch

LOOK_TIMEOUT_S = 15.0
T = TypeVar("T")
_log = logging.getLogger(__name__)


@runtime_checkable
class TellsNotifications(Protocol):
    """A device whose notifications can be listed."""

    async def notifications(self, *, timeout_s: float = 10.0) -> tuple[Notification, ...]:
        """List what is in the notification shade. Raises DeviceError."""
        ...


class Sight:
    """The eyes of the watchers of one core.

    Args:
        allow_private: whether pages of the local network may be watched.
    """

    def __init__(self, rack: Rack, *, allow_private: bool) -> None:
        self._rack = rack
        self._allow_private = allow_private

    async def look(self, watcher: Watcher, now_ms: int) -> Look:
        """Look once.

        Raises:
            WebError, UsageError: the page could not be fetched.
            DeviceError: no phone that is online told anything.
        """
        match watcher.type:
            case WatcherType.TIME:
                return time_look(watcher, now_ms)
            case WatcherType.WEB_CHANGE:
                url = condition_of(watcher).url
                return page_look(watcher, await fetch(url, allow_private=self._allow_private))
            case WatcherType.NOTIFICATION | WatcherType.MESSAGE_REPLY:
                return await self._look_at_phones(watcher, _notifications, notifications_look)
            case WatcherType.SCREEN_TEXT:
                return await self._look_at_phones(watcher, _nodes, screen_look)
            case _:
                assert_never(watcher.type)

    async def _look_at_phones(
        self,
        watcher: Watcher,
        read: Callable[[Device], Awaitable[Sequence[T]]],
        judge: Callable[[Watcher, str, Sequence[T]], Look],
    ) -> Look:
        serial = condition_of(watcher).serial
        online = [
            info.serial
            for info in self._rack.devices()
            if info.state is DeviceState.ONLINE and serial in ("", info.serial)
        ]
        told = await asyncio.gather(
            *(self._read(one, read) for one in online), return_exceptions=True
        )
        look = Look(marks=watcher.marks)
        failure: BaseException | None = None
        heard = 0
        for one, said in zip(online, told, strict=True):
            if isinstance(said, DeviceLostError):
                continue
            if isinstance(said, BaseException):
                failure = said
                continue
            heard += 1
            known = replace(watcher, marks=look.marks if look.marks is not None else {})
            new = judge(known, one, said)
            look = Look(matches=look.matches + new.matches, marks=new.marks)
        if failure is not None and not (heard and isinstance(failure, DeviceError)):
            raise failure
        if failure is not None:
            _log.info("Watcher %d could not look at every phone: %s", watcher.id, failure)
        return look

    async def _read(
        self, serial: str, read: Callable[[Device], Awaitable[Sequence[T]]]
    ) -> Sequence[T]:
        return await read(await self._rack.device(serial))


async def _notifications(device: Device) -> Sequence[Notification]:
    if not isinstance(device, TellsNotifications):
        raise DeviceError(f"{device.serial} cannot tell its notifications.")
    return await device.notifications(timeout_s=LOOK_TIMEOUT_S)


async def _nodes(device: Device) -> Sequence[UiNode]:
    return (await device.tree(timeout_s=LOOK_TIMEOUT_S)).nodes
