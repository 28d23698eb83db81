"""The phone's own sockets by ADB name: `tcp:8080`, `localabstract:scrcpy`, `localfilesystem:/x`.

Not sockets of this machine: two phones may listen on the same port. Invariant: a connection is a
bounded pair inside the process, and its handler's task ends with the phone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from virtual_phone.errors import PhoneError
from virtual_phone.numbers import is_number
from virtual_phone.server.pipes import Socket, socket_pair

Handler = Callable[[Socket], Awaitable[None]]

FIRST_EPHEMERAL_PORT = 32768
LAST_PORT = 65535

_log = logging.getLogger(__name__)


def canonical(name: str) -> str:
    """Return the one spelling of a socket name (`local:` is `localreserved:` on a phone).

    Raises:
        PhoneError: not a kind of socket that exists on the phone.
    """
    kind, colon, rest = name.partition(":")
    if not colon or not rest:
        raise PhoneError(f"{name!r} is not a socket name", "Use KIND:NAME, e.g. tcp:8080.")
    match kind:
        case "tcp":
            host, _, port = rest.rpartition(":")
            if host not in ("", "localhost", "127.0.0.1") or not port.isascii():
                raise PhoneError(f"the phone has no route to {rest!r}", "Use tcp:PORT.")
            if not is_number(port) or not 0 <= int(port) <= LAST_PORT:
                raise PhoneError(f"{port!r} is not a TCP port", "Use a port from 0 to 65535.")
            return f"tcp:{int(port)}"
        case "local" | "localreserved":
            return f"localreserved:{rest}"
        case "localabstract" | "localfilesystem":
            return name
        case _:
            raise PhoneError(f"the phone has no sockets of the kind {kind!r}")


class SocketTable:
    """Who listens on the phone."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_port = FIRST_EPHEMERAL_PORT

    def listen(self, name: str, handler: Handler, *, replace: bool = False) -> str:
        """Serve connections to a name; return the name (with its port for `tcp:0`).

        Raises:
            PhoneError: somebody listens there already and `replace` is false.
        """
        name = canonical(name)
        if name == "tcp:0":
            name = self._free_port()
        if name in self._handlers and not replace:
            raise PhoneError(f"cannot bind listener: Address already in use ({name})")
        self._handlers[name] = handler
        return name

    def _free_port(self) -> str:
        for _ in range(LAST_PORT):
            name = f"tcp:{self._next_port}"
            self._next_port += 1
            if self._next_port > LAST_PORT:
                self._next_port = FIRST_EPHEMERAL_PORT
            if name not in self._handlers:
                return name
        raise PhoneError("the phone has no free TCP port")

    def close(self, name: str, handler: Handler | None = None) -> bool:
        """Stop listening; with a handler only when it is still the one. Return whether it was."""
        name = canonical(name)
        if name not in self._handlers:
            return False
        if handler is not None and self._handlers[name] is not handler:
            return False
        del self._handlers[name]
        return True

    def names(self) -> list[str]:
        """Return what is listened on, sorted."""
        return sorted(self._handlers)

    def connect(self, name: str) -> Socket:
        """Connect to a listener of the phone; raise PhoneError when nobody listens."""
        name = canonical(name)
        handler = self._handlers.get(name)
        if handler is None:
            raise PhoneError(f"nothing on the phone listens on {name}", "Start the service first.")
        client, server = socket_pair()
        task = asyncio.create_task(self._serve(name, handler, server))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return client

    async def _serve(self, name: str, handler: Handler, server: Socket) -> None:
        try:
            await handler(server)
        except (ConnectionError, EOFError, PhoneError) as error:
            _log.debug("connection to %s ended: %r", name, error)
        except Exception:
            _log.exception("the service on %s failed", name)
        finally:
            server.close()

    async def shut_down(self) -> None:
        """End every connection."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
