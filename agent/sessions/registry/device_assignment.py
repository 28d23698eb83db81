"""Which device a turn works on: the one its session names, or the first that nobody wants.

Not the queue for a device (the dispatcher's) and not the lease on it (the fleet's), which also
keeps the operator and other programs apart. Invariant: a turn that takes any device is never given
one that another turn has or waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from agent.devices.protocols import Fleet
from agent.errors import UsageError
from agent.records import DeviceInfo, DeviceState
from agent.text import one_line

MayUse: TypeAlias = Callable[[DeviceInfo], bool]
"""Tells whether a device is one that a turn may be given."""


@dataclass(eq=False)
class _Want:
    holder: str
    granted: asyncio.Future[str]
    first: str
    may_use: MayUse | None


class Assignment:
    """Promises devices to turns."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._held: dict[str, str] = {}
        self._wants: list[_Want] = []
        self._changed = asyncio.Event()

    async def place(self, holder: str, serial: str, may_use: MayUse | None = None) -> str:
        """Return the device that a turn works on; it is reserved until `release`.

        Args:
            holder: the turn it is for.
            serial: the device that must be had, away or not; empty waits for one that is online
                and free, first come, first served.
            may_use: which other devices will do as well: then the first that is free is had, and
                `serial` before the others.

        Returns:
            The serial.
        """
        if serial and may_use is None:
            self._held[holder] = serial
            return serial
        granted: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        want = _Want(holder, granted, serial, may_use)
        self._wants.append(want)
        self.consider()
        try:
            return await want.granted
        except asyncio.CancelledError:
            if want in self._wants:
                self._wants.remove(want)
            self.release(holder)
            raise

    async def until_online(self, serial: str) -> None:
        """Wait until a device is online."""
        while not any(info.serial == serial for info in self._online()):
            await self._changed.wait()

    def release(self, holder: str) -> None:
        """Take a promise back."""
        self._held.pop(holder, None)
        self.consider()

    def consider(self) -> None:
        """Look again who can be served; call when a device has changed."""
        self._changed.set()
        self._changed = asyncio.Event()
        for want in tuple(self._wants):
            serial = self._free(want)
            if serial is None or want.granted.done():
                continue
            self._held[want.holder] = serial
            self._wants.remove(want)
            want.granted.set_result(serial)

    def check_known(self, serial: str) -> None:
        """Refuse a serial that no device has.

        Raises:
            UsageError: unknown; the remedy names the serials that are known.
        """
        known = [info.serial for info in self._fleet.devices()]
        if serial in known:
            return
        remedy = (
            f"Known devices: {', '.join(known)}; or use a virtual one (run --virtual)."
            if known
            else "No device is connected; connect one, or use a virtual one (run --virtual)."
        )
        raise UsageError(f"There is no device {one_line(serial, 80)!r}.", remedy)

    def why_waiting(self, serial: str) -> str:
        """Return what a turn would wait for."""
        if not serial:
            return "waiting for a free device"
        for info in self._fleet.devices():
            if info.serial == serial and info.state is not DeviceState.ONLINE:
                return f"waiting for {serial}, which is {info.state}"
            if info.serial == serial and info.driver:
                return f"waiting for {serial}, which {info.driver} drives"
        return f"waiting for {serial}"

    def _online(self) -> list[DeviceInfo]:
        return [info for info in self._fleet.devices() if info.state is DeviceState.ONLINE]

    def is_free(self, info: DeviceInfo) -> bool:
        """Return whether a device is online, and neither driven nor promised."""
        here = info.state is DeviceState.ONLINE and not info.driver
        return here and info.serial not in self._held.values()

    def _free(self, want: _Want) -> str | None:
        free = [info for info in self._fleet.devices() if self.is_free(info)]
        if want.may_use is not None:
            free = [one for one in free if one.serial == want.first or want.may_use(one)]
        return min(free, key=lambda one: one.serial != want.first).serial if free else None
