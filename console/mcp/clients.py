"""Who calls: one client over pipes, or many over HTTP, each with a connection to the core.

Not the transport. Invariant: what a client took is free once it has hung up, or has been silent
for longer than its time-out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from agent.core import Core
from agent.errors import SwitchboardError, UsageError
from agent.text import one_line
from console.mcp.tool import Connection

MAX_CLIENTS = 32
"""Half of what a core's socket takes, so that consoles always find room."""
IDLE_S = 600.0
"""How long a client without an open stream may be silent: a model may think for minutes."""
HUNG_UP_S = 10.0
"""How long after its event stream broke off a client may come back."""
_PROGRAM_CHARS = 60
_log = logging.getLogger(__name__)

Context = ServerRequestContext[dict[str, Any]]
OpenCore = Callable[[str], Awaitable[Core]]


class Clients(Protocol):
    """Find the connection that a request belongs to."""

    def of(self, context: Context) -> AbstractAsyncContextManager[Connection]:
        """Return the connection of a request, kept for the length of a `with` block.

        Raises:
            SwitchboardError: no connection can be had.
        """
        ...


class OneClient:
    """The client at the other end of a pipe: all requests are its.

    Args:
        connection: what it has begun and taken.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def of(self, context: Context) -> AsyncIterator[Connection]:
        """Return its connection, with the name that it gives itself."""
        self._connection.program = program_of(context) or self._connection.program
        yield self._connection


@dataclass
class _Client:
    opening: asyncio.Task[Connection] | None = None
    busy: int = 0
    streams: int = 0
    had_stream: bool = False
    ending: asyncio.TimerHandle | None = field(default=None, repr=False)


class HttpClients:
    """The clients of an HTTP server, each with a connection to the core of its own.

    A client is an MCP session. A client of protocol 2026-07-28, which has no sessions, is known by
    the name that it gives itself.

    Args:
        open_core: connects to the core under a name for people.
        idle_s: how long a client may be silent.
        hung_up_s: how long a client whose event stream ended may be silent.
    """

    def __init__(
        self, open_core: OpenCore, *, idle_s: float = IDLE_S, hung_up_s: float = HUNG_UP_S
    ) -> None:
        self._open_core = open_core
        self.idle_s = idle_s
        self._hung_up_s = hung_up_s
        self._clients: dict[str, _Client] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._clients)

    @asynccontextmanager
    async def of(self, context: Context) -> AsyncIterator[Connection]:
        """Return the connection of a request's client, opened by its first call."""
        program = program_of(context) or "an MCP client"
        key = _key(context, program)
        client = self._known(key)
        client.busy += 1
        self._awake(client)
        try:
            if client.opening is None or _failed(client.opening):
                client.opening = asyncio.create_task(self._opened(program))
            # Several first calls at once wait for one connection.
            yield await asyncio.shield(client.opening)
        finally:
            client.busy -= 1
            self._rest(key, client)

    @asynccontextmanager
    async def streaming(self, session_id: str) -> AsyncIterator[None]:
        """Count the open event stream of a client: as long as it stands, the client is there."""
        client = self._known(session_id)
        client.streams += 1
        client.had_stream = True
        self._awake(client)
        try:
            yield
        finally:
            client.streams -= 1
            self._rest(session_id, client)

    def drop(self, session_id: str) -> None:
        """Let go of a client that has ended its session."""
        client = self._clients.pop(session_id, None)
        if client is not None:
            self._awake(client)
            task = asyncio.create_task(_close(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Let go of all."""
        for key in tuple(self._clients):
            self.drop(key)
        await asyncio.gather(*self._closing)

    def _known(self, key: str) -> _Client:
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= MAX_CLIENTS:
                raise UsageError(
                    f"{MAX_CLIENTS} clients are connected.", "Try again when one has left."
                )
            client = self._clients[key] = _Client()
        return client

    async def _opened(self, program: str) -> Connection:
        return Connection(await self._open_core(program), program)

    def _awake(self, client: _Client) -> None:
        if client.ending is not None:
            client.ending.cancel()
            client.ending = None

    def _rest(self, key: str, client: _Client) -> None:
        if client.busy or client.streams or self._clients.get(key) is not client:
            return
        self._awake(client)
        bound_s = self._hung_up_s if client.had_stream else self.idle_s
        loop = asyncio.get_running_loop()
        client.ending = loop.call_later(bound_s, self._expire, key, client)

    def _expire(self, key: str, client: _Client) -> None:
        if self._clients.get(key) is client and not client.busy and not client.streams:
            _log.info("A client was silent for too long; what it held is free")
            self.drop(key)


def _failed(task: asyncio.Task[Connection]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _close(client: _Client) -> None:
    if client.opening is not None:
        with suppress(SwitchboardError, OSError):
            connection = await client.opening
            connection.at_end.close()
            await connection.core.close()


def _key(context: Context, program: str) -> str:
    request = context.request
    if isinstance(request, Request) and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        session_id = request.headers.get(MCP_SESSION_ID_HEADER)
        if session_id:
            return session_id
    return f"{program} without a session"


def program_of(context: Context) -> str:
    """Return what a client calls itself; empty where it does not say."""
    told = context.session.client_params
    return one_line(told.client_info.name, _PROGRAM_CHARS) if told is not None else ""
