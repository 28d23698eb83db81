"""The endpoint that Prometheus scrapes: `/metrics` on this machine, for whoever has the token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry, make_asgi_app
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from console.http_api.gate import Gate
from console.loopback.listening import listening

DEFAULT_PORT = 9464  # OpenTelemetry's for a Prometheus exporter.
_AT_ONCE = 16


class _Page:
    """The metrics, as an application: a function would be called as a handler."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._app = make_asgi_app(registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@asynccontextmanager
async def serving_metrics(
    registry: CollectorRegistry, token: str, *, port: int = DEFAULT_PORT
) -> AsyncIterator[str]:
    """Serve for the length of a `with` block; yields the address of the metrics.

    Args:
        port: on this machine's loopback; 0: any free one.

    Raises:
        UsageError: the port cannot be listened on.
    """

    def app(bound: int) -> ASGIApp:
        return Starlette(
            # Both spellings answer: a scraper without redirects takes the one it was given.
            routes=[Route(path, _Page(registry)) for path in ("/metrics", "/metrics/")],
            middleware=[Middleware(Gate, token=token, port=bound)],
        )

    async with listening(app, port=port, at_once=_AT_ONCE) as address:
        yield f"{address}/metrics"
