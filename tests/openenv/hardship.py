"""Kill servers and trainers at random moments, crowd a server, and send it everything wrong.

`python -m tests.openenv.hardship --moments 100`, where the extra `openenv` is installed. Clients
are told what happened in the documented words, and what is left is counted: processes, folders,
shared memory, phones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

from agent.devices.frames.shared_segment import PREFIX as SEGMENTS
from agent.devices.frames.shared_segment import remove_abandoned as remove_segments
from agent.episodes.scratch import PREFIX, remove_abandoned
from tests.openenv.test_served import Served, client, commands

PHONES, CLIENTS = 4, 100
LATEST_S = 0.6
LONGEST_S = 120.0
SHARED = Path("/dev/shm")
TRAINER = """
from console.android_env.environment import AndroidAction
from console.android_env.pool import EmulatorPool
with EmulatorPool(pool_size=2, use_shared_memory=True, max_steps=4, size_px=(128, 256)) as pool:
    print("plays", flush=True)
    while True:
        env = pool.get(timeout=60)
        seen = env.reset(seed=1)
        while not seen.done:
            seen = env.step(AndroidAction("press_button", {"button": "HOME"}))
        pool.put(env)
"""
WRONG: tuple[object, ...] = (
    None,
    [],
    "text",
    {"action": None},
    {"action": {"tool_name": "tap", "parameters": {"x": "left", "y": 1e999}}},
    {"action": {"tool_name": "tap\0", "parameters": {}}},
    {"action": {"tool_name": "press_button", "parameters": {"button": "SELF_DESTRUCT"}}},
    {"action": {"tool_name": "type_text", "parameters": {"text": "x" * 20_000}}},
    {"action": {"tool_name": "swipe", "parameters": {"x1": 0}}},
    {"action": {"tool_name": "pinch", "parameters": {"scale": -1}}},
    {"seed": "seven"},
    {"seed": 1e999},
    {"action": {"tool_name": "tap", "parameters": {"x": 1e999, "y": 0}}, "extra": 1e999},
    {"seed": 1, "task": "world-peace"},
    {"task": 5},
    {"episode_id": 5},
    {"jsonrpc": "1.0"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"session_id": "none"}},
)


def left_over(pids: set[int]) -> list[str]:
    """List the folders and segments in memory that some processes have made."""
    marks = tuple(f"{prefix}{pid}-" for prefix in (PREFIX, SEGMENTS) for pid in pids)
    return [path.name for path in SHARED.iterdir() if path.name.startswith(marks)]


def kill_servers(moments: int, folder: Path, chance: random.Random, pids: set[int]) -> Counter[str]:
    """Kill a server while a client steps; returns what clients were told."""
    told: Counter[str] = Counter()
    for _ in range(moments):
        server = Served(folder)
        pids.add(server.process.pid)
        said: list[str] = []
        player = Thread(target=_play, args=(server, said))
        player.start()
        time.sleep(chance.uniform(0, LATEST_S))
        server.process.kill()
        server.process.wait(LONGEST_S)
        player.join(LONGEST_S)
        assert not player.is_alive(), "a client waits for a server that is dead"
        told[said[0]] += 1
    server = Served(folder)
    with client(server) as env:
        assert env.reset(seed=1).observation.screen_width == 1080
    server.end()
    return told


def _play(server: Served, said: list[str]) -> None:
    from console.openenv.client import PhoneAction

    home = PhoneAction(tool_name="press_button", parameters={"button": "HOME"})
    try:
        with client(server) as env:
            while True:
                seen = env.reset(seed=1)
                while not seen.done:
                    seen = env.step(home)
    except Exception as error:
        said.append(type(error).__name__)


def kill_trainers(moments: int, chance: random.Random, pids: set[int]) -> Counter[str]:
    """Kill a program that plays in its own process, with pictures in shared memory."""
    for _ in range(moments):
        with subprocess.Popen(
            [sys.executable, "-c", TRAINER], stdout=subprocess.PIPE, text=True
        ) as trainer:
            pids.add(trainer.pid)
            assert trainer.stdout is not None
            assert trainer.stdout.readline() == "plays\n"
            time.sleep(chance.uniform(0, LATEST_S))
            assert trainer.poll() is None, "it ended by itself"
            trainer.kill()
    return Counter({"killed": moments})


def crowd(folder: Path) -> Counter[str]:
    """Have many clients want few phones: each gets one in the end, and none of them two at once."""
    server = Served(folder, "--phones", str(PHONES))
    told: Counter[str] = Counter()

    def one(number: int) -> None:
        until = time.monotonic() + LONGEST_S
        while True:
            try:
                with client(server) as env:
                    env.reset(seed=number)
                    return
            except RuntimeError as error:
                assert "CAPACITY_REACHED" in str(error), error
                told["CAPACITY_REACHED"] += 1
                assert time.monotonic() < until
                time.sleep(0.05)

    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            told["served"] = len(list(pool.map(one, range(CLIENTS))))
        _all_free(server, told)
    finally:
        server.end()
    return told


def _all_free(server: Served, told: Counter[str]) -> None:
    """Take every phone at once."""
    until = time.monotonic() + LONGEST_S
    while True:
        taken: list[Any] = []
        try:
            for _ in range(PHONES):
                taken.append(client(server).__enter__())
                taken[-1].reset(seed=1)
            told["phones free at the end"] = len(taken)
            return
        except RuntimeError:
            assert time.monotonic() < until, "a phone leaked"
            time.sleep(0.1)
        finally:
            for env in taken:
                env.close()


def send_wrong(folder: Path) -> Counter[str]:
    """Send every wrong body to every route; no answer may be a failure of the server's own."""
    server = Served(folder)
    answers: Counter[str] = Counter()
    try:
        for path in ("/reset", "/step", "/mcp", "/phone/task", "/phone/tasks", "/nowhere"):
            for body in WRONG:
                status, said = server.ask(path, json.loads(json.dumps(body)), method="POST")
                assert status < 500, (path, body, status, said)
                answers[f"{status}"] += 1
        assert server.ask("/reset", {"seed": 1})[0] == 200
    finally:
        server.end()
    return answers


def main() -> None:
    """Do all four, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument(
        "--only", action="append", choices=("wrong", "crowd", "servers", "trainers")
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    pids: set[int] = set()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        deeds: dict[str, Callable[[], Counter[str]]] = {
            "wrong": lambda: send_wrong(folder / "wrong"),
            "crowd": lambda: crowd(folder / "crowd"),
            "servers": lambda: kill_servers(given.moments, folder / "killed", chance, pids),
            "trainers": lambda: kill_trainers(given.moments, chance, pids),
        }
        for name in given.only or deeds:
            print(f"{name}: {dict(deeds[name]())}", flush=True)
        # As the next program that opens phones, or makes a segment, does.
        asyncio.run(remove_abandoned())
        remove_segments()
        left, running = left_over(pids), commands(folder)
    print(f"left: {len(running)} processes, {len(left)} folders and segments {left[:5]}")
    assert not running and not left


if __name__ == "__main__":
    main()
