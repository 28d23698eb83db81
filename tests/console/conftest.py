"""A console on a scripted core, at a size, with a data directory of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.pilot import Pilot

from agent.config import load_settings
from console.app import SwitchboardApp
from console.input import stray_words
from console.input.stray_words import Hands
from console.keys import two_presses
from console.screens.deck.deck import DeckScreen
from tests.console.fakes import FakeCore
from tests.console.script import evening
from tests.console.waiting import wait_for
from tests.headless import look


class Seat(NamedTuple):
    """The operator's seat."""

    app: SwitchboardApp
    pilot: Pilot[int]
    core: FakeCore

    @property
    def deck(self) -> DeckScreen:
        [deck] = [s for s in self.app.screen_stack if isinstance(s, DeckScreen)]
        return deck

    async def press(self, *keys: str) -> None:
        """Press keys, letting each take effect."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()

    async def see(self, text: str) -> None:
        """Wait until a text is on the screen."""
        await wait_for(self.pilot, lambda: text in self.text(), f"{text!r} on the screen")

    async def until(self, predicate: Callable[[], object], description: str) -> None:
        await wait_for(self.pilot, predicate, description)

    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)


Open = Callable[..., AbstractAsyncContextManager[Seat]]


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open a console: `async with console(size=(160, 50)) as seat`."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    # Without a terminal Textual assumes sixteen colours, with which there are no pictures.
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
    # On a busy machine the second of two acts may come late; `test_two_acts` minds the time.
    monkeypatch.setattr(two_presses, "ARMED_S", 600.0)
    # And so may the next key of a sentence; `test_stray_words` minds that time.
    monkeypatch.setattr(stray_words, "PAUSE_S", 600.0)
    settings = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})

    @asynccontextmanager
    async def open_console(
        *,
        size: tuple[int, int] = (160, 50),
        core: FakeCore | None = None,
        play: Callable[[FakeCore], None] = evening,
        **options: str,
    ) -> AsyncIterator[Seat]:
        core = core or FakeCore()
        play(core)
        app = SwitchboardApp(core, settings=settings, title="test", **options)
        try:
            async with app.run_test(size=size, notifications=True) as pilot:
                seat = Seat(app, pilot, core)
                # Whoever waits has the screen drawn then: once is enough for both.
                await seat.until(
                    lambda: (
                        app.bridge.state.event_id == len(core.stored)
                        and app.top is not None
                        and app.top.is_composed
                    ),
                    "all that was told, on a screen",
                )
                yield seat
                look(app)
                assert app.errors.recent_s == [], "the console reported an error of its own"
        finally:
            await app.close()

    return open_console


def has_field(seat: Seat) -> bool:
    """Return whether what is typed now goes into a field, or to a phone that is driven."""
    return seat.app.keyboard._hands() is Hands.IN_FIELD


async def select(seat: Seat, session_id: str) -> None:
    seat.deck.select(session_id)
    seat.deck.refresh_all()
    await seat.pilot.pause()
