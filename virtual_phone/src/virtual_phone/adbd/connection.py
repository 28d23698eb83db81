"""One adb server talking to the phone over TCP: handshake, stream table, dispatch of packets.

Not a service and not the listener. Invariant: a malformed packet, a peer that stalls in the
middle of a packet, or one that stops reading ends this connection and nothing else; memory per
connection is bounded by the number of streams and what each may hold.
"""

import asyncio
import contextlib
import logging
import os
from typing import Protocol

from virtual_phone.adbd import wire
from virtual_phone.adbd.stream import EAGER_ACK_BYTES, Stream
from virtual_phone.adbd.wire import Banner, Command, MalformedPacketError
from virtual_phone.errors import PhoneError

HANDSHAKE_TIMEOUT_S = 20.0
PACKET_TIMEOUT_S = 30.0
WRITE_STALL_TIMEOUT_S = 120.0
OPEN_TIMEOUT_S = 10.0
MAX_STREAMS = 1024
MAX_HELD_BYTES = 256 * 1024 * 1024
WRITE_BUFFER_BYTES = 512 * 1024
READ_BUFFER_BYTES = 256 * 1024

AUTH_TOKEN = 1
AUTH_SIGNATURE = 2
AUTH_PUBLIC_KEY = 3

_log = logging.getLogger(__name__)


class Gate(Protocol):
    """Who may use the phone over ADB."""

    def required(self) -> bool:
        """Whether this connection has to prove that it holds a known key."""
        ...

    def verify(self, token: bytes, signature: bytes) -> bool:
        """Whether a known key made this signature of the token."""
        ...

    async def ask(self, public_key: bytes) -> bool:
        """Show the phone's question about an unknown key; return the answer, however late."""
        ...


class Daemon(Protocol):
    """What a connection needs of the phone's adbd."""

    gate: Gate

    def banner(self, peer: Banner) -> bytes:
        """Return the CNXN payload for this peer."""
        ...

    async def open(self, connection: "Connection", service: str, stream: Stream) -> None:
        """Serve one stream to its end; raise PhoneError before `accept` to refuse it."""
        ...


