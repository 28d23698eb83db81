"""Virtual phones for a pool: many in one process, reset over adb, replaced when one dies.

Invariant: a reset phone is as it left the factory; a replacement has a home of its own, so nothing
of the dead one is met again.
"""

import asyncio
import shutil
import time
from pathlib import Path

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.pool.entries import PhoneAt, check_phone, warm_phone
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.errors import DeviceError

CONTROL_SOCKET = "localabstract:virtual-phone-control"
"""Where a virtual phone takes `reset` (docs/virtual-phone.md)."""
_RESET_TIMEOUT_S = 15.0
_ANSWER_LIMIT_BYTES = 4096
_RESTART_S = 20.0
_TRIES = 3
_PAUSE_S = 0.3


class VirtualFarm:
    """The process with the phones of a pool, shared by its entries.

    Args:
        folder: where the phones live; made when missing.
        server: the adb server that connects to them.
    """

    def __init__(self, folder: Path, server: AdbServer, *, count: int) -> None:
        self._folder = folder
        self._server = server
        self._phones = VirtualPhones(folder / "phones", server, count=count)
        self._replacements = 0
        self._starting: asyncio.Task[tuple[str, ...]] | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def phone(self, number: int) -> PhoneAt:
        """Return one of the phones, all of which are started at the first call."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._phones.start(), name="start virtual phones")
        serials = await asyncio.shield(self._starting)
        return PhoneAt(serials[number], self._server.address)

    async def another(self) -> tuple[VirtualPhones, PhoneAt]:
        """Start one more phone, in a process and a home of its own."""
        self._replacements += 1
        folder = self._folder / f"replacement-{self._replacements}"
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        phones = VirtualPhones(folder, self._server)
        (serial,) = await phones.start()
        return phones, PhoneAt(serial, self._server.address)

    async def reconnect(self, at: PhoneAt) -> None:
        """Reach a phone anew, also where our adb server died, or while the whole process is being
        started again.

        Raises DeviceError when the process runs and this phone stays away.
        """
        client = AdbClient(at.address)
        tries, deadline = 0, time.monotonic() + _RESTART_S
        while True:
            tries += 1
            try:
                await self._server.revive(at.address)
                await client.disconnect(at.serial)
                await client.connect(at.serial)
                await check_phone(at)
            except DeviceError:
                alone = self._phones.pid and tries >= _TRIES
                if alone or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_PAUSE_S)
            else:
                return

    async def stop(self) -> None:
        """End the phones, once for all entries; the adb server is not ours to end."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._phones.stop(), name="stop virtual phones")
        await asyncio.shield(self._stopping)


class VirtualEntry:
    """One virtual phone of a farm."""

    def __init__(
        self, farm: VirtualFarm, number: int, *, tags: frozenset[str] = frozenset()
    ) -> None:
        self._farm = farm
        self._number = number
        self._at: PhoneAt | None = None
        self._own: VirtualPhones | None = None
        self.tags = tags | {"virtual"}

    async def start(self) -> PhoneAt:
        self._at = await self._farm.phone(self._number)
        await check_phone(self._at)
        return self._at

    async def reset(self) -> None:
        """Put the phone back to how it left the factory."""
        at = self._here()
        client = AdbClient(at.address)
        async with client.open(at.serial, CONTROL_SOCKET, timeout_s=_RESET_TIMEOUT_S) as stream:
            stream.writer.write(b"reset\n")
            await stream.writer.drain()
            said = (await stream.rest(_ANSWER_LIMIT_BYTES)).decode("utf-8", "replace").strip()
        if said != "done":
            raise DeviceError(
                f"{at.serial} was not reset: {said or 'it gave no answer'}.",
                "It is replaced by another phone.",
            )
        await warm_phone(at)

    async def check(self) -> None:
        """Raise DeviceError when the phone does not answer."""
        await check_phone(self._here())

    async def replace(self) -> PhoneAt:
        """Connect to the phone anew; when it stays dead, start another one in its place."""
        at = self._here()
        try:
            await self._farm.reconnect(at)
        except DeviceError:
            old, (self._own, self._at) = self._own, await self._farm.another()
            if old is not None:
                await old.stop()
            await check_phone(self._at)
        return self._here()

    async def stop(self) -> None:
        """End the replacement, if there is one, and the farm: the whole pool ends."""
        if self._own is not None:
            await self._own.stop()
        await self._farm.stop()

    def _here(self) -> PhoneAt:
        if self._at is None:
            raise DeviceError("A virtual phone of the pool was never started.", "Open the pool.")
        return self._at
