"""The phone's adbd: which service a stream opens, and the connections that are there.

Not the listener (see `virtual_phone.server.serve`). Invariant: an unknown or malformed service is
refused with CLSE and nothing else happens.

Names: packages/modules/adb, SERVICES.TXT.
"""

import asyncio
from collections.abc import Callable

from virtual_phone.adbd.connection import Connection, Gate
from virtual_phone.adbd.framebuffer import serve_framebuffer
from virtual_phone.adbd.reverse import ReverseRules, splice
from virtual_phone.adbd.shell_service import serve_exec, serve_shell, serve_words
from virtual_phone.adbd.stream import Stream
from virtual_phone.adbd.sync import SyncService
from virtual_phone.adbd.wire import Banner
from virtual_phone.errors import PhoneError
from virtual_phone.numbers import is_number
from virtual_phone.userland.userland import Userland

FEATURES = (
    *("shell_v2", "cmd", "stat_v2", "ls_v2", "apex", "abb"),
    *("fixed_push_symlink_timestamp", "abb_exec", "remount_shell", "track_app"),
    *("sendrecv_v2", "sendrecv_v2_dry_run_send"),
)
"""What the phone says that it can do, but for two things that it can.

Compression is not offered, as the peer is on the same machine; who insists gets it. Nor is
`fixed_push_mkdir`: adb makes empty folders only on phones that do not have it."""

MAX_CONNECTIONS = 64
SINK_LIMIT_BYTES = 16 * 1024**3


class AdbDaemon:
    """Serve one phone over ADB.

    Args:
        userland: the phone.
        gate: who may connect.
        reboot: called with the argument of `reboot:`.
    """

    def __init__(self, userland: Userland, *, gate: Gate, reboot: Callable[[str], None]) -> None:
        self._userland = userland
        self._reboot = reboot
        self._connections: set[Connection] = set()
        self._alone = asyncio.Event()
        self._alone.set()
        self.gate = gate
        self.reverse = ReverseRules(userland.sockets)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one TCP connection to its end."""
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.close()
            return
        connection = Connection(self, reader, writer)
        self._connections.add(connection)
        self._alone.clear()
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._alone.set()
            self.reverse.forget(connection)

    def disconnect(self) -> None:
        """Cut every connection, as a pulled cable would."""
        for connection in list(self._connections):
            connection.abort()

    async def wait_disconnected(self) -> None:
        """Wait until no adb server is connected."""
        await self._alone.wait()

    def banner(self, peer: Banner) -> bytes:
        """Return what CNXN says of this phone."""
        properties = self._userland.phone.properties
        features = [*FEATURES, *(["delayed_ack"] if "delayed_ack" in peer.features else [])]
        fields = [
            f"{key}={properties.get(key, '')}"
            for key in ("ro.product.name", "ro.product.model", "ro.product.device")
        ]
        return ("device::" + ";".join([*fields, "features=" + ",".join(features)])).encode()

    async def open(self, connection: Connection, service: str, stream: Stream) -> None:
        """Serve one stream to its end; raise PhoneError to refuse it."""
        userland = self._userland
        name, colon, rest = service.partition(":")
        kind, *arguments = name.split(",")
        match kind:
            case "shell" if colon:
                await serve_shell(userland, stream, arguments, rest)
            case "exec" if colon:
                await serve_exec(userland, stream, rest)
            case "abb" | "abb_exec" if colon:
                words = ["cmd", *(rest.split("\0") if rest else [])]
                await serve_words(userland, stream, words, framed=kind == "abb")
            case "sync":
                await SyncService(userland, stream).serve()
            case "framebuffer":
                await serve_framebuffer(userland, stream)
            case "reverse" if colon:
                await self.reverse.serve(connection, stream, rest)
            case "reboot":
                stream.accept()
                stream.close()
                asyncio.get_running_loop().call_soon(self._reboot, rest)
            case "root" | "unroot" | "remount" | "tcpip" | "usb":
                stream.accept()
                await stream.write(self._answer(kind, rest).encode())
            case "jdwp" if not colon:
                stream.accept()
            case "track-jdwp" | "track-app":
                stream.accept()
                await stream.write(b"0000" if kind == "track-jdwp" else b"")
                await stream.wait_closed()
            case "sink" if colon:
                await _serve_sink(stream, _count(rest))
            case "source" if colon:
                await _serve_source(stream, _count(rest))
            case "tcp" | "local" | "localabstract" | "localreserved" | "localfilesystem":
                peer = userland.sockets.connect(service)
                stream.accept()
                await splice(stream, peer)
            case _:
                raise PhoneError(f"the phone has no ADB service {service[:80]!r}")

    def _answer(self, kind: str, argument: str) -> str:
        match kind:
            case "root":
                return "adbd cannot run as root in production builds\n"
            case "unroot":
                return "adbd not running as root\n"
            case "remount":
                return 'Not running as root. Try "adb root" first.\n'
            case "tcpip" if not (is_number(argument) and 0 < int(argument) < 65536):
                return "invalid port\n"
            case "tcpip":
                return "this phone listens on its own TCP port only\n"
            case _:
                return "this phone has no USB port\n"


def _count(text: str) -> int:
    if not is_number(text) or int(text) > SINK_LIMIT_BYTES:
        raise PhoneError(f"{text[:40]!r} is not a number of bytes")
    return int(text)


async def _serve_sink(stream: Stream, count: int) -> None:
    stream.accept()
    while count > 0 and (data := await stream.read(min(count, 1024 * 1024))):
        count -= len(data)


async def _serve_source(stream: Stream, count: int) -> None:
    stream.accept()
    while count > 0:
        size = min(count, 256 * 1024)
        await stream.write(bytes(size))
        count -= size
