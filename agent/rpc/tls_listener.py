"""Listen for clients on other computers, by TLS.

Not what a client may do: that is its operator's. Invariants: nothing is answered before the
handshake is done, and nothing but a sign-in before somebody has signed in, whether the core has
operators or not; whoever only connects is gone in bounded time, and strangers, however many, hold a
bounded number of connections and push out none that has signed in; a certificate that was renewed
on the disk is shown to who comes next, and each connection knows which one it was shown.
"""

import asyncio
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from agent.errors import ConfigError
from agent.rpc.connection import Link
from agent.rpc.places import TlsPlace, parse_address
from agent.rpc.rpc_messages import MAX_CALL_BYTES
from agent.settings import Settings
from agent.text import one_line
from agent.tls.contexts import server_context

MAX_SIGNED_IN = 64
"""How many may be signed in from other computers at once."""
MAX_WAITING = 32
"""How many connections may be open whose side has not signed in."""
MAX_WAITING_OF_ONE = 8
"""How many of these may come from one address."""
HANDSHAKE_S = 10.0
SIGN_IN_S = 15.0
"""How long the handshake may take, and then the signing in."""
_SHUTDOWN_S = 2.0
_LOG_EVERY_S = 60.0
_EXHAUSTED_PAUSE_S = 0.2
_BACKLOG = 64
SOON = timedelta(days=14)
"""What ends sooner is warned of."""
_log = logging.getLogger(__name__)

_Mark = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Listening:
    """Where a core listens for other computers, and what it shows them.

    Args:
        host: a name or address of this computer; one that is empty is refused elsewhere.
        port: 0 for any that is free.
        cert: its certificate, with those between it and the authority, as PEM.
        key: the private key of that.
        ca: callers have to show a certificate that one of these signed; None: they need none.
    """

    host: str
    port: int
    cert: Path
    key: Path
    ca: Path | None = None


def listening_of(settings: Settings) -> Listening | None:
    """Return where the settings say to listen; None: nowhere.

    Raises:
        UsageError: that is no address.
        ConfigError: no certificate or key is named.
    """
    said = settings.listen
    if not said.address:
        return None
    host, port = parse_address(said.address, "listen.address")
    if not said.cert or not said.key:
        raise ConfigError(
            "A core accepts other computers only by TLS, and no certificate is set.",
            "Name --tls-cert and --tls-key (listen.cert, listen.key); make them with: "
            "switchboard fleet authority issue",
        )
    base = settings.config_file.parent
    return Listening(
        host,
        port,
        base / Path(said.cert).expanduser(),
        base / Path(said.key).expanduser(),
        base / Path(said.ca).expanduser() if said.ca else None,
    )


@dataclass(frozen=True)
class _Shown:
    """A certificate that is shown, as DER, and the context that shows it."""

    context: ssl.SSLContext
    der: bytes
    mark: _Mark


LinkTo = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str, bytes], Link]
"""Makes the core's end of a connection: its streams, what the peer is called, the certificate that
it was shown."""


