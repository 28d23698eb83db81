"""One run of the service: its port, its connections, and the one automation a phone allows.

Not the methods. Invariants: at most one run holds the phone's accessibility automation, and when
the shell that started it goes, the port and every connection go with it.
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from virtual_phone.display import capture
from virtual_phone.errors import PhoneError
from virtual_phone.server.pipes import Socket
from virtual_phone.uiautomator import web
from virtual_phone.uiautomator.device_methods import DeviceMethods
from virtual_phone.uiautomator.object_methods import ObjectMethods
from virtual_phone.uiautomator.rpc import MethodTable, answer
from virtual_phone.uiautomator.service import Service

if TYPE_CHECKING:
    from virtual_phone.shell.call import Call
    from virtual_phone.userland.sockets import Handler
    from virtual_phone.userland.userland import Userland

DEFAULT_PORT = 9008
LAST_PORT = 65535
CONNECTIONS_LIMIT = 64
USAGE = """usage: uiautomator2-server
 -h,--help         Print this help message
 -p,--port <arg>   Port to listen on (1-65535, default: 9008)"""
TAKEN = (
    "java.lang.IllegalStateException: UiAutomationService "
    "android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5deffd5already registered!"
)


async def run(call: Call, arguments: list[str]) -> int:
    """Serve until the shell goes or a client asks to stop; return the exit status."""
    if arguments[:1] in (["-h"], ["--help"]):
        await call.line(USAGE)
        return 0
    port = str(DEFAULT_PORT)
    if arguments:
        named = re.fullmatch(r"(?:-p|--port)(?:=(.*))?", arguments[0])
        value = named and (named.group(1) or "".join(arguments[1:2]))
        if not value:
            await call.err(f"Unrecognized option: {arguments[0]}")
            await call.line(USAGE)
            return 1
        port = value
    if not re.fullmatch(r"\d{1,5}", port) or not 1 <= int(port) <= LAST_PORT:
        await call.err(f"Invalid port: {port}. Must be between 1 and {LAST_PORT}.")
        return 1
    await call.line("[server] INFO: [UiAutomator2Server] Starting Server")
    if call.userland.automation is not None:
        await call.err(TAKEN)
        return 1
    server = Server(call.userland)
    call.userland.automation = server
    try:
        await server.serve(call, int(port))
    except PhoneError:
        await call.err("java.net.BindException: Address already in use")
        return 1
    finally:
        call.userland.automation = None
    return 0


class Server:
    """The connections of one run."""

    def __init__(self, userland: Userland) -> None:
        self._userland = userland
        self._table = MethodTable()
        service = Service(userland)
        DeviceMethods(service).register(self._table)
        ObjectMethods(service).register(self._table)
        self._stopped = asyncio.Event()
        self._open: set[Socket] = set()

    async def serve(self, call: Call, port: int) -> None:
        """Listen on a port of the phone until told to stop.

        Raises:
            PhoneError: somebody listens there already.
        """
        name = f"tcp:{port}"
        handler: Handler = self._connected
        self._userland.sockets.listen(name, handler)
        try:
            await call.line(f"[server] INFO: http server listening on *:{port}")
            await self._stopped.wait()
        finally:
            self._userland.sockets.close(name, handler)
            for socket in list(self._open):
                socket.close()

    async def _connected(self, socket: Socket) -> None:
        if len(self._open) >= CONNECTIONS_LIMIT:
            return
        self._open.add(socket)
        try:
            await self._converse(socket)
        finally:
            self._open.discard(socket)

    async def _converse(self, socket: Socket) -> None:
        requests = web.RequestReader(socket)
        while True:
            try:
                request = await requests.next()
            except web.RequestError as error:
                await socket.write(web.response(error.message.encode(), status=error.status))
                return
            if request is None:
                return
            await socket.write(await self._answer(request))
            if request.path == "/stop":
                self._stopped.set()
            if not request.keeps_alive:
                return

    async def _answer(self, request: web.Request) -> bytes:
        stays = request.keeps_alive
        match request.path:
            case "/ping":
                return web.response(b"pong", stays=stays)
            case "/stop":
                return web.response(b"Server stopped!!!", stays=stays)
            case "/screenshot/0":
                return web.response(await capture.png(self._userland), web.PNG, stays=stays)
            case "/jsonrpc/0" if request.body:
                return web.response(await answer(self._table, request.body), web.JSON, stays=stays)
            case "/jsonrpc/0":
                return web.response(
                    b"Invalid http post data!", status=HTTPStatus.INTERNAL_SERVER_ERROR, stays=stays
                )
            case _:
                return web.response(b"Not Found!!!", status=HTTPStatus.NOT_FOUND, stays=stays)
