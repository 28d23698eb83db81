"""The channel to phones that another process serves: JSON lines on a unix socket in their home.

Not adb: it works while adb to a phone is cut, which is when faults need it. Invariants: only the
user who serves the phones can open the socket (mode 0600); lines, connections and waits are
bounded, so no client can hurt the phones.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import msgspec

from virtual_phone.errors import PhoneError
from virtual_phone.server.faults import parse_kind
from virtual_phone.server.unix_sockets import short_address
from virtual_phone.state import checkpoint, scenarios
from virtual_phone.well_formed import json_of

if TYPE_CHECKING:
    from virtual_phone.server.serve import PhoneHost
    from virtual_phone.server.served_phone import ServedPhone

SOCKET_NAME = "phones.sock"
MOST_CLIENTS = 16
LONGEST_REQUEST_BYTES = 64 * 1024
IDLE_S = 30.0


class _Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", omit_defaults=True):
    """What is asked of a served phone; `phone` is its name or serial."""

    phone: str


class BeginFault(_Request, frozen=True, kw_only=True, tag="fault"):
    """Begin a fault; without `duration_s` it stays until it is cleared."""

    kind: str
    value: float = 0.0
    duration_s: float | None = None


class ClearFaults(_Request, frozen=True, kw_only=True, tag="clear"):
    """End one fault, or all of them."""

    kind: str = ""


class ListFaults(_Request, frozen=True, kw_only=True, tag="faults"):
    """Return what is wrong now."""


class AskState(_Request, frozen=True, kw_only=True, tag="state"):
    """Return the phone's true state."""


class Reset(_Request, frozen=True, kw_only=True, tag="reset"):
    """Put the phone back to how it left the factory, its files too."""


class BeginScenario(_Request, frozen=True, kw_only=True, tag="scenario"):
    """Bring the phone into a named starting state; reset it before."""

    name: str


class TakeSnapshot(_Request, frozen=True, kw_only=True, tag="snapshot"):
    """Write all that the phone holds to a file; `path` is absolute."""

    path: str


class RestoreSnapshot(_Request, frozen=True, kw_only=True, tag="restore"):
    """Put the phone back to what such a file says."""

    path: str


class Swipe(_Request, frozen=True, kw_only=True, tag="swipe"):
    """Touch the phone as a person does, in a straight line or at a point; display pixels."""

    start: tuple[float, float]
    end: tuple[float, float]
    duration_ms: int = 80


class Turn(_Request, frozen=True, kw_only=True, tag="turn"):
    """Turn the phone as a hand does."""

    degrees: int


Request = (
    BeginFault
    | ClearFaults
    | ListFaults
    | AskState
    | Reset
    | BeginScenario
    | TakeSnapshot
    | RestoreSnapshot
    | Swipe
    | Turn
)


class ActiveFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that is there; `left_s` is None without an end."""

    kind: str
    value: float
    left_s: float | None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a request: `error` and `remedy` when it was refused."""

    faults: tuple[ActiveFault, ...] = ()
    state: dict[str, object] | None = None
    error: str = ""
    remedy: str = ""


def channel_path(home: Path) -> Path:
    """Return where the phones of a home are reached: `<home>/phones.sock`; both sides ask here."""
    return home.absolute() / SOCKET_NAME


class Channel:
    """Answer requests for the phones of a host, from `open` to `close`.

    Args:
        host: whose phones they are.
        home: the directory that holds the phones' own.
    """

    def __init__(self, host: PhoneHost, home: Path) -> None:
        self._host = host
        self._home = home
        self._server: asyncio.Server | None = None
        self._path = channel_path(home)
        self._clients: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Listen; the caller has claimed the home's phones, so nobody else listens there.

        Raises:
            PhoneError: the home cannot be written.
        """
        try:
            await self._listen()
        except OSError as error:
            raise PhoneError(
                f"the phones' directory {self._home} cannot be used: {error.strerror or error}",
                "Choose a directory that can be written.",
            ) from error

    async def _listen(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            # The phones are claimed, so whoever left this socket is gone.
            self._path.unlink()
        listener = socket.socket(socket.AF_UNIX)
        try:
            with short_address(self._path) as address:
                listener.bind(address)
            # Before anybody can connect: it does not listen yet.
            self._path.chmod(0o600)
            self._server = await asyncio.start_unix_server(
                self._connected, sock=listener, limit=LONGEST_REQUEST_BYTES
            )
        except BaseException:
            listener.close()
            raise

    async def close(self) -> None:
        """Stop listening and end every client."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            with contextlib.suppress(OSError):
                self._path.unlink()
        clients = list(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= MOST_CLIENTS:
            writer.transport.abort()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                async with asyncio.timeout(IDLE_S):
                    line = await reader.readline()
                if not line.endswith(b"\n"):
                    return
                writer.write(json_of(self._answer(line)) + b"\n")
                async with asyncio.timeout(IDLE_S):
                    await writer.drain()
        except (TimeoutError, ConnectionError, ValueError):
            # Silent, gone, or a line without an end: its connection is all that it loses.
            return
        finally:
            writer.transport.abort()

    def _answer(self, line: bytes) -> Answer:
        try:
            request: Request = msgspec.json.decode(line, type=Request)
            return answer(self._find(request.phone), request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return Answer(error=f"the request cannot be read: {error}")
        except PhoneError as error:
            return Answer(error=error.message, remedy=error.remedy)

    def _find(self, phone: str) -> ServedPhone:
        for serial in self._host.serials:
            served = self._host.served(serial)
            if phone in (serial, served.phone.name):
                return served
        known = ", ".join(one.name for one in self._host.phones) or "none"
        raise PhoneError(f"no phone {phone!r} is served", f"Served now: {known}.")


def answer(served: ServedPhone, request: Request) -> Answer:
    """Do what is asked of a phone. Raises PhoneError."""
    faults = served.userland.faults
    match request:
        case BeginFault():
            faults.begin(
                parse_kind(request.kind), value=request.value, duration_s=request.duration_s
            )
        case ClearFaults(kind=""):
            faults.clear()
        case ClearFaults():
            kind = parse_kind(request.kind)
            if not faults.end(kind):
                raise PhoneError(
                    f"{served.phone.name} has no fault {kind}", "List the ones it has with --list."
                )
        case ListFaults():
            pass
        case AskState():
            return Answer(state=served.phone.state())
        case Reset():
            served.reset()
        case BeginScenario(name=name):
            scenarios.begin(served.phone, name)
        case TakeSnapshot(path=path):
            checkpoint.write(checkpoint.take(served.phone), Path(path))
        case RestoreSnapshot(path=path):
            checkpoint.go_back(served.phone, checkpoint.read(Path(path)))
        case Swipe():
            served.touch(request.start, request.end, request.duration_ms)
        case Turn():
            served.turn(request.degrees)
        case _:
            assert_never(request)
    return Answer(
        faults=tuple(
            ActiveFault(kind=fault.kind, value=fault.value, left_s=faults.left_s(fault))
            for fault in faults.active()
        )
    )
