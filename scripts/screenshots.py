"""Draw the pictures of screenshots/ from a running demo: real phones, real sessions, the console.

Only the days before today are made up: the demo's pilot is offline and costs nothing.

Run it from the repository: `make screenshots`. Names as arguments draw only those. The console runs
without a terminal; its cells are painted with `scripts/paint.py`. Wide pictures show what a
terminal with sextants and images shows: a phone's frame lies over its cells, where nothing is drawn
upon them.
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# Before Textual is imported: without a terminal it would assume one without colour.
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
os.environ.pop("NO_COLOR", None)

from msgspec.structs import replace
from PIL import Image, ImageColor
from textual._context import visible_screen_stack
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.core import Core
from agent.protocol import WheelHandBack
from agent.settings import Settings
from console.app import SwitchboardApp
from console.cli_support.exits import ExitCode
from console.commands.demo import PHONES, begin
from console.core.device_setup import Devices
from console.core.host import Host, run_with_host
from console.terminal.signals import StopRequest
from console.terminal.themes import LIGHT
from scripts.paint import CELL, paint
from scripts.scene import BOUND_S, busy, come_to_approval, fill_past, fill_wall, plan_jobs

FOLDER = Path(__file__).parent.parent / "screenshots"


class Shot(NamedTuple):
    name: str
    columns: int
    rows: int
    keys: tuple[str, ...] = ()
    light: bool = False
    phones: int = PHONES
    """How many phones there are; the demo's sessions run where it is the demo's number."""
    approval: bool = False
    """Whether it is drawn later: once the question is answered and the message may be sent."""


NARROW = (60, 20)
DRIVES = ("w",)
_FLEET = 10
_ANSWER_S = 3600.0


def _four(
    name: str,
    columns: int,
    rows: int,
    keys: tuple[str, ...] = (),
    narrow_keys: tuple[str, ...] = (),
    phones: int = PHONES,
    approval: bool = False,
) -> tuple[Shot, ...]:
    """Make the pictures of a screen: wide and narrow, each dark and light."""
    narrow = f"{name}-{NARROW[0]}x{NARROW[1]}"
    shots = []
    for light, ending in ((False, ""), (True, "-light")):
        shots.append(Shot(name + ending, columns, rows, keys, light, phones, approval))
        shots.append(Shot(narrow + ending, *NARROW, narrow_keys or keys, light, phones, approval))
    return tuple(shots)


# As many columns as three panes need and few more: on a page the writing must still be read.
SHOTS = (
    *_four("deck", 132, 40, narrow_keys=("tab", "tab")),
    Shot("deck-100x30", 100, 30),
    *_four("approval", 132, 40, narrow_keys=("tab", "tab"), approval=True),
    *_four("wall", 160, 50, ("2",), phones=_FLEET),
    *_four("jobs", 120, 34, ("3",)),
    *_four("history", 120, 34, ("4",)),
    *_four("spending", 132, 40, ("4", "s")),
    *_four("compare", 132, 40, ("4", "j", "space", "j", "d")),
    *_four("device", 132, 40, ("o", "j", "j")),
    *_four("settings", 120, 34, ("comma",)),
    *_four("replay", 160, 50, ("R", "right", "right", "right", "right", "i")),
    *_four("help", 120, 40, ("question_mark",)),
    *_four("palette", 120, 34, ("ctrl+p",)),
    # Last: what it leaves behind would be in the pictures of its session.
    *_four("drive", 132, 40, DRIVES),
)


async def until(
    pilot: Pilot[int], seen: Callable[[], bool], what: str, bound_s: float = BOUND_S
) -> bool:
    """Wait for something on the screen; says so and goes on when it does not come."""
    try:
        async with asyncio.timeout(bound_s):
            while not seen():
                await asyncio.sleep(0.1)
                await pilot.pause()
    except TimeoutError:
        print(f"Gave up waiting for {what}.", file=sys.stderr)
        return False
    return True


async def draw(core: Core, settings: Settings, shot: Shot, focus: str) -> None:
    """Open the console at a size, press keys, and paint what is on it."""
    if shot.columns > NARROW[0]:
        settings = replace(settings, ui=replace(settings.ui, blocks="sextant"))
    if shot.light:
        settings = replace(settings, ui=replace(settings.ui, theme=LIGHT.name))
    app = SwitchboardApp(core, settings=settings, title="demo", focus_session=focus)
    async with app.run_test(size=(shot.columns, shot.rows)) as pilot:
        await until(pilot, lambda: bool(app.bridge.state.sessions), "the sessions")
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
        await until(pilot, lambda: not _READS.search(_text(app)), "what is read")
        if shot.name.startswith(_LOOKS):
            await until(pilot, lambda: "elements of step" not in _text(app), "the look", 15.0)
        theme = app.current_theme
        # A dialog draws the screens below it only if it is told of them.
        visible_screen_stack.set(app._background_screens)
        app.screen.refresh(layout=True)
        await pilot.pause()
        image = paint(
            app.screen._compositor.render_strips(),
            ink=ImageColor.getrgb(theme.foreground or "#ffffff")[:3],
            paper=ImageColor.getrgb(theme.background or "#000000")[:3],
        )
        if shot.columns > NARROW[0]:
            await lay_frame(app, image)
        image.quantize(256).save(FOLDER / f"{shot.name}.png", optimize=True)
        print(f"screenshots/{shot.name}.png {image.width}×{image.height}")
        app.exit(0)
    await app.close()
    if shot.keys == DRIVES:
        # The session goes on, and asks what it asked again.
        await core.request(WheelHandBack(session_id=focus))


_READS = re.compile("(Reading|Opening) …")
_LOOKS = ("deck", "approval", "drive", "device")
"""The screens on which the numbers of a look are drawn once its stored frame has been read."""


def _text(app: SwitchboardApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def lay_frame(app: SwitchboardApp, image: Image.Image) -> None:
    """Lay a phone's frame over its cells, as a terminal does that draws images."""
    source = app.top.still() if app.top is not None and app.top is app.screen else None
    if source is None:
        return
    place, parts = source.view.content_region, source.view.unmarked_parts()
    frame = None
    # The first is of the small video that cells need; one that is large enough begins after it.
    for _ in range(6):
        frame = await source.read(place.width * CELL[0], place.height * CELL[1])
        await asyncio.sleep(0.5)
    if frame is None or not frame.rgb or not parts:
        return
    seen = Image.frombytes("RGB", (frame.width_px, frame.height_px), frame.rgb)
    seen = seen.resize((place.width * CELL[0], place.height * CELL[1]), Image.Resampling.LANCZOS)
    for part in parts:
        left, top = part.x * CELL[0], part.y * CELL[1]
        size = (part.width * CELL[0], part.height * CELL[1])
        corner = (place.x * CELL[0] + left, place.y * CELL[1] + top)
        image.paste(seen.crop((left, top, left + size[0], top + size[1])), corner)


def main(names: list[str]) -> int:
    """Draw the named pictures, or all."""
    FOLDER.mkdir(exist_ok=True)
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with tempfile.TemporaryDirectory(prefix="switchboard-pictures-") as folder:
        os.environ["SWITCHBOARD_DATA_DIR"] = folder
        from agent.config import load_settings

        settings = load_settings()
        # All are drawn of the same question, also where that takes longer than it waits by default.
        settings = replace(settings, run=replace(settings.run, answer_timeout_s=_ANSWER_S))
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
            await plan_jobs(host.core)
        else:
            await fill_wall(host.core, await host.own_phones())
        is_approval = False
        for shot in sorted(shots, key=lambda shot: shot.approval):
            if shot.approval and not is_approval:
                is_approval = True
                await come_to_approval(host.core, (await host.own_phones())[0])
            await draw(host.core, settings, shot, focus)
        return ExitCode.DONE

    return int(run_with_host(settings, Devices(own_server=True, phones=phones), work))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
