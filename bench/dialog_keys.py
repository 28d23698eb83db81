"""A key in a dialog or a form against a key in the composer: what it costs, drawn.

`python -m bench dialog_keys`. One console on 50 sessions, without a terminal but drawn at 160×50:
the CPU of the process for one key, each place as a ratio to a key in the composer in the same run.
`--profile PLACE` prints where the time of one place goes.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agent.config import load_settings
from bench.console_scale import SCENES, SIZE, Watch
from console.app import SwitchboardApp
from tests import headless
from tests.console.fakes import FakeCore
from tests.console.fleet_scene import play_fleet

_WORDS = "pair the headphones"
COMPOSER = "composer"
_PLACES: dict[str, tuple[str, ...]] = {
    COMPOSER: ("n",),
    "palette": ("ctrl+p",),
    "job form": ("3", "n"),
    "history search": ("4", "slash"),
    "settings filter": ("comma", "slash"),
    "deck filter": ("1", "slash"),
}
"""The keys that open each place."""


def main(options: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench dialog_keys")
    parser.add_argument("--profile", default="", help="profile the keys of this place")
    took = asyncio.run(measure(profiled=parser.parse_args(list(options)).profile))
    print(
        "| a key in | CPU ms, mean | at most | mean as ratio to the composer |\n|---|---|---|---|"
    )
    for place, each in took.items():
        mean = statistics.fmean(each)
        ratio = mean / statistics.fmean(took[COMPOSER])
        print(f"| {place} | {mean:.1f} | {max(each):.1f} | {ratio:.2f} |")


async def measure(*, profiled: str = "") -> dict[str, list[float]]:
    """Type the same words in each place; return the CPU of each key in ms."""
    headless.install()
    with tempfile.TemporaryDirectory() as home:
        core = FakeCore()
        scene = SCENES[0]
        play_fleet(core, **scene._asdict())
        settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(Path(home))})
        app = SwitchboardApp(core, settings=settings, title="bench")
        try:
            async with app.run_test(size=SIZE) as pilot:
                while app.bridge.state.event_id < len(core.stored):
                    await pilot.pause()
                watch = Watch(app, pilot, profiled)
                for place, opening in _PLACES.items():
                    for key in opening:
                        await pilot.press(key)
                    await headless.at_rest()
                    headless.look(app)
                    for one in _WORDS:
                        await watch.of(place, partial(pilot.press, _name(one)))
                    for _ in range(3):
                        await pilot.press("escape")
        finally:
            await app.close()
    return watch.took


def _name(character: str) -> str:
    return "space" if character == " " else character
