"""A step of our loop beside one of mobilerun, on the same scripted model and the same phone.

`python -m bench loop_peer`. The model is a scripted endpoint on loopback that answers at once; each
agent is a process of its own, and a step is the time from one of its requests to the next. The peer
runs in an environment of its own: that of the interpreter named by SWITCHBOARD_MOBILERUN_PYTHON, or
one that is made with uv and kept in the cache directory. It works without its portal app, as its
`portal_mode: disabled` has it, and tells nobody of it.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.models.openai import OpenAIModel
from agent.store.embedded.sqlite_store import SqliteStore
from agent.text import one_line
from bench._peers import Peer
from bench.steps.loop import ELEMENTS, BenchDevice, Moment, picture, session_of
from tests.fakes import FakeFleet
from tests.openai_server import OpenAIServer, Reply, openai_server, tool

STEPS = 24
PHONE_STEPS = 8
WARM_UP = 2
RUN_BOUND_S = 300.0
PLACES = ("Network", "Display", "Sound", "Battery")
"""Rows of the settings, opened and left in turn: one that is opened and left again is refused."""
PEER_NAME = "mobilerun 0.7.4"
MOBILERUN = Peer(
    package="mobilerun==0.7.4",
    loads="mobilerun",
    variable="SWITCHBOARD_MOBILERUN_PYTHON",
    python=lambda: "3.11",
    loosened="certifi",
)
OURS = "switchboard"


PEER = """
import asyncio, json, logging, sys
from pathlib import Path
from llama_index.llms.openai_like import OpenAILike
from mobilerun import MobileAgent, MobileConfig
from mobilerun.config_manager.config_manager import (
    AgentConfig, DeviceConfig, FastAgentConfig, TelemetryConfig)
from mobilerun_core_local.driver.base import DeviceDriver
logging.disable(logging.CRITICAL)
job = json.loads(sys.argv[1])
def node(text, row, top, bottom):
    never = ("checkable", "checked", "focusable", "focused", "scrollable", "longClickable",
             "password", "selected")
    return {"text": text, "resourceId": f"org.example:id/row_{row}", "hint": "",
        "className": "android.widget.TextView", "packageName": "org.example.app",
        "contentDescription": "", "clickable": row % 2 == 0, "enabled": True, "children": [],
        "boundsInScreen": {"left": 54, "top": top, "right": 1026, "bottom": bottom},
        **dict.fromkeys(never, False)}
class Instant(DeviceDriver):
    platform = "Android"
    supported = {"tap", "get_ui_tree", "screenshot", "get_date", "get_apps"}
    version = 0
    async def connect(self): pass
    async def ensure_connected(self): pass
    async def get_date(self): return "now"
    async def get_apps(self, include_system=True): return []
    async def tap(self, x, y): self.version += 1
    async def screenshot(self, hide_overlay=True):
        return Path(job["home"], "frame.png").read_bytes()
    async def get_ui_tree(self, filter=True):
        high = 2400 // job["rows"]
        root = node("", -1, 0, 2400) | {"className": "android.widget.FrameLayout"}
        root["children"] = [node(f"{self.version}: entry {at}", at, at * high, (at + 1) * high)
                            for at in range(job["rows"])]
        return {"a11y_tree": root,
            "phone_state": {"packageName": "org.example.app", "currentApp": "Example"},
            "device_context": {"screen_bounds": root["boundsInScreen"],
                               "display_metrics": {"width": 1080, "height": 2400}}}
async def main():
    model = OpenAILike(model="m", api_base=job["base_url"], api_key="k", is_chat_model=True,
        context_window=128000)
    agent = AgentConfig(max_steps=job["steps"] + 5,
        fast_agent=FastAgentConfig(vision=job["sees"]))
    if not job["waits"]:
        agent.after_sleep_action = agent.wait_for_stable_ui = 0.0
    phone = DeviceConfig(serial=job["serial"] or "none", portal_mode="disabled", auto_setup=False)
    config = MobileConfig(agent=agent, device=phone, telemetry=TelemetryConfig(enabled=False))
    driver = None if job["serial"] else Instant()
    done = await MobileAgent(goal="tap on", config=config, llms=model, driver=driver,
        timeout=900).run()
    print("ended well" if done.success else f"ended badly: {done.reason}")
