"""Draw the pictures of screenshots/ from a running demo: real phones, real sessions, the console.

Only the days before today are made up: the demo's pilot is offline and costs nothing.

Run it from the repository: `make screenshots`. Names as arguments draw only those. The console runs
without a terminal; its cells are painted with `scripts/paint.py`.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# Before Textual is imported: without a terminal it would assume one without colour.
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
os.environ.pop("NO_COLOR", None)

from PIL import ImageColor
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parent))

from paint import paint

from agent.core import Core
from agent.settings import Settings
from console.app import SwitchboardApp
from console.commands.demo import MESSAGE, PHONES, SWITCHES, begin
from console.exits import ExitCode
from console.host import Host, run_with_host
from console.rack import Devices
from console.stopping import StopRequest
from console.themes import LIGHT

FOLDER = Path(__file__).parent.parent / "screenshots"
BOUND_S = 60.0


class Shot(NamedTuple):
    """One picture."""

    name: str
    columns: int
    rows: int
    keys: tuple[str, ...] = ()
    light: bool = False
    phones: int = PHONES
    """How many phones there are; the demo's sessions run where it is the demo's number."""


NARROW = (60, 20)
_RACK = 10


def _three(
    name: str, columns: int, rows: int, keys: tuple[str, ...] = (), phones: int = PHONES
) -> tuple[Shot, ...]:
    """Make the pictures of a screen: wide, wide and light, narrow."""
    return (
        Shot(name, columns, rows, keys, phones=phones),
        Shot(f"{name}-light", columns, rows, keys, light=True, phones=phones),
        Shot(f"{name}-{NARROW[0]}x{NARROW[1]}", *NARROW, keys, phones=phones),
    )


# As many columns as three panes need and few more: on a page the writing must still be read.
SHOTS = (
    Shot("deck", 132, 40),
    Shot("deck-light", 132, 40, light=True),
    Shot("deck-100x30", 100, 30),
    Shot("deck-60x20", *NARROW, ("tab", "tab")),
    *_three("wall", 160, 50, ("2",), phones=_RACK),
    *_three("jobs", 120, 34, ("3",)),
    *_three("history", 120, 34, ("4",)),
    *_three("spending", 132, 40, ("4", "s")),
    *_three("compare", 132, 40, ("4", "j", "space", "j", "d")),
    Shot("drive", 132, 40, ("w",)),
    *_three("device", 132, 40, ("o", "j", "j")),
    *_three("settings", 120, 34, ("comma",)),
    *_three("replay", 160, 50, ("R", "right", "right", "right", "right", "i")),
    *_three("help", 120, 40, ("question_mark",)),
    *_three("palette", 120, 34, ("ctrl+p",)),
)


async def until(pilot: Pilot[int], seen: Callable[[], bool], what: str) -> bool:
    """Wait for something on the screen; says so and goes on when it does not come."""
    try:
        async with asyncio.timeout(BOUND_S):
            while not seen():
                await asyncio.sleep(0.1)
                await pilot.pause()
    except TimeoutError:
        print(f"Gave up waiting for {what}.", file=sys.stderr)
        return False
    return True


async def draw(core: Core, settings: Settings, shot: Shot, focus: str) -> None:
    """Open the console at a size, press keys, and paint what is on it."""
    app = SwitchboardApp(core, settings=settings, title="demo", focus_session=focus)
    async with app.run_test(size=(shot.columns, shot.rows)) as pilot:
        await until(pilot, lambda: bool(app.bridge.state.sessions), "the sessions")
        if shot.light:
            app.theme = LIGHT.name
        await pilot.pause()
        if shot.rows >= 24 and shot.columns >= 120:
            await until(pilot, lambda: app.feed.newest is not None, "a frame")
        for key in shot.keys:
            await pilot.press(key)
            await pilot.pause()
            await asyncio.sleep(0.4)
        if shot.keys == ("2",):
            await until(pilot, lambda: len(app.wall_feeds.newest()) >= 4, "the wall")
        await asyncio.sleep(1.2)
        await pilot.pause()
        theme = app.current_theme
        image = paint(
            app.screen._compositor.render_strips(),
            ink=ImageColor.getrgb(theme.foreground or "#ffffff"),
            paper=ImageColor.getrgb(theme.background or "#000000"),
        )
        image.quantize(192).save(FOLDER / f"{shot.name}.png", optimize=True)
        print(f"screenshots/{shot.name}.png {image.width}×{image.height}")
        app.exit(0)
    await app.close()


PAST_GOALS = (
    "order the weekly groceries and choose a slot in the evening",
    "answer the messages of the tenants",
    "put the train tickets into the calendar",
    "look for a table for four on Friday",
)


async def fill_past(data_dir: Path) -> None:
    """Store sessions of the two weeks before today, with what a model would have used."""
    from agent.protocol import SessionConfigured, SessionStateChanged, StepCompleted
    from agent.records import Session, SessionState, TimeSplit, Usage
    from agent.store.sqlite import EventDraft, SqliteStore
    from agent.store.store import wall_clock_ms

    dice = random.Random(7)
    async with SqliteStore.open(data_dir) as store:
        for number in range(60):
            name = f"past{number:08x}"
            at_ms = wall_clock_ms() - dice.randrange(1, 14) * 86_400_000 - number * 60_000
            tokens = dice.randrange(20_000, 400_000)
            usage = Usage(input_tokens=tokens, output_tokens=tokens // 40, cost_usd=tokens * 2e-6)
            failed = dice.random() < 0.15
            state = SessionState.FAILED if failed else SessionState.COMPLETED
            goal = PAST_GOALS[number % len(PAST_GOALS)]
            session = Session(session_id=name, goal=goal, created_ms=at_ms)
            await store.append(
                EventDraft(name, SessionConfigured(session=session), dated_ms=at_ms),
                EventDraft(name, StepCompleted(step=1, time=TimeSplit(), usage=usage)),
                EventDraft(name, SessionStateChanged(state=state)),
            )


WALL_GOALS = (
    SWITCHES,
    MESSAGE,
    "open Contacts, then open Messages, then open Notes, then open Calendar, then open Settings",
    "turn off Wi-Fi, then turn on Bluetooth, then turn on Dark theme, then turn on Battery Saver",
    "open Messages, then open Contacts, then open Settings, then open Notes, then open Calendar",
)


async def fill_wall(core: Core, serials: tuple[str, ...]) -> None:
    """Have sessions at work on every other phone, and wait until all have been seen to act."""
    from agent.protocol import SessionCreate

    for serial, goal in zip(serials[::2], WALL_GOALS, strict=False):
        await core.request(SessionCreate(goal=goal, serial=serial))
    async with asyncio.timeout(BOUND_S):
        while True:
            sessions = (await core.overview()).sessions
            if sum(session.steps >= 1 for session in sessions) >= len(WALL_GOALS):
                return
            await asyncio.sleep(0.2)


async def busy(core: Core, asking: str) -> None:
    """Wait until there is something to see: a question is open and another session is at work."""
    async with asyncio.timeout(BOUND_S):
        while True:
            overview = await core.overview()
            others = [s.steps for s in overview.sessions if s.session_id != asking]
            if overview.questions and max(others, default=0) >= 3:
                return
            await asyncio.sleep(0.2)


def main(names: list[str]) -> int:
    """Draw the named pictures, or all."""
    FOLDER.mkdir(exist_ok=True)
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with tempfile.TemporaryDirectory(prefix="switchboard-pictures-") as folder:
        os.environ["SWITCHBOARD_DATA_DIR"] = folder
        from agent.config import load_settings

        settings = load_settings()
        asyncio.run(fill_past(settings.data_dir))
        code = 0
        for phones in sorted({shot.phones for shot in wanted}):
            shots = [shot for shot in wanted if shot.phones == phones]
            code = code or _with_phones(settings, phones, shots)
        return code


def _with_phones(settings: Settings, phones: int, shots: list[Shot]) -> int:
    async def work(host: Host, _stop: StopRequest) -> ExitCode:
        focus = ""
        if phones == PHONES:
            focus = await begin(host)
            await busy(host.core, focus)
        else:
            await fill_wall(host.core, await host.own_phones())
        for shot in shots:
            await draw(host.core, settings, shot, focus)
        return ExitCode.DONE

    return int(run_with_host(settings, Devices(own_server=True, phones=phones), work))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
