"""Take HTTP requests on an address of this computer: small, bounded, one answer each.

Parsing is h11's. Invariants: a request is at most `MOST_BYTES` and comes within `TIMEOUT_S`; a
connection carries one request; what fails inside is an answer of status 500 without a word of why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from agent.errors import ConfigError

if TYPE_CHECKING:
    from h11 import Connection

MOST_BYTES = 32_000
MOST_AT_ONCE = 32
TIMEOUT_S = 10.0
_log = logging.getLogger(__name__)


class HttpRequest(NamedTuple):
    """What was asked."""

    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """By names in lowercase."""
    body: bytes


class HttpReply(NamedTuple):
    """What is answered."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


Answer = Callable[[HttpRequest], Awaitable[HttpReply]]


@asynccontextmanager
async def listening(host: str, port: int, answer: Answer) -> AsyncIterator[int]:
    """Take requests for the length of the block; gives the port. Raises ConfigError."""
    room = asyncio.Semaphore(MOST_AT_ONCE)
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            async with room, asyncio.timeout(TIMEOUT_S):
                await _serve(reader, writer, answer)
        except (OSError, TimeoutError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    try:
        server = await asyncio.start_server(connected, host, port)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}.",
            "Choose another address for notices.listen.",
        ) from error
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer
) -> None:
    import h11

    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_BYTES)
    try:
        request = await _read(connection, reader)
        reply = HttpReply(413, b"{}") if request is None else await answer(request)
    except h11.RemoteProtocolError:
        reply = HttpReply(400, b"{}")
    except Exception:
        _log.exception("A request could not be answered")
        reply = HttpReply(500, b"{}")
    headers = [
        ("Content-Type", reply.content_type),
        ("Content-Length", str(len(reply.body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"),
        *reply.headers,
    ]
    if connection.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
        return
    for event in (
        h11.Response(status_code=reply.status, headers=headers),
        h11.Data(data=reply.body),
        h11.EndOfMessage(),
    ):
        writer.write(connection.send(event) or b"")
    await writer.drain()


async def _read(connection: Connection, reader: asyncio.StreamReader) -> HttpRequest | None:
    """Return a request with its body; None for one that is too large."""
    import h11

    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(8192))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MOST_BYTES:
                return None
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in head.headers}
            target = head.target.decode("latin-1").partition("?")[0]
            return HttpRequest(head.method.decode("latin-1"), target, headers, body)
        else:
            raise h11.RemoteProtocolError("the connection was closed")
