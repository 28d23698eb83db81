"""Serve the page of paired phones to a network: by TLS, or behind a tunnel that speaks it.

Not what is answered (`console.paired.phone_page`). Invariants: nothing rests on a cookie, so a page
of another origin has nothing to use; a name that is not expected is refused (DNS rebinding); the
page runs only this server's scripts and speaks with this server alone.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from agent.errors import UsageError
from console.paired.page_messages import MOST_BYTES

PAGES = Path(__file__).parent / "pages"
FILES = {
    "/": ("page.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/card.js": ("card.js", "text/javascript"),
    "/signing.js": ("signing.js", "text/javascript"),
    "/wire.js": ("wire.js", "text/javascript"),
    "/notices.js": ("notices.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
    "/worker.js": ("worker.js", "text/javascript"),
    "/manifest.webmanifest": ("manifest.webmanifest", "application/manifest+json"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
GUARDS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_FOREIGN = "This page answers only to its own address.\n"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Reply = Callable[[bytes], Awaitable[bytes]]


def page_app(reply: Reply, origins: frozenset[str], authority: bytes = b"") -> web.Application:
    """Make the application.

    Args:
        reply: answers what the page sends.
        origins: the addresses that it is reached by, as `https://host:port`.
        authority: the certificate that phones may trust, in PEM; empty: it is a known one's.
    """
    hosts = frozenset(_host_of(one) for one in origins)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        is_own = request.host.lower() in hosts and (origin is None or origin.lower() in origins)
        if not is_own or request.headers.get("Sec-Fetch-Site", "none") not in _OWN_SITES:
            raise web.HTTPForbidden(text=_FOREIGN, headers=GUARDS)
        return await handler(request)

    async def speak(request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="Send application/json.\n")
        return web.Response(body=await reply(await request.read()), content_type="application/json")

    async def trust(_request: web.Request) -> web.Response:
        return web.Response(body=authority, content_type="application/x-x509-ca-cert")

    async def mark(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(GUARDS)

    app = web.Application(middlewares=[guard], client_max_size=MOST_BYTES)
    app.on_response_prepare.append(mark)
    for path, (name, kind) in FILES.items():
        app.router.add_get(path, page_file(name, kind))
    app.router.add_post("/speak", speak)
    if authority:
        app.router.add_get("/authority.crt", trust)
    return app


_OWN_SITES = frozenset({"none", "same-origin"})
"""How a browser says that a request is the page's own, or typed by its user (Fetch Metadata)."""


def page_file(name: str, kind: str) -> Handler:
    """Return what sends one file of the page."""

    async def send(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=(PAGES / name).read_bytes(), content_type=kind, charset="utf-8")

    return send


def _host_of(origin: str) -> str:
    return urlsplit(origin).netloc.lower()


@asynccontextmanager
async def serving(
    make: Callable[[int], web.Application], *, host: str, port: int, tls: ssl.SSLContext | None
) -> AsyncIterator[int]:
    """Serve for the length of a `with` block; yields the port.

    Args:
        make: makes the application, told the port.
        host: the address to listen on.
        port: 0 = any free one.
        tls: None behind a tunnel, which speaks it.

    Raises:
        UsageError: the address cannot be listened on.
    """
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {error.strerror or error}.",
                "Choose another with --port, or 0 for any free one.",
            ) from error
        bound = int(listener.getsockname()[1])
        runner = web.AppRunner(make(bound), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listener, ssl_context=tls).start()
            yield bound
        finally:
            await runner.cleanup()
