"""The console on a fleet against that of one computer: what a paint, a key and an event cost.

`python -m bench console_scale`. Each scene is a process of its own, without a terminal but drawn:
50 sessions on 12 phones, then 1,000 at work and 200 that have ended on 500 phones of 20 hosts (as
many as a console reads of 50,000 that are stored). CPU of the process is what counts, since a
machine may be busy; the ratio says what scale costs. `--profile STEP` prints where one step's time
goes.

Then the History over a real core with 500 and with 50,000 stored sessions, on SQLite and on
PostgreSQL (`bench._stored_history`); `--stored` measures only that, `--drawn` only the first.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from textual.pilot import Pilot

from agent.config import load_settings
from bench import _stored_history
from console.app import SwitchboardApp
from tests import headless
from tests.console.fakes import FakeCore
from tests.console.fleet_scene import move, play_fleet

SIZE = (160, 50)
_EVENTS = 100
_WORDS = "bluetooth 7"
_HOST_WORD = "@rack-1/ tidy"


class Scene(NamedTuple):
    hosts: int
    phones: int
    live: int
    settled: int

    def __str__(self) -> str:
        return f"{self.live + self.settled} sessions, {self.hosts * self.phones} phones"


SCENES = (Scene(1, 12, 40, 10), Scene(20, 25, 1_000, 200))


def main(options: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench console_scale")
    parser.add_argument("--scene", type=int, default=-1, help="run one scene here, and print JSON")
    parser.add_argument("--profile", default="", help="profile the steps whose name has this")
    parser.add_argument("--stored", action="store_true", help="only the History of stored sessions")
    parser.add_argument("--drawn", action="store_true", help="only what is drawn of one picture")
    parser.add_argument("--history", action="store_true", help="be the console of --stored")
    said = parser.parse_args(list(options))
    if said.history:
        print(json.dumps(asyncio.run(_stored_history.console())))
        return
    if said.scene >= 0:
        print(json.dumps(asyncio.run(_measure(SCENES[said.scene], said.profile))))
        return
    if not said.stored:
        _drawn()
    if not said.drawn:
        _stored_history.table()


def _drawn() -> None:
    small, large = (_in_process(number) for number in range(len(SCENES)))
    print(f"| CPU ms, median (p99) | {SCENES[0]} | {SCENES[1]} | ratio |\n|---|---|---|---|")
    for step, took in small.items():
        other = large[step]
        if step == _MEMORY:
            print(f"| {step} | {took[0]:.0f} | {other[0]:.0f} | {other[0] / took[0]:.2f} |")
            continue
        ratio = statistics.median(other) / statistics.median(took)
        print(f"| {step} | {_row(took)} | {_row(other)} | {ratio:.2f} |")


def _row(took: Sequence[float]) -> str:
    worst = sorted(took)[min(len(took) - 1, len(took) * 99 // 100)]
    return f"{statistics.median(took):.1f}" + (f" ({worst:.1f})" if len(took) > 1 else "")


_MEMORY = "memory, MB at most"


def _in_process(number: int) -> dict[str, list[float]]:
    command = [sys.executable, "-m", "bench", "console_scale", "--scene", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


class Watch:
    """What each step took, in ms of this process's CPU."""

    def __init__(self, app: SwitchboardApp, pilot: Pilot[int], profiled: str) -> None:
        self.took: dict[str, list[float]] = {}
        self._app = app
        self._pilot = pilot
        self._profiled = profiled
        self._is_told = bool(profiled)

    async def of(self, step: str, work: Callable[[], Awaitable[object]]) -> None:
        """Do something, draw what came of it, and note what both took."""
        await headless.at_rest()
        profile = cProfile.Profile() if self._profiled and self._profiled in step else None
        began = time.process_time()
        if profile is not None:
            profile.enable()
        await work()
        await headless.at_rest()
        headless.look(self._app)
        if profile is not None:
            profile.disable()
            pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(45)
        took_ms = (time.process_time() - began) * 1000
        self.took.setdefault(step, []).append(took_ms)
        if self._is_told:
            print(f"{step}: {took_ms:.1f}", file=sys.stderr, flush=True)

    async def keys(self, step: str, *keys: str) -> None:
        """Press keys, each by itself."""
        for key in keys:
            await self.of(step, partial(self._pilot.press, key))


async def _measure(scene: Scene, profiled: str) -> dict[str, list[float]]:
    headless.install()
    core = FakeCore()
    play_fleet(core, **scene._asdict())
    with tempfile.TemporaryDirectory() as name:
        settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": name})
        settings = replace(settings, data_dir=Path(name))
        began = time.process_time()
        app = SwitchboardApp(core, settings=settings, title="bench")
        async with app.run_test(size=SIZE) as pilot:
            await app.painted.wait()
            await app.bridge.opened()
            app.refresh_top()
            await headless.at_rest()
            headless.look(app)
            watch = Watch(app, pilot, profiled)
            watch.took["first paint with the list"] = [(time.process_time() - began) * 1000]
            await _walk(watch, app, core, scene)
        await app.close()
    watch.took[_MEMORY] = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    return watch.took


async def _walk(watch: Watch, app: SwitchboardApp, core: FakeCore, scene: Scene) -> None:
    """Do what an operator does, and what a fleet does meanwhile."""
    # As many as have somewhere to go in the smaller scene, too.
    await watch.keys("Deck: a key, down", *["j"] * 40)
    await watch.keys("Deck: half a page", *["ctrl+u", "ctrl+d"] * 10)
    for number in range(_EVENTS):
        await watch.of("Deck: an event is shown", partial(_event, app, core, number, scene))
    await watch.keys("Deck: first, last", "g", "G", "g", "G")
    await watch.keys("Deck: open the filter", "slash")
    await watch.keys("Deck: a letter of the filter", *_letters(_WORDS))
    await watch.keys("Deck: clear the filter", "escape")
    await watch.keys("Deck: open the filter", "slash")
    await watch.keys("Deck: a letter of @host/", *_letters(_HOST_WORD))
    await watch.keys("Deck: clear the filter", "escape")
    await watch.keys("Deck: group", *["B"] * 6)
    await watch.keys("Deck: sort", *["O"] * 7)
    await watch.keys("Wall: opened", "2")
    await watch.keys("Wall: a key", *["l"] * 30)
    for number in range(30):
        await watch.of("Wall: an event is shown", partial(_event, app, core, number, scene))
    await watch.keys("History: opened", "4")
    await watch.keys("History: a key, down", *["j"] * 30)
    await watch.keys("History: last, reading on", *["G"] * 8)
    for number in range(30):
        await watch.of("History: an event is shown", partial(_event, app, core, number, scene))
    await watch.keys("History: to the search", "slash")
    await watch.keys("History: a letter of a filter", *_letters("phone:rack-1"))


async def _event(app: SwitchboardApp, core: FakeCore, number: int, scene: Scene) -> None:
    move(core, number % scene.live)
    await headless.at_rest()
    app.bridge.tick()


def _letters(text: str) -> list[str]:
    named = {"@": "at", "/": "slash", "-": "minus", " ": "space", ":": "colon"}
    return [named.get(letter, letter) for letter in text]


if __name__ == "__main__":
    main(sys.argv[1:])
