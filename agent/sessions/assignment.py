"""Which session gets which device: first come, first served, one session to a device.

Not the lease itself (the rack's), which also keeps the operator and other programs apart.
Invariant: within this core no device is promised to two turns.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.devices.device import Rack
from agent.errors import UsageError
from agent.records import DeviceInfo, DeviceState


@dataclass(eq=False)
class _Want:
    holder: str
    serial: str
    granted: asyncio.Future[str]


class Assignment:
    """Promises devices to turns."""

    def __init__(self, rack: Rack) -> None:
        self._rack = rack
        self._held: dict[str, str] = {}
        self._wants: list[_Want] = []

    async def reserve(self, holder: str, serial: str) -> str:
        """Wait for a device that is online and promised to nobody.

        Args:
            holder: the turn it is for.
            serial: the device that must be had; empty takes the first free one.

        Returns:
            The serial, promised until `release`.
        """
        want = _Want(holder, serial, asyncio.get_running_loop().create_future())
        self._wants.append(want)
        self.consider()
        try:
            return await want.granted
        except asyncio.CancelledError:
            if want in self._wants:
                self._wants.remove(want)
            self.release(holder)
            raise

    def release(self, holder: str) -> None:
        """Take a promise back."""
        self._held.pop(holder, None)
        self.consider()

    def consider(self) -> None:
        """Look again who can be served; call when a device has changed."""
        online = [info for info in self._rack.devices() if info.state is DeviceState.ONLINE]
        for want in tuple(self._wants):
            serial = self._pick(online, want.serial)
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
        known = [info.serial for info in self._rack.devices()]
        if serial in known:
            return
        remedy = (
            f"Known devices: {', '.join(known)}; or use a virtual one (run --virtual)."
            if known
            else "No device is connected; connect one, or use a virtual one (run --virtual)."
        )
        raise UsageError(f"There is no device {serial!r}.", remedy)

    def why_waiting(self, serial: str) -> str:
        """Say what a turn would wait for."""
        if not serial:
            return "waiting for a free device"
        for info in self._rack.devices():
            if info.serial == serial and info.state is not DeviceState.ONLINE:
                return f"waiting for {serial}, which is {info.state}"
        return f"waiting for {serial}"

    def _pick(self, online: list[DeviceInfo], serial: str) -> str | None:
        promised = set(self._held.values())
        for info in online:
            if info.serial in promised:
                continue
            if serial == info.serial or (not serial and not info.driver):
                return info.serial
        return None
