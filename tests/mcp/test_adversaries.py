"""Clients that mean harm or are broken, against `switchboard mcp` as it is started, both ways.

What they send is written by hand, since the SDK's client sends nothing wrong. Counted afterwards:
connections to the core, leases, fingers on the phone.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest

from agent.config import load_settings
from agent.protocol import DirectCall, SessionCreate
from agent.records import SessionState
from agent.rpc.remote_core import Client as CoreClient
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from bench.exercises.house import House, house
from support.patience import until
from tests.end_to_end.harness import SWITCHBOARD

pytestmark = pytest.mark.slow

VERSION = "2025-06-18"
BEGIN = {
    "protocolVersion": VERSION,
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "adversary", "version": "1"},
}
FLOOD = 300
Message = dict[str, Any]


class Peer(Protocol):
    """The other end, spoken to by hand."""

    process: asyncio.subprocess.Process

    async def send(self, body: bytes) -> int:
        """Send what may be anything; returns the HTTP status, 200 over pipes."""

    async def ask(self, method: str, params: Any = None, number: Any = None) -> Message:
        """Ask, and return the answer."""


def message(method: str, params: Any, number: Any) -> Message:
    said: Message = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        said["id"] = number
    return said if params is None else {**said, "params": params}


class Pipes:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._number = 1000

    async def send(self, body: bytes) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(body.replace(b"\n", b" ") + b"\n")
        await self.process.stdin.drain()
        return 200

    async def answer_to(self, number: Any) -> Message:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            found: Message = json.loads(line)
            if found.get("id") == number and "method" not in found:
                return found
        raise AssertionError("the server closed its pipe")

    async def ask(self, method: str, params: Any = None, number: Any = None) -> Message:
        self._number += 1
        number = self._number if number is None else number
        await self.send(json.dumps(message(method, params, number)).encode())
        return await self.answer_to(number)


class Web:
    def __init__(self, process: asyncio.subprocess.Process, url: str, token: str) -> None:
        self.process = process
        self.http = httpx2.AsyncClient(
            headers={
                "Authorization": f"Bearer {token}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
            },
            timeout=60,
            limits=httpx2.Limits(max_connections=60),
        )
        self._url = url
        self._number = 1000

    async def send(self, body: bytes) -> int:
        return (await self.http.post(self._url, content=body)).status_code

    async def ask(self, method: str, params: Any = None, number: Any = None) -> Message:
        self._number += 1
        number = self._number if number is None else number
        answer = await self.http.post(self._url, json=message(method, params, number))
        if session := answer.headers.get("mcp-session-id"):
            self.http.headers["mcp-session-id"] = session
        for line in answer.text.splitlines():
            said = line.removeprefix("data: ")
            if said.startswith("{"):
                found: Message = json.loads(said)
                if found.get("id") == number or "error" in found:
                    return found
        return {"status": answer.status_code}


@dataclass
class Ground:
    """A core with a phone, and the servers that are attached to it."""

    at: House
    data: Path
    way: str

    @asynccontextmanager
    async def peer(self) -> AsyncIterator[Any]:
        """Start a server; yields its other end, begun."""
        over_http = self.way == "http"
        process = await asyncio.create_subprocess_exec(
            *(*SWITCHBOARD, "mcp", *(["--http", "--port", "0"] if over_http else [])),
            env={**os.environ, "SWITCHBOARD_DATA_DIR": str(self.data)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=1 << 24,
        )
        try:
            peer: Any = Pipes(process)
            if over_http:
                assert process.stdout is not None
                url = (await process.stdout.readline()).decode().strip()
                peer = Web(process, url, (self.data / "mcp-token").read_text().strip())
            await peer.ask("initialize", BEGIN)
            await peer.send(json.dumps(message("notifications/initialized", None, None)).encode())
            yield peer
        finally:
            if over_http:
                await peer.http.aclose()
            if process.stdin is not None:
                process.stdin.close()
            with suppress(ProcessLookupError):
                process.terminate()
            await process.communicate()

    async def until_all_is_left(self) -> None:
        phone = self.at.host.served(self.at.serials[0]).phone
        await until(lambda: not phone.touch.touched)
        async with self.at.core.events(after=0) as events:
            async for _ in events:
                devices = (await self.at.core.overview()).devices
                states = {one.state for one in await self.at.core.sessions()}
                if all(one.is_terminal for one in states) and not any(d.driver for d in devices):
                    break
        assert len((await self.status()).clients) == 1

    async def status(self) -> Any:
        core = await CoreClient.connect(socket_path(self.data), name="counter")
        try:
            async with asyncio.timeout(30):
                while len((found := await core.status()).clients) > 1:
                    await asyncio.sleep(0.05)
            return found
        finally:
            await core.close()


@pytest.fixture(params=["stdio", "http"])
async def ground(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ground]:
    data = tmp_path / "data"
    settings = load_settings(overrides={"data_dir": str(data), "model.vision": False}, environ={})
    async with house(tmp_path, settings, phones=1) as at, serve(at.core, socket_path(data)):
        yield Ground(at, data, request.param)


def called(name: Any, arguments: Any = None, **more: Any) -> Message:
    return {"name": name, "arguments": {} if arguments is None else arguments, **more}


def text_of(answer: Message) -> str:
    return str(answer["result"]["content"][0]["text"])


WRONG: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b"[" * 50_000,
    b"\xff\xfe",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 5, "method": 7}',
    b'{"jsonrpc": "2.0", "id": 5, "result": {"content": []}}',
    json.dumps(message("tools/call", None, 6)).encode(),
    json.dumps(message("tools/call", called(["take_phone"]), 7)).encode(),
    json.dumps(message("tools/call", called("take_phone", ["purpose"]), 8)).encode(),
    json.dumps(message("tools/call", called("take_phone", {"purpose": {}}), 9)).encode(),
    json.dumps(message("tools/call", called("take_phone", {"purpose": "\x00"}), 10)).encode(),
    json.dumps(message("tools/call", called("x" * 900_000), 11)).encode(),
    json.dumps(message("tools/call", called("look", {"picture": "x" * 900_000}), 12)).encode(),
    json.dumps(message("resources/read", {"uri": "switchboard://" + "../" * 1000}, 13)).encode(),
    json.dumps(message("resources/read", {"uri": "file:///etc/passwd"}, 14)).encode(),
    json.dumps(message("prompts/get", {"name": "do_on_phone", "arguments": {"a": 1}}, 15)).encode(),
    json.dumps(message("session/own", {}, 16)).encode(),
    json.dumps(message("notifications/cancelled", {"requestId": 99_999}, None)).encode(),
]


async def test_nothing_that_is_sent_wrongly_takes_the_server_along(ground: Ground) -> None:
    async with ground.peer() as peer:
        for body in WRONG:
            status = await peer.send(body)
            assert status < 500, (status, body[:80])
            tools = (await peer.ask("tools/list"))["result"]["tools"]
            assert len(tools) > 20
    await ground.until_all_is_left()


async def test_reserved_and_foreign_names_are_no_tools(ground: Ground) -> None:
    async with ground.peer() as peer:
        for name in ("reset", "step", "state", "close", "__init__", "../look", ""):
            answer = await peer.ask("tools/call", called(name))
            assert answer["result"]["isError"] and "There are:" in text_of(answer)
    await ground.until_all_is_left()


async def test_a_flood_is_answered_and_the_operator_is_not_held_up(ground: Ground) -> None:
    async with ground.peer() as peer:
        loop = asyncio.get_running_loop()
        bodies = [
            json.dumps(message("tools/call", called("list_phones"), number)).encode()
            for number in range(1, FLOOD + 1)
        ]
        flood = asyncio.gather(*(peer.send(body) for body in bodies))
        waited: list[float] = []
        for _ in range(20):
            began = loop.time()
            await ground.at.core.overview()
            waited.append(loop.time() - began)
        statuses = await flood
        assert set(statuses) <= {200, 503}
        if ground.way == "stdio":
            for _ in range(FLOOD):
                assert peer.process.stdout is not None
                answer = json.loads(await peer.process.stdout.readline())
                assert "result" in answer, answer
        assert max(waited) < 5
        assert ground.at.serials[0] in text_of(await peer.ask("tools/call", called("list_phones")))
    await ground.until_all_is_left()


async def test_a_client_that_never_reads_lets_go_when_it_is_killed(ground: Ground) -> None:
    async with ground.peer() as peer:
        taken = await peer.ask("tools/call", called("take_phone", {"purpose": "Look around"}))
        assert "## Screen State" in text_of(taken)
        body = json.dumps(message("tools/call", called("look", {"picture": True}), 1)).encode()
        with suppress(TimeoutError):
            async with asyncio.timeout(3):
                await asyncio.gather(*(peer.send(body) for _ in range(100)))
        # The server is the client's child over pipes; over HTTP it dies as any process may.
        peer.process.kill()
        await peer.process.wait()
    await ground.until_all_is_left()
    assert (await ground.at.core.sessions())[0].state is SessionState.CANCELLED


async def test_a_server_that_is_killed_in_a_gesture_leaves_nothing(ground: Ground) -> None:
    phone = ground.at.host.served(ground.at.serials[0]).phone
    async with ground.peer() as peer:
        await peer.ask("tools/call", called("take_phone", {"purpose": "Drag"}))
        drag = called("drag", {"start": "500,750", "end": "500,300"})
        dragging = asyncio.create_task(peer.ask("tools/call", drag))
        await until(lambda: phone.touch.touched)
        peer.process.kill()
        await peer.process.wait()
        dragging.cancel()
        await asyncio.gather(dragging, return_exceptions=True)
    await ground.until_all_is_left()
    assert not phone.touch.touched


async def test_old_requests_again_do_nothing_to_a_phone_that_was_released(ground: Ground) -> None:
    async with ground.peer() as peer:
        await peer.ask("tools/call", called("take_phone", {"purpose": "Press"}), 1)
        old = called("press_button", {"button": "HOME"})
        assert not (await peer.ask("tools/call", old, 2))["result"].get("isError")
        done = called("release_phone", {"success": False, "summary": "Pressed"})
        await peer.ask("tools/call", done, 3)
        steps = (await ground.at.core.sessions())[0].steps
        for params, number in ((old, 2), (done, 3), (old, 2)):
            answer = await peer.ask("tools/call", params, number)
            assert "You have taken no phone" in text_of(answer)
        assert (await ground.at.core.sessions())[0].steps == steps
        assert len(await ground.at.core.sessions()) == 1
    await ground.until_all_is_left()


async def test_anothers_session_and_question_are_out_of_reach(ground: Ground) -> None:
    core = await CoreClient.connect(socket_path(ground.data), name="owner")
    op = SessionCreate(goal="Mine", serial=ground.at.serials[0], direct=True, model="owner")
    session_id = (await core.request(op)).session_id
    await core.request(DirectCall(session_id=session_id))
    async with ground.peer() as peer:
        for params in (
            called("press_button", {"button": "HOME", "session": session_id}),
            called("look", {"session": session_id}),
            called("look", requestState=session_id, inputResponses={}),
            called("press_button", requestState=session_id, inputResponses={"q": {}}),
            called("stop_session", {"session": session_id}),
            called("answer_question", {"session": session_id, "answer": "yes"}),
        ):
            answer = await peer.ask("tools/call", params)
            assert "error" in answer or answer["result"]["isError"], answer
        assert (await ground.at.core.session(session_id)).state is SessionState.RUNNING
        assert (await ground.at.core.session(session_id)).steps == 0
    await core.close()
    await ground.until_all_is_left()
