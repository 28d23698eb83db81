"""Serve MCP over this process's stdin and stdout, for as long as the client keeps them open.

The SDK's own transport hands each line to a thread and back, and each answer twice, which is most
of what a call costs; here the event loop reads and writes the pipes itself. Invariants: whatever
this process or a child of it prints misses the client's pipe; one message is at most
MAX_MESSAGE_BYTES; a client that does not read holds up nobody but itself.
"""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from console.mcp.server import PhoneServer

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest line; a call over 1 MiB is refused by the core, which says so in its answer."""
_LAST_WORDS_S = 2.0  # How long the end waits for a client to take what was written.


async def serve_stdio(server: PhoneServer) -> None:
    """Serve one client until it closes its end."""
    options = server.server.create_initialization_options()
    if _are_pipes():
        async with _over_pipes() as (heard, said):
            await server.server.run(heard, said, options)
    else:
        # A terminal or a file, which an event loop does not wait for.
        async with stdio_server() as (read, write):
            await server.server.run(read, write, options)


class _Ends:
    """What the SDK asks of both directions."""

    async def aclose(self) -> None:
        """Do nothing: the pipes are closed by whoever opened them."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class _ToClient(_Ends):
    """Write messages, a line each; implements the SDK's WriteStream."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage, /) -> None:
        """Write one. Raises BrokenResourceError when the client is gone."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            self._writer.write(line.encode("utf-8", "replace") + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error


class _FromClient(_Ends):
    """Read messages, a line each; implements the SDK's ReadStream.

    Args:
        said: where is said that a line was too long.
    """

    def __init__(self, reader: asyncio.StreamReader, said: _ToClient) -> None:
        self._reader = reader
        self._said = said

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage | Exception:
        """Return the next one; an error for a line that is no message.

        Raises:
            EndOfStream: the client has closed its end.
        """
        line = await self._line()
        if not line:
            raise anyio.EndOfStream
        try:
            text = line.decode("utf-8", "replace")
            message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError as error:
            return error
        return SessionMessage(message)

    async def _line(self) -> bytes:
        """Return the next line; empty at the end. One that is too long is refused and left out."""
        while True:
            try:
                return await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                return end.partial
            except asyncio.LimitOverrunError as over:
                if not await self._skip(over):
                    return b""
                await self._refuse()

    async def _skip(self, over: asyncio.LimitOverrunError) -> bool:
        """Read on to where a line ends; returns whether it does."""
        while True:
            try:
                await self._reader.readexactly(max(over.consumed, 1))
                await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as more:
                over = more
            except asyncio.IncompleteReadError:
                return False
            else:
                return True

    async def _refuse(self) -> None:
        text = f"The message is over {MAX_MESSAGE_BYTES:,} bytes. Send less at once."
        error = types.ErrorData(code=types.INVALID_REQUEST, message=text)
        refusal = types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
        with suppress(anyio.BrokenResourceError):
            await self._said.send(SessionMessage(refusal))


@asynccontextmanager
async def _over_pipes() -> AsyncIterator[tuple[_FromClient, _ToClient]]:
    loop = asyncio.get_running_loop()
    with _set_aside(0, os.devnull, os.O_RDONLY) as heard, _set_aside(1, None, 0) as said:
        reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
        read, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(heard), "rb", 0)
        )
        write, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(os.dup(said), "wb", 0),
        )
        writer = asyncio.StreamWriter(write, protocol, None, loop)
        try:
            to_client = _ToClient(writer)
            yield _FromClient(reader, to_client), to_client
        finally:
            read.close()
            writer.close()
            try:
                async with asyncio.timeout(_LAST_WORDS_S):
                    await writer.wait_closed()
            except TimeoutError:
                write.abort()
            except OSError:
                pass  # the client is gone


def _are_pipes() -> bool:
    """Whether the event loop can wait for both ends, and each is nothing but its own."""
    try:
        found = [os.fstat(number) for number in (0, 1, 2)]
    except OSError:
        return False
    if not all(stat.S_ISFIFO(one.st_mode) or stat.S_ISSOCK(one.st_mode) for one in found[:2]):
        return False
    heard, said, logged = ((one.st_dev, one.st_ino) for one in found)
    # A socket for both would seem closed at its first byte, and a log would be cut short where
    # writing does not block.
    return said not in (heard, logged)


@contextmanager
def _set_aside(number: int, path: str | None, mode: int) -> Iterator[int]:
    """Point a standard stream elsewhere for the length of a `with` block; yields the real one.

    Args:
        path: what it is pointed at; None: at stderr.
    """
    sys.stdout.flush()
    kept = os.dup(number)
    blocked = os.get_blocking(kept)
    try:
        other = os.dup(2) if path is None else os.open(path, mode)
        os.dup2(other, number)
        os.close(other)
        yield kept
    finally:
        sys.stdout.flush()
        os.set_blocking(kept, blocked)
        os.dup2(kept, number)
        os.close(kept)
