"""One document is read over HTTP, bounded in size and time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from agent.bounded_http import MOST_BYTES, TooLongError, fault_of, read_document

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


@asynccontextmanager
async def serving(answer: bytes, *, endless: bytes = b"") -> AsyncIterator[str]:
    """Serve one answer, and then the same bytes again until the reader has gone."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            while endless and not writer.is_closing():
                writer.write(endless)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def test_a_document_is_read_with_its_status() -> None:
    async with serving(HEAD + b"{}") as url:
        assert await asyncio.to_thread(read_document, url, timeout_s=30) == (200, b"{}")
    async with serving(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n") as url:
        assert await asyncio.to_thread(read_document, url, timeout_s=30) == (302, b"")


async def test_what_is_too_long_is_not_read_to_its_end() -> None:
    async with serving(HEAD, endless=b"x" * MOST_BYTES) as url:
        with pytest.raises(TooLongError):
            await asyncio.to_thread(read_document, url, timeout_s=30)


async def test_what_comes_after_its_time_is_an_error_of_the_connection() -> None:
    async with serving(HEAD, endless=b"x") as url:
        with pytest.raises(OSError, match=r"not read within|timed out|Read timed out"):
            await asyncio.to_thread(read_document, url, timeout_s=0.001)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://login.example.com/realms/lab", ""),
        ("http://127.0.0.1:8080", ""),
        ("http://[::1]/", ""),
        ("http://login.example.com", "must be reached by https"),
        ("ftp://login.example.com", "must be reached by https"),
        ("https://", "is not an address"),
        ("https://[::1", "is not an address"),
        ("https://user:word@login.example.com", "is not an address"),
        ("https://login.example.com/a b", "is not an address"),
    ],
)
def test_only_an_https_address_or_one_of_this_computer_is_permitted(url: str, fault: str) -> None:
    assert fault_of(url) == fault
