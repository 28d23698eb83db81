"""Serve consoles to a browser: a process for each tab, through textual-serve.

Not the core: every tab is a console that attaches to one. Invariants: it listens on this machine
unless told otherwise; nothing is fetched from elsewhere, neither scripts nor fonts; a tab that is
closed ends its process.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp_jinja2
from aiohttp import web
from textual_serve import download_manager
from textual_serve.server import Server

from agent.errors import UsageError
from console.web.gate import TOKEN, Gate, Handler
from console.web.phone_socket import OpenCore, serve_phone

_PAGES = Path(__file__).parent / "pages"
_FILES = ("console.js", "reopen.js", "touch.js", "phone.js", "console.css")
_FONT_PX = 16
_LARGEST_FONT_PX = 48
_DOWNLOAD_S = 60
"""How long a tab's process may take for the next part of a file. After its own 4 s textual-serve
ends the answer as if the file ended there."""


class ConsoleServer(Server):
    """textual-serve's server behind a gate, with a page and a phone panel of our own."""

    def __init__(
        self,
        command: str,
        gate: Gate,
        *,
        title: str,
        open_core: OpenCore,
        may_drive: bool,
        acts: Sequence[tuple[str, str]],
    ) -> None:
        super().__init__(command, title=title, templates_path=_PAGES)
        download_manager.DOWNLOAD_TIMEOUT = _DOWNLOAD_S
        self._gate = gate
        self._open_core = open_core
        self._may_drive = may_drive
        self._acts = acts
        self._connected: set[asyncio.Task[object]] = set()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        for name in _FILES:
            app.router.add_get(f"/{name}", _file(name))
        app.router.add_get("/phone", self._handle_phone)
        app.middlewares.append(self._gate.guard)
        app.on_response_prepare.append(self._gate.mark)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command that serves has its own words."""

    async def on_shutdown(self, app: web.Application) -> None:
        """End every tab at once; aiohttp would first wait for each to end by itself."""
        for task in self._connected:
            task.cancel()

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one console until its tab goes."""
        with self._connection():
            return await super().handle_websocket(request)

    async def handle_index(self, request: web.Request) -> web.Response:
        """Return the page, with addresses that lead back the way the browser came."""
        scheme = "wss" if request.secure else "ws"
        return aiohttp_jinja2.render_template(
            "console.html",
            request,
            {
                "title": self.title,
                "font_px": _font_px(request.query.get("fontsize", "")),
                "socket": f"{scheme}://{request.host}/ws",
                "acts": self._acts,
            },
        )

    async def _handle_phone(self, request: web.Request) -> web.StreamResponse:
        with self._connection():
            return await serve_phone(request, self._open_core, may_drive=self._may_drive)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._connected.add(task)
        try:
            yield
        finally:
            self._connected.discard(task)


def _file(name: str) -> Handler:
    async def send(_request: web.Request) -> web.StreamResponse:
        return web.FileResponse(_PAGES / name)

    return send


def _font_px(said: str) -> int:
    return min(int(said), _LARGEST_FONT_PX) if said.isdecimal() and said.isascii() else _FONT_PX


@asynccontextmanager
async def serving(
    command: str,
    *,
    host: str,
    port: int,
    names: frozenset[str],
    title: str,
    open_core: OpenCore,
    may_drive: bool,
    acts: Sequence[tuple[str, str]] = (),
) -> AsyncIterator[str]:
    """Serve for the length of a `with` block.

    Args:
        command: a shell's line that runs a console under textual's web driver.
        host: the address to listen on.
        port: the port; 0 = any free one.
        names: further host names that the server is reached by.
        title: what the browser's tab says.
        open_core: connects a tab's phone panel to the core.
        may_drive: whether the panel may act.
        acts: what a finger finds along the lower edge: the key that is pressed, and a word.

    Yields:
        The address to open, with the token of this run.

    Raises:
        UsageError: the address cannot be listened on.
    """
    gate = Gate(names)
    server = ConsoleServer(
        command, gate, title=title, open_core=open_core, may_drive=may_drive, acts=acts
    )
    # No access log: its lines would hold the token.
    runner = web.AppRunner(await server._make_app(), access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {error.strerror or error}.",
                "Choose another with --port, or 0 for any free one.",
            ) from error
        bound: tuple[str, int] = runner.addresses[0][:2]
        shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
        yield f"http://{shown}:{bound[1]}/?{TOKEN}={gate.token}"
    finally:
        await runner.cleanup()
