"""Clients that are slow, rude or cut off."""

import json
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agent.rpc.connection
import agent.rpc.rpc_messages
import agent.rpc.subscriptions
from agent.errors import RpcCode
from agent.protocol import SessionCreate, WarningEvent
from agent.rpc.rpc_messages import CALLS_AT_ONCE, EVENT_CREDIT
from agent.store.embedded.sqlite_store import EventDraft
from support.patience import until
from tests.daemon.bench import Bench, raw, serving


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", RpcCode.PARSE),
        (b"\xff\xfe", RpcCode.PARSE),
        (b'{"method":"session","params":' + b"[" * 100_000, RpcCode.PARSE),
        (b"[]", RpcCode.INVALID_ARGUMENT),
        (b'{"id":7}', RpcCode.INVALID_ARGUMENT),
        (b'{"id":7,"method":"rm -rf"}', RpcCode.UNKNOWN_METHOD),
        (b'{"id":7,"method":"session"}', RpcCode.INVALID_ARGUMENT),
        (b'{"id":7,"method":"session","params":[]}', RpcCode.INVALID_ARGUMENT),
        (
            b'{"id":7,"method":"session","params":{"session_id":"x","y":1}}',
            RpcCode.INVALID_ARGUMENT,
        ),
        (b'{"id":7,"method":"session","params":{"session_id":"x"}}', RpcCode.INVALID_ARGUMENT),
        (b'{"id":7,"method":"request","params":{"op":{"type":"boom"}}}', RpcCode.INVALID_ARGUMENT),
        (b'{"id":7,"method":"blob","params":{"digest":"../x"}}', RpcCode.INVALID_ARGUMENT),
        (
            b'{"id":7,"method":"events","params":{"subscription":1,"after":9223372036854775808}}',
            RpcCode.INVALID_ARGUMENT,
        ),
    ],
)
async def test_what_cannot_be_answered_gets_the_code_that_says_so(
    bench: Bench, line: bytes, code: RpcCode
) -> None:
    async with raw(bench) as client:
        await client.say(line)
        answer = await client.hear()
        assert answer["error"]["code"] == code
        assert answer["error"]["message"]
        await client.say(b'{"id":"still here","method":"ping"}')
        assert (await client.hear())["id"] == "still here"


async def test_a_line_without_end_is_cut_off_and_harms_nobody(bench: Bench) -> None:
    async with raw(bench) as client:
        with pytest.raises(ConnectionError):
            for _ in range(64):
                client.writer.write(b"x" * 65_536)
                await client.writer.drain()
            await client.reader.readexactly(1 << 20)
    await until(lambda: bench.daemon.clients == 1)
    assert await bench.client.sessions() == ()


async def test_too_many_calls_at_once_are_refused_and_the_rest_carried_out(bench: Bench) -> None:
    async with raw(bench) as client:
        op = b'{"id":%d,"method":"request","params":{"op":{"type":"job_list"}}}'
        await client.say(*(op % number for number in range(100)))
        refused = [await client.hear() for _ in range(36)]
        assert all(answer["error"]["code"] == RpcCode.WRONG_STATE for answer in refused)
        await client.say(b'{"id":"ping","method":"ping"}')
        assert (await client.hear())["id"] == "ping"
        bench.core.stuck.set()
        carried_out = [await client.hear() for _ in range(64)]
        assert all("result" in answer for answer in carried_out)


async def test_a_client_that_takes_nothing_is_hung_up_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.rpc.connection, "STALL_S", 0.2)
    await bench.store.append(EventDraft("", WarningEvent(message="x" * 3_000_000)))
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.connect(str(bench.daemon.path))
        deaf.sendall(b'{"id":1,"method":"events","params":{"subscription":1,"after":0}}\n')
        await until(lambda: bench.daemon.clients == 2 and bench.core.followers == 1)
        await until(lambda: bench.daemon.clients == 1 and bench.core.followers == 0)
        assert await bench.client.sessions() == ()


async def test_a_client_that_reads_no_replies_is_not_read_either(bench: Bench) -> None:
    pings = 20_000
    async with raw(bench) as client:
        await client.say(b'{"id":0,"method":"ping"}')
        await client.hear()
        link = list(bench.daemon._links)[-1]
        client.writer.write(b'{"id":1,"method":"ping"}\n' * pings)
        most = 0
        for _ in range(pings):
            most = max(most, len(link._calls))
            assert (await client.hear())["id"] == 1
    assert 0 < most <= 2 * CALLS_AT_ONCE


async def test_a_client_that_is_cut_off_leaves_nothing_behind(bench: Bench) -> None:
    for _ in range(5):
        async with raw(bench) as client:
            await client.say(
                b'{"id":1,"method":"events","params":{"subscription":1}}',
                b'{"id":2,"method":"request","params":{"op":{"type":"job_list"}}}',
                b'{"id":3,"meth',
            )
            await client.hear()
            assert bench.core.followers == 1
            client.writer.transport.abort()
        await until(lambda: bench.daemon.clients == 1 and bench.core.followers == 0)


async def test_credit_beyond_the_window_is_not_believed(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    await bench.steps("s1", EVENT_CREDIT * 2)
    async with raw(bench) as client:
        await client.say(
            b'{"id":1,"method":"events","params":{"subscription":1,"after":0}}',
            b'{"method":"next","params":{"subscription":1,"count":-5}}',
            b'{"method":"next","params":{"subscription":77}}',
            b'{"method":"unsubscribe","params":{"subscription":77}}',
        )
        answers = [await client.hear() for _ in range(EVENT_CREDIT + 1)]
        assert sum("item" in answer for answer in answers) == EVENT_CREDIT
        await client.say(b'{"id":2,"method":"ping"}')
        assert (await client.hear())["id"] == 2


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.one_of(
        st.binary(max_size=80),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["id", "method", "params", "op", "type", "subscription", "after"]
                    )
                    | st.text(max_size=5),
                    inner | st.sampled_from(["events", "request", "next", "history", "shutdown"]),
                    max_size=4,
                )
            ),
            max_leaves=12,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
async def test_no_line_brings_the_daemon_down(noisy: bytes) -> None:
    async with shared_bench() as bench, raw(bench) as client:
        await client.say(noisy.replace(b"\n", b" "), b'{"id":"last","method":"ping"}')
        while (await client.hear()).get("id") != "last":
            pass


@asynccontextmanager
async def shared_bench() -> AsyncIterator[Bench]:
    """A daemon for one example: a core without a store, since no line reaches further."""
    with tempfile.TemporaryDirectory() as directory:
        async with serving(Path(directory)) as bench:
            yield bench
