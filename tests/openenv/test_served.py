"""The environment as OpenEnv's own programs meet it: its client, its validator, plain HTTP, MCP."""

from __future__ import annotations

import base64
import functools
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from agent.extras import is_installed

if not is_installed("openenv"):
    pytest.skip("the extra is not installed; the slow tests install it", allow_module_level=True)

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-that-is-long-enough"
LONGEST_S = 60.0


class Served:
    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console", "env", "serve", "--port", "0", *options],
            env={**os.environ, "SWITCHBOARD_DATA_DIR": str(folder), "SWITCHBOARD_ENV_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), "it said why on stderr"

    def ask(
        self, path: str, body: object = None, *, method: str = "", **headers: str
    ) -> tuple[int, Any]:
        """Send a request; returns the status and the answer."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
        wanted = urllib.request.Request(
            self.url + path, data, sent, method=method or ("POST" if data else "GET")
        )
        try:
            with urllib.request.urlopen(wanted, timeout=LONGEST_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read()
            return error.code, json.loads(said) if said.startswith((b"{", b"[")) else said

    def end(self) -> None:
        """End it as ctrl+c does; nothing of it stays."""
        self.process.terminate()
        assert self.process.wait(LONGEST_S) in (0, 143)


@pytest.fixture(scope="module", params=["in-process", "adb"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    server = Served(folder, "--phones", "2", "--way", request.param)
    adb = [name for name in commands(folder) if "adb" in name]
    assert bool(adb) is (request.param == "adb"), "in process no adb is needed"
    yield server
    server.end()
    assert commands(folder) == [], "processes were left behind"


def commands(folder: Path) -> list[str]:
    """Return the command lines of the processes that name a folder."""
    found = (_command(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [line.decode(errors="replace") for line in found if str(folder).encode() in line]


def _command(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def client(served: Served) -> Any:
    from console.openenv.client import PhoneEnv, bearer

    return PhoneEnv(base_url=served.url, headers=bearer(TOKEN)).sync()


def tap(seen: Any, text: str) -> Any:
    from console.openenv.client import PhoneAction

    tree = seen.observation.extras["tree"]
    box = next(n for n in tree if text in (n.get("text"), n.get("description")))["bounds"]
    left, top = box.get("left", 0.0), box.get("top", 0.0)
    place = {"x": (left + box["right"]) / 2, "y": (top + box["bottom"]) / 2}
    return PhoneAction(tool_name="tap", parameters=place)


def test_the_stock_client_does_a_task_and_is_paid(served: Served) -> None:
    from PIL import Image

    with client(served) as env:
        seen = env.reset(task="bluetooth-on", episode_id="first")
        picture = Image.open(BytesIO(base64.b64decode(seen.observation.screen_image)))
        assert (picture.format, picture.size) == ("JPEG", (1080, 2400))
        assert tuple(seen.observation.pixels_shape) == (2400, 1080, 3)
        for label in ("Settings", "Connected devices", "Bluetooth", "Use Bluetooth"):
            assert not seen.done
            seen = env.step(tap(seen, label))
        assert (seen.reward, seen.done) == (1.0, True)
        state = env.state()
        assert (state.episode_id, state.step_count, state.task) == ("first", 4, "bluetooth-on")
        with pytest.raises(RuntimeError, match="No episode runs"):
            env.step(tap(seen, "Use Bluetooth"))
        assert env.reset(seed=2).observation.extras["task"]


def _json(**parameters: object) -> dict[str, object]:
    return {"tool_name": "tap", "parameters": parameters}


WRONG_ACTIONS: tuple[object, ...] = (
    {},
    {"tool_name": "teleport"},
    {"tool_name": ""},
    {"tool_name": None},
    {"tool_name": 7},
    {"tool_name": ["tap"]},
    {"tool_name": "t" * 81},
    {"tool_name": "\ud800"},
    {"tool_name": "tap"},
    {"tool_name": "tap", "parameters": None},
    {"tool_name": "tap", "parameters": [0.5, 0.5]},
    {"tool_name": "tap", "parameters": "x"},
    {"tool_name": "tap", "parameters": {"x": 0.5, "y": 0.5}, "extra": 1},
    {"tool_name": "tap", "parameters": {"x": 0.5, "y": 0.5}, "metadata": 3},
    {"type": "list_tools"},
    {"type": "call_tool", "tool_name": "tap", "arguments": {"x": 0.5, "y": 0.5}},
    {"type": "call_tool"},
    _json(x=0.5),
    _json(x=0.5, y=0.5, z=0.5),
    _json(x="0.5", y=0.5),
    _json(x=True, y=0.5),
    _json(x=None, y=0.5),
    _json(x=[0.5], y=0.5),
    _json(x=10**400, y=0.5),
    _json(x=float("nan"), y=0.5),
    _json(x=float("inf"), y=0.5),
    {"tool_name": "press_button", "parameters": {"button": "EJECT"}},
    {"tool_name": "press_button", "parameters": {"button": 3}},
    {"tool_name": "type_text", "parameters": {"text": 3}},
    {"tool_name": "type_text", "parameters": {"text": "x" * 10_001}},
    {"tool_name": "type_text", "parameters": {"text": "\udcff"}},
    {
        "tool_name": "multi_swipe",
        "parameters": dict.fromkeys(("x1", "y1", "x2", "y2"), 0.5) | {"fingers": 99},
    },
    {"tool_name": "pinch", "parameters": {"scale": 0}},
    {
        "tool_name": "swipe",
        "parameters": dict.fromkeys(("x1", "y1", "x2", "y2"), 0.5) | {"duration_ms": -1},
    },
    functools.reduce(lambda inner, _: {"parameters": inner}, range(300), {}),
    "tap",
    [],
    None,
    3,
)
WRONG_RESETS: tuple[dict[str, object], ...] = (
    {"seed": "7"},
    {"seed": -1},
    {"seed": 1.5},
    {"seed": True},
    {"episode_id": 3},
    {"episode_id": "x" * 256},
    {"task": 3},
    {"task": ["bluetooth-on"]},
    {"looks": "sideways"},
    {"rewards": "gold"},
    {"split": "exam"},
    {"taks": "bluetooth-on"},
)
WRONG_FRAMES: tuple[str | bytes, ...] = (
    b"\x00\x01",
    "",
    "{",
    "[]",
    "null",
    "7",
    '"step"',
    "{}",
    '{"type": 7}',
    '{"type": "dance"}',
    '{"type": "step"}',
    '{"type": "state", "more": 1}',
    '{"type": "step", "data": {}, "session_id": "x"}',
    "[" * 900 + "]" * 900,
)


def test_the_stock_client_is_told_of_each_wrong_action_and_nothing_changes(served: Served) -> None:
    """OpenEnv's own client and its own socket; the episode survives all of it."""
    with client(served) as env:
        env.reset(task="bluetooth-on", episode_id="kept")

        def state() -> tuple[object, ...]:
            now = env.state()
            return now.episode_id, now.step_count, now.task, now.serial

        before = state()
        for wrong in WRONG_ACTIONS:
            answer = raw(env, json.dumps({"type": "step", "data": wrong}))
            assert (answer["type"], answer["data"]["code"]) == ("error", "VALIDATION_ERROR"), wrong
            assert state() == before, wrong
        for given in WRONG_RESETS:
            answer = raw(env, json.dumps({"type": "reset", "data": given}))
            assert answer["data"]["code"] == "VALIDATION_ERROR", given
            assert state() == before, given
        for frame in WRONG_FRAMES:
            assert raw(env, frame)["type"] == "error", frame
            assert state() == before, frame
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.step(_Unchecked("tap", {"x": 2**2000}))
        assert env.step(_Unchecked("press_button", {"button": "HOME"})).observation.screen_width


class _Unchecked:
    """An action as a client without our class sends it."""

    def __init__(self, tool: str, parameters: dict[str, object]) -> None:
        self._sent = {"tool_name": tool, "parameters": parameters}

    def model_dump(self, **_: object) -> dict[str, object]:
        return self._sent


def raw(env: Any, frame: str | bytes) -> dict[str, Any]:
    """Send a frame on the stock client's own socket; returns the answer."""
    inner = env._async if hasattr(env, "_async") else env._client

    async def exchanged() -> dict[str, Any]:
        await inner._ws.send(frame)
        answer: dict[str, Any] = json.loads(await inner._ws.recv())
        return answer

    answer: dict[str, Any] = inner._run_sync(exchanged)
    return answer


def test_a_reset_chooses_what_is_seen_and_how_it_is_paid(served: Served) -> None:
    with client(served) as env:
        seen = env.reset(task="bluetooth-on", looks="tree", rewards="shaped")
        assert not seen.observation.screen_image and seen.observation.extras["tree"]
        seen = env.reset(task="bluetooth-on", looks="pixels")
        assert seen.observation.screen_image and not seen.observation.extras["tree"]
        both = env.reset(task="bluetooth-on").observation
        assert both.screen_image and both.extras["tree"]
        names = {
            split["name"]: [one["id"] for one in tasks_of(served, split["name"])]
            for split in served.ask("/phone/splits")[1]
        }
        for split, ids in names.items():
            assert env.reset(split=split, seed=3).observation.extras["task"] in ids


def tasks_of(served: Served, split: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.ask("/phone/tasks", {"split": split})[1]["tasks"]
    return found


def test_a_full_server_says_so_before_it_closes_and_a_client_that_left_makes_room(
    served: Served,
) -> None:
    with client(served) as one, client(served) as two:
        phones = {env.reset(seed=1) and env.state().serial for env in (one, two)}
        assert len(phones) == 2
        with pytest.raises(RuntimeError, match="CAPACITY_REACHED"), client(served) as third:
            third.reset()
    until = time.monotonic() + LONGEST_S
    while True:
        try:
            with client(served) as env:
                assert env.reset(seed=1).observation.screen_width == 1080
            return
        except RuntimeError as error:
            # Their phones are put back behind their backs.
            assert time.monotonic() < until, error
            time.sleep(0.1)


# --- over HTTP: its one episode keeps a phone from here on ----------


def test_http_is_told_of_each_wrong_action_and_nothing_changes(served: Served) -> None:
    assert served.ask("/reset", {"task": "bluetooth-on", "episode_id": "wrong"})[0] == 200
    before = served.ask("/state")[1]
    for wrong in WRONG_ACTIONS:
        assert served.ask("/step", {"action": wrong})[0] == 422, wrong
    for given in WRONG_RESETS:
        assert served.ask("/reset", given)[0] == 422, given
    action = {"tool_name": "press_button", "parameters": {"button": "HOME"}}
    for body in ({}, {"action": action, "timeout": 1}, {"action": action, "timeout_s": -1}, []):
        assert served.ask("/step", body)[0] == 422, body
    assert served.ask("/state")[1] == before


def test_http_has_one_phone_whose_episode_stays(served: Served) -> None:
    status, begun = served.ask("/reset", {"task": "dark-theme", "episode_id": "over-http"})
    assert status == 200 and begun["observation"]["extras"]["goal"]
    action = {"tool_name": "press_button", "parameters": {"button": "HOME"}}
    for count in (1, 2):
        status, seen = served.ask("/step", {"action": action})
        assert (status, seen["done"], seen["reward"]) == (200, False, 0.0)
        status, state = served.ask("/state")
        assert (state["episode_id"], state["step_count"]) == ("over-http", count)
    for wrong in (
        {"tool_name": "tap", "parameters": {"x": 0.5}},
        {"tool_name": "teleport"},
        {**action, "extra": 1},
        {"tool_name": "tap", "parameters": {"x": float("inf"), "y": 0}},
    ):
        assert served.ask("/step", {"action": wrong})[0] == 422
    assert served.ask("/reset", {"task": "world-peace"})[0] == 409
    assert served.ask("/reset", {"seed": float("inf")})[0] == 422


def test_tasks_schema_and_metadata_are_told(served: Served) -> None:
    assert served.ask("/list_environments") == (200, ["phone"])
    splits = [one["name"] for one in served.ask("/phone/splits")[1]]
    assert splits == ["train", "validation", "test"]
    ids = [[one["id"] for one in tasks_of(served, name)] for name in splits]
    assert all(ids) and len({one for some in ids for one in some}) == sum(map(len, ids))
    tasks = tasks_of(served, "test")
    assert served.ask("/phone/num_tasks", {"split": "test"})[1] == {"num_tasks": len(tasks)}
    one = served.ask("/phone/task", {"split": "test", "index": 0})[1]["task"]
    assert one == tasks[0] and one["goal"]
    assert served.ask("/phone/task", {"split": "test", "index": 9_999})[0] == 400
    schema = served.ask("/schema")[1]
    assert "tool_name" in schema["action"]["properties"]
    assert "screen_image" in schema["observation"]["properties"]
    assert served.ask("/metadata")[1]["name"] == "phone"
    loaded = Path(f"/proc/{served.process.pid}/maps").read_text()
    assert "pydantic" in loaded and "pandas" not in loaded, "it loads pages that it does not serve"


def test_the_actions_are_tools_of_mcp(served: Served) -> None:
    def call(method: str, **params: object) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return served.ask("/mcp", body)[1]["result"]

    session = call("openenv/session/create")["session_id"]
    tools = {tool["name"] for tool in call("tools/list", session_id=session)["tools"]}
    assert {"tap", "swipe", "type_text", "press_button", "pinch"} <= tools and len(tools) == 13
    seen = call("tools/call", session_id=session, name="press_button", arguments={"button": "HOME"})
    assert seen["screen_width"] == 1080
    assert call("openenv/session/close", session_id=session)["closed"] is True


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
    ],
)
def test_who_may_not_come_in_is_told_why(
    served: Served, headers: dict[str, str], status: int
) -> None:
    assert served.ask("/health", **headers)[0] == status
    assert served.ask("/reset", {}, **headers)[0] == status