class Connection:
    """The phone's end of one adb transport."""

    def __init__(
        self, daemon: Daemon, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._daemon = daemon
        self._reader = reader
        self._writer = writer
        self._streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_id = 1
        self._online = False
        self._delayed_ack = False
        self._summed = True
        self._token = b""
        self._asking: asyncio.Task[None] | None = None
        self._peer = Banner("", frozenset())
        self.max_payload_bytes = wire.MAX_PAYLOAD_V1_BYTES

    # --- life ---

    async def run(self) -> None:
        """Serve the peer until it leaves or breaks the protocol."""
        self._writer.transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        try:
            async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
                header, payload = await self._read_packet()
            self._handle(header, payload)
            while True:
                header, payload = await self._read_packet()
                self._handle(header, payload)
                if self._writer.transport.get_write_buffer_size() > WRITE_BUFFER_BYTES:
                    await self.drain()
        except MalformedPacketError as error:
            _log.warning("closing an adb connection: %s", error)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError) as error:
            _log.debug("adb connection ended: %r", error)
        finally:
            await self._end()

    def abort(self) -> None:
        """Cut the connection at once, as a pulled cable would."""
        self._writer.transport.abort()

    async def _end(self) -> None:
        self._online = False
        for stream in list(self._streams.values()):
            stream.end()
            if stream.opened is not None and not stream.opened.done():
                stream.opened.set_result(False)
        self._streams.clear()
        if self._asking is not None:
            self._asking.cancel()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._writer.wait_closed()

    # --- packets ---

    async def _read_packet(self) -> tuple[wire.Header, bytes]:
        raw = await self._reader.read(wire.HEADER_BYTES)
        if not raw:
            raise ConnectionResetError("the adb server has left")
        if len(raw) < wire.HEADER_BYTES:
            async with asyncio.timeout(PACKET_TIMEOUT_S):
                raw += await self._reader.readexactly(wire.HEADER_BYTES - len(raw))
        header = wire.decode_header(raw)
        if not header.length:
            return header, b""
        async with asyncio.timeout(PACKET_TIMEOUT_S):
            payload = await self._reader.readexactly(header.length)
        if self._summed and header.checksum and header.checksum != wire.checksum(payload):
            raise MalformedPacketError(f"{header.command.name} payload does not match its checksum")
        return header, payload

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Queue one packet for the peer; silently dropped when the connection is closing."""
        if not self._writer.is_closing():
            self._writer.write(wire.encode(command, arg0, arg1, payload, summed=self._summed))

    async def drain(self) -> None:
        """Wait until the peer has read enough; abort the connection when it does not for long."""
        if self._writer.transport.get_write_buffer_size() <= WRITE_BUFFER_BYTES:
            return
        try:
            async with asyncio.timeout(WRITE_STALL_TIMEOUT_S):
                await self._writer.drain()
        except TimeoutError as error:
            self.abort()
            raise ConnectionResetError("the adb server has stopped reading") from error

    def _handle(self, header: wire.Header, payload: bytes) -> None:
        match header.command:
            case Command.CNXN:
                self._on_connect(header, payload)
            case Command.AUTH:
                self._on_auth(header, payload)
            case _ if not self._online:
                if header.command is Command.OPEN:
                    self.send(Command.CLSE, 0, header.arg0)
            case Command.OPEN:
                self._on_open(header, payload)
            case Command.OKAY:
                self._on_okay(header, payload)
            case Command.WRTE:
                stream = self._streams.get(header.arg1)
                if stream is None or stream.remote_id != header.arg0:
                    self.send(Command.CLSE, 0, header.arg0)
                else:
                    stream.deliver(payload)
                    if stream.backlog_bytes > EAGER_ACK_BYTES:
                        self._check_backlog()
            case Command.CLSE:
                self._on_close(header)
            case Command.SYNC | Command.STLS:
                _log.debug("ignored %s", header.command.name)

    def _check_backlog(self) -> None:
        """End a connection whose streams together hold more than an honest peer would send."""
        held = sum(stream.backlog_bytes for stream in self._streams.values())
        if held > MAX_HELD_BYTES:
            raise MalformedPacketError(f"the peer has sent {held} bytes that nobody reads")

    # --- handshake ---

    def _on_connect(self, header: wire.Header, payload: bytes) -> None:
        if self._online:
            raise MalformedPacketError("a second CNXN on a connection that is online")
        self._summed = header.arg0 < wire.VERSION_SKIP_CHECKSUM
        if header.arg1 < 1:
            raise MalformedPacketError("CNXN announces a payload limit of 0 bytes")
        self.max_payload_bytes = min(header.arg1, wire.MAX_PAYLOAD_BYTES)
        self._peer = wire.decode_banner(payload)
        if self._daemon.gate.required():
            self._challenge()
        else:
            self._go_online()

    def _challenge(self) -> None:
        self._token = os.urandom(20)
        self._send_summed(Command.AUTH, AUTH_TOKEN, 0, self._token)

    def _on_auth(self, header: wire.Header, payload: bytes) -> None:
        if self._online or not self._token:
            return
        if header.arg0 == AUTH_SIGNATURE:
            if self._daemon.gate.verify(self._token, payload):
                self._go_online()
            else:
                self._challenge()
        elif header.arg0 == AUTH_PUBLIC_KEY and self._asking is None:
            self._asking = asyncio.create_task(self._ask(payload))

    async def _ask(self, public_key: bytes) -> None:
        if await self._daemon.gate.ask(public_key) and not self._online:
            self._go_online()

    def _go_online(self) -> None:
        self._online = True
        self._token = b""
        self._delayed_ack = "delayed_ack" in self._peer.features
        said = self._daemon.banner(self._peer)
        limit = wire.MAX_PAYLOAD_BYTES
        self._send_summed(Command.CNXN, wire.VERSION_SKIP_CHECKSUM, limit, said)

    def _send_summed(self, command: Command, arg0: int, arg1: int, payload: bytes) -> None:
        self._writer.write(wire.encode(command, arg0, arg1, payload, summed=True))

    # --- streams ---

    def _on_open(self, header: wire.Header, payload: bytes) -> None:
        if header.arg0 == 0:
            raise MalformedPacketError("OPEN with stream id 0")
        if self._delayed_ack != bool(header.arg1):
            raise MalformedPacketError("OPEN's window does not fit what was negotiated")
        if len(self._streams) >= MAX_STREAMS:
            self.send(Command.CLSE, 0, header.arg0)
            return
        service = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        stream = self._new_stream(header.arg0, header.arg1 if self._delayed_ack else None)
        task = asyncio.create_task(self._serve(service, stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _new_stream(self, remote_id: int, credit_bytes: int | None) -> Stream:
        while self._next_id in self._streams or self._next_id == 0:
            self._next_id = (self._next_id + 1) & 0xFFFFFFFF
        stream = Stream(self, self._next_id, remote_id, credit_bytes)
        self._streams[self._next_id] = stream
        self._next_id = (self._next_id + 1) & 0xFFFFFFFF
        return stream

    async def _serve(self, service: str, stream: Stream) -> None:
        try:
            await self._daemon.open(self, service, stream)
        except PhoneError as error:
            _log.debug("refused %r: %s", service, error)
            if not stream.closed:
                self._refuse(stream)
        except (ConnectionError, EOFError) as error:
            _log.debug("service %r ended: %r", service, error)
        except Exception:
            _log.exception("service %r failed", service)
        finally:
            stream.close()

    def _refuse(self, stream: Stream) -> None:
        """Answer an OPEN that cannot be served; the id 0 says that it never was open."""
        self.send(Command.CLSE, 0, stream.remote_id)
        self._streams.pop(stream.local_id, None)
        stream.end()

    def _on_okay(self, header: wire.Header, payload: bytes) -> None:
        stream = self._streams.get(header.arg1)
        if stream is None:
            return
        if stream.opened is not None and not stream.opened.done():
            stream.remote_id = header.arg0
            stream.opened.set_result(True)
            if not stream.delayed:
                return
        if stream.remote_id == header.arg0:
            stream.acknowledge(payload)

    def _on_close(self, header: wire.Header) -> None:
        stream = self._streams.get(header.arg1)
        if stream is None or (header.arg0 and stream.remote_id not in (0, header.arg0)):
            return
        del self._streams[header.arg1]
        if stream.opened is not None and not stream.opened.done():
            stream.opened.set_result(False)
        elif header.arg0:
            self.send(Command.CLSE, stream.local_id, header.arg0)
        stream.end()

    def forget(self, stream: Stream) -> None:
        """Drop a closed stream from the table."""
        self._streams.pop(stream.local_id, None)

    async def open(self, service: str) -> Stream:
        """Open a stream towards the adb server (`reverse`).

        Raises:
            PhoneError: the server refused or did not answer.
        """
        stream = self._new_stream(0, 0 if self._delayed_ack else None)
        stream.opened = asyncio.get_running_loop().create_future()
        if self._delayed_ack:
            stream.hold()
        window = stream.offer()
        self.send(
            Command.OPEN,
            stream.local_id,
            window,
            service.encode("utf-8", "surrogateescape") + b"\0",
        )
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                accepted = await stream.opened
        except TimeoutError:
            accepted = False
        if not accepted:
            self._streams.pop(stream.local_id, None)
            stream.end()
            raise PhoneError(
                f"the adb server did not open {service!r}",
                "Check that something listens on the host's side of the reverse rule.",
            )
        return stream