class TlsListener:
    """The listening end; `start` it, then `close` it.

    Args:
        listening: where, and what is shown.
        link_to: makes the core's end of a connection, which has to be signed in on.
    """

    def __init__(self, listening: Listening, link_to: LinkTo) -> None:
        self._listening = listening
        self._link_to = link_to
        self._shown: _Shown | None = None
        self._trouble = ""
        self._sockets: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []
        self._waiting: dict[asyncio.Task[None], str] = {}
        """Who has not signed in, oldest first, with their addresses."""
        self._links: dict[Link, asyncio.Task[None]] = {}
        self._refused = 0
        self._logged_s = float("-inf")

    @property
    def links(self) -> tuple[Link, ...]:
        """The connections on which somebody has signed in."""
        return tuple(self._links)

    @property
    def waiting(self) -> int:
        """How many connections are open on which nobody has signed in."""
        return len(self._waiting)

    async def addresses(self) -> tuple[str, ...]:
        """List how it is reached: by each name that its certificate is for, as tls://NAME:PORT.

        Raises ConfigError: it is for none.
        """
        from agent.tls.authority import names_of

        names = await asyncio.to_thread(names_of, self._listening.cert)
        own = self._listening.host
        ordered = sorted(names, key=lambda name: name != own)
        return tuple(str(TlsPlace(name, self.port)) for name in ordered)

    @property
    def port(self) -> int:
        found: int = self._sockets[0].getsockname()[1]
        return found

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: a certificate or key cannot be used, or nothing can listen there.
        """
        self._shown = await asyncio.to_thread(_read, self._listening)
        where = self._listening
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            for family, _, _, _, address in dict.fromkeys(found):
                self._sockets.append(_bound(family, address, self._sockets))
        except OSError as error:
            self._close_sockets()
            raise ConfigError(
                f"The core cannot listen on {where.host}:{where.port}: {error.strerror or error}.",
                "Name an address of this computer and a free port in --listen (listen.address).",
            ) from error
        self._accepting = [
            asyncio.create_task(self._accept(one), name="listener of other computers")
            for one in self._sockets
        ]

    async def close(self) -> None:
        """Hang up on everybody, and listen no more."""
        tasks = [*self._accepting, *self._waiting, *self._links.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._close_sockets()

    def _close_sockets(self) -> None:
        for one in self._sockets:
            one.close()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                caller, address = await loop.sock_accept(listener)
            except OSError as error:
                # As with too many open files: whoever waits is not lost, and nothing is spun.
                self._tell(f"no connection could be taken: {error.strerror or error}")
                await asyncio.sleep(_EXHAUSTED_PAUSE_S)
                continue
            self._make_room(address[0])
            task = asyncio.create_task(self._serve(caller, address[0]), name="far client")
            self._waiting[task] = address[0]
            task.add_done_callback(partial(self._ended, caller))

    def _ended(self, caller: socket.socket, task: asyncio.Task[None]) -> None:
        self._waiting.pop(task, None)
        if task.cancelled():
            # It may have had no time to begin, and so to close anything.
            caller.close()

    def _make_room(self, address: str) -> None:
        """Hang up on the oldest stranger of whoever has most, where there are too many."""
        of_each = Counter(self._waiting.values())
        if of_each[address] >= MAX_WAITING_OF_ONE:
            pushed = address
        elif len(self._waiting) >= MAX_WAITING:
            pushed = of_each.most_common(1)[0][0]
        else:
            return
        oldest = next(task for task, whose in self._waiting.items() if whose == pushed)
        del self._waiting[oldest]
        oldest.cancel()
        self._tell(f"too many connections without a sign-in ({pushed})")

    async def _serve(self, caller: socket.socket, address: str) -> None:
        try:
            shown = await self._current()
            reader, writer = await _handshake(caller, shown.context)
        except (OSError, TimeoutError) as error:
            caller.close()
            reason = getattr(error, "reason", None) or type(error).__name__
            self._tell(f"TLS with {address} failed: {one_line(str(reason), 60)}")
            return
        except BaseException:
            caller.close()
            raise
        link = self._link_to(reader, writer, _name(writer, address), shown.der)
        running = asyncio.create_task(link.run(), name="far link")
        try:
            if await self._signs_in(link, running, address):
                task = asyncio.current_task()
                assert task is not None
                self._waiting.pop(task, None)
                self._links[link] = task
                await running
        except Exception:
            _log.exception("A connection from another computer failed.")
        finally:
            self._links.pop(link, None)
            running.cancel()
            writer.transport.abort()
            await asyncio.gather(running, return_exceptions=True)

    async def _signs_in(self, link: Link, running: asyncio.Task[None], address: str) -> bool:
        signing = asyncio.ensure_future(link.signed_in.wait())
        try:
            done, _ = await asyncio.wait(
                {signing, running}, timeout=SIGN_IN_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            signing.cancel()
        if not done:
            self._tell(f"nobody signed in within {SIGN_IN_S:g} s ({address})")
        if not link.signed_in.is_set():
            return False
        if len(self._links) >= MAX_SIGNED_IN:
            self._tell(f"{MAX_SIGNED_IN} clients of other computers are signed in already")
            await link.turn_away()
            return False
        return True

    async def _current(self) -> _Shown:
        """Return what is shown now: read again where a file has changed, else as it was."""
        shown = self._shown
        assert shown is not None, "it was started"
        if _marked(self._listening) == shown.mark:
            return shown
        try:
            self._shown = await asyncio.to_thread(_read, self._listening)
        except ConfigError as error:
            # Half written, or wrong: what was shown before may still count.
            if str(error) != self._trouble:
                self._trouble = str(error)
                _log.error("The renewed certificate is not used. %s", error)
            return shown
        self._trouble = ""
        _log.info("The certificate for other computers was read again.")
        return self._shown

    def _tell(self, what: str) -> None:
        """Log why somebody was hung up on, no oftener than once a minute: strangers write here."""
        now_s = asyncio.get_running_loop().time()
        self._refused += 1
        if now_s - self._logged_s < _LOG_EVERY_S:
            return
        more = f" ({self._refused - 1} others since)" if self._refused > 1 else ""
        _log.warning("A connection from another computer ended: %s%s.", what, more)
        self._refused, self._logged_s = 0, now_s


async def _handshake(
    caller: socket.socket, context: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Shake hands. Raises OSError, or TimeoutError."""
    loop = asyncio.get_running_loop()
    _keep_alive(caller)
    reader = asyncio.StreamReader(limit=MAX_CALL_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    async with asyncio.timeout(HANDSHAKE_S):
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            caller,
            ssl=context,
            ssl_handshake_timeout=HANDSHAKE_S,
            ssl_shutdown_timeout=_SHUTDOWN_S,
        )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _keep_alive(caller: socket.socket) -> None:
    """Notice a computer that is gone without a word within about a minute (tcp(7))."""
    caller.setblocking(False)
    with suppress(OSError):
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                caller.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _name(writer: asyncio.StreamWriter, address: str) -> str:
    """Return what a caller is called: its address, and its certificate's name if it showed one."""
    shown = writer.get_extra_info("peercert") or {}
    names = [
        value
        for part in shown.get("subject", ())
        for name, value in part
        if name == "commonName" and isinstance(value, str)
    ]
    return f"{one_line(names[0], 40)} at {address}" if names else address


