"""What a phone tool call over MCP costs above a step of our own loop, over stdio and over HTTP.

`python -m bench mcp`. The client is the official SDK's in a process of its own, the server
`switchboard mcp` as clients start it, and the core is here. When a call began and ended at the
client and in the core is known by the one clock of the machine: what is above the core's time is
the overhead. The same calls without any server stand beside them, on the same virtual phone in the
same run; so does ghost-in-the-droid's MCP server, in an environment of its own: that of the
interpreter named by SWITCHBOARD_GHOST_PYTHON, or one that is made with uv and kept in the cache
directory.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from agent.config import load_settings
from agent.core import ClientInfo
from agent.devices.adb.server import find_adb
from agent.direct.calls import call, take
from agent.protocol import DirectCall, Op, Reply
from agent.records import DirectStatus
from agent.rpc.rpc_messages import socket_path
from agent.rpc.rpc_server import serve
from agent.runtime.runtime import Runtime
from bench._mcp_client import MadeCall, Order, made
from bench._peers import Peer, newer_python
from bench.exercises.house import House, house
from tests.end_to_end.harness import SWITCHBOARD

ROUNDS = 4
TARGET_MS = 3.0
OWN = "our own loop"
PLACES = (("Network", "Display"), ("Sound", "Battery"))
"""Rows of the settings, opened and left in turn: a session that goes round longer is asked why."""
TIMED = {"click_element", "press_button"}
GHOST = Peer(
    package="ghost-in-the-droid==1.5.1",
    loads="gitd.mcp_server",
    variable="SWITCHBOARD_GHOST_PYTHON",
    python=newer_python,
)
FLOOR = """
import asyncio, sys, time
from contextlib import asynccontextmanager
from pathlib import Path
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from console.loopback.listening import listening
async def tools(context, params):
    return types.ListToolsResult(tools=[
        types.Tool(name="nothing", description="", input_schema={"type": "object"})])
