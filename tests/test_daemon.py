"""The daemon and its client: a core over a socket, and clients that are slow, rude or cut off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agent.feeds
import agent.link
import agent.rpc
from agent import errors
from agent.caller import Caller
from agent.client import Client, connect_or_none
from agent.config import load_settings
from agent.core import Core
from agent.daemon import Daemon, serve
from agent.errors import (
    ModelError,
    RpcCode,
    RuntimeDiedError,
    StoreError,
    SwitchboardError,
    UsageError,
    WrongStateError,
)
from agent.protocol import Event, JobList, SessionCreate, StepStarted, WarningEvent
from agent.rpc import CALLS_AT_ONCE, EVENT_CREDIT, Problem, error_of, problem_of, socket_path
from agent.store.sqlite import EventDraft, SqliteStore
from tests.small_core import SmallCore


class Bench:
    """A store, a small core on it, the daemon that serves it and a client."""

    def __init__(self, store: SqliteStore, core: SmallCore, daemon: Daemon, client: Client) -> None:
        self.store = store
        self.core = core
        self.daemon = daemon
        self.client = client

    async def steps(self, session_id: str, count: int) -> None:
        """Store some facts of a session."""
        drafts = [EventDraft(session_id, StepStarted(step=step)) for step in range(count)]
        await self.store.append(*drafts)


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(directory))
        core = SmallCore(store)
        served: Core = core
        daemon = await stack.enter_async_context(serve(served, socket_path(directory)))
        client = await Client.connect(daemon.path)
        stack.push_async_callback(client.close)
        yield Bench(store, core, daemon, client)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with serving(tmp_path / "data") as made:
        yield made


async def until(condition: Callable[[], bool], *, timeout_s: float = 30.0) -> None:
    """Wait for a condition, with a bound."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.005)


