"""Transports to MCP servers that bound what a server may send.

The SDK's own read a line or a body of any length. Invariants: one message is at most
MAX_MESSAGE_BYTES; a server that is started here gets no key of the core's and ends with its
connection, and everything that it started.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from agent.child_environment import child_environment
from agent.child_process import end_child

MAX_MESSAGE_BYTES = 1024 * 1024
MAX_STREAMS = 40  # How often one connection opens an event stream.
_END_S = 2.0
_ERROR_BYTES = 4096
_log = logging.getLogger(__name__)


class ErrorTail:
    """The end of what a server writes on stderr: why it ended, more often than not."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, chunk: bytes) -> None:
        self._bytes = (self._bytes + chunk)[-_ERROR_BYTES:]

    @property
    def text(self) -> str:
        """The text, oldest line first; its first line may be cut."""
        return self._bytes.decode("utf-8", "replace")


@asynccontextmanager
async def over_pipes(
    command: Sequence[str], env: Mapping[str, str], errors: ErrorTail
) -> AsyncIterator[Any]:
    """Start a server and speak over its pipes.

    Args:
        command: the program and its arguments; no shell is involved.
        env: what it is given beside the environment of any child.
        errors: gets what it writes on stderr.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=child_environment() | dict(env),
        limit=MAX_MESSAGE_BYTES,
        start_new_session=True,
    )
    to_us, ours = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    theirs, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    reading = asyncio.create_task(_read(process, to_us), name="from an MCP server")
    writing = asyncio.create_task(_write(process, from_us), name="to an MCP server")
    listening = asyncio.create_task(_listen(process, errors), name="errors of an MCP server")
    try:
        yield ours, theirs
    finally:
        for task in (reading, writing):
            task.cancel()
        await asyncio.wait({reading, writing})
        for stream in (to_us, ours, theirs, from_us):
            stream.close()
        assert process.stdin is not None
        # The end of its input is how a server is told to end (MCP, stdio transport).
        process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await process.wait()
        await end_child(process, group=True)
        # Its last words may still be in the pipe.
        await asyncio.wait({listening}, timeout=_END_S)
        listening.cancel()
        await asyncio.wait({listening})


async def _listen(process: asyncio.subprocess.Process, errors: ErrorTail) -> None:
    assert process.stderr is not None
    with suppress(ConnectionError):
        while chunk := await process.stderr.read(_ERROR_BYTES):
            errors.add(chunk)


async def _read(
    process: asyncio.subprocess.Process, to_us: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    assert process.stdout is not None
    # Closed at the end, so that whoever waits for an answer learns that none comes.
    async with to_us:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            while True:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    _log.warning("An MCP server sent a line over %d bytes", MAX_MESSAGE_BYTES)
                    return
                if not line:
                    return
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    await to_us.send(error)
                else:
                    await to_us.send(SessionMessage(message))


async def _write(
    process: asyncio.subprocess.Process, from_us: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):
        async with from_us:
            async for said in from_us:
                line = said.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(line.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._inner:
            read += len(chunk)
            if read > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError("the server's answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedHttp(httpx2.AsyncBaseTransport):
    """Bound the body of each answer, and how often a stream is opened; follow no redirect."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport()
        self._streams = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            # The SDK opens a stream again for as long as the server breaks it off, at its pace.
            self._streams += 1
            if self._streams > MAX_STREAMS:
                raise httpx2.ConnectError("the server breaks its stream off again and again")
        response = await self._inner.handle_async_request(request)
        if 300 <= response.status_code < 400:
            # The SDK would follow one to the same host, whatever its client says.
            await response.aclose()
            raise httpx2.ConnectError("the server answers with a redirect")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedBody(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], timeout_s: float) -> AsyncIterator[Any]:
    """Speak with a server at an address; no redirect is followed."""
    async with (
        httpx2.AsyncClient(
            headers=dict(headers), timeout=timeout_s, transport=_BoundedHttp()
        ) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams[0], streams[1]
