"""Bounded byte pipes inside the process, and the pairs that make a socket of two of them.

Not an asyncio transport: both ends live on one loop. Invariant: a pipe never holds more than its
capacity plus one write, so a reader that does not read stops its writer instead of eating memory.
"""

import asyncio
import errno
import os
from collections import deque
from typing import Protocol, cast

PIPE_CAPACITY_BYTES = 256 * 1024


class Source(Protocol):
    """Where bytes come from."""

    async def read(self, limit: int = 65536) -> bytes:
        """Return 1 to `limit` bytes as soon as there are any; b"" at the end."""
        ...


class Sink(Protocol):
    """Where bytes go."""

    async def write(self, data: bytes) -> None:
        """Take the bytes; wait while the reader is behind.

        Raises:
            BrokenPipeError: nobody will read any more.
        """
        ...


def as_source(end: Source | Sink | None) -> Source:
    """Return a descriptor as something to read; a closed or write-only one is empty."""
    return cast("Source", end) if hasattr(end, "read") else EmptySource()


def as_sink(end: Source | Sink | None) -> Sink:
    """Return a descriptor as something to write to; a closed or read-only one forgets."""
    return cast("Sink", end) if hasattr(end, "write") else NullSink()


class Pipe:
    """One direction: bytes in, the same bytes out, with back-pressure and an end."""

    __slots__ = ("_broken", "_capacity", "_chunks", "_ended", "_readable", "_size", "_writable")

    def __init__(self, capacity: int = PIPE_CAPACITY_BYTES) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._capacity = capacity
        self._ended = False
        self._broken = False
        self._readable: asyncio.Event | None = None
        self._writable: asyncio.Event | None = None

    @property
    def ended(self) -> bool:
        """Whether the writer has closed its end."""
        return self._ended

    @property
    def broken(self) -> bool:
        """Whether the reader has closed its end."""
        return self._broken

    @property
    def size(self) -> int:
        """Bytes written and not yet read."""
        return self._size

    async def write(self, data: bytes) -> None:
        """Append bytes, waiting while the pipe is full; raise BrokenPipeError without a reader."""
        while self._size >= self._capacity and not self._broken:
            self._writable = self._writable or asyncio.Event()
            self._writable.clear()
            await self._writable.wait()
        self.feed(data)

    def feed(self, data: bytes) -> None:
        """Append bytes at once; the caller bounds what it feeds (an ADB window)."""
        if self._broken or self._ended:
            raise BrokenPipeError("the other end of the pipe is closed")
        if data:
            self._chunks.append(data)
            self._size += len(data)
            self._wake_reader()

    async def read(self, limit: int = 65536) -> bytes:
        """Return up to `limit` bytes; b"" once the writer has closed and all was read."""
        while not self._chunks:
            if self._ended or self._broken:
                return b""
            self._readable = self._readable or asyncio.Event()
            self._readable.clear()
            await self._readable.wait()
        chunk = self._chunks.popleft()
        if len(chunk) > limit:
            self._chunks.appendleft(chunk[limit:])
            chunk = chunk[:limit]
        self._size -= len(chunk)
        if self._size < self._capacity and self._writable is not None:
            self._writable.set()
        return chunk

    async def read_line(self, limit: int) -> bytes:
        """Return up to the next line end, `limit` bytes or the end; b"" when all was read."""
        parts: list[bytes] = []
        left = limit
        while left > 0 and (chunk := await self.read(left)):
            line, end, rest = chunk.partition(b"\n")
            parts.append(line + end)
            left -= len(line) + len(end)
            if rest:
                self._chunks.appendleft(rest)
                self._size += len(rest)
            if end:
                break
        return b"".join(parts)

    def end(self) -> None:
        """Close the writing end; what is buffered can still be read."""
        self._ended = True
        self._wake_reader()

    def break_off(self) -> None:
        """Close the reading end; writers get BrokenPipeError, buffered bytes are dropped."""
        self._broken = True
        self._chunks.clear()
        self._size = 0
        if self._writable is not None:
            self._writable.set()
        self._wake_reader()

    def _wake_reader(self) -> None:
        if self._readable is not None:
            self._readable.set()


class Socket:
    """One end of a connected pair, as a service inside the phone sees it."""

    __slots__ = ("_incoming", "_outgoing")

    def __init__(self, incoming: Pipe, outgoing: Pipe) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def read(self, limit: int = 65536) -> bytes:
        """Return up to `limit` bytes; b"" when the other end has closed."""
        return await self._incoming.read(limit)

    async def read_exactly(self, count: int) -> bytes:
        """Return exactly `count` bytes; raise EOFError when the other end closes before."""
        return await read_exactly(self, count)

    async def write(self, data: bytes) -> None:
        """Send bytes, waiting while the other end is behind; raise BrokenPipeError when gone."""
        await self._outgoing.write(data)

    def close_write(self) -> None:
        """Close the sending side; reading goes on."""
        self._outgoing.end()

    def close(self) -> None:
        """Close both directions."""
        self._outgoing.end()
        self._incoming.break_off()

    @property
    def half_closed(self) -> bool:
        """Whether the other end has stopped sending and still reads."""
        return self._incoming.ended and not self._outgoing.broken


def socket_pair(capacity: int = PIPE_CAPACITY_BYTES) -> tuple[Socket, Socket]:
    """Return two connected sockets."""
    one, two = Pipe(capacity), Pipe(capacity)
    return Socket(one, two), Socket(two, one)


async def read_exactly(source: Source, count: int) -> bytes:
    """Read exactly `count` bytes from a source; raise EOFError when it ends before."""
    parts: list[bytes] = []
    missing = count
    while missing:
        chunk = await source.read(missing)
        if not chunk:
            raise EOFError(f"the stream ended {missing} bytes early")
        parts.append(chunk)
        missing -= len(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_all(source: Source, limit: int) -> bytes:
    """Read to the end, at most `limit` bytes; raise OSError (ENOMEM) beyond."""
    parts: list[bytes] = []
    total = 0
    while chunk := await source.read():
        total += len(chunk)
        if total > limit:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        parts.append(chunk)
    return b"".join(parts)


class EmptySource:
    """A source that is at its end from the beginning (/dev/null)."""

    async def read(self, limit: int = 65536) -> bytes:
        """Return b""."""
        del limit
        return b""


class BytesSource:
    """A source of bytes that are already there."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next bytes; b"" when all were given."""
        chunk = bytes(self._data[:limit])
        self._data = self._data[len(chunk) :]
        return chunk


class NullSink:
    """A sink that forgets (/dev/null)."""

    async def write(self, data: bytes) -> None:
        """Take and forget."""
        del data


class CollectingSink:
    """A sink that keeps what it takes, up to a bound; $(…) reads it."""

    def __init__(self, limit: int = 16 * 1024 * 1024) -> None:
        self.data = bytearray()
        self._limit = limit

    async def write(self, data: bytes) -> None:
        """Keep the bytes; raise BrokenPipeError beyond the bound."""
        if len(self.data) + len(data) > self._limit:
            raise BrokenPipeError(f"more than {self._limit} bytes of output")
        self.data += data
