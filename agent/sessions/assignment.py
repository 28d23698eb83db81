"""Which device a turn works on: the one its session names, or the first that nobody wants.

Not the queue for a device (the dispatcher's) and not the lease on it (the rack's), which also keeps
the operator and other programs apart. Invariant: a turn that takes any device is never given one
that another turn has or waits for.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.devices.device import Rack
from agent.errors import UsageError
from agent.records import DeviceInfo, DeviceState
from agent.text import one_line


@dataclass(eq=False)
class _Want:
    holder: str
    granted: asyncio.Future[str]


class Assignment:
    """Promises devices to turns."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack
        self._held: dict[str, str] = {}
        self._wants: list[_Want] = []
        self._changed = asyncio.Event()

    async def place(self, holder: str, serial: str) -> str:
        """Say on which device a turn works; it is promised until `release`.

        Args:
            holder: the turn it is for.
            serial: the device that must be had, away or not; empty waits for one that is online
                and free, first come, first served.

        Returns:
            The serial.
        """
        if serial:
            self._held[holder] = serial
            return serial
        want = _Want(holder, asyncio.get_running_loop().create_future())
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
            serial = self._free()
            if serial is None:
                return
            if want.granted.done():
                continue
            self._held[want.holder] = serial
            self._wants.remove(want)
            want.granted.set_result(serial)

    def check_known(self, serial: str) -> None:
        """Refuse a serial that no device has.

        Raises:
            UsageError: unknown; the remedy names the serials that are known.
        """
        known = [info.serial for info in self._rack.devices()]
        if serial in known:
            return
        remedy = (
            f"Known devices: {', '.join(known)}; or use a virtual one (run --virtual)."
            if known
            else "No device is connected; connect one, or use a virtual one (run --virtual)."
        )
        raise UsageError(f"There is no device {one_line(serial, 80)!r}.", remedy)

    def why_waiting(self, serial: str) -> str:
        """Say what a turn would wait for."""
        if not serial:
            return "waiting for a free device"
        for info in self._rack.devices():
            if info.serial == serial and info.state is not DeviceState.ONLINE:
                return f"waiting for {serial}, which is {info.state}"
        return f"waiting for {serial}"

    def _online(self) -> list[DeviceInfo]:
        return [info for info in self._rack.devices() if info.state is DeviceState.ONLINE]

    def _free(self) -> str | None:
        promised = set(self._held.values())
        for info in self._online():
            if info.serial not in promised and not info.driver:
                return info.serial
        return None