asyncio.run(main())
"""


@dataclass(frozen=True)
class Trial:
    agent: str
    serial: str = ""  # Of the phone; empty for a device that takes no time.
    steps: int = STEPS
    sees: bool = False
    waits: bool = True  # Whether it waits for the screen as it is shipped.


@dataclass
class Script:
    """The model: what it answers, and when it was asked."""

    trial: Trial
    pid: int = 0
    began: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def reply(self, request: dict[str, Any]) -> Reply:
        """Answer a request by its number and by the screen that it shows."""
        self.began.append(time.perf_counter())
        self.cpu_s.append(_cpu_s(self.pid))
        number = len(self.began)
        ours = self.trial.agent == OURS
        if number > self.trial.steps:
            return _done(ours)
        if not self.trial.serial:
            return _press(ours, 1 + 2 * (number % 10) if ours else 2 + 2 * (number % 10))
        shown = _words(request["messages"][-1]["content"])
        place = PLACES[number // 2 % len(PLACES)]
        row = rf'\[(\d+)\] [\w-]+: "{place}' if ours else rf'(?m)^(\d+)\. .*"{place}'
        found = re.search(row, shown) if number % 2 else None
        return _back(ours) if found is None else _press(ours, int(found[1]))


def main() -> None:
    """Print the table, or why there is no peer in it."""
    asyncio.run(_compare())


async def _compare() -> None:
    python, why_not = await asyncio.to_thread(MOBILERUN.interpreter)
    peers = (OURS,) if python is None else (OURS, PEER_NAME)
    print(
        "| the same scripted model over HTTP | ms a step p50 | CPU ms a step | late / early steps |"
    )
    print("|---|---|---|---|")
    for sees in (False, True):
        for agent in peers:
            trial = Trial(agent, sees=sees, waits=False)
            what = "with vision" if sees else "text only"
            await _row(f"a device that takes no time, {what}, no sleeps", trial, python)
    with tempfile.TemporaryDirectory() as folder:
        server = AdbServer(Path(folder) / "adb", on_port=True)
        phones = VirtualPhones(Path(folder) / "phones", server)
        (serial,) = await phones.start()
        try:
            for agent in peers:
                await _open_settings(AdbClient(server.address), serial)
                trial = Trial(agent, serial, PHONE_STEPS)
                await _row("a virtual phone, as shipped", trial, python, server.address.port)
        finally:
            await phones.stop()
            await server.stop()
    if python is None:
        print(f"| {PEER_NAME} | not installed: {why_not} | | |")


async def _open_settings(client: AdbClient, serial: str) -> None:
    features = await client.features(serial)
    command = "am start -a android.settings.SETTINGS"
    await client.shell(serial, command, features=features, timeout_s=30)


async def _row(what: str, trial: Trial, python: Path | None, adb_port: int = 0) -> None:
    script = Script(trial)
    async with openai_server(script.reply) as server:
        said = await _run(trial, script, server, python, adb_port)
    taken = [(b - a) * 1000 for a, b in zip(script.began, script.began[1:], strict=False)][WARM_UP:]
    if len(script.began) <= trial.steps or not taken:
        print(f"| {trial.agent}: {what} | stopped after {len(script.began)} calls: {said} | | |")
        return
    cpu_ms = (script.cpu_s[-1] - script.cpu_s[WARM_UP]) * 1000 / len(taken)
    third = len(taken) // 3
    growth = statistics.median(taken[-third:]) / statistics.median(taken[:third])
    middle = statistics.median(taken)
    print(f"| {trial.agent}: {what} | {middle:.0f} | {cpu_ms:.0f} | {growth:.2f}× |", flush=True)


async def _run(
    trial: Trial, script: Script, server: OpenAIServer, python: Path | None, adb_port: int
) -> str:
    """Run one agent to its end; returns what it said last."""
    job = {
        "base_url": server.base_url,
        "serial": trial.serial,
        "steps": trial.steps,
        "sees": trial.sees,
        "waits": trial.waits,
        "rows": ELEMENTS,
        "adb_port": adb_port,
    }
    with tempfile.TemporaryDirectory() as home:
        if trial.sees:
            (Path(home) / "frame.png").write_bytes(picture(0))
        program = [sys.executable, "-m", "bench.steps.loop_peer"]
        environment = dict(os.environ)
        if trial.agent != OURS:
            program = [str(python), "-c", PEER]
            environment |= {
                "HOME": home,
                "MOBILERUN_TELEMETRY_ENABLED": "false",
                "ANDROID_ADB_SERVER_PORT": str(adb_port),
            }
        process = await asyncio.create_subprocess_exec(
            *program,
            json.dumps(job | {"home": home}),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        script.pid = process.pid
        try:
            async with asyncio.timeout(RUN_BOUND_S):
                out, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return f"nothing in {RUN_BOUND_S:.0f} s"
    lines = out.decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1] if lines else "", 160)


# --- our side, in a process of its own ----------


async def _ours(job: dict[str, Any]) -> None:
    clock = Moment()
    model = OpenAIModel("m", base_url=job["base_url"], api_key="k", vision=job["sees"])
    folder = Path(job["home"])
    async with SqliteStore.open(folder) as store:
        if job["serial"]:
            fleet = AdbFleet([ServerAddress(port=job["adb_port"])])
            await fleet.start()
            await fleet.wait_for(job["serial"], timeout_s=30)
            await session_of(store, folder, fleet, model, serial=job["serial"])
            await fleet.close()
            return
        fakes = FakeFleet("bench")
        fakes.adopt(BenchDevice(fakes, "bench", seconds=clock.seconds, sees=job["sees"]))
        await session_of(store, folder, fakes, model, serial="bench", clock=clock)


# --- what the model says ----------


def _press(ours: bool, number: int) -> Reply:
    return _tool("click_element", element=number) if ours else _xml("click", index=number)


def _back(ours: bool) -> Reply:
    return _tool("press_button", button="BACK") if ours else _xml("system_button", button="back")


def _done(ours: bool) -> Reply:
    if ours:
        return _tool("finish", success=True, summary="Done.")
    return _xml("complete", success="true", message="Done.")


def _tool(name: str, **arguments: object) -> Reply:
    return Reply(tools=(tool(name, **arguments),), piece=4000)


def _xml(name: str, **arguments: object) -> Reply:
    """Write a call as mobilerun asks for it of a model of which it knows nothing."""
    parts = "".join(
        f'<parameter name="{key}">{value}</parameter>\n' for key, value in arguments.items()
    )
    return Reply(
        text=f'<function_calls>\n<invoke name="{name}">\n{parts}</invoke>\n</function_calls>',
        piece=4000,
    )


def _words(content: object) -> str:
    """Return the text of a message, with or without a picture."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else ()
    return "\n".join(str(part.get("text", "")) for part in parts)


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process, in seconds; 0 where it is unknown (proc(5))."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(_ours(json.loads(sys.argv[1])))
