"""Listen on this machine's loopback and serve an ASGI application there.

Not what is served, and not who may come in. Invariants: nothing but loopback is listened on; a
connection that asks nothing is closed, so that idle ones never use up the places of others.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from agent.errors import UsageError

NAMES = ("127.0.0.1", "localhost", "[::1]")
"""The host names of this machine."""
FIRST_REQUEST_S = 10.0
"""How long a connection may stand before the head of its first request has come."""
_CLOSE_S = 2


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to the command that runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """A connection that is closed when its first request does not come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, with a bound on the wait for the first request."""
        super().connection_made(transport)
        self.loop.call_later(FIRST_REQUEST_S, self._close_unasked)

    def _close_unasked(self) -> None:
        cycle: object = self.cycle
        if cycle is None:
            self.transport.close()


@asynccontextmanager
async def listening(
    make: Callable[[int], ASGIApp], *, port: int, at_once: int
) -> AsyncIterator[str]:
    """Serve for the length of a `with` block; yields the address, without a path.

    Args:
        make: makes the application, told the port that it is reached at.
        port: on this machine's loopback; 0: any free one.
        at_once: how many connections may stand; further ones get 503.

    Raises:
        UsageError: the port cannot be listened on.
    """
    # By name: asyncio sends small parts at once (TCP_NODELAY) only where the protocol is said. Else
    # a body waits for the client to acknowledge its head, 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            # From here on a client waits until the server is ready.
            listener.listen()
        except OSError as error:
            raise UsageError(
                f"127.0.0.1:{port} cannot be listened on: {error.strerror or error}.",
                "Choose another with --port, or 0 for any free one.",
            ) from error
        bound = int(listener.getsockname()[1])
        config = uvicorn.Config(
            make(bound),
            http=_Connection,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=at_once,
            timeout_graceful_shutdown=_CLOSE_S,
            lifespan="on",
        )
        server = _Uvicorn(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{bound}"
        finally:
            server.should_exit = True
            await task
