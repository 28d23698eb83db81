"""No client takes what it proves itself with to another place because an answer points there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.errors import SwitchboardError
from agent.mcp.bounded import over_http
from agent.mcp.connection import ServerConnection, ServerTrouble
from agent.models.clients import client_class
from agent.models.endpoint import endpoint_for
from agent.models.login import Login, discover, refreshed, sign_out
from agent.models.model import Message, MessageKind, ModelRequest, Role
from agent.oidc.device_flow import DeviceFlow
from agent.oidc.issuer import Metadata
from agent.settings import Wire

SECRET = "tok-4711-secret"


@dataclass
class Place:
    """Answers each request in the same way, and keeps what came."""

    answer: bytes = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    port: int = 0
    came: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                line for line in head.lower().splitlines() if line.startswith(b"content-length:")
            ]
            body = await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
            self.came.append(head + body)
            writer.write(self.answer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(place: Place) -> AsyncIterator[Place]:
    server = await asyncio.start_server(place.handle, "127.0.0.1", 0)
    place.port = server.sockets[0].getsockname()[1]
    try:
        yield place
    finally:
        server.close()


def login(url: str) -> Login:
    return Login(
        issuer=url,
        client_id="c",
        token_endpoint=f"{url}/token",
        revocation_endpoint=f"{url}/revoke",
        access_token=SECRET,
        refresh_token=SECRET,
    )


async def renew(url: str) -> None:
    await asyncio.to_thread(refreshed, login(url))


async def revoke(url: str) -> None:
    await asyncio.to_thread(sign_out, login(url))


async def read_metadata(url: str) -> None:
    await asyncio.to_thread(discover, url)


async def poll(url: str) -> None:
    flow = DeviceFlow(url, "c", client_secret=SECRET)
    metadata = Metadata(
        issuer=url,
        jwks_uri=url,
        token_endpoint=f"{url}/token",
        device_authorization_endpoint=f"{url}/device",
    )
    with suppress(SwitchboardError):
        await asyncio.to_thread(flow._begin, metadata, "nonce")
    await asyncio.to_thread(flow._poll, metadata, SECRET)


def asking(wire: Wire) -> Callable[[str], Awaitable[None]]:
    async def ask(url: str) -> None:
        endpoint = endpoint_for(f"{url}/v1", "m", wire.value)
        client = client_class(wire)("m", endpoint=endpoint, api_key=SECRET, timeout_s=20.0)
        said = Message(role=Role.USER, kind=MessageKind.GOAL, text="Hello")
        try:
            with suppress(SwitchboardError):
                await client.known_models()
            await client.complete(ModelRequest(messages=(said,), tools=()))
        finally:
            await client.close()

    return ask


async def use_mcp_server(url: str) -> None:
    def streams() -> Any:
        return over_http(url, {"Authorization": f"Bearer {SECRET}", "X-Key": SECRET}, 20.0)

    connection = ServerConnection("one", streams, timeout_s=20.0, connect_s=20.0)
    try:
        await connection.open()
    finally:
        await connection.close()


async def export(url: str) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from console.monitoring.exporting import exporting

    def work() -> None:
        with exporting(version="1", instance="i", otlp=url) as made:
            made.tracer.start_span("a span").end()

    await asyncio.to_thread(work)


CLIENTS: dict[str, Callable[[str], Awaitable[None]]] = {
    "a login that is renewed": renew,
    "a login that ends": revoke,
    "an issuer's metadata": read_metadata,
    "the device flow": poll,
    **{f"a model by {wire.value}": asking(wire) for wire in Wire},
    "an MCP server": use_mcp_server,
    "a collector": export,
}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("client", CLIENTS)
async def test_nothing_follows_a_redirect_to_another_place(
    client: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"x-key={SECRET}")
    async with serving(Place()) as other:
        moved = f"HTTP/1.1 {status} Moved\r\nlocation: {other.url}/taken\r\n"
        moved += "content-length: 0\r\nconnection: close\r\n\r\n"
        async with serving(Place(moved.encode())) as first, asyncio.timeout(60):
            with suppress(SwitchboardError, ServerTrouble):
                await CLIENTS[client](first.url)
    assert first.came, "it was asked"
    assert other.came == []