class Raw:
    """A client that says what it wants, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, *lines: bytes) -> None:
        self.writer.write(b"".join(line + b"\n" for line in lines))
        await self.writer.drain()

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            answer: dict[str, Any] = json.loads(await self.reader.readline())
            return answer


@asynccontextmanager
async def raw(bench: Bench) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_unix_connection(bench.daemon.path, limit=1 << 26)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()


# --- a Core over a socket ----------


async def test_a_client_is_a_core(bench: Bench) -> None:
    client: Core = bench.client
    reply = await client.request(SessionCreate(goal="Öffne die Küche\n🍳"))
    assert reply.session_id == "s1"
    assert await client.submit(SessionCreate(goal="two")) == "op2"
    assert await client.session("s1") == await bench.store.session("s1")
    assert [s.session_id for s in await client.sessions(limit=1)] == ["s2"]
    assert await client.overview() == await bench.core.overview()
    digest = await bench.store.put_blob(bytes(range(256)) * 40_000, "image/png")
    assert await client.blob(digest) == bytes(range(256)) * 40_000


async def test_a_long_history_comes_whole_and_in_order(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.link, "PAGE_BYTES", 20_000)
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
        got = error_of(msgspec.json.decode(msgspec.json.encode(problem_of(sent)), type=Problem))
        assert type(got) is kind
        assert (got.message, got.remedy, got.code) == ("what", "remedy", sent.code)


async def test_text_that_cannot_travel_is_the_callers_error(bench: Bench) -> None:
    with pytest.raises(UsageError):
        await bench.client.request(SessionCreate(goal="\ud800"))
    assert await bench.client.sessions() == ()


async def test_what_is_too_large_for_the_socket_is_refused_and_the_connection_lives(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="too long to send"):
        await bench.client.request(SessionCreate(goal="x" * (1 << 20)))
    monkeypatch.setattr(agent.rpc, "MAX_REPLY_BYTES", 100_000)
    digest = await bench.store.put_blob(b"y" * 100_000, "text/plain")
    with pytest.raises(StoreError, match="too large"):
        await bench.client.blob(digest)
    assert await bench.client.sessions() == ()


# --- events ----------


async def test_events_are_followed_without_gap_or_repetition(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    await bench.steps("s1", 50)
    seen: list[int] = []
    async with bench.client.events(after=10) as events:
        writing = asyncio.create_task(bench.steps("s1", 700))
        async for event in events:
            seen.append(event.event_id)
            if event.event_id == 751:
                break
        await writing
    assert seen == list(range(11, 752))
    await until(lambda: bench.core.followers == 0)


async def test_without_a_starting_point_only_what_comes_is_followed(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events() as events:
        await bench.steps("s1", 1)
        async with asyncio.timeout(30):
            assert (await anext(aiter(events))).event_id == 2


async def test_a_listener_that_falls_behind_costs_the_core_nothing_and_misses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent.feeds, "PATIENCE_S", 0.05)
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events(after=0) as events:
        await until(lambda: bench.core.followers == 1)
        await bench.steps("s1", EVENT_CREDIT * 3)
        await until(lambda: bench.core.followers == 0)  # nothing piles up for it any more
        seen: list[int] = []
        async for event in events:
            seen.append(event.event_id)
            if len(seen) == EVENT_CREDIT * 3 + 1:
                break
    assert seen == list(range(1, EVENT_CREDIT * 3 + 2))


async def test_a_slow_listener_does_not_hold_up_other_calls(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="x"))
    async with bench.client.events(after=0):
        await bench.steps("s1", 5000)
        async with asyncio.timeout(30):
            assert len(await bench.client.sessions()) == 1


# --- frames and deltas ----------


async def test_a_slow_viewer_gets_the_newest_delta_of_each_session(bench: Bench) -> None:
    async with bench.client.deltas() as deltas:
        for number in range(100):
            bench.core.write("a", f"a{number}")
            bench.core.write("b", f"b{number}")
        async with asyncio.timeout(30):
            found = {(await anext(aiter(deltas))).text, (await anext(aiter(deltas))).text}
    assert found == {"a99", "b99"}


async def test_a_frame_is_made_only_when_a_viewer_asks_for_one(bench: Bench) -> None:
    async with bench.client.frames("emu", width_px=90, height_px=200, max_hz=10) as frames:
        await bench.client.sessions()
        assert bench.core.frames_made == 0
        frame = await anext(aiter(frames))
        assert (frame.serial, frame.width_px, frame.captured_ms) == ("emu", 90, 1)
        assert frame.rgb == b"\x01" * (90 * 200 * 3)
        await bench.client.sessions()
        assert bench.core.frames_made == 1
        assert (await anext(aiter(frames))).captured_ms == 2


async def test_a_full_size_frame_travels(bench: Bench) -> None:
    async with bench.client.frames("emu", width_px=1080, height_px=2400, max_hz=1) as frames:
        assert len((await anext(aiter(frames))).rgb) == 1080 * 2400 * 3


async def test_a_subscription_that_cannot_begin_says_why(bench: Bench) -> None:
    with pytest.raises(RuntimeDiedError, match="no such phone"):
        async with bench.client.frames("gone", width_px=9, height_px=9, max_hz=1):
            pytest.fail("it began")
    with pytest.raises(UsageError, match="8192"):
        async with bench.client.frames("emu", width_px=1 << 30, height_px=9, max_hz=1):
            pytest.fail("it began")


# --- the socket ----------


async def test_the_socket_is_private_and_goes_with_its_core(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as bench:
        mode = bench.daemon.path.lstat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        assert stat.S_IMODE(bench.daemon.path.parent.stat().st_mode) == 0o700
    assert not bench.daemon.path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_user_is_turned_away() -> None:
    program = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])\n"
        "try:\n"
        '    s.sendall(b\'{"id":1,"method":"ping"}\\n\')\n'
        "    print(len(s.recv(100)))\n"
        "except ConnectionError: print(0)\n"
    )
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # noqa: PTH101
        async with serving(Path(directory)) as bench:
            bench.daemon.path.chmod(0o666)
            ran = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", program, str(bench.daemon.path)],
                capture_output=True,
                text=True,
                timeout=30,
            )
            assert ran.stdout.strip() == "0", ran.stderr
            await bench.client.sessions()


async def test_a_socket_that_a_dead_core_left_behind_is_nobody(tmp_path: Path) -> None:
    environ = {"SWITCHBOARD_DATA_DIR": str(tmp_path)}
    configured = load_settings(environ=environ)
    path = socket_path(tmp_path)
    assert await connect_or_none(configured) is None
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert path.exists()
    assert await connect_or_none(configured) is None
    with pytest.raises(RuntimeDiedError, match="No core listens"):
        await Client.connect(path)
    async with serving(tmp_path) as bench:
        found = await connect_or_none(configured)
        assert found is not None
        assert found.pid == os.getpid()
        await found.close()
        assert bench.daemon.path == path


async def test_a_second_daemon_and_a_file_in_the_way_are_refused(
    bench: Bench, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="already listens"):
        async with serve(bench.core, bench.daemon.path):
            pytest.fail("it listens")
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine")
    with pytest.raises(StoreError, match="no socket"):
        async with serve(bench.core, in_the_way):
            pytest.fail("it listens")
    assert in_the_way.read_text() == "mine"
    with pytest.raises(StoreError, match="could not be made"):
        async with serve(bench.core, in_the_way / "deeper" / "core.sock"):
            pytest.fail("it listens")


async def test_a_long_data_directory_still_has_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    deep = tmp_path / ("ä" * 60)
    other = tmp_path / ("ö" * 60)
    assert len(os.fsencode(socket_path(deep))) <= 100
    assert socket_path(deep) != socket_path(other)
    assert socket_path(tmp_path / "x") == tmp_path / "x" / "core.sock"
    async with serving(deep) as bench:
        assert bench.daemon.path == socket_path(deep)
        found = await connect_or_none(load_settings(environ={"SWITCHBOARD_DATA_DIR": str(deep)}))
        assert found is not None
        await found.close()


# --- rude clients ----------


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
    monkeypatch.setattr(agent.link, "STALL_S", 0.2)
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


# --- cores that die ----------


async def test_a_core_that_ends_is_an_error_to_every_waiting_caller(tmp_path: Path) -> None:
    async with serving(tmp_path) as bench:
        client = await Client.connect(bench.daemon.path)
        waiting = asyncio.create_task(client.request(JobList()))
        async with client.events() as events:
            following: asyncio.Future[Event] = asyncio.ensure_future(anext(aiter(events)))
            await until(lambda: bench.core.followers == 1)
            await bench.daemon.close()
            with pytest.raises(RuntimeDiedError, match="has ended"):
                await waiting
            with pytest.raises(RuntimeDiedError, match="has ended"):
                await following
        with pytest.raises(RuntimeDiedError) as dead:
            await client.overview()
        assert dead.value.remedy
        await client.close()
        await client.close()


SERVER = """
import asyncio, sys
from pathlib import Path
from agent.daemon import serve
from agent.rpc import socket_path
from agent.store.sqlite import SqliteStore
from tests.small_core import SmallCore

