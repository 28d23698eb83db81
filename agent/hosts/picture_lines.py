"""Connections to other hosts of a fleet, for the pictures and words that somebody looks at here.

Not the hosts themselves (`agent.hosts.peers`) and not their end (`agent.rpc.host_door`).
Invariants: a connection is open only while something is followed over it, and shortly after; what
was followed ends within five seconds of the end of its host, and says so; whoever answers in a
host's place shows nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agent.core import TextDelta
from agent.errors import (
    ConfigError,
    RuntimeDiedError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.records import FrameSource, FrameStatus, LiveFrame, host_of
from agent.rpc.host_door import HostShown, HostWire, read_wire
from agent.rpc.places import TlsPlace
from agent.rpc.remote_core import Client
from agent.rpc.rpc_client import RpcClient
from agent.rpc.subscriptions import MAX_SUBSCRIPTIONS
from agent.store.store import wall_clock_ms

LINGER_S = 5.0
"""How long a connection stays after the last look: who changes the phone or the size comes back."""
PING_S = 1.0
DEAD_S = 3.0
"""A host that does not answer for so long counts as gone for its pictures."""
RETRY_S = 1.0
_CONNECT_S = 3.0
_UNIX = "unix:"
_TLS = "tls://"
_MOST = MAX_SUBSCRIPTIONS - 4


class PictureLines:
    """The connections of one host to the others.

    Args:
        host: whose they are.
        wire: returns where another host is reached, as it says in the database; empty where it is
            not there, or says nothing.
        by_tls: returns the place of an address on another computer, with what verifies it; None
            for what is no such address.
        linger_s: how long a connection stays open after the last look.
    """

    def __init__(
        self,
        host: str,
        wire: Callable[[str], str],
        *,
        by_tls: Callable[[str], TlsPlace | None] = lambda _: None,
        linger_s: float = LINGER_S,
    ) -> None:
        self._host = host
        self._wire = wire
        self._by_tls = by_tls
        self._linger_s = linger_s
        self._lines: dict[str, list[_Line]] = {}
        self._connecting: dict[str, asyncio.Lock] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def open_to(self) -> tuple[str, ...]:
        return tuple(sorted(host for host, lines in self._lines.items() if lines))

    def round_trip_ms(self, host: str) -> float | None:
        """Return how long a question to a host and its answer took last; None where no connection
        is open to it.
        """
        for line in self._lines.get(host, ()):
            if line.caller.round_trip_s and not line.caller.died.is_set():
                return line.caller.round_trip_s * 1000
        return None

    def hang_up(self, host: str) -> None:
        """Close what is open to a host that is gone."""
        for line in self._lines.pop(host, []):
            self._close(line)

    async def close(self) -> None:
        self._is_closed = True
        for host in tuple(self._lines):
            self.hang_up(host)
        if self._closing:
            await asyncio.wait(self._closing)

    # --- following ----------

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        """Follow the newest picture of another host's phone; one that cannot be had is said in a
        frame without a picture, and asked for again.

        Raises UsageError for what its host refuses: there is no such phone.
        """
        following = self._frames(serial, width_px, height_px, max_hz)
        try:
            yield following
        finally:
            await following.aclose()

    async def _frames(
        self, serial: str, width_px: int, height_px: int, max_hz: float
    ) -> AsyncGenerator[LiveFrame, None]:
        host = host_of(serial)
        while True:
            why = f"Host {host} shows no more of it."
            try:
                async with (
                    self._line(host) as core,
                    core.frames(
                        serial, width_px=width_px, height_px=height_px, max_hz=max_hz
                    ) as frames,
                ):
                    async for frame in frames:
                        yield frame
            except UsageError:
                raise
            except SwitchboardError as error:
                why = error.message
            yield LiveFrame(
                serial=serial,
                width_px=width_px,
                height_px=height_px,
                rgb=b"",
                captured_ms=wall_clock_ms(),
                source=FrameSource.CAPTURE,
                status=FrameStatus.LOST,
                detail=why,
            )
            await asyncio.sleep(RETRY_S)

    @asynccontextmanager
    async def deltas(self, host: str, session_id: str) -> AsyncIterator[AsyncIterator[TextDelta]]:
        """Follow what the model of a session at another host writes.

        Raises SwitchboardError where the host does not answer.
        """
        async with self._line(host) as core, core.deltas(session_id) as deltas:
            yield deltas

    # --- connections ----------

    @asynccontextmanager
    async def _line(self, host: str) -> AsyncIterator[Client]:
        line = await self._take(host)
        try:
            yield line.core
        finally:
            line.users -= 1
            if line.caller.died.is_set() or self._is_closed:
                self._drop(host, line)
            elif not line.users:
                loop = asyncio.get_running_loop()
                line.leaving = loop.call_later(self._linger_s, self._drop, host, line)

    async def _take(self, host: str) -> _Line:
        async with self._connecting.setdefault(host, asyncio.Lock()):
            for line in tuple(self._lines.get(host, ())):
                if line.caller.died.is_set():
                    self._drop(host, line)
                elif line.users < _MOST:
                    line.hold()
                    line.users += 1
                    return line
            line = _Line(await self._connect(host))
            if self._is_closed:
                await line.caller.close()
                raise RuntimeDiedError("The core has been closed.", "Start it again.")
            self._lines.setdefault(host, []).append(line)
            return line

    async def _connect(self, host: str) -> RpcClient:
        said = self._wire(host)
        if not said:
            raise WrongStateError(f"Host {host} does not answer.", "Start it again.")
        wire: HostWire = read_wire(said)
        failure: Exception | None = None
        for written in wire.addresses:
            where = self._place(written)
            if where is None:
                continue
            try:
                return await RpcClient.connect(
                    where,
                    name=f"host {self._host}"[:80],
                    credentials=HostShown(self._host, host, wire.secret),
                    timeout_s=_CONNECT_S,
                    ping_every_s=PING_S,
                    dead_after_s=DEAD_S,
                )
            except (SwitchboardError, OSError) as error:
                failure = error
        # What is wrong with a certificate is for who looks to know, and to mend.
        why = f": {failure.message}" if isinstance(failure, ConfigError) else "."
        raise WrongStateError(
            f"The pictures of host {host} are not available here{why}",
            failure.remedy
            if isinstance(failure, ConfigError)
            else f"Attach to it: ssh -t {host} switchboard",
        ) from failure

    def _place(self, written: str) -> Path | TlsPlace | None:
        """Return what is connected to; None for an address of a kind that is not known here."""
        if written.startswith(_TLS):
            return self._by_tls(written)
        path = written.removeprefix(_UNIX)
        if path != written and path.startswith("/") and "\0" not in path:
            return Path(path)
        return None

    def _drop(self, host: str, line: _Line) -> None:
        lines = self._lines.get(host, [])
        if line in lines:
            lines.remove(line)
            self._close(line)
        if not lines:
            self._lines.pop(host, None)

    def _close(self, line: _Line) -> None:
        line.hold()
        closing = asyncio.create_task(line.caller.close(), name="closing of a host's pictures")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


class _Line:
    """One connection, and how many follow something over it."""

    def __init__(self, caller: RpcClient) -> None:
        self.caller = caller
        self.core = Client(caller)
        self.users = 1
        self.leaving: asyncio.TimerHandle | None = None

    def hold(self) -> None:
        """Let no timer close it any more."""
        if self.leaving is not None:
            self.leaving.cancel()
            self.leaving = None
