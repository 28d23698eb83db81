"""`reverse:`: listeners on the phone whose connections end on the computer.

Invariant: the phone opens streams to a computer only for destinations that this computer asked
for, and a rule ends with the connection that made it.

Format: packages/modules/adb, SERVICES.TXT: OKAY or FAIL, with a four-digit hex length before any
text; a list comes without OKAY.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from virtual_phone.adbd.connection import Connection
from virtual_phone.adbd.stream import Stream
from virtual_phone.errors import PhoneError
from virtual_phone.server.pipes import Socket
from virtual_phone.userland.sockets import Handler, SocketTable, canonical

MAX_RULES = 256
HALF_CLOSED_S = 2.0
"""ADB cannot say that one direction has ended; the answer to what was sent may take this long."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: where it listens on the phone, where it leads on the computer."""

    connection: Connection
    target: str
    handler: Handler


class ReverseRules:
    """The rules of one phone."""

    def __init__(self, sockets: SocketTable) -> None:
        self._sockets = sockets
        self._rules: dict[str, Rule] = {}

    async def serve(self, connection: Connection, stream: Stream, request: str) -> None:
        """Answer one `reverse:` request."""
        stream.accept()
        try:
            answer = self._handle(connection, request)
        except PhoneError as error:
            text = error.message.encode("utf-8", "surrogateescape")
            await stream.write(b"FAIL%04x" % len(text) + text)
        else:
            await stream.write(answer)

    def _handle(self, connection: Connection, request: str) -> bytes:
        verb, _, rest = request.partition(":")
        match verb:
            case "list-forward":
                text = "".join(
                    f"{self._label(connection)} {name} {rule.target}\n"
                    for name, rule in self._rules.items()
                ).encode("utf-8", "surrogateescape")
                return b"%04x" % len(text) + text
            case "killforward-all":
                for name in list(self._rules):
                    self._remove(name)
                return b"OKAY"
            case "killforward":
                name = canonical(rest)
                if name not in self._rules:
                    raise PhoneError(f"listener '{rest}' not found")
                self._remove(name)
                return b"OKAY"
            case "forward":
                return self._add(connection, rest)
            case _:
                raise PhoneError(f"unknown reverse request '{verb}'")

    @staticmethod
    def _label(connection: Connection) -> str:
        del connection
        return "host-19"

    def _add(self, connection: Connection, rest: str) -> bytes:
        keep = rest.startswith("norebind:")
        local, semicolon, target = rest.removeprefix("norebind:").partition(";")
        if not semicolon or not target:
            raise PhoneError("bad forward: a listener and a target are needed")
        if len(self._rules) >= MAX_RULES:
            raise PhoneError("too many reverse rules")
        name = canonical(local)
        if name in self._rules and keep:
            raise PhoneError(f"cannot rebind existing socket: {local}")

        async def handler(socket: Socket) -> None:
            await splice(await connection.open(target), socket)

        name = self._sockets.listen(name, handler, replace=name in self._rules)
        self._rules[name] = Rule(connection, target, handler)
        if canonical(local) != "tcp:0":
            return b"OKAY"
        port = name.partition(":")[2].encode("utf-8", "surrogateescape")
        return b"OKAY%04x" % len(port) + port

    def _remove(self, name: str) -> None:
        rule = self._rules.pop(name)
        self._sockets.close(name, rule.handler)

    def forget(self, connection: Connection) -> None:
        """Remove the rules of a connection that has ended."""
        for name, rule in list(self._rules.items()):
            if rule.connection is connection:
                self._remove(name)


async def splice(stream: Stream, socket: Socket) -> None:
    """Carry bytes both ways until one side has closed; what was sent before still arrives."""

    async def inwards() -> None:
        with contextlib.suppress(BrokenPipeError):
            while data := await stream.read(256 * 1024):
                await socket.write(data)
        # The peer closed both directions: who is at the other end need not wait for an answer.
        socket.close()

    async def outwards() -> None:
        with contextlib.suppress(BrokenPipeError):
            while data := await socket.read(256 * 1024):
                await stream.write(data)
        if socket.half_closed:
            await asyncio.wait({reading}, timeout=HALF_CLOSED_S)
        stream.close()

    reading = asyncio.create_task(inwards())
    tasks = [reading, asyncio.create_task(outwards())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.ALL_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        socket.close()
        stream.close()
