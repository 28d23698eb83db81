"""Define the Core protocol: the interface of a core, embedded or over a socket.

`agent.runtime.runtime.Runtime` is the core itself, `agent.rpc.remote_core.Client` a client over the
daemon's socket. Invariant: listeners receive only stored events.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Protocol, TypeVar

import msgspec

from agent import records
from agent.errors import RuntimeDiedError
from agent.protocol import Answer, Event, FindSession, HostForget, ListSessions, LookUp, Op, Reply
from agent.state.commit import Commit

Fact = TypeVar("Fact")


class TextDelta(msgspec.Struct, frozen=True, kw_only=True):
    """A model's text so far in a running step; the newest wins, none is stored."""

    session_id: str
    turn_id: str
    text: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The state at one moment: a listener starts from it and follows events after `event_id`."""

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
    """A client that submits ops: a connection to the socket, or the core's own process."""

    client_id: str
    name: str
    """For people: what it is, and its process; of an operator, whose it is first."""
    operator: str = ""
    """Who has signed in; empty where the core has no operators, and for its own process."""


OWNER = ClientInfo("owner", "the process of the core")
"""Who gives ops without a connection: the embedded console, jobs, a headless run."""


class CoreBase(ABC):
    """Shared behaviour of every core."""

    only_looks = False

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events; see `Core.events`. What only answers look-ups has none to follow."""
        raise NotImplementedError

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow commits; see `Core.commits`. Yields one event per commit where events arrive
        singly.
        """
        return _one_event_commits(self.events(after=after))

    @abstractmethod
    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up; see `Core.look_up`."""

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[records.Session, ...]:
        """List sessions; see `ListSessions`."""
        return await self.look_up(ListSessions(limit=limit, before=before))

    async def session(self, session_id: str) -> records.Session:
        """Find a session; see `FindSession`. Raises UsageError."""
        return await self.look_up(FindSession(session_id=session_id))


@asynccontextmanager
async def _one_event_commits(
    following: AbstractAsyncContextManager[AsyncIterator[Event]],
) -> AsyncIterator[AsyncIterator[Commit]]:
    async with following as events, aclosing(_each(events)) as commits:
        yield commits


async def _each(events: AsyncIterator[Event]) -> AsyncGenerator[Commit, None]:
    async for event in events:
        yield Commit((event,))


class Core(Protocol):
    """Submit ops, follow events, look things up."""

    only_looks: bool
    """Whether every op that changes something is refused."""

    async def submit(self, op: Op) -> str:
        """Queue an op and return its submission id; waits while 64 are queued.

        Raises RuntimeDiedError once the core has ended.
        """

    async def request(self, op: Op) -> Reply:
        """Submit an op and wait for its result; raises the op's error."""

    def events(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Follow events: stored ones with a larger event id than `after` first, then live ones,
        without gaps or duplicates. None: live events only.
        """

    def commits(
        self, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Commit]]:
        """Follow the same events as `events`, grouped by commit.

        In the core's own process each commit has the resulting session records, folded once by the
        store.
        """

    def deltas(self, session_id: str = "") -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow streamed model output: of one session, on any host of a fleet, or of all
        sessions of the core's own host.
        """

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]: ...

    async def overview(self) -> Overview: ...

    async def look_up(self, query: LookUp[Answer]) -> Answer:
        """Answer a look-up of `agent.protocol.look_ups`.

        Raises:
            UsageError: a parameter names nothing that exists.
            WrongStateError: only a running core can answer it, and this is a closed store.
        """

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[records.Session, ...]:
        """List sessions; see `ListSessions`."""

    async def session(self, session_id: str) -> records.Session:
        """Find a session; see `FindSession`. Raises UsageError."""

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events after a seq, in order; with a `before_seq`, the newest
        `limit` before it.
        """

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply. Raises StoreError when it is gone."""

    async def close(self) -> None: ...

    @property
    def death(self) -> RuntimeDiedError | None:
        """Return why the core failed; None if it has not, or was closed."""


class ForwardingCore(CoreBase):
    """A core that forwards look-ups and streams to another core; subclasses carry out ops."""

    @abstractmethod
    async def _reach(self) -> Core:
        """Return the other core, waiting until it is there."""

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
        """Follow streamed model output; see `Core.deltas`."""
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
        """Return the state at one moment; see `Core.overview`."""
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
        """Close the other core, waiting until it is there."""
        await (await self._reach()).close()


class Peers(Protocol):
    """The other hosts of a fleet, as a core uses them; see `agent.hosts.peers`."""

    host: str
    is_guest: bool
    unhosted: str  # The host to which belongs what is marked as no host's.

    def hosts(self) -> tuple[records.HostInfo, ...]: ...

    def devices(self) -> tuple[records.DeviceInfo, ...]:
        """List the phones of the other hosts."""

    def is_there(self, host: str) -> bool:
        """Return whether a host is known to answer."""

    async def request(self, host: str, client: ClientInfo, op: Op) -> Reply:
        """Have a host carry out an op."""

    async def forget(self, op: HostForget, submission_id: str, client: ClientInfo) -> None:
        """Remove a host that has left for good."""

    async def leave(self, client: ClientInfo) -> None:
        """Have the hosts release everything that a client held there."""

    def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AbstractAsyncContextManager[AsyncIterator[records.LiveFrame]]:
        """Follow the newest picture of another host's phone."""

    def deltas(
        self, host: str, session_id: str
    ) -> AbstractAsyncContextManager[AsyncIterator[TextDelta]]:
        """Follow streamed model output of a session on another host."""

    def judged_by(self, judge: Callable[[str, Op], Awaitable[None]]) -> None:
        """Set the check for ops that operators forward to this host through another one."""
        ...

    def serve(self, core: "Carrier") -> AbstractAsyncContextManager[None]:
        """Carry out other hosts' requests, for the length of a `with` block."""


class Carrier(Protocol):
    """The part that carries out ops from other hosts."""

    async def request_as(self, client: ClientInfo, op: Op) -> Reply: ...

    async def leave(self, client: ClientInfo) -> None: ...


class SharedCore(Core, Protocol):
    """A core that serves several clients and distinguishes them."""

    async def submit_as(self, client: ClientInfo, op: Op) -> str:
        """Queue an op of a client; see `Core.submit`."""

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry out a client's op; see `Core.request`."""

    async def leave(self, client: ClientInfo) -> None:
        """Release everything that a client held after it disconnected or died."""
