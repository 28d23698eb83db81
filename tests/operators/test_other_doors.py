"""The doors beside the socket: HTTP, event streams, MCP, the command line, files, logs."""

import logging
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from agent.knowledge.library import load
from agent.operators.changes import without_credential
from agent.operators.operator import Operator
from agent.protocol import Interrupt
from agent.records import Right
from agent.rpc.credentials import Credentials, KeyFile, TokenShown
from agent.rpc.remote_core import Client as CoreClient
from console.http_api.app import HttpApi, serving
from console.http_api.operations import LOOK_UPS, ops
from console.mcp.clients import HttpClients
from console.mcp.http import serving_http
from console.mcp.server import PhoneServer
from tests.operators.house import BANK_WORD, House
from tests.operators.test_doors import aimed

OWN_TOKEN = "the-token-of-the-server-itself"


@pytest.fixture
async def url(house: House) -> AsyncIterator[str]:
    await house.add("boss", *Right)
    api = HttpApi(house.daemon.path, credentials=KeyFile(house.keys / "boss"))
    async with serving(api, OWN_TOKEN, port=0) as address:
        yield f"{address}/v1"


def web(url: str, token: str, **headers: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {token}", **headers}, timeout=60
    )


async def test_no_path_of_http_opens_what_is_anothers(house: House, url: str) -> None:
    token = await house.add("ana", *Right, tags=("lab",))
    session_id = house.sessions["bank"]
    before = await house.stage.store.session_events(session_id)
    tries = 0
    async with web(url, token) as client:
        for name, kind in ops().items():
            op = msgspec.to_builtins(aimed(kind, house, "bank"))
            op.pop("type")
            answer = await client.post(f"/ops/{name}", json=op)
            assert BANK_WORD not in answer.text, name
            if not name.endswith(("_list", "_queue", "_search")):
                assert answer.status_code in {403, 422}, (name, answer.text)
            tries += 1
        asked = {"session_id": session_id, "query": "look", "since_ms": "0", "digest": "0" * 64}
        for name in LOOK_UPS:
            fields = {"history": ["session_id"], "session": ["session_id"], "search": ["query"]}
            fields |= {"spending": ["since_ms"], "blob": ["digest"]}
            query = {one: asked[one] for one in fields.get(name, [])}
            answer = await client.get(f"/{name}", params=query)
            assert BANK_WORD not in answer.text, name
            assert "bank-1" not in answer.text, name
            tries += 1
        last = (await house.stage.core.overview()).event_id
        async with client.stream("GET", "/events", params={"after": "0"}) as stream:
            async for line in stream.aiter_lines():
                assert BANK_WORD not in line
                assert "bank-1" not in line
                seen = line.removeprefix("id: ")
                # Something of their own phone is near the end of the log.
                if seen.isdecimal() and int(seen) >= last - 25:
                    break
    assert tries >= 40
    assert await house.stage.store.session_events(session_id) == before


async def test_each_token_has_a_connection_of_its_own(house: House, url: str) -> None:
    lab = await house.add("ana", Right.WATCH, tags=("lab",))
    bank = await house.add("ben", Right.WATCH, tags=("bank",))
    name = {"Switchboard-Client": "same-name"}
    for token, serials in (
        (OWN_TOKEN, ["lab-1", "bank-1"]),
        (lab, ["lab-1"]),
        (bank, ["bank-1"]),
        (OWN_TOKEN, ["lab-1", "bank-1"]),
        (lab, ["lab-1"]),
    ):
        async with web(url, token, **name) as client:
            told = (await client.get("/overview")).json()
            assert [one["serial"] for one in told["devices"]] == serials


@pytest.mark.parametrize("shown", ["swb_", "swb_0_guess", "swb_\xe4", "Bearer", ""])
async def test_a_guess_gets_nothing_and_takes_no_place(house: House, url: str, shown: str) -> None:
    for number in range(34):
        tried = f"{shown}{number}" if shown.isascii() else shown
        headers = {b"Authorization": f"Bearer {tried}".encode("latin-1")}
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            answer = await client.post("/ops/session_create", content=b"{not read")
            assert answer.status_code in {401, 403}
    async with web(url, OWN_TOKEN) as client:
        assert (await client.get("/overview")).status_code == 200


async def test_a_revoked_token_is_refused_on_a_kept_connection(house: House, url: str) -> None:
    token = await house.add("ana", Right.WATCH)

    def less(known: Mapping[str, Operator]) -> Operator:
        return without_credential(known["ana"], "all")

    async with web(url, token) as client:
        assert (await client.get("/overview")).status_code == 200
        await house.register.change("ana", less)
        assert (await client.get("/overview")).status_code in {403, 503}


class Mcp:
    def __init__(self, url: str, client: httpx2.AsyncClient) -> None:
        self.url, self.client = url, client

    async def call(self, method: str, **params: Any) -> str:
        said = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
        return (await self.client.post(self.url, json=said)).text


@asynccontextmanager
async def mcp(url: str, token: str) -> AsyncIterator[Mcp]:
    kind = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=kind, timeout=60) as client:
        hello: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello["clientInfo"] = {"name": "t", "version": "1"}
        begun = await client.post(
            url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        )
        client.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
        await client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield Mcp(url, client)
        await client.delete(url)


@asynccontextmanager
async def serving_mcp(
    path: Path, boss: Credentials, directory: Path
) -> AsyncIterator[tuple[str, PhoneServer]]:
    """Serve MCP before the core of a socket, with the credentials of boss."""

    async def open_core(program: str, shown: str) -> CoreClient:
        credentials = TokenShown(shown) if shown else boss
        return await CoreClient.connect(path, name=program, credentials=credentials)

    clients = HttpClients(open_core, exports=directory)
    server = PhoneServer(clients, load(directory), version="1", sees=False)
    async with serving_http(server, clients, OWN_TOKEN, port=0) as url:
        yield url, server


