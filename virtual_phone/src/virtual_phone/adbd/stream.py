"""One ADB stream on the phone's side: bytes both ways under ADB's flow control.

Not a service: it does not know what runs over it. Invariant: at most one unacknowledged WRTE is
in flight (or, with delayed_ack, no more than the window the peer gave), and what the peer may
send before it is read is bounded; a peer that sends more breaks the protocol and the connection.
"""

import asyncio
from typing import Protocol

from virtual_phone.adbd.wire import Command, MalformedPacketError
from virtual_phone.server.pipes import Pipe, read_exactly

EAGER_ACK_BYTES = 256 * 1024
"""Below this backlog a WRTE is acknowledged when it arrives, so the next one can travel."""

RECEIVE_BOUND_BYTES = 8 * 1024 * 1024
"""What one stream may hold unread; an honest peer never comes near."""

RECEIVE_WINDOW_BYTES = 4 * 1024 * 1024
"""The window that is offered to a peer which negotiated delayed_ack."""


class Carrier(Protocol):
    """What a stream needs of its connection."""

    max_payload_bytes: int

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        """Queue one packet."""
        ...

    async def drain(self) -> None:
        """Wait while the peer does not read; raise ConnectionError when it is gone."""
        ...

    def forget(self, stream: "Stream") -> None:
        """Drop a closed stream from the table."""
        ...


class Stream:
    """A connected stream; the service end has `read`, `write` and `close`."""

    __slots__ = (
        "_acknowledged",
        "_carrier",
        "_closed",
        "_credit",
        "_incoming",
        "_owed",
        "_writing",
        "delayed",
        "local_id",
        "on_close",
        "opened",
        "remote_id",
    )

    def __init__(
        self, carrier: Carrier, local_id: int, remote_id: int, credit_bytes: int | None
    ) -> None:
        self._carrier = carrier
        self.local_id = local_id
        self.remote_id = remote_id
        self.delayed = credit_bytes is not None
        self.opened: asyncio.Future[bool] | None = None
        self.on_close: asyncio.Event | None = None
        self._credit = credit_bytes or 0
        self._incoming = Pipe(RECEIVE_BOUND_BYTES)
        self._owed = 0
        self._acknowledged = asyncio.Event()
        self._acknowledged.set()
        self._writing = asyncio.Lock()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether either side has closed the stream."""
        return self._closed

    @property
    def backlog_bytes(self) -> int:
        """What the peer has sent and the service has not read."""
        return self._incoming.size

    def accept(self) -> None:
        """Tell the peer that its OPEN succeeded."""
        window = RECEIVE_WINDOW_BYTES.to_bytes(4, "little") if self.delayed else b""
        self._carrier.send(Command.OKAY, self.local_id, self.remote_id, window)

    def offer(self) -> int:
        """Return the window to announce in an OPEN of ours: 0 without delayed_ack."""
        return RECEIVE_WINDOW_BYTES if self.delayed else 0

    def hold(self) -> None:
        """Send nothing before the peer has given a first window."""
        self._acknowledged.clear()

    # --- from the connection's reader ---

    def deliver(self, payload: bytes) -> None:
        """Take the payload of a WRTE.

        Raises:
            MalformedPacketError: the peer sent more than it was allowed to.
        """
        if self._incoming.size + len(payload) > RECEIVE_BOUND_BYTES:
            raise MalformedPacketError(
                f"stream {self.local_id} holds {self._incoming.size} unread bytes already"
            )
        self._owed += len(payload) if self.delayed else 1
        try:
            self._incoming.feed(payload)
        except BrokenPipeError:
            self._settle()
            return
        if self._incoming.size <= EAGER_ACK_BYTES:
            self._settle()

    def acknowledge(self, payload: bytes) -> None:
        """Take an OKAY: the peer has room again.

        Raises:
            MalformedPacketError: the payload does not fit what was negotiated.
        """
        if self.delayed:
            if len(payload) != 4:
                raise MalformedPacketError("an OKAY without its count under delayed_ack")
            self._credit += int.from_bytes(payload, "little", signed=True)
            if self._credit > 0:
                self._acknowledged.set()
        else:
            self._acknowledged.set()

    def end(self) -> None:
        """Take the peer's CLSE, or the loss of the connection: readers see the end."""
        if self._closed:
            return
        self._closed = True
        self._incoming.end()
        self._acknowledged.set()
        if self.on_close is not None:
            self.on_close.set()

    # --- for the service ---

    async def read(self, limit: int = 65536) -> bytes:
        """Return up to `limit` bytes; b"" when the peer has closed the stream."""
        chunk = await self._incoming.read(limit)
        if self._owed and self._incoming.size <= EAGER_ACK_BYTES:
            self._settle()
        return chunk

    async def read_exactly(self, count: int) -> bytes:
        """Return exactly `count` bytes; raise EOFError when the peer closes before."""
        return await read_exactly(self, count)

    async def write(self, data: bytes) -> None:
        """Send bytes in packets the peer can take; raise BrokenPipeError when it has closed."""
        async with self._writing:
            size = self._carrier.max_payload_bytes
            view = memoryview(data)
            for start in range(0, len(data), size):
                chunk = bytes(view[start : start + size]) if len(data) > size else data
                await self._acknowledged.wait()
                if self._closed:
                    raise BrokenPipeError("the adb peer has closed the stream")
                if self.delayed:
                    self._credit -= len(chunk)
                    if self._credit <= 0:
                        self._acknowledged.clear()
                else:
                    self._acknowledged.clear()
                self._carrier.send(Command.WRTE, self.local_id, self.remote_id, chunk)
                await self._carrier.drain()

    def close(self) -> None:
        """Close the stream; what was written before still arrives."""
        if self._closed:
            return
        self._closed = True
        self._carrier.send(Command.CLSE, self.local_id, self.remote_id)
        self._carrier.forget(self)
        self._incoming.end()
        self._acknowledged.set()

    async def wait_closed(self) -> None:
        """Wait until the peer has closed the stream or is gone."""
        if self.on_close is None:
            self.on_close = asyncio.Event()
            if self._closed:
                self.on_close.set()
        await self.on_close.wait()

    def _settle(self) -> None:
        """Acknowledge what was taken so far."""
        owed, self._owed = self._owed, 0
        if not owed or self._closed:
            return
        payload = owed.to_bytes(4, "little") if self.delayed else b""
        for _ in range(1 if self.delayed else owed):
            self._carrier.send(Command.OKAY, self.local_id, self.remote_id, payload)
