"""The ops over HTTP: what goes through, who is refused, and clients that leave in every way."""

import asyncio
import json
import socket
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from agent.records import SessionState
from console.http_api.gate import MAX_BODY_BYTES
from console.http_api.openapi import document
from console.loopback import listening
from support.patience import until
from tests.http_api.conftest import HEADERS, TOKEN, Served


async def end_of(served: Served, session_id: str) -> SessionState:
    """Wait until a session is over."""
    core = served.stand.at.core
    async with core.events(after=0) as events:
        async for _ in events:
            state = (await core.session(session_id)).state
            if state.is_terminal:
                return state
    raise AssertionError("the core ended")


async def events_of(stream: httpx2.Response) -> Any:
    """Yield the name, id and data of each event of a stream."""
    found: dict[str, str] = {}
    async for line in stream.aiter_lines():
        if not line and found:
            yield found.get("event", ""), int(found.get("id", "0")), json.loads(found["data"])
            found = {}
        name, colon, value = line.partition(": ")
        if colon and name:
            found[name] = value


async def test_a_draft_is_made_followed_read_and_deleted(served: Served) -> None:
    async with served.client() as http:
        made = await http.post("/ops/session_create", json={"goal": "Look", "start": False})
        assert made.status_code == 200, made.text
        session_id = made.json()["session_id"]
        listed = (await http.get("/sessions", params={"limit": 5})).json()
        assert [one["session_id"] for one in listed] == [session_id]
        one = (await http.get("/session", params={"session_id": session_id[:4]})).json()
        assert one["goal"] == "Look"
        page = (await http.get("/history", params={"session_id": session_id})).json()
        assert page["events"][0]["msg"]["type"] == "session_configured" and not page["more"]
        async with http.stream("GET", "/events", params={"after": 0}) as stream:
            async for kind, number, event in events_of(stream):
                assert kind == event["msg"]["type"] and number == event["event_id"]
                if kind == "session_configured":
                    break
        early = await http.post("/ops/session_delete", json={"session_id": session_id})
        assert early.status_code == 409 and "Cancel it first" in early.json()["remedy"]
        await http.post("/ops/session_cancel", json={"session_id": session_id})
        gone = await http.post("/ops/session_delete", json={"session_id": session_id})
        assert gone.status_code == 200, gone.text
        assert (await http.get("/sessions")).json() == []
        overview = (await http.get("/overview")).json()
        assert [one["serial"] for one in overview["devices"]] == list(served.stand.at.serials)
        assert (await http.get("/status")).json()["pid"] > 0


async def test_a_stream_goes_on_where_it_broke_off(served: Served) -> None:
    async with served.client() as http:
        for goal in ("One", "Two"):
            await http.post("/ops/session_create", json={"goal": goal, "start": False})
        seen: list[int] = []
        async with http.stream("GET", "/events", params={"after": 0}) as stream:
            async for _, number, _ in events_of(stream):
                seen.append(number)
                break
        headers = {"Last-Event-ID": str(seen[0])}
        async with http.stream("GET", "/events", params={"after": 0}, headers=headers) as stream:
            async for _, number, _ in events_of(stream):
                assert number > seen[0]
                break
        await http.post("/ops/session_create", json={"goal": "Three", "start": False})
        newest = (await http.get("/sessions", params={"limit": 1})).json()[0]["session_id"]
        query = {"after": 0, "session_id": newest}
        async with http.stream("GET", "/events", params=query) as stream:
            async for _, _, event in events_of(stream):
                assert event["session_id"] == newest
                break


async def test_a_phone_is_driven_call_by_call_and_its_picture_read(served: Served) -> None:
    async with served.client("driver") as http:
        made = await http.post(
            "/ops/session_create", json={"goal": "Look", "direct": True, "model": "curl"}
        )
        session_id = made.json()["session_id"]

        async def call(**fields: Any) -> Any:
            reply = await http.post("/ops/direct_call", json={"session_id": session_id, **fields})
            assert reply.status_code == 200, reply.text
            return reply.json()["direct"]

        assert "## Screen State" in (await call())["text"]
        told = await call(tool="launch_app", arguments='{"app": "Clock"}')
        assert "Clock" in told["text"]
        page = (await http.get("/history", params={"session_id": session_id})).json()
        msgs = [one["msg"] for one in page["events"]]
        seen = [one["observation"] for one in msgs if one["type"] == "observation_recorded"]
        picture = await http.get("/blob", params={"digest": seen[-1]["frame"]["digest"]})
        assert picture.headers["content-type"] == "application/octet-stream"
        assert len(picture.content) > 1000
        done = {"success": False, "summary": "Only looked"}
        await call(tool="finish", arguments=json.dumps(done))
    assert await end_of(served, session_id) is SessionState.FAILED


