"""Two hosts of a fleet in one process: one that serves its pictures, and one that looks at them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from agent.core import TextDelta
from agent.errors import UsageError
from agent.hosts.picture_lines import PictureLines
from agent.operators.door import Door
from agent.records import LiveFrame
from agent.rpc.host_door import HostDoor
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import Daemon, serve
from agent.store.embedded.sqlite_store import SqliteStore
from tests.small_core import SmallCore

PATIENCE_S = 30.0
THERE = "rack-2"
PHONE = f"{THERE}/emulator-5554"


class OwnPhones:
    """The pictures and words of one host, of a small core."""

    def __init__(self, core: SmallCore) -> None:
        self.core = core
        self.followed: list[str] = []
        self.changed = asyncio.Condition()

    @asynccontextmanager
    async def frames_here(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        if serial != PHONE:
            raise UsageError(f"There is no device {serial!r}.")
        await self._note(serial, is_begun=True)
        try:
            async with self.core.frames(
                serial, width_px=width_px, height_px=height_px, max_hz=max_hz
            ) as frames:
                yield frames
        finally:
            await asyncio.shield(self._note(serial, is_begun=False))

    def deltas_here(self, session_id: str) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        return self.core.deltas(session_id)

    async def _note(self, serial: str, *, is_begun: bool) -> None:
        async with self.changed:
            if is_begun:
                self.followed.append(serial)
            else:
                self.followed.remove(serial)
            self.changed.notify_all()

    async def until_followed(self, *serials: str) -> None:
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(lambda: tuple(self.followed) == serials)


class Rack:
    def __init__(self, phones: OwnPhones, door: HostDoor, daemon: Daemon) -> None:
        self.phones = phones
        self.door = door
        self.daemon = daemon

    @property
    def wire(self) -> str:
        return self.door.wire(f"unix:{self.daemon.path}")


@asynccontextmanager
async def serving(
    directory: Path, *, host: str = THERE, door: Door | None = None
) -> AsyncIterator[Rack]:
    async with SqliteStore.open(directory) as store:
        phones = OwnPhones(SmallCore(store))
        host_door = HostDoor(host, phones)
        async with serve(
            phones.core, socket_path(directory), door=door, host_door=host_door
        ) as daemon:
            yield Rack(phones, host_door, daemon)


@asynccontextmanager
async def looking(wires: dict[str, str], *, linger_s: float = 0.0) -> AsyncIterator[PictureLines]:
    """Look from host rack-1."""
    lines = PictureLines("rack-1", lambda host: wires.get(host, ""), linger_s=linger_s)
    try:
        yield lines
    finally:
        await lines.close()


async def soon(frames: AsyncIterator[LiveFrame]) -> LiveFrame:
    async with asyncio.timeout(PATIENCE_S):
        return await anext(frames)
