"""Clients of a server without connections of their own: known by a key, kept while they are there.

Invariant: what is kept for a client is closed once it has left, has hung up, or has been silent for
longer than its time-out.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent.errors import SwitchboardError, UsageError

MAX_CLIENTS = 32
"""Half of what a core's socket takes, so that consoles always find room."""
IDLE_S = 600.0
"""How long a client without an open stream may be silent: a model may think for minutes."""
HUNG_UP_S = 10.0
"""How long after it broke off a client may come back."""
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass
class _Client(Generic[T]):
    opening: asyncio.Task[T] | None = None
    busy: int = 0
    streams: int = 0
    had_stream: bool = False
    left_request: bool = False
    ending: asyncio.TimerHandle | None = field(default=None, repr=False)


class ClientSessions(Generic[T]):
    """What a server keeps for each of its clients.

    Args:
        open_for: opens it for a client, told the client's name.
        close: closes it.
        idle_s: how long a client may be silent.
        hung_up_s: how long a client that broke off may be silent.
    """

    def __init__(
        self,
        open_for: Callable[[str], Awaitable[T]],
        close: Callable[[T], Awaitable[None]],
        *,
        idle_s: float = IDLE_S,
        hung_up_s: float = HUNG_UP_S,
    ) -> None:
        self._open_for = open_for
        self._close = close
        self.idle_s = idle_s
        self._hung_up_s = hung_up_s
        self._clients: dict[str, _Client[T]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._clients)

    @asynccontextmanager
    async def using(self, key: str, name: str) -> AsyncIterator[T]:
        """Return what is kept for a client, opened by its first call.

        Raises:
            UsageError: too many are connected.
        """
        client = self._known(key)
        client.busy += 1
        client.left_request = False
        self._awake(client)
        try:
            if client.opening is None or _failed(client.opening):
                client.opening = asyncio.create_task(self._opened(name))
            # Several first calls at once wait for one.
            yield await asyncio.shield(client.opening)
        finally:
            client.busy -= 1
            self._rest(key, client)

    @asynccontextmanager
    async def streaming(self, key: str) -> AsyncIterator[None]:
        """Count the open event stream of a client: as long as it stands, the client is there."""
        client = self._known(key)
        client.streams += 1
        client.had_stream = True
        self._awake(client)
        try:
            yield
        finally:
            client.streams -= 1
            self._rest(key, client)

    def hung_up(self, key: str) -> None:
        """Note that a client did not wait for its answer: unless it asks again soon, it is gone."""
        client = self._clients.get(key)
        if client is not None:
            client.left_request = True

    def is_failed(self, key: str) -> bool:
        """Whether nothing could be opened for a client, and nobody else waits for it."""
        client = self._clients.get(key)
        return client is not None and client.opening is not None and _failed(client.opening)

    def drop(self, key: str) -> None:
        """Let go of a client that has said that it leaves."""
        client = self._clients.pop(key, None)
        if client is not None:
            self._awake(client)
            task = asyncio.create_task(self._closed(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Let go of all."""
        for key in tuple(self._clients):
            self.drop(key)
        await asyncio.gather(*self._closing)

    def _known(self, key: str) -> _Client[T]:
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= MAX_CLIENTS:
                raise UsageError(
                    f"The limit of {MAX_CLIENTS} clients is reached.",
                    "Try again when one has disconnected.",
                )
            client = self._clients[key] = _Client()
        return client

    async def _opened(self, name: str) -> T:
        return await self._open_for(name)

    def _awake(self, client: _Client[T]) -> None:
        if client.ending is not None:
            client.ending.cancel()
            client.ending = None

    def _rest(self, key: str, client: _Client[T]) -> None:
        if client.busy or client.streams or self._clients.get(key) is not client:
            return
        self._awake(client)
        broke_off = client.had_stream or client.left_request
        bound_s = self._hung_up_s if broke_off else self.idle_s
        loop = asyncio.get_running_loop()
        client.ending = loop.call_later(bound_s, self._expire, key, client)

    def _expire(self, key: str, client: _Client[T]) -> None:
        if self._clients.get(key) is client and not client.busy and not client.streams:
            _log.info("A client was silent for too long and was released")
            self.drop(key)

    async def _closed(self, client: _Client[T]) -> None:
        if client.opening is not None:
            with suppress(SwitchboardError, OSError):
                await self._close(await client.opening)


def _failed(task: asyncio.Task[T]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
