"""The façade every listener sees, embedded or over a socket: the Core protocol.

`agent.runtime.runtime.Runtime` is the core itself, `agent.rpc.remote_core.Client` the same over the
daemon's socket. Invariant: what a listener is given is already stored.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Protocol, TypeVar

import msgspec

from agent import records
from agent.errors import RuntimeDiedError
from agent.protocol import Answer, Event, FindSession, ListSessions, LookUp, Op, Reply
from agent.state.commit import Commit

Fact = TypeVar("Fact")


class TextDelta(msgspec.Struct, frozen=True, kw_only=True):
    """A model's text so far in a running step; the newest wins, none is stored."""

    session_id: str
    turn_id: str
    text: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The picture at one moment: a listener starts from it and follows events after `event_id`."""

    event_id: int
    sessions: tuple[records.Session, ...] = ()
    questions: tuple[records.Question, ...] = ()
    """Open ones, oldest first."""
    devices: tuple[records.DeviceInfo, ...] = ()
    servers_away: tuple[records.ServerAway, ...] = ()
    """The adb servers that do not answer now."""
    jobs: tuple[records.Job, ...] = ()
    watchers: tuple[records.Watcher, ...] = ()
    """All that look out for something or were not seen yet, and the newest others."""
    commitments: tuple[records.Commitment, ...] = ()
    """All that are not over, and the newest others."""
    notices: tuple[records.Notice, ...] = ()
    """Those that are shown, oldest first."""
    hosts: tuple[records.HostInfo, ...] = ()
    """Those of a fleet, by name; none where one core has the store to itself."""


class ClientInfo(msgspec.Struct, frozen=True):
    """One that gives ops: a connection to the socket, or the process of the core itself."""

    client_id: str
    name: str
    """For people: what it is, and its process; of an operator, whose it is first."""
    operator: str = ""
    """Who has signed in; empty where the core has no operators, and for its own process."""


OWNER = ClientInfo("owner", "the process of the core")
"""Who gives ops without a connection: the embedded console, jobs, a headless run."""


class CoreBase:
    """What every core does in the same way: it inherits this."""

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events; see `Core.events`."""
        raise NotImplementedError

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow commits; see `Core.commits`. One event each, where events come singly."""
        return _singly(self.events(after=after))

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`."""
        raise NotImplementedError

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[records.Session, ...]:
        """List sessions; see `ListSessions`."""
        return await self.look_up(ListSessions(limit=limit, before=before))

    async def session(self, session_id: str) -> records.Session:
        """Look a session up; see `FindSession`. Raises UsageError."""
        return await self.look_up(FindSession(session_id=session_id))


@asynccontextmanager
async def _singly(
    following: AbstractAsyncContextManager[AsyncIterator[Event]],
) -> AsyncIterator[AsyncIterator[Commit]]:
    async with following as events, aclosing(_each(events)) as commits:
        yield commits


async def _each(events: AsyncIterator[Event]) -> AsyncGenerator[Commit, None]:
    async for event in events:
        yield Commit((event,))


class Core(Protocol):
    """Submit ops, follow events, look things up."""

    async def submit(self, op: Op) -> str:
        """Queue an op and return its submission id; waits while 64 are queued.

        Raises RuntimeDiedError once the core has ended.
        """

    async def request(self, op: Op) -> Reply:
        """Submit an op and wait until it is carried out; raises what it failed with."""

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events: stored ones with a larger event id than `after` first, then live ones,
        without gap or repetition. None: live ones only.
        """

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow the same events as `events`, by what was stored together.

        In the process of the core each has the session records after it: folded once, by the store.
        """

    def deltas(self, session_id: str = "") -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what models write: of one session, at whichever host of a fleet it is, or of all
        sessions at the core's own host.
        """

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]: ...

    async def overview(self) -> Overview: ...

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up of `agent.protocol.look_ups`.

        Raises:
            UsageError: a parameter names nothing that exists.
            WrongStateError: only a core at work can answer it, and this is a closed store.
        """

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[records.Session, ...]:
        """List sessions; see `ListSessions`."""

    async def session(self, session_id: str) -> records.Session:
        """Look a session up; see `FindSession`. Raises UsageError."""

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events after one, in order; with a `before_seq`, the newest
        `limit` of those before it.
        """

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply. Raises StoreError when it is gone."""

    async def close(self) -> None: ...

    @property
    def death(self) -> RuntimeDiedError | None:
        """Why the core ended by itself; None where it has not, or was closed."""


class ForwardingCore(CoreBase):
    """A core that passes what looks on to another one; how it carries ops out is its own."""

    async def _reach(self) -> Core:
        """Return the other core, once it is there."""
        raise NotImplementedError

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events; see `Core.events`."""
        return self._following(lambda core: core.events(after=after))

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow commits; see `Core.commits`."""
        return self._following(lambda core: core.commits(after=after))

    def deltas(self, session_id: str = "") -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what models write; see `Core.deltas`."""
        return self._following(lambda core: core.deltas(session_id))

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]:
        """Follow the newest picture of a device; see `Core.frames`."""
        return self._following(
            lambda core: core.frames(serial, width_px=width_px, height_px=height_px, max_hz=max_hz)
        )

    @asynccontextmanager
    async def _following(
        self, follow: Callable[[Core], AbstractAsyncContextManager[AsyncIterator[Fact]]]
    ) -> AsyncIterator[AsyncIterator[Fact]]:
        async with follow(await self._reach()) as facts:
            yield facts

    async def overview(self) -> Overview:
        """Return the picture of one moment; see `Core.overview`."""
        return await (await self._reach()).overview()

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`."""
        return await (await self._reach()).look_up(query)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events; see `Core.history`."""
        return await (await self._reach()).history(
            session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def blob(self, digest: str) -> bytes:
        """Read a blob; see `Core.blob`."""
        return await (await self._reach()).blob(digest)

    async def close(self) -> None:
        """Close the other core, once it is there."""
        await (await self._reach()).close()


class Peers(Protocol):
    """The other hosts of a fleet, as one core works with them; see `agent.hosts.peers`."""

    host: str
    is_guest: bool
    unhosted: str
    """The host to which belongs what is marked as no host's."""

    def hosts(self) -> tuple[records.HostInfo, ...]: ...

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        """List the phones of the other hosts."""

    def is_there(self, host: str) -> bool:
        """Return whether a host answers, as far as is known."""

    async def request(self, host: str, client: ClientInfo, op: Op) -> Reply:
        """Have a host carry an op out."""

    async def leave(self, client: ClientInfo) -> None:
        """Have the hosts let go of all that a client had there."""

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]:
        """Follow the newest picture of another host's phone."""

    def deltas(
        self, host: str, session_id: str
    ) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow what the model of a session at another host writes."""

    def judged_by(self, judge: Callable[[str, Op], Awaitable[None]]) -> None:
        """Have each op that an operator asks of this host through another one judged here too."""
        ...

    def serve(self, core: Carrier) -> AbstractAsyncContextManager[None]:
        """Carry out what other hosts ask, for the length of a `with` block."""


class Carrier(Protocol):
    """What carries out the ops that come from other hosts."""

    async def request_as(self, client: ClientInfo, op: Op) -> Reply: ...

    async def leave(self, client: ClientInfo) -> None: ...


class SharedCore(Core, Protocol):
    """A core that several clients use, and that tells them apart."""

    async def submit_as(self, client: ClientInfo, op: Op) -> str:
        """Queue an op of a client; see `Core.submit`."""

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry an op of a client out; see `Core.request`."""

    async def leave(self, client: ClientInfo) -> None:
        """Let go of all that a client had: it has hung up or died."""
