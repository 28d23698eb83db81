"""A core that is still being opened: whoever asks it something waits until it is there.

So the console is on the terminal before the store and the phones are read. Not a core: it does and
keeps nothing of its own. Invariants: a call reaches the opened core unchanged, or is cancelled with
its caller, and none is answered from here; what is stored can be looked at before, and only that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from agent.core import Core, Overview, TextDelta
    from agent.protocol import Event, Op, Reply
    from agent.records import LiveFrame, SearchHit, Session, Spending
    from console.host import Host

Fact = TypeVar("Fact")


class ComingCore:
    """Implements `agent.core.Core` by waiting for another; make it in a running loop."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        """Set by the first call: from then on somebody waits."""
        loop = asyncio.get_running_loop()
        self._host: asyncio.Future[Host] = loop.create_future()
        self._stored: asyncio.Future[Overview | None] = loop.create_future()

    @property
    def host(self) -> Host | None:
        """What was opened; None before."""
        return self._host.result() if self._host.done() else None

    def came(self, host: Host) -> None:
        """Let every call through that waits, and all that come."""
        if not self._stored.done():
            self._stored.set_result(None)
        self._host.set_result(host)

    def found(self, stored: Overview) -> None:
        """Tell what is stored, before there is a core that has looked after it."""
        self._stored.set_result(stored)

    async def first_look(self) -> Overview | None:
        """Wait for what is stored; None when the core is there first, as another process's is."""
        return await asyncio.shield(self._stored)

    async def start_phone(self) -> str:
        """Give the serial of a virtual phone; see `Host.start_phone`."""
        return await (await self._opened()).start_phone()

    async def _opened(self) -> Host:
        self.wanted.set()
        # One caller that gives up must not take the future from the others.
        return await asyncio.shield(self._host)

    async def _core(self) -> Core:
        return (await self._opened()).core

    # --- Core ----------

    async def submit(self, op: Op) -> str:
        """Queue an op; see `Core.submit`."""
        return await (await self._core()).submit(op)

    async def request(self, op: Op) -> Reply:
        """Carry an op out; see `Core.request`."""
        return await (await self._core()).request(op)

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events; see `Core.events`."""
        return self._following(lambda core: core.events(after=after))

    def deltas(self) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what models write; see `Core.deltas`."""
        return self._following(lambda core: core.deltas())

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of a device; see `Core.frames`."""
        return self._following(
            lambda core: core.frames(serial, width_px=width_px, height_px=height_px, max_hz=max_hz)
        )

    @asynccontextmanager
    async def _following(
        self, follow: Callable[[Core], AbstractAsyncContextManager[AsyncIterator[Fact]]]
    ) -> AsyncIterator[AsyncIterator[Fact]]:
        async with follow(await self._core()) as facts:
            yield facts

    async def overview(self) -> Overview:
        """Give the picture of one moment; see `Core.overview`."""
        return await (await self._core()).overview()

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]:
        """List sessions; see `Core.sessions`."""
        return await (await self._core()).sessions(limit=limit, before=before)

    async def session(self, session_id: str) -> Session:
        """Look a session up; see `Core.session`."""
        return await (await self._core()).session(session_id)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events; see `Core.history`."""
        return await (await self._core()).history(
            session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Find events by words; see `Core.search`."""
        return await (await self._core()).search(query, limit=limit)

    async def spending(self, *, since_ms: int) -> Spending:
        """Add up what sessions used; see `Core.spending`."""
        return await (await self._core()).spending(since_ms=since_ms)

    async def blob(self, digest: str) -> bytes:
        """Read a blob; see `Core.blob`."""
        return await (await self._core()).blob(digest)

    async def close(self) -> None:
        """Close it, once it is there."""
        await (await self._core()).close()
