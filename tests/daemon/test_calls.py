"""Calls through the daemon: what a client asks, and the errors that come back."""

from typing import Any

import msgspec
import pytest

import agent.rpc.connection
import agent.rpc.rpc_messages
import agent.rpc.subscriptions
from agent import errors
from agent.core import Core
from agent.errors import ModelError, StoreError, SwitchboardError, UsageError, WrongStateError
from agent.protocol import SessionCreate
from agent.rpc.rpc_messages import Problem, error_of, problem_of
from tests.daemon.bench import Bench


async def test_a_client_is_a_core(bench: Bench) -> None:
    client: Core = bench.client
    reply = await client.request(SessionCreate(goal="Öffne die Küche\n🍳"))
    assert reply.session_id == "s1"
    assert await client.submit(SessionCreate(goal="two")) == "op2"
    assert await client.session("s1") == await bench.store.session("s1")
    assert [s.session_id for s in await client.sessions(limit=1)] == ["s2"]
    assert await client.overview() == await bench.core.overview()
    digest = await bench.store.blobs.put(bytes(range(256)) * 40_000, "image/png")
    assert await client.blob(digest) == bytes(range(256)) * 40_000


async def test_a_long_history_comes_whole_and_in_order(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.rpc.connection, "PAGE_BYTES", 20_000)
    await bench.client.request(SessionCreate(goal="long"))
    await bench.steps("s1", 1300)
    told = await bench.client.history("s1")
    assert told == await bench.store.session_events("s1")
    assert len(told) == 1301
    part = await bench.client.history("s1", after_seq=600, limit=3)
    assert [event.seq for event in part] == [601, 602, 603]
    assert await bench.client.history("s1", limit=0) == ()


async def test_errors_come_out_as_the_class_that_went_in(bench: Bench) -> None:
    with pytest.raises(UsageError, match="no session") as usage:
        await bench.client.session("nobody")
    assert usage.value.remedy == "List them with `switchboard sessions list`."
    with pytest.raises(StoreError, match="gone"):
        await bench.client.blob("0" * 64)
    bench.core.failure = WrongStateError("It is paused.", "Resume it.")
    with pytest.raises(WrongStateError, match="It is paused"):
        await bench.client.request(SessionCreate(goal="x"))
    bench.core.failure = ModelError("busy", "wait", retryable=True, status=429, retry_after_s=2.5)
    with pytest.raises(ModelError) as model:
        await bench.client.submit(SessionCreate(goal="x"))
    assert (model.value.retryable, model.value.status, model.value.retry_after_s) == (
        True,
        429,
        2.5,
    )
    bench.core.failure = ZeroDivisionError("secret detail")
    with pytest.raises(SwitchboardError, match="failed inside the core") as inside:
        await bench.client.sessions()
    assert "secret" not in str(inside.value)
    bench.core.failure = None
    assert await bench.client.sessions() == ()


def test_every_error_class_survives_the_wire() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    for kind in classes:
        if not issubclass(kind, SwitchboardError):
            continue
        extra: dict[str, Any] = {"retryable": True} if issubclass(kind, ModelError) else {}
        sent = kind("what", "remedy", **extra)
        sent.event_id = 12
        got = error_of(msgspec.json.decode(msgspec.json.encode(problem_of(sent)), type=Problem))
        assert type(got) is kind
        assert (got.message, got.remedy, got.code) == ("what", "remedy", sent.code)
        assert got.event_id == 12


async def test_text_that_cannot_travel_is_the_callers_error(bench: Bench) -> None:
    with pytest.raises(UsageError):
        await bench.client.request(SessionCreate(goal="\ud800"))
    assert await bench.client.sessions() == ()


async def test_what_is_too_large_for_the_socket_is_refused_and_the_connection_lives(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="too long to send"):
        await bench.client.request(SessionCreate(goal="x" * (1 << 20)))
    monkeypatch.setattr(agent.rpc.rpc_messages, "MAX_REPLY_BYTES", 100_000)
    digest = await bench.store.blobs.put(b"y" * 100_000, "text/plain")
    with pytest.raises(StoreError, match="too large"):
        await bench.client.blob(digest)
    assert await bench.client.sessions() == ()