async def started_session(http: httpx2.AsyncClient) -> str:
    made = await http.post("/ops/session_create", json={"goal": "Look", "direct": True})
    return str(made.json()["session_id"])


async def test_what_a_client_has_is_free_when_it_leaves(served: Served) -> None:
    async with served.client("leaver") as http:
        session_id = await started_session(http)
        assert (await http.delete("/client")).status_code == 204
    await until(lambda: len(served.api.clients) == 0)
    async with served.client("other") as http:
        assert "## Screen State" in await seen(http, await started_session(http))
    assert await end_of(served, session_id) is SessionState.CANCELLED


async def seen(http: httpx2.AsyncClient, session_id: str) -> str:
    reply = await http.post("/ops/direct_call", json={"session_id": session_id})
    return str(reply.json()["direct"]["text"])


async def test_what_a_client_has_is_free_after_its_silence(served: Served) -> None:
    async with served.client("silent") as http:
        session_id = await started_session(http)
    await until(lambda: len(served.api.clients) == 0)
    assert await end_of(served, session_id) is SessionState.CANCELLED


async def test_a_client_that_hangs_up_in_a_call_lets_go(served: Served) -> None:
    async with served.client("holder") as holder:
        await seen(holder, await started_session(holder))
        async with served.client("waiter") as waiter:
            session_id = await started_session(waiter)
            # It waits for the phone that the other one has, and is gone before it comes.
            with suppress(httpx2.ReadTimeout):
                body = {"session_id": session_id}
                await waiter.post("/ops/direct_call", json=body, timeout=0.5)
        async with holder.stream("GET", "/events", params={"after": 0}) as stream:
            async for kind, _, event in events_of(stream):
                state = event["msg"].get("state")
                is_its = kind == "session_state_changed" and event["session_id"] == session_id
                if is_its and state == "CANCELLED":
                    break
        assert len(served.api.clients) == 1


async def test_another_clients_session_is_not_called(served: Served) -> None:
    async with served.client("owner") as owner, served.client("thief") as thief:
        session_id = await started_session(owner)
        await seen(owner, session_id)
        reply = await thief.post(
            "/ops/direct_call",
            json={"session_id": session_id, "tool": "press_button", "arguments": "{}"},
        )
        assert reply.status_code in (409, 422), reply.text
        assert (
            "text"
            in (await owner.post("/ops/direct_call", json={"session_id": session_id})).json()[
                "direct"
            ]
        )


