"""Serve MCP over streamable HTTP on this machine, to whoever has the token.

The protocol and its sessions are the SDK's. Invariants: nothing is read of a request before its
token; a page in a browser cannot reach it (Host and Origin are checked); each MCP session has a
connection to the core of its own, which ends with it.
"""

import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.loopback.client_sessions import MAX_CLIENTS
from console.loopback.listening import NAMES, listening
from console.loopback.tokens import client_key, is_operators
from console.mcp.clients import HttpClients, operators_token
from console.mcp.server import PhoneServer

DEFAULT_PORT = 8431
MAX_BODY_BYTES = 1024 * 1024
"""No tool takes more; a model's arguments are a few kilobytes."""
_MAX_REQUESTS = 4 * MAX_CLIENTS
_MAX_SESSIONS = 8 * MAX_CLIENTS
"""Of the protocol: those of dead clients stay until their time-out and hold nothing."""


class _OneToken:
    """Recognise the operator's programs by their token; implements the SDK's TokenVerifier."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        if is_operators(token):
            # The core alone can judge it, when the client's connection is opened.
            return AccessToken(token="", client_id=client_key(token, ""), scopes=[])
        shown = token.encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(shown, self._token):
            return None
        return AccessToken(token="", client_id="operator", scopes=[])


class _Watched:
    """Track the clients whose event stream is open, and who has ended its session."""

    def __init__(self, app: ASGIApp, clients: HttpClients) -> None:
        self._app = app
        self._kept = clients.kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        session_id = headers.get(MCP_SESSION_ID_HEADER, "")
        token = operators_token(headers)
        session_id = client_key(token, session_id) if token else session_id
        stands = AsyncExitStack()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                if scope["method"] == "GET":
                    await stands.enter_async_context(self._kept.streaming(session_id))
                elif scope["method"] == "DELETE":
                    self._kept.drop(session_id)
            await send(message)

        async with stands:
            await self._app(scope, receive, watched)


def http_app(server: PhoneServer, clients: HttpClients, token: str, port: int) -> Starlette:
    """Return what answers at `/mcp`.

    Args:
        port: that it is reached at.
    """
    manager = StreamableHTTPSessionManager(
        server.server,
        security_settings=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in NAMES],
            allowed_origins=[f"http://{name}:{port}" for name in NAMES],
        ),
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=clients.kept.idle_s,
        max_sessions=_MAX_SESSIONS,
    )
    endpoint = RequireAuthMiddleware(_Watched(StreamableHTTPASGIApp(manager), clients), [])
    backend = BearerAuthBackend(_OneToken(token))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            try:
                yield
            finally:
                await clients.kept.close()

    return Starlette(
        routes=[Route("/mcp", endpoint)],
        middleware=[Middleware(AuthenticationMiddleware, backend=backend)],
        lifespan=lifespan,
    )


@asynccontextmanager
async def serving_http(
    server: PhoneServer, clients: HttpClients, token: str, *, port: int = DEFAULT_PORT
) -> AsyncIterator[str]:
    """Serve for the length of a `with` block; yields the address.

    Args:
        port: on this machine's loopback; 0: any free one.

    Raises:
        UsageError: the port cannot be listened on.
    """

    def made(bound: int) -> Starlette:
        return http_app(server, clients, token, bound)

    async with listening(made, port=port, at_once=_MAX_REQUESTS) as address:
        yield f"{address}/mcp"
