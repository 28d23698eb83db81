"""What a phone tool call over MCP costs above a step of our own loop, over stdio and over HTTP.

`python -m bench mcp`. The client is the official SDK's, the server `switchboard mcp` as clients
start it, and the core is here, so that of each call both the client's time and the core's are
known: what is above the core's is the overhead. The same calls without any server stand beside
them, on the same virtual phone in the same run; so does ghost-in-the-droid's MCP server, in an
environment of its own: that of the interpreter named by SWITCHBOARD_GHOST_PYTHON, or one that is
made with uv and kept in the cache directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from agent.config import load_settings
from agent.core import ClientInfo
from agent.devices.adb.server import find_adb
from agent.direct.calls import call, take
from agent.protocol import DirectCall, Op, Reply
from agent.records import DirectStatus
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.runtime.runtime import Runtime
from bench._peers import Peer, newer_python
from bench.exercises.house import House, house
from tests.end_to_end.harness import SWITCHBOARD

ROUNDS = 4
TARGET_MS = 3.0
OWN = "our own loop"
PLACES = (("Network", "Display"), ("Sound", "Battery"))
"""Rows of the settings, opened and left in turn: a session that goes round longer is asked why."""
GHOST = Peer(
    package="ghost-in-the-droid==1.5.1",
    loads="gitd.mcp_server",
    variable="SWITCHBOARD_GHOST_PYTHON",
    python=newer_python,
)
FLOOR = """
import asyncio, sys
from contextlib import asynccontextmanager
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from console.loopback.listening import listening
TEXT = "x" * 1500
async def tools(context, params):
    return types.ListToolsResult(tools=[
        types.Tool(name="nothing", description="", input_schema={"type": "object"})])
async def call(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text=TEXT)])
server = Server("floor", version="1", on_list_tools=tools, on_call_tool=call)
async def stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
async def http():
    manager = StreamableHTTPSessionManager(server)
    @asynccontextmanager
    async def lifespan(app):
        async with manager.run():
            yield
    app = Starlette(routes=[Route("/mcp", StreamableHTTPASGIApp(manager))], lifespan=lifespan)
    async with listening(lambda port: app, port=0, at_once=100) as address:
        print(f"{address}/mcp", flush=True)
        await asyncio.Event().wait()
asyncio.run(stdio() if sys.argv[1] == "stdio" else http())
"""
"""A server of the SDK alone, whose one tool does nothing: what the protocol costs by itself."""
FLOOR_CALLS = 100
Tool = Callable[[str, dict[str, Any]], Awaitable[Any]]


class TimedCore:
    """The core, with the time that each call of a direct session took inside it."""

    def __init__(self, core: Runtime) -> None:
        self._core = core
        self.spent_ms = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry an op out; see `SharedCore.request_as`."""
        began = time.perf_counter()
        try:
            return await self._core.request_as(client, op)
        finally:
            if isinstance(op, DirectCall):
                self.spent_ms += (time.perf_counter() - began) * 1000


@dataclass
class Taken:
    """What the calls over one way took, in ms: all of it, and what is above the core's part."""

    whole: list[float] = field(default_factory=list)
    above: list[float] = field(default_factory=list)


def main() -> None:
    """Print the tables."""
    asyncio.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "data"
        settings = load_settings(
            overrides={"data_dir": str(data), "model.vision": False}, environ={}
        )
        async with house(folder, settings, phones=1) as at:
            # First: once a session of ours reads the screen, the phone has one reader, as Android.
            theirs = await _ghost(at, folder)
            timed = TimedCore(at.core)
            async with serve(timed, socket_path(data)):
                environment = {**os.environ, "SWITCHBOARD_DATA_DIR": str(data)}
                ways = {OWN: lambda: _in_process(at), **_ours(environment, data)}
                taken = {way: Taken() for way in ways}
                for _ in range(ROUNDS):
                    for way, opened in ways.items():
                        async with opened() as tool:
                            await _walk(tool, timed, taken[way])
            _print(taken, await _floor())
            _print_ghost(theirs, taken)


async def _walk(tool: Tool, timed: TimedCore, taken: Taken) -> None:
    """Open and leave the rows of the settings, some in each session."""
    for places in PLACES:
        await tool("take_phone", {"purpose": "Look through the settings"})
        await tool("launch_app", {"app": "Settings"})
        for place in places:
            for name, arguments in (
                ("click_element", {"label": place}),
                ("press_button", {"button": "BACK"}),
            ):
                timed.spent_ms = 0.0
                began = time.perf_counter()
                await tool(name, arguments)
                ms = (time.perf_counter() - began) * 1000
                taken.whole.append(ms)
                taken.above.append(ms - timed.spent_ms)
        await tool("release_phone", {"success": False, "summary": "Only looked."})


def _print(taken: dict[str, Taken], floor: dict[str, float]) -> None:
    own = statistics.median(taken[OWN].whole)
    # The least is what a busy machine adds least to.
    columns = ("by", "a step, ms p50", "× own", "above the core, ms p50", "least", "p95")
    print(f"| {' | '.join(columns)} | a call of nothing | target |")
    print("|---|---|---|---|---|---|---|---|")
    for way, one in taken.items():
        whole, above = statistics.median(one.whole), statistics.median(one.above)
        high = statistics.quantiles(one.above, n=20)[-1]
        shown = "– | – | – | – | "
        if way in floor:
            least = min(one.above)
            shown = f"{above:.1f} | {least:.1f} | {high:.1f} | {floor[way]:.1f} | ≤ {TARGET_MS:g}"
        print(f"| {way} | {whole:.0f} | {whole / own:.2f}× | {shown} |")
    print(f"\n{len(one.whole)} steps each, in {ROUNDS} rounds that take turns.", flush=True)


