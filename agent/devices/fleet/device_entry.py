"""What the fleet holds of one device, and how listeners hear of changes.

Not the fleet's rules. Invariant: a listener gets every change after it asked, in order.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from agent.devices.adb.device_list import DeviceRow
from agent.devices.adb.places import Place
from agent.devices.adb_device import AdbDevice
from agent.devices.frames.feed import FrameFeed
from agent.records import DeviceInfo, DeviceState


@dataclass(eq=False, slots=True)
class DeviceEntry:
    """What the fleet holds of one device."""

    info: DeviceInfo
    device: AdbDevice
    feed: FrameFeed
    place: Place
    transport_id: int = -1
    driving: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    """How many wait to drive it."""
    marked_until_s: float = 0.0
    """Until when, by the loop's clock, its mark as driven need not be renewed."""
    mark_epoch: int = 0
    """Of its mark as driven from here; 0 while none is known."""
    mark_looked_s: float = 0.0
    """When its mark was last looked after, by the loop's clock; 0 while nobody drives it."""
    taken_by: str = ""
    """Who took the phone over from its driver here; empty while nobody did."""
    asking: asyncio.Task[None] | None = None
    recognising: asyncio.Task[None] | None = None
    """Asks what came back at its address whether it is this device."""
    displaced: bool = False
    """Another device answers at its address."""
    silent: bool = False
    """Its server lists it as online, and it answers nothing."""
    away_with_server: bool = False
    """It was online when its server went away."""

    @property
    def serial(self) -> str:
        """The device's name in this core."""
        return self.info.serial

    @property
    def shares_serial(self) -> bool:
        """Whether another phone of its server has the same serial."""
        listed = self.info.listed_as
        return bool(listed) and self.place.serial.startswith(f"{listed}@")

    @property
    def is_online(self) -> bool:
        return self.info.state is DeviceState.ONLINE

    @property
    def is_doubted(self) -> bool:
        """Whether what answers at its address is, or may be, another device."""
        return self.displaced or self.recognising is not None


@dataclass(eq=False, slots=True)
class Newcomer:
    """A serial that is new, while it is asked whether it is a phone known under another."""

    row: DeviceRow
    online: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def see(self, row: DeviceRow) -> None:
        """Take in what its server says of it now."""
        self.row = row
        if row.state is DeviceState.ONLINE:
            self.online.set()

    def cancel(self) -> None:
        """Ask no more: it has gone."""
        if self.task is not None:
            self.task.cancel()


class Changes(AsyncIterator[DeviceInfo]):
    """One listener's changes, from the moment it asked for them."""

    LIMIT = 4096

    def __init__(self) -> None:
        self._waiting: deque[DeviceInfo] = deque(maxlen=self.LIMIT)
        self._arrived = asyncio.Event()
        self._ended = False

    def put(self, info: DeviceInfo) -> None:
        self._waiting.append(info)
        self._arrived.set()

    def end(self) -> None:
        """End the iteration once everything was heard."""
        self._ended = True
        self._arrived.set()

    async def __anext__(self) -> DeviceInfo:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()
