"""Where the phones of a pool come from: the PoolEntry protocol, and phones that are there already.

A entry is one place in a pool. Invariant: `reset` leaves the phone as the next taker may expect it
or raises; nobody's app is cleared that was not named.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.health.admin import DeviceAdmin
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, DeviceLostError, TreeUnavailableError, UsageError

_PACKAGE = re.compile(r"[A-Za-z]\w*(\.\w+)+")
_CHECK_TIMEOUT_S = 5.0
_RESET_TIMEOUT_S = 30.0
_WARM_TIMEOUT_S = 20.0
_WARM_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class PhoneAt:
    """A phone that is there: its serial and the adb server that knows it."""

    serial: str
    address: ServerAddress


class PoolEntry(Protocol):
    """One place in a pool, from the pool's own event loop."""

    @property
    def tags(self) -> frozenset[str]:
        """What whoever takes a phone may ask for."""

    async def start(self) -> PhoneAt:
        """Have the phone there and usable. Raises DeviceError when it cannot be."""

    async def reset(self) -> None:
        """Make it ready for the next taker. Raises DeviceError when it cannot be."""

    async def check(self) -> None:
        """Raise DeviceError when the phone does not answer."""

    async def replace(self) -> PhoneAt:
        """Bring the phone back, or another one in its place. Raises DeviceError."""

    async def stop(self) -> None:
        """Let go of the phone, and end it if it was started for the pool."""


async def check_phone(at: PhoneAt) -> None:
    """Raise DeviceError when a phone's shell does not answer, or it has not started."""
    shell = PhoneShell(AdbClient(at.address), at.serial)
    said = (await shell.run("getprop sys.boot_completed", _CHECK_TIMEOUT_S)).text.strip()
    if said != "1":
        raise DeviceError(f"{at.serial} is still starting.", "Wait until it is up.")


async def warm_phone(at: PhoneAt) -> None:
    """Switch a phone's screen on and read its first UI tree, so that its taker need not wait.

    Raises DeviceError when the screen stays off or no tree comes in time.
    """
    client = AdbClient(at.address)
    await DeviceAdmin(client, at.serial).wake()
    device = AdbDevice(client, at.serial)
    until = time.monotonic() + _WARM_TIMEOUT_S
    try:
        while True:
            try:
                if (await device.tree()).nodes:
                    return
            except TreeUnavailableError:
                # Home is still being drawn, or another reader had the screen.
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(_WARM_PAUSE_S)
    finally:
        await device.close()


async def clear_apps(at: PhoneAt, packages: Sequence[str]) -> None:
    """Clear the data of apps, stop them, show the home screen and give back the keyboard."""
    shell = PhoneShell(AdbClient(at.address), at.serial)
    for package in packages:
        result = await shell.run(f"am force-stop {package}; pm clear {package}", _RESET_TIMEOUT_S)
        if "Success" not in result.text:
            raise shell.failure(f"pm clear {package}", result)
    await Keyboard(at.serial, shell.run).repair(_CHECK_TIMEOUT_S)
    await shell.checked("input keyevent 3", _CHECK_TIMEOUT_S)
    await warm_phone(at)


class RealEntry:
    """A phone or emulator that somebody else keeps running.

    Args:
        packages: the apps whose data is cleared after each use.
    """

    def __init__(
        self,
        address: ServerAddress,
        serial: str,
        *,
        packages: Sequence[str] = (),
        tags: frozenset[str] = frozenset(),
    ) -> None:
        for package in packages:
            if not _PACKAGE.fullmatch(package):
                raise UsageError(f"{package!r} is not the name of a package.", "Correct pool.apps.")
        self._at = PhoneAt(serial, address)
        self._packages = tuple(packages)
        self._tags = tags | {"real", serial}

    @property
    def tags(self) -> frozenset[str]:
        """Those that were given, `real`, and the serial."""
        return self._tags

    async def start(self) -> PhoneAt:
        """Check that it is there. Raises DeviceError when it is not."""
        await self.check()
        return self._at

    async def reset(self) -> None:
        """Clear the named apps and show the home screen."""
        await clear_apps(self._at, self._packages)

    async def check(self) -> None:
        """Raise DeviceError when it does not answer."""
        await check_phone(self._at)

    async def replace(self) -> PhoneAt:
        """Return the same phone if it came back: nothing else can stand in for it."""
        try:
            await self.check()
        except DeviceError as error:
            raise DeviceLostError(
                f"{self._at.serial} left the pool: {error.message}", error.remedy
            ) from error
        return self._at

    async def stop(self) -> None:
        """Do nothing: it was not started here."""
