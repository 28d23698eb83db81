"""Who calls: one client over pipes, or many over HTTP, each with a connection to the core.

Not the transport. Invariant: what a client took is free once it has gone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request

from agent.core import Core
from agent.errors import NotAllowedError
from agent.operators.door import wrong_sign_in
from agent.text import one_line
from console.loopback.client_sessions import HUNG_UP_S, IDLE_S, ClientSessions
from console.loopback.tokens import client_key, is_operators
from console.mcp.tool import Connection

_PROGRAM_CHARS = 60

Context = ServerRequestContext[dict[str, Any]]
OpenCore = Callable[[str, str], Awaitable[Core]]
"""Connects under a name for people, by an operator's token where there is one."""


class Clients(Protocol):
    """Find the connection that a request belongs to."""

    def of(self, context: Context) -> AbstractAsyncContextManager[Connection]:
        """Return the connection of a request, kept for the length of a `with` block.

        Raises:
            SwitchboardError: no connection can be had.
        """


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


class HttpClients:
    """The clients of an HTTP server, each with a connection to the core of its own.

    A client is an MCP session. A client of protocol 2026-07-28, which has no sessions, is known by
    the name that it gives itself.

    Args:
        open_core: connects to the core under a name for people.
        exports: where sessions are exported to; None: nowhere.
        idle_s: how long a client may be silent.
        hung_up_s: how long a client whose event stream ended may be silent.
    """

    def __init__(
        self,
        open_core: OpenCore,
        *,
        exports: Path | None = None,
        idle_s: float = IDLE_S,
        hung_up_s: float = HUNG_UP_S,
    ) -> None:
        self._shown: dict[str, str] = {}
        """The tokens of operators, by client, for the length of an opening."""

        async def opened(key: str) -> Connection:
            program = self._programs.get(key, key)
            token = self._shown.get(key, "")
            if "\n" in key and not token:
                raise wrong_sign_in()  # Never by the server's own credentials.
            core = await open_core(program, token)
            return Connection(core, program, exports=exports)

        self._programs: dict[str, str] = {}

        self.kept: ClientSessions[Connection] = ClientSessions(
            opened, _close, idle_s=idle_s, hung_up_s=hung_up_s
        )

    def __len__(self) -> int:
        return len(self.kept)

    @asynccontextmanager
    async def of(self, context: Context) -> AsyncIterator[Connection]:
        """Return the connection of a request's client, opened by its first call."""
        program = program_of(context) or "an MCP client"
        key, token = _key(context, program), _operators_token(context)
        if token:
            # A session that another operator opened is not theirs.
            key = client_key(token, key)
            self._shown[key] = token
        self._programs[key] = program
        try:
            async with self.kept.using(key, key) as connection:
                yield connection
        except NotAllowedError:
            if self.kept.is_failed(key):
                self.kept.drop(key)
            raise
        finally:
            self._shown.pop(key, None)
            self._programs.pop(key, None)


async def _close(connection: Connection) -> None:
    connection.at_end.close()
    await connection.core.close()


def _key(context: Context, program: str) -> str:
    request = context.request
    if isinstance(request, Request) and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        session_id = request.headers.get(MCP_SESSION_ID_HEADER)
        if session_id:
            return session_id
    return f"{program} without a session"


def _operators_token(context: Context) -> str:
    request = context.request
    return operators_token(request.headers) if isinstance(request, Request) else ""


def operators_token(headers: Headers) -> str:
    """Return the operator's token that a request shows; empty where it shows none."""
    shown = headers.get("authorization", "")
    token = shown[len("bearer ") :].strip() if shown.lower().startswith("bearer ") else ""
    return token if is_operators(token) else ""


def program_of(context: Context) -> str:
    """Return what a client calls itself; empty where it does not say."""
    told = context.session.client_params
    return one_line(told.client_info.name, _PROGRAM_CHARS) if told is not None else ""
