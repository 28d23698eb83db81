"""Every device that the adb servers know, and who drives which.

It follows the servers' own pushes and polls nothing. Not a pool and not a scheduler. Invariants: a
device that was seen stays known, as GONE while it is away; one driver per device in this process;
a server that dies takes its devices to GONE and is asked again, with pauses, until it is back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from weakref import WeakSet

import msgspec

from agent.devices.adb import AdbDevice
from agent.devices.address import ServerAddress
from agent.devices.client import AdbClient
from agent.devices.device import Capture, Device
from agent.devices.frames import FrameFeed
from agent.devices.rows import DeviceRow, explain
from agent.errors import DeviceError, DeviceLostError, UsageError
from agent.records import DeviceInfo, DeviceState, LiveFrame

START_TIMEOUT_S = 10.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0
PROFILE_PAUSE_S = 1.0
PROFILE_ATTEMPTS = 120
"""A phone that boots is asked about for two minutes."""

Revive = Callable[[ServerAddress], Awaitable[None]]


@dataclass(eq=False, slots=True)
class _Slot:
    """What the rack holds of one device."""

    info: DeviceInfo
    device: AdbDevice
    feed: FrameFeed
    address: ServerAddress
    transport_id: int
    wheel: asyncio.Lock = field(default_factory=asyncio.Lock)
    asking: asyncio.Task[None] | None = None


class _Changes(AsyncIterator[DeviceInfo]):
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
        self._ended = True
        self._arrived.set()

    async def __anext__(self) -> DeviceInfo:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()


class AdbRack:
    """Watch one or more adb servers and hand out their devices.

    Args:
        addresses: the servers; of a serial that two of them list, the first one's is used.
        revive: called when a server does not come back, so that its owner may start it again.
    """

    def __init__(self, addresses: Sequence[ServerAddress], *, revive: Revive | None = None) -> None:
        if not addresses:
            raise UsageError("A rack needs an adb server.", "Give the address of one.")
        self._clients = {address: AdbClient(address) for address in addresses}
        self._revive = revive
        self._slots: dict[str, _Slot] = {}
        self._listeners: WeakSet[_Changes] = WeakSet()
        self._changed = asyncio.Event()
        self._trackers: list[asyncio.Task[None]] = []

    # --- life ----------

    async def start(self) -> None:
        """Watch the servers; returns when the first list of devices is there.

        Raises AdbError when no server answers.
        """
        if self._trackers:
            return
        first = {address: asyncio.Event() for address in self._clients}
        answers = await asyncio.gather(
            *(client.version() for client in self._clients.values()), return_exceptions=True
        )
        failures = [answer for answer in answers if isinstance(answer, BaseException)]
        if len(failures) == len(answers):
            raise failures[0]
        self._trackers = [
            asyncio.create_task(self._track(address, first[address]), name=f"track {address}")
            for address in self._clients
        ]
        lists = [
            first[address].wait()
            for address, answer in zip(self._clients, answers, strict=True)
            if not isinstance(answer, BaseException)
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(START_TIMEOUT_S):
                await asyncio.gather(*lists)

    async def close(self) -> None:
        """Stop watching; listeners and frame readers end, devices are left as they are."""
        tasks = [*self._trackers, *(s.asking for s in self._slots.values() if s.asking)]
        self._trackers = []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(slot.feed.close() for slot in self._slots.values()))
        for listener in list(self._listeners):
            listener.end()
        self._signal()

    # --- looking ----------

    def devices(self) -> tuple[DeviceInfo, ...]:
        """List every device seen since the start, by serial; those away have state GONE."""
        return tuple(self._slots[serial].info for serial in sorted(self._slots))

    def changes(self) -> AsyncIterator[DeviceInfo]:
        """Follow devices from now on as they appear, change and go; ends with the rack."""
        listener = _Changes()
        self._listeners.add(listener)
        return listener

    async def device(self, serial: str) -> Device:
        """Give a device that is online.

        Raises UsageError for a serial never seen, DeviceLostError with the remedy when away.
        """
        slot = self._known(serial)
        if slot.info.state is not DeviceState.ONLINE:
            raise _away(slot.info)
        return slot.device

    async def wait_for(self, serial: str, *, timeout_s: float) -> Device:
        """Wait until a device is online, known or not yet; DeviceLostError when time runs out."""
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    changed = self._changed
                    slot = self._slots.get(serial)
                    if slot is not None and slot.info.state is DeviceState.ONLINE:
                        return slot.device
                    await changed.wait()
        except TimeoutError:
            slot = self._slots.get(serial)
            if slot is not None:
                raise _away(slot.info) from None
            raise DeviceLostError(
                f"No device {serial} appeared within {timeout_s:g} s.",
                "Plug it in, or look for its serial with `switchboard devices`.",
            ) from None

    # --- driving ----------

    @asynccontextmanager
    async def lease(self, serial: str, driver: str) -> AsyncIterator[Device]:
        """Drive a device alone for the length of the block; waiting drivers are served in order.

        Raises UsageError for a serial never seen, DeviceLostError when it is away.
        """
        slot = self._known(serial)
        async with slot.wheel:
            self._set(slot, msgspec.structs.replace(slot.info, driver=driver))
            try:
                yield await self.device(serial)
            finally:
                self._set(slot, msgspec.structs.replace(slot.info, driver=""))

    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[LiveFrame]:
        """Follow the newest picture, fitted into a box with its shape kept.

        Raises UsageError for a serial never seen. A device that is away gives frames that say so.
        """
        feed = self._known(serial).feed
        reading = feed.read(width_px=width_px, height_px=height_px, max_hz=max_hz)
        try:
            async for frame in reading:
                yield frame
        finally:
            await reading.aclose()

    # --- watching ----------

    async def _track(self, address: ServerAddress, listed: asyncio.Event) -> None:
        client = self._clients[address]
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                async for rows in client.track_devices():
                    self._apply(address, rows)
                    listed.set()
                    pause_s = FIRST_PAUSE_S
            except DeviceError as error:
                self._lose_server(address, error)
            await asyncio.sleep(pause_s)
            if self._revive is not None and pause_s > FIRST_PAUSE_S:
                # Its owner reports its own failure; the next round meets it here again.
                with suppress(DeviceError):
                    await self._revive(address)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _lose_server(self, address: ServerAddress, error: DeviceError) -> None:
        for slot in self._slots.values():
            if slot.address == address:
                self._set_state(slot, DeviceState.GONE, str(error))

    def _apply(self, address: ServerAddress, rows: Sequence[DeviceRow]) -> None:
        listed = {row.serial for row in rows}
        for row in rows:
            self._apply_row(address, row)
        for serial, slot in self._slots.items():
            if slot.address == address and serial not in listed:
                self._set_state(slot, DeviceState.GONE, explain(DeviceState.GONE))

    def _apply_row(self, address: ServerAddress, row: DeviceRow) -> None:
        slot = self._slots.get(row.serial)
        if slot is None:
            slot = self._add(address, row)
        elif slot.address != address:
            if slot.info.state is DeviceState.ONLINE or row.state is not DeviceState.ONLINE:
                return
            slot.address = address
            slot.device.move(self._clients[address])
        returned = slot.info.state is not DeviceState.ONLINE
        if row.state is DeviceState.ONLINE and (returned or row.transport_id != slot.transport_id):
            slot.transport_id = row.transport_id
            slot.device.forget()
            if slot.asking is not None:
                slot.asking.cancel()
            slot.asking = asyncio.create_task(self._ask(slot), name=f"ask {row.serial}")
        if row.state is not slot.info.state:
            self._set_state(slot, row.state, row.note)

    def _add(self, address: ServerAddress, row: DeviceRow) -> _Slot:
        serial = row.serial
        device = AdbDevice(
            self._clients[address], serial, on_action=lambda: self._slots[serial].feed.wake()
        )

        async def capture(timeout_s: float) -> Capture:
            return await device.capture(timeout_s=timeout_s)

        slot = _Slot(
            info=DeviceInfo(serial=serial, state=DeviceState.UNKNOWN, model=row.model),
            device=device,
            feed=FrameFeed(serial, capture, lambda: self._why_away(serial)),
            address=address,
            transport_id=-1,
        )
        self._slots[serial] = slot
        return slot

    async def _ask(self, slot: _Slot) -> None:
        """Learn what a device that came online is; again until it has started."""
        for _ in range(PROFILE_ATTEMPTS):
            try:
                known = await slot.device.info()
            except DeviceError as error:
                known = msgspec.structs.replace(slot.info, note=str(error))
            if slot.info.state is not DeviceState.ONLINE:
                return
            self._set(slot, msgspec.structs.replace(known, driver=slot.info.driver))
            if not known.note:
                return
            await asyncio.sleep(PROFILE_PAUSE_S)
            slot.device.forget()

    # --- state ----------

    def _known(self, serial: str) -> _Slot:
        slot = self._slots.get(serial)
        if slot is None:
            known = ", ".join(sorted(self._slots)) or "none"
            raise UsageError(f"No device {serial!r} is known.", f"Devices seen so far: {known}.")
        return slot

    def _why_away(self, serial: str) -> str:
        info = self._slots[serial].info
        return "" if info.state is DeviceState.ONLINE else str(_away(info))

    def _set_state(self, slot: _Slot, state: DeviceState, note: str) -> None:
        self._set(slot, msgspec.structs.replace(slot.info, state=state, note=note))

    def _set(self, slot: _Slot, info: DeviceInfo) -> None:
        if info == slot.info:
            return
        state_changed = info.state is not slot.info.state
        slot.info = info
        for listener in list(self._listeners):
            listener.put(info)
        if state_changed:
            slot.feed.wake()
        self._signal()

    def _signal(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _away(info: DeviceInfo) -> DeviceLostError:
    words = "gone" if info.state is DeviceState.GONE else info.state.value
    return DeviceLostError(f"The device {info.serial} is {words}.", info.note)