async def call(context, params):
    began = time.monotonic()
    await asyncio.sleep(params.arguments["wait_s"])
    text = str(time.monotonic() - began).ljust(1500)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])
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
asyncio.run(http() if len(sys.argv) > 1 else stdio())
"""
"""A server of the SDK alone, whose one tool only waits: what the protocol costs by itself."""
FLOOR_CALLS = 16
FLOOR_WAIT_S = 0.25
"""As long as a step takes: whoever waits finds cold caches and a core that slept."""
Tool = Callable[[str, dict[str, Any]], Awaitable[Any]]


class TimedCore:
    """The core, with when each call of a direct session began and ended inside it."""

    def __init__(self, core: Runtime) -> None:
        self._core = core
        self._calls: list[tuple[float, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    async def request_as(self, client: ClientInfo, op: Op) -> Reply:
        """Carry an op out; see `SharedCore.request_as`."""
        began = time.monotonic()
        try:
            return await self._core.request_as(client, op)
        finally:
            if isinstance(op, DirectCall):
                self._calls.append((began, time.monotonic()))

    def spent_s(self, since_s: float, until_s: float) -> float:
        """Return how long calls took that lay between two times of `time.monotonic`."""
        return sum(end - begin for begin, end in self._calls if since_s <= begin and end <= until_s)


@dataclass
class CallTimes:
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
            taken = {way: CallTimes() for way in (OWN, "stdio", "HTTP")}
            floor: dict[str, list[float]] = {"stdio": [], "HTTP": []}
            async with serve(timed, socket_path(data)):
                for _ in range(ROUNDS):
                    await _walk(at, taken[OWN])
                    for way, order in _ours(data).items():
                        _take_down(await made(order), timed, taken[way])
                    for way, order in _nothing(folder).items():
                        floor[way] += [_above_wait(one) for one in await made(order)]
            _print(taken, {way: statistics.median(found) for way, found in floor.items()})
            _print_ghost(theirs, taken)


def _take_down(calls: list[MadeCall], timed: TimedCore, taken: CallTimes) -> None:
    for one in calls:
        if one.name in TIMED:
            whole = one.ended_s - one.began_s
            taken.whole.append(whole * 1000)
            spent = timed.spent_s(one.began_s, one.ended_s)
            taken.above.append((whole - spent) * 1000)


def _above_wait(one: MadeCall) -> float:
    return (one.ended_s - one.began_s - float(one.text)) * 1000


def _calls() -> list[tuple[str, dict[str, Any]]]:
    """Return what opens and leaves the rows of the settings, some in each session."""
    found: list[tuple[str, dict[str, Any]]] = []
    for places in PLACES:
        found.append(("take_phone", {"purpose": "Look through the settings"}))
        found.append(("launch_app", {"app": "Settings"}))
        for place in places:
            found.append(("click_element", {"label": place}))
            found.append(("press_button", {"button": "BACK"}))
        found.append(("release_phone", {"success": False, "summary": "Only looked."}))
    return found


def _print(taken: dict[str, CallTimes], floor: dict[str, float]) -> None:
    own = statistics.median(taken[OWN].whole)
    # The least is what a busy machine adds least to.
    columns = ("by", "a step, ms p50", "× own", "above the core, ms p50", "least", "p95")
    print(f"| {' | '.join(columns)} | the SDK alone, p50 | target |")
    print("|---|---|---|---|---|---|---|---|")
    for way, one in taken.items():
        whole = statistics.median(one.whole)
        shown = "– | – | – | – | "
        if way in floor:
            above, least = statistics.median(one.above), min(one.above)
            high = statistics.quantiles(one.above, n=20)[-1]
            shown = f"{above:.1f} | {least:.1f} | {high:.1f} | {floor[way]:.1f} | ≤ {TARGET_MS:g}"
        print(f"| {way} | {whole:.0f} | {whole / own:.2f}× | {shown} |")
    print(f"\n{len(one.whole)} steps each, in {ROUNDS} rounds that take turns.", flush=True)


# --- the ways ----------


async def _walk(at: House, taken: CallTimes) -> None:
    """Make the calls here, without a server."""
    session_id = ""

    async def quiet(_waited_s: float, _why: str) -> None:
        pass

    for name, arguments in _calls():
        tool, given = name, arguments
        if name == "take_phone":
            session_id = await take(at.core, arguments["purpose"], "", "bench")
            tool, given = "", {}
        elif name == "release_phone":
            tool = "finish"
        began = time.monotonic()
        view = await call(at.core, session_id, tool, given, patience_s=20.0, on_wait=quiet)
        if view.status is DirectStatus.WAITING:
            raise RuntimeError(f"{name} {arguments}: {view.text}")
        if name in TIMED:
            taken.whole.append((time.monotonic() - began) * 1000)


def _ours(data: Path) -> dict[str, Order]:
    command = [*SWITCHBOARD, "mcp", "--tools", "phone"]
    environment = {**os.environ, "SWITCHBOARD_DATA_DIR": str(data)}
    return {
        "stdio": Order(command=command, environment=environment, calls=_calls()),
        "HTTP": Order(
            command=[*command, "--http", "--port", "0"],
            environment=environment,
            calls=_calls(),
            token_file=str(data / "mcp-token"),
        ),
    }


def _nothing(folder: Path) -> dict[str, Order]:
    """Return the calls that do nothing but wait, for as long as a step takes."""
    command = [sys.executable, "-c", FLOOR]
    environment = dict(os.environ)
    calls = [("nothing", {"wait_s": FLOOR_WAIT_S})] * FLOOR_CALLS
    no_token = folder / "no-token"
    no_token.write_text("none")
    return {
        "stdio": Order(command=command, environment=environment, calls=calls),
        "HTTP": Order(
            command=[*command, "http"],
            environment=environment,
            calls=calls,
            token_file=str(no_token),
        ),
    }


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


def _print_ghost(taken: dict[str, list[float]], ours: dict[str, CallTimes]) -> None:
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
    main()