def test_a_websocket_without_the_token_is_refused_and_a_large_body_too(served: Served) -> None:
    from console.openenv.client import PhoneEnv

    with pytest.raises(Exception, match="HTTP 403"), PhoneEnv(base_url=served.url).sync() as env:
        env.reset()
    assert served.ask("/reset", {"episode_id": "x" * (1 << 21)})[0] == 413


def openenv(*words: str) -> dict[str, Any]:
    """Run OpenEnv's program; returns its report."""
    program = Path(sys.executable).with_name("openenv")
    done = subprocess.run(
        [program, *words, "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_openenv_validates_the_running_server(tmp_path: Path) -> None:
    server = Served(tmp_path, "--no-token")
    try:
        report = openenv("validate", "--url", server.url)
        assert "FAIL" not in json.dumps(report), report
    finally:
        server.end()


def test_openenv_validates_the_package(tmp_path: Path) -> None:
    package = tmp_path / "phone"
    shutil.copytree(ROOT / "environments/phone", package)
    report = openenv("validate", str(package), "--skip-build")
    assert "FAIL" not in json.dumps(report), report
    lines = (package / "server/Dockerfile").read_text().splitlines()
    assert len(lines) <= 10


@pytest.mark.parametrize("way", ["in-process", "adb"])
def test_a_killed_server_is_told_of_and_the_next_one_takes_over_and_keeps_episodes(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCHBOARD_ENV_RECORD", "all")
    server = Served(tmp_path, "--way", way)
    with client(server) as env:
        seen = env.reset(task="dark-theme")
        server.process.kill()
        server.process.wait(LONGEST_S)
        with pytest.raises(Exception, match=r"(?i)clos|connect"):
            env.step(tap(seen, "Settings"))
    again = Served(tmp_path, "--way", way)
    try:
        with client(again) as env:
            env.reset(task="bluetooth-on", episode_id="kept")
    finally:
        again.end()
    assert commands(tmp_path) == [], "processes were left behind"
    asked = [sys.executable, "-m", "console", "--data-dir", str(tmp_path / "episodes")]
    shown = subprocess.run(
        [*asked, "sessions", "show", "kept"], capture_output=True, text=True, check=True
    )
    assert "Bluetooth" in shown.stdout