# --- the ways ----------


@asynccontextmanager
async def _in_process(at: House) -> AsyncIterator[Tool]:
    held: list[str] = []

    async def quiet(_waited_s: float, _why: str) -> None:
        pass

    async def tool(name: str, arguments: dict[str, Any]) -> Any:
        if name == "take_phone":
            held[:] = [await take(at.core, arguments["purpose"], "", "bench")]
            name, arguments = "", {}
        name = "finish" if name == "release_phone" else name
        view = await call(at.core, held[0], name, arguments, patience_s=20.0, on_wait=quiet)
        if view.status is DirectStatus.WAITING:
            raise RuntimeError(f"{name} {arguments}: {view.text}")
        return view

    yield tool


def _ours(environment: dict[str, str], data: Path) -> dict[str, Callable[[], Any]]:
    command = [*SWITCHBOARD, "mcp", "--tools", "phone"]

    def token() -> str:
        return (data / "mcp-token").read_text().strip()

    return {
        "stdio": lambda: _over_stdio(command, environment),
        "HTTP": lambda: _over_http([*command, "--http", "--port", "0"], environment, token),
    }


async def _floor() -> dict[str, float]:
    """Return what a call costs that does nothing, in ms p50."""
    command = [sys.executable, "-c", FLOOR]
    environment = dict(os.environ)
    ways: dict[str, Callable[[], Any]] = {
        "stdio": lambda: _over_stdio([*command, "stdio"], environment),
        "HTTP": lambda: _over_http([*command, "http"], environment, lambda: "none"),
    }
    found: dict[str, float] = {}
    for way, opened in ways.items():
        taken: list[float] = []
        async with opened() as tool:
            for _ in range(FLOOR_CALLS):
                began = time.perf_counter()
                await tool("nothing", {})
                taken.append((time.perf_counter() - began) * 1000)
        found[way] = statistics.median(taken)
    return found


@asynccontextmanager
async def _over_stdio(command: list[str], environment: dict[str, str]) -> AsyncIterator[Tool]:
    program, *arguments = command
    server = StdioServerParameters(command=program, args=arguments, env=environment)
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield _checked(session)


@asynccontextmanager
async def _over_http(
    command: list[str], environment: dict[str, str], token: Callable[[], str]
) -> AsyncIterator[Tool]:
    server = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout is not None
        address = (await server.stdout.readline()).decode().strip()
        headers = {"Authorization": f"Bearer {token()}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(address, http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            yield _checked(session)
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.terminate()
        await server.wait()


def _checked(session: ClientSession) -> Tool:
    async def tool(name: str, arguments: dict[str, Any]) -> Any:
        result = await session.call_tool(name, arguments)
        if result.is_error:
            raise RuntimeError(f"{name}: {result.content}")
        return result

    return tool


# --- beside another server ----------


async def _ghost(at: House, folder: Path) -> dict[str, list[float]]:
    """Return what its calls took, in ms; nothing where it is not here."""
    python, why_not = await asyncio.to_thread(GHOST.interpreter)
    if python is None:
        print(f"{GHOST.package} is not measured: {why_not}.\n")
        return {}
    programs = folder / "programs"
    programs.mkdir()
    (programs / "adb").symlink_to(find_adb())
    server = StdioServerParameters(
        command=str(python),
        args=["-m", "gitd.mcp_server"],
        env={
            **os.environ,
            "HOME": str(folder),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ADB_SERVER_SOCKET": f"localfilesystem:{folder / 'adb' / 'server.sock'}",
        },
    )
    serial = at.serials[0]
    width, height = 1080, 2400
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryFile("w") as nowhere:
        async with (
            stdio_client(server, errlog=nowhere) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()

            async def timed(what: str, *calls: tuple[str, dict[str, Any]]) -> None:
                began = time.perf_counter()
                for name, arguments in calls:
                    result = await session.call_tool(name, {"device": serial, **arguments})
                    if result.is_error:
                        raise RuntimeError(f"{name}: {result.content}")
                taken.setdefault(what, []).append((time.perf_counter() - began) * 1000)

            point = {"x": width // 2, "y": height // 2}
            for _ in range(ROUNDS * 2):
                await timed("the elements", ("get_elements", {}))
                await timed("a picture", ("screenshot", {}))
                await timed("tap, and see the elements", ("tap", point), ("get_elements", {}))
    return taken


def _print_ghost(taken: dict[str, list[float]], ours: dict[str, Taken]) -> None:
    if not taken:
        return
    own = statistics.median(ours["stdio"].whole)
    print(f"\n| {GHOST.package}, over stdio | ms p50 | × our step |\n|---|---|---|")
    for what, times in taken.items():
        middle = statistics.median(times)
        print(f"| {what} | {middle:.0f} | {middle / own:.2f}× |")
    print(
        f"\nOur step over stdio: {own:.0f} ms. It taps or presses, waits until the screen rests,"
        " checks what came of it and answers with the elements.",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