async def test_the_same_request_again_makes_nothing_new(served: Served) -> None:
    body = {"goal": "Look", "start": False, "request_id": "only-once"}
    async with served.client() as http:
        replies = [await http.post("/ops/session_create", json=body) for _ in range(3)]
        assert len({one.json()["session_id"] for one in replies}) == 1


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
        ({"Switchboard-Client": "x" * 61}, 422),
        ({"Switchboard-Client": b"caf\xe9"}, 422),
    ],
)
async def test_who_does_not_belong_here_is_refused(
    served: Served, headers: dict[str, Any], status: int
) -> None:
    async with httpx2.AsyncClient(timeout=60) as http:
        answer = await http.get(f"{served.url}/v1/overview", headers=HEADERS | headers)
    assert answer.status_code == status, answer.text
    if answer.headers.get("content-type") != "text/plain; charset=utf-8":
        told = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert told["status"] == status and told["detail"]
    assert TOKEN not in answer.text
    assert len(served.api.clients) == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/ops/session_create", b"{", 422),
        ("/ops/session_create", b"[]", 422),
        ("/ops/session_create", b"\xff", 422),
        ("/ops/session_create", b"[" * 100_000, 422),
        ("/ops/session_create", b'{"goal": 3}', 422),
        ("/ops/session_create", b'{"goal": "x", "gaol": "y"}', 422),
        ("/ops/session_create", b'{"type": "session_delete", "goal": "x"}', 422),
        ("/ops/session_create", b'{"goal": ""}', 422),
        ("/ops/session_create", b'{"goal": "\\ud800"}', 422),
        ("/ops/direct_call", b'{"session_id": "s", "arguments": {}}', 422),
        ("/ops/direct_call", b'{"session_id": "nobody"}', 422),
        ("/ops/nothing", b"{}", 404),
        ("/overview", b"{}", 405),
        ("/ops/session_create", b" " * (MAX_BODY_BYTES + 1), 413),
    ],
)
async def test_what_cannot_be_carried_out_is_a_problem_with_a_remedy(
    served: Served, path: str, body: bytes, status: int
) -> None:
    async with served.client() as http:
        answer = await http.post(path, content=body)
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert told["status"] == status and told["title"] and told["detail"]


@pytest.mark.parametrize("query", [{"limit": "x"}, {"nothing": "1"}, {"limit": ["1", "2"]}])
async def test_a_query_that_cannot_be_read_is_refused(
    served: Served, query: dict[str, Any]
) -> None:
    async with served.client() as http:
        answer = await http.get("/sessions", params=query)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("length", [str(MAX_BODY_BYTES + 1), "9" * 400])
async def test_a_body_that_says_it_is_too_long_is_not_read(served: Served, length: str) -> None:
    port = int(served.url.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/ops/session_create HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    head += f"Authorization: Bearer {TOKEN}\r\nContent-Length: {length}\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.read()
    assert answer.split()[1] in (b"413", b"400"), answer
    writer.close()


async def test_a_body_without_a_length_is_bounded_as_well(served: Served) -> None:
    async def endless() -> Any:
        while True:
            yield b" " * 65_536

    async with served.client() as http:
        for path in ("/ops/session_create", "/ops/nothing"):
            with suppress(httpx2.WriteError, httpx2.ReadError):
                answer = await http.post(path, content=endless())
                assert answer.status_code in (413, 404)


async def test_the_document_is_served(served: Served) -> None:
    async with served.client() as http:
        told = (await http.get("/openapi.json")).json()
    assert told == json.loads(json.dumps(document(served.url)))


async def test_clients_that_never_read_or_never_ask_hold_up_nobody(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "FIRST_REQUEST_S", 0.5)
    port = int(served.url.rsplit(":", 1)[1])
    deaf = []
    for number in range(60):
        peer = socket.create_connection(("127.0.0.1", port))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        if number % 2:
            head = f"GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            peer.sendall(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        else:
            peer.sendall(b"POST /v1/ops/session_create HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        deaf.append(peer)
    try:
        async with served.client("patient") as http:
            for number in range(10):
                body = {"goal": f"Draft {number} " + "x" * 5000, "start": False}
                answer = await http.post("/ops/session_create", json=body)
                assert answer.status_code == 200, answer.text
            # Who asked nothing is hung up on.
            silent = deaf[0]
            silent.setblocking(False)
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(20):
                assert await loop.sock_recv(silent, 100) == b""
    finally:
        for peer in deaf:
            peer.close()
    await until(lambda: len(served.api.clients) == 0)


async def test_a_flood_is_answered_or_refused_and_leaves_nothing(served: Served) -> None:
    def tasks() -> int:
        return len(asyncio.all_tasks())

    before = tasks()
    async with served.client("flood") as http:
        limits = httpx2.Limits(max_connections=100)
        async with httpx2.AsyncClient(
            base_url=f"{served.url}/v1", headers=HEADERS, timeout=60, limits=limits
        ) as many:
            answers = await asyncio.gather(*(many.get("/overview") for _ in range(400)))
        assert {one.status_code for one in answers} <= {200, 409, 503}
        assert (await http.get("/overview")).status_code == 200
    await until(lambda: len(served.api.clients) == 0)
    await until(lambda: tasks() <= before)
