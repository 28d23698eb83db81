"""The text of every screen, wide and narrow, over the scripted evening of the console's tests.

Phones show no pictures here; what is drawn is what is written.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.config import load_settings
from agent.records import LiveFrame
from console.app import SwitchboardApp
from tests.console.fakes import FakeCore
from tests.console.script import evening
from tests.console.waiting import wait_for
from tests.headless import look

KEYS: dict[str, tuple[str, ...]] = {
    "deck": (),
    "wall": ("2",),
    "jobs": ("3",),
    "history": ("4",),
    "spending": ("4", "s"),
    "settings": ("comma",),
    "device": ("o",),
    "replay": ("j", "R"),
    "help": ("question_mark",),
    "palette": ("ctrl+p",),
    "new": ("n",),
}
SIZES = ((160, 50), (60, 20))


class _StillCore(FakeCore):
    """A core whose phones send no pictures: which one a screen shows is decided by the clock."""

    @asynccontextmanager
    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[AsyncIterator[LiveFrame]]:
        async def silence() -> AsyncIterator[LiveFrame]:
            await asyncio.Event().wait()
            yield self._frame(serial, width_px, height_px, 0)

        yield silence()


class _StillApp(SwitchboardApp):
    def now_ms(self) -> int:
        core = self.core
        assert isinstance(core, FakeCore)
        return core.now_ms


async def screens(folder: Path) -> str:
    """Return the text of each screen under a heading; ends of lines are cut."""
    drawn = [
        f"== {name} {size[0]}x{size[1]}\n{await screen(folder, keys, size)}"
        for name, keys in KEYS.items()
        for size in SIZES
    ]
    return "\n".join(drawn)


async def screen(folder: Path, keys: tuple[str, ...], size: tuple[int, int]) -> str:
    """Return the text of the screen that some keys lead to, from a console of its own."""
    core = _StillCore()
    evening(core)
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(folder / "data")})
    app = _StillApp(core, settings=settings, title="golden")
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await wait_for(
                pilot, lambda: app.bridge.state.event_id == len(core.stored), "the evening"
            )
            await wait_for(pilot, lambda: app.top is not None and app.top.is_composed, "a screen")
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            look(app)
            strips = app.screen._compositor.render_strips()
            text = "\n".join(strip.text.rstrip() for strip in strips)
            app.exit()
            return text.replace(str(folder), "FOLDER")
    finally:
        await app.close()