def _bound(
    family: int, address: tuple[object, ...], before: Iterable[socket.socket]
) -> socket.socket:
    """Return a socket that listens; where any port would do, on that of those before it."""
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        port = next((other.getsockname()[1] for other in before), address[1])
        one.bind((address[0], port, *address[2:]))
        one.listen(_BACKLOG)
    except BaseException:
        one.close()
        raise
    return one


def _marked(listening: Listening) -> _Mark:
    """Return what changes when a file does; empty where one cannot be looked at."""
    try:
        found = [one.stat() for one in (listening.cert, listening.key, listening.ca) if one]
    except OSError:
        return ()
    return tuple((one.st_ino, one.st_mtime_ns, one.st_size) for one in found)


def _read(listening: Listening) -> _Shown:
    mark = _marked(listening)
    context = server_context(listening.cert, listening.key, listening.ca)
    try:
        text = listening.cert.read_text("ascii", "replace")
        # The first is its own; those between it and the authority follow.
        begin = text.index("-----BEGIN CERTIFICATE-----")
        end = text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
        der = ssl.PEM_cert_to_DER_cert(text[begin:end] + "\n")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The certificate {listening.cert} cannot be read.", "Name a certificate in PEM."
        ) from error
    _check_end(listening.cert)
    return _Shown(context, der, mark)


def _check_end(certificate: Path) -> None:
    from agent.tls.authority import end_of, now_utc

    left = end_of(certificate) - now_utc()
    renew = "Renew it: switchboard fleet authority issue"
    if left <= timedelta():
        raise ConfigError(f"The certificate {certificate} has expired.", renew)
    if left < SOON:
        _log.warning(
            "The certificate %s ends within %d days. %s", certificate, left.days + 1, renew
        )
