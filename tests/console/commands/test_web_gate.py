"""Who comes in at the web console's gate: whoever shows the token, under a name of this machine."""

import asyncio
from urllib.parse import urlsplit

import pytest

from agent.core import Core
from console.web.server import serving

OURS = "127.0.0.1:{port}"


async def status(port: int, head: str) -> str:
    """Send a request as it is, byte by byte; returns the first line of what came back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(30):
            writer.write(f"{head.format(port=port)}\r\nConnection: close\r\n\r\n".encode("latin-1"))
            await writer.drain()
            return (await reader.readline()).decode("latin-1").strip()
    finally:
        writer.close()


async def never() -> Core:
    """Open no core: nobody here gets as far as a phone."""
    raise AssertionError("a visitor without a token reached the core")


@pytest.mark.parametrize(
    "head",
    [
        f"GET / HTTP/1.1\r\nHost: {OURS}",
        "GET /?token=TOKEN HTTP/1.1\r\nHost: evil.example:{port}",
        "GET / HTTP/1.1\r\nHost: [::1",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:http",
        f"GET / HTTP/1.1\r\nHost: {OURS}@evil.example",
        f"GET / HTTP/1.1\r\nHost: {OURS}\r\nCookie: switchboard-{{port}}=\xff\xfe",
        f"GET /ws?token=TOKEN HTTP/1.1\r\nHost: {OURS}\r\nOrigin: http://evil.example",
        f"GET /ws?token=TOKEN HTTP/1.1\r\nHost: {OURS}\r\nOrigin: http://127.0.0.1:1",
        f"GET /ws?token=TOKEN HTTP/1.1\r\nHost: {OURS}\r\nOrigin: http://[::1",
        f"GET /ws?token=TOKEN HTTP/1.1\r\nHost: {OURS}\r\nOrigin: null",
        f"GET /static/css/xterm.css HTTP/1.1\r\nHost: {OURS}",
        f"GET /?token=%FF%ED%A0%80 HTTP/1.1\r\nHost: {OURS}",
    ],
)
async def test_whoever_knocks_in_another_way_is_refused_and_never_breaks_the_gate(
    head: str,
) -> None:
    async with serving(
        "true",
        host="127.0.0.1",
        port=0,
        names=frozenset(),
        title="x",
        open_core=never,
        may_drive=False,
    ) as url:
        at = urlsplit(url)
        assert at.port is not None
        token = at.query.removeprefix("token=")
        said = await status(at.port, head.replace("TOKEN", token))
        welcome = await status(at.port, f"GET /?token={token} HTTP/1.1\r\nHost: {OURS}")
    assert "403" in said
    assert "303" in welcome
