"""MCP over HTTP: the token, the gate, and clients that leave in every way a client can."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from agent.errors import ConfigError
from agent.knowledge.library import load
from agent.protocol import ToolCallRequested
from agent.records import SessionState
from agent.rpc.remote_core import Client as CoreClient
from console.loopback.tokens import MCP_TOKEN
from console.mcp.clients import HttpClients
from console.mcp.http import MAX_BODY_BYTES, serving_http
from console.mcp.server import PhoneServer
from support.patience import until
from tests.mcp.stand import Stand

TOKEN = "a-token-for-this-test"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1"},
    },
}
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}


@dataclass
class Served:
    url: str
    clients: HttpClients
    stand: Stand

    @asynccontextmanager
    async def session(self, name: str) -> AsyncIterator[ClientSession]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
            streamable_http_client(self.url, http_client=http) as streams,
            ClientSession(
                streams[0], streams[1], client_info=types.Implementation(name=name, version="1")
            ) as session,
        ):
            await session.initialize()
            yield session

    async def direct(self) -> list[tuple[str, SessionState]]:
        """Return program and state of the direct sessions, newest first."""
        found = await self.stand.at.core.sessions()
        return [(one.model, one.state) for one in found if one.model.startswith("direct:")]

    async def until_all_over(self) -> None:
        async with self.stand.at.core.events(after=0) as events:
            async for _ in events:
                if all(state.is_terminal for _, state in await self.direct()):
                    return


@pytest.fixture
async def served(stand: Stand, tmp_path: Path) -> AsyncIterator[Served]:
    async def open_core(program: str, _token: str) -> CoreClient:
        return await CoreClient.connect(stand.socket, name=program)

    clients = HttpClients(open_core, idle_s=2.0, hung_up_s=0.2)
    server = PhoneServer(clients, load(tmp_path), version="1", sees=False)
    async with serving_http(server, clients, TOKEN, port=0) as url:
        yield Served(url, clients, stand)


async def text_of(session: Any, name: str, **arguments: Any) -> str:
    return str((await session.call_tool(name, arguments)).content[0].text)


async def test_two_clients_have_phones_of_their_own_names(served: Served) -> None:
    async with served.session("first") as first:
        assert "## Screen State" in await text_of(first, "take_phone", purpose="Look around")
        async with served.session("second") as second:
            assert "taken no phone" in await text_of(second, "look")
            assert "You have taken no phone" in await text_of(second, "launch_app", app="Clock")
        assert "Clock" in await text_of(first, "launch_app", app="Clock")
        await text_of(first, "release_phone", success=False, summary="Only looked")
    assert await served.direct() == [("direct:first", SessionState.FAILED)]


async def test_a_client_that_ends_its_session_lets_go_of_its_phone(served: Served) -> None:
    async with served.session("leaver") as session:
        await text_of(session, "take_phone", purpose="Look around")
    await served.until_all_over()
    assert await served.direct() == [("direct:leaver", SessionState.CANCELLED)]
    await until(lambda: len(served.clients) == 0)


async def test_a_client_without_sessions_keeps_its_phone_between_requests(served: Served) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
        transport = streamable_http_client(served.url, http_client=http)
        me = types.Implementation(name="modern", version="1")
        async with Client(transport, client_info=me, mode="2026-07-28") as client:
            assert "## Screen State" in await text_of(client, "take_phone", purpose="Look")
            assert "Clock" in await text_of(client, "launch_app", app="Clock")
    # It has no way to say that it has left; its time-out says it.
    await served.until_all_over()
    assert await served.direct() == [("direct:modern", SessionState.CANCELLED)]


async def test_a_call_that_is_cancelled_over_http_stops_and_the_phone_stays(served: Served) -> None:
    async with served.session("impatient") as session:
        await text_of(session, "take_phone", purpose="Look around")
        calling = asyncio.create_task(session.call_tool("wait", {"seconds": 300}))
        async with served.stand.at.core.events(after=0) as events:
            async for event in events:
                if isinstance(event.msg, ToolCallRequested):
                    break
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        assert "cancelled before anything was done" in await text_of(session, "look")
        assert "Clock" in await text_of(session, "launch_app", app="Clock")


async def test_a_client_whose_stream_breaks_off_lets_go_of_its_phone(served: Served) -> None:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        begun = await http.post(served.url, json=INITIALIZE)
        headers = {"mcp-session-id": begun.headers["mcp-session-id"]}
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await http.post(served.url, json=ready, headers=headers)).status_code == 202
        async with http.stream("GET", served.url, headers=headers) as stream:
            assert stream.status_code == 200
            call = {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "take_phone", "arguments": {"purpose": "Look"}},
            }
            answer = await http.post(served.url, json=call, headers=headers)
            assert "## Screen State" in answer.text
            assert (await served.direct())[0][1] is SessionState.RUNNING
    await served.until_all_over()


async def test_a_client_that_is_killed_in_a_swipe_lets_go_of_its_phone(served: Served) -> None:
    phone, core = served.stand.phone, served.stand.at.core
    swiper = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.mcp.long_swipe", served.url, TOKEN)
    )
    try:
        await until(lambda: phone.touch.touched)
        (device,) = (await core.overview()).devices
        assert device.driver
        assert phone.touch.touched, "it is killed in the swipe"
    finally:
        swiper.kill()
        await swiper.wait()
    await served.until_all_over()
    assert await served.direct() == [("direct:swiper", SessionState.CANCELLED)]
    await until(lambda: len(served.clients) == 0)
    assert not phone.touch.touched
    (device,) = (await core.overview()).devices
    assert device.driver == ""
    async with served.session("next") as session:
        assert "## Screen State" in await text_of(session, "take_phone", purpose="Look around")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": b"Bearer \xff\xfe"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"mcp-session-id": "0" * 32}, 404),
        ({"mcp-session-id": "../\u00e9".encode()}, 404),
    ],
)
async def test_who_does_not_belong_here_is_refused(
    served: Served, headers: dict[str, Any], status: int
) -> None:
    async with httpx2.AsyncClient(timeout=60) as http:
        answer = await http.post(served.url, json=INITIALIZE, headers=HEADERS | headers)
        assert answer.status_code == status, answer.text
        assert TOKEN not in answer.text
    assert len(served.clients) == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"jsonrpc":"2.0"}', b"[" * 100_000])
async def test_a_body_that_is_no_request_is_refused(served: Served, body: bytes) -> None:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        answer = await http.post(served.url, content=body)
        assert 400 <= answer.status_code < 500, answer.text


async def test_a_body_beyond_the_bound_is_refused_unread(served: Served) -> None:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        answer = await http.post(served.url, content=b" " * (MAX_BODY_BYTES + 1))
        assert answer.status_code == 413


async def test_a_client_that_never_reads_holds_up_nobody(served: Served) -> None:
    port = int(served.url.rsplit(":", 1)[1].split("/")[0])
    deaf = []
    for _ in range(20):
        peer = socket.create_connection(("127.0.0.1", port))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        peer.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        deaf.append(peer)
    try:
        async with served.session("patient") as session:
            assert "## Screen State" in await text_of(session, "take_phone", purpose="Look")
    finally:
        for peer in deaf:
            peer.close()


async def test_a_flood_is_answered_and_leaves_nothing(served: Served) -> None:
    async with served.session("flood") as session:
        await text_of(session, "take_phone", purpose="Look")
        calls = (text_of(session, "launch_app", app="Clock") for _ in range(60))
        said = await asyncio.gather(*calls)
        assert any("Clock" in one for one in said)
        assert all(one for one in said)
    await served.until_all_over()
    await until(lambda: len(served.clients) == 0)


def test_the_token_is_kept_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWITCHBOARD_MCP_TOKEN", raising=False)
    token = MCP_TOKEN.of(tmp_path)
    assert MCP_TOKEN.of(tmp_path) == token
    assert MCP_TOKEN.file(tmp_path).stat().st_mode & 0o777 == 0o600
    MCP_TOKEN.file(tmp_path).chmod(0o640)
    with pytest.raises(ConfigError, match="read by others"):
        MCP_TOKEN.of(tmp_path)
    monkeypatch.setenv("SWITCHBOARD_MCP_TOKEN", "short")
    with pytest.raises(ConfigError, match="cannot be used"):
        MCP_TOKEN.of(tmp_path)
    monkeypatch.setenv("SWITCHBOARD_MCP_TOKEN", "x" * 40)
    assert MCP_TOKEN.of(tmp_path) == "x" * 40