async def test_no_tool_or_resource_of_mcp_opens_what_is_anothers(house: House) -> None:
    token = await house.add("ana", *Right, tags=("lab",))
    await house.add("boss", *Right)
    session_id = house.sessions["bank"]
    boss = KeyFile(house.keys / "boss")
    async with serving_mcp(house.daemon.path, boss, house.keys) as (url, server):
        async with mcp(url, OWN_TOKEN) as own:
            assert session_id in await own.call("resources/list")
        async with mcp(url, token) as ana:
            listed = await ana.call("resources/list")
            assert house.sessions["lab"] in listed
            assert session_id not in listed
            assert "bank-1" not in listed
            aims = {"session": session_id, "session_id": session_id, "phone": "bank-1"}
            for name in {tool.name for tool in server.tools()}:
                for given in (aims, {"session": session_id}, {"phone": "bank-1"}):
                    said = await ana.call("tools/call", name=name, arguments=given)
                    assert BANK_WORD not in said, name
            for uri in (f"session://{session_id}", f"switchboard://sessions/{session_id}"):
                assert BANK_WORD not in await ana.call("resources/read", uri=uri)
            # The session of one operator, in the hands of another.
            ana.client.headers["authorization"] = "Bearer swb_0_guess"
            assert house.sessions["lab"] not in await ana.call("resources/list")
            ana.client.headers["authorization"] = f"Bearer {token}"
        async with mcp(url, "swb_0_guess") as nobody:
            assert "refused" in await nobody.call("resources/list")


async def test_neither_token_nor_key_is_in_logs_events_or_errors(
    house: House, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = await house.add("ana", *Right)
    secret = token.rsplit("_", 1)[1]
    told: list[str] = []
    client = await house.come(token=token)
    told.append(repr(await client.status()))
    async with web(url, token) as over_http:
        told.append((await over_http.get("/overview")).text)
        told.append((await over_http.get("/status")).text)
    async with web(url, f"{token}x") as over_http:
        told.append((await over_http.get("/overview")).text)
    with pytest.raises(Exception, match="refused") as refusal:
        await house.come(token=f"{token}x")
    told += [str(refusal.value), repr(refusal.value), caplog.text]
    told += [repr(event) for event in await house.stage.store.events(after=0, limit=10_000)]
    told += [
        one.read_text(errors="replace")
        for one in house.stage.directory.rglob("*")
        if one.is_file() and not one.name.startswith("core.sock")
    ]
    key = (house.keys / "ana").read_text().splitlines()[2]
    for text in told:
        assert secret not in text
        assert key not in text


async def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    from agent.operators.file_register import FileRegister

    register = FileRegister(tmp_path / "data")
    await register.change("ana", lambda _one: Operator(name="ana"))
    assert stat.S_IMODE(register.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(register.path.parent.stat().st_mode) == 0o700


async def test_where_there_are_no_operators_no_token_of_one_lets_in(house: House, url: str) -> None:
    """The servers let such a token through to the core, which alone knows operators."""
    house.register.path.unlink()
    async with web(url, "swb_0_guess") as guesser:
        for name in ("overview", "status", "sessions"):
            answer = await guesser.get(f"/{name}")
            assert answer.status_code == 403, name
            assert "lab-1" not in answer.text
    async with web(url, OWN_TOKEN) as own:
        assert (await own.get("/overview")).status_code == 200
    boss = KeyFile(house.keys / "boss")
    async with serving_mcp(house.daemon.path, boss, house.keys) as (mcp_url, _server):
        async with mcp(mcp_url, "swb_0_guess") as nobody:
            assert "refused" in await nobody.call("resources/list")
            assert "lab-1" not in await nobody.call("tools/call", name="list_phones", arguments={})
        async with mcp(mcp_url, OWN_TOKEN) as own_mcp:
            assert house.sessions["lab"] in await own_mcp.call("resources/list")


@asynccontextmanager
async def listening(url: str, token: str, *uris: str) -> AsyncIterator[AsyncIterator[str]]:
    """Listen for changes of resources, as clients without a session do."""
    meta = "io.modelcontextprotocol/"
    said = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "subscriptions/listen",
        "params": {
            "notifications": {"resourceSubscriptions": uris},
            "_meta": {
                f"{meta}protocolVersion": "2026-07-28",
                f"{meta}clientInfo": {"name": "t", "version": "1"},
                f"{meta}clientCapabilities": {},
            },
        },
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {token}",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
    }
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as client,
        client.stream("POST", url, json=said) as stream,
    ):
        yield stream.aiter_lines()


async def test_changes_are_told_to_those_alone_who_may_see_what_changed(house: House) -> None:
    """Neither of the other operator's session, nor of anything to who has not signed in."""
    token = await house.add("ana", Right.WATCH, tags=("lab",))
    await house.add("boss", *Right)
    own, other = (
        f"switchboard://sessions/{house.sessions[tag]}/transcript" for tag in ("lab", "bank")
    )
    boss = KeyFile(house.keys / "boss")
    async with serving_mcp(house.daemon.path, boss, house.keys) as (url, _server):
        async with listening(url, "swb_0_guess", own, other) as lines:
            told = "".join([one async for one in lines])
            assert "refused" in told
            assert "acknowledged" not in told
        async with listening(url, token, own, other) as lines:
            async for line in lines:
                if "acknowledged" in line:
                    break
            # The other's first: what comes of it would come before what comes of their own.
            for tag in ("bank", "lab"):
                await house.stage.do(Interrupt(session_id=house.sessions[tag]))
            async for line in lines:
                assert house.sessions["bank"] not in line
                if house.sessions["lab"] in line:
                    break