async def main():
    directory = Path(sys.argv[1])
    path = socket_path(directory)
    async with SqliteStore.open(directory) as store, serve(SmallCore(store), path):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def other_process(directory: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVER,
        str(directory),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_killed_core_is_an_error_and_its_place_can_be_taken(tmp_path: Path) -> None:
    configured = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    async with other_process(tmp_path) as process:
        client = await connect_or_none(configured)
        assert client is not None
        assert client.pid == process.pid
        await client.request(SessionCreate(goal="kept"))
        with pytest.raises(StoreError, match=f"in use by process {process.pid}"):
            async with SqliteStore.open(tmp_path):
                pytest.fail("it has two owners")
        waiting = asyncio.create_task(client.request(JobList()))
        await client.sessions()
        process.kill()
        async with asyncio.timeout(30):
            with pytest.raises(RuntimeDiedError):
                await waiting
        await client.close()
    assert await connect_or_none(configured) is None
    async with serving(tmp_path) as bench:
        assert [s.goal for s in await bench.client.sessions()] == ["kept"]


async def test_a_core_that_hangs_is_an_error_too(tmp_path: Path) -> None:
    async with other_process(tmp_path) as process:
        caller = await Caller.connect(socket_path(tmp_path), ping_every_s=0.05, dead_after_s=0.5)
        client = Client(caller)
        process.send_signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(30):
                with pytest.raises(RuntimeDiedError, match="does not answer"):
                    await client.sessions()
            with pytest.raises(RuntimeDiedError, match="does not answer"):
                await Caller.connect(socket_path(tmp_path), timeout_s=0.3)
        finally:
            process.send_signal(signal.SIGCONT)
            await client.close()


# --- who is who ----------


async def test_each_connection_is_a_client_of_its_own_and_lets_go_when_it_dies(
    bench: Bench,
) -> None:
    other = await Client.connect(bench.daemon.path, name="console")
    await bench.client.request(SessionCreate(goal="one"))
    await other.request(SessionCreate(goal="two"))
    first, second = bench.core.clients
    assert first.client_id == bench.client.client_id and second.client_id == other.client_id
    assert second.name == f"console (process {os.getpid()})"
    await other.close()
    await until(lambda: second in bench.core.left)
    assert first not in bench.core.left


async def test_a_client_cannot_say_that_it_is_another(bench: Bench) -> None:
    async with raw(bench) as client:
        forged = b'{"id":1,"method":"request","params":{"op":{"type":"session_create","goal":"x"},'
        await client.say(forged + b'"client_id":"owner"}}')
        assert (await client.hear())["error"]["code"] == RpcCode.INVALID_ARGUMENT


async def test_the_status_names_the_process_its_clients_and_its_sessions(bench: Bench) -> None:
    await bench.client.request(SessionCreate(goal="one"))
    status = await bench.client.status()
    assert (status.pid, status.socket) == (os.getpid(), str(bench.daemon.path))
    assert status.sessions == {"CREATED": 1}
    assert [client.client_id for client in status.clients] == [bench.client.client_id]
    assert Path(status.log).parent.parent == Path(status.data_dir)
