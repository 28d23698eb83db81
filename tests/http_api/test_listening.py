"""What is sent over loopback goes out at once."""

import asyncio
import socket

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from console.loopback import listening as loopback


async def test_a_body_does_not_wait_until_its_head_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Head and body are two parts: held back, the second one comes 40 ms late."""
    at_once: list[int] = []
    begin = loopback._Connection.connection_made

    def watched(self: loopback._Connection, transport: asyncio.Transport) -> None:
        link = transport.get_extra_info("socket")
        at_once.append(link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        begin(self, transport)

    monkeypatch.setattr(loopback._Connection, "connection_made", watched)
    app = Starlette(routes=[Route("/", lambda _request: PlainTextResponse("here"))])
    async with (
        loopback.listening(lambda _port: app, port=0, at_once=8) as address,
        httpx2.AsyncClient() as client,
    ):
        assert (await client.get(address)).text == "here"
    assert at_once and all(at_once)
