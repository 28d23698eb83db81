"""What is wrong with the connection to the core is on every screen and dialog, at every size."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent import protocol
from agent.errors import StoreError
from agent.records import HostInfo, HostState
from console.keys.actions import Where
from console.keys.keymap import Keymap
from console.screens.base.console_screen import ConsoleScreen
from console.screens.device.device import DeviceScreen
from console.screens.dialogs.dialog import Dialog
from console.screens.dialogs.export import ExportScreen
from console.screens.dialogs.help import HelpScreen
from console.screens.dialogs.leave import LeaveScreen
from console.screens.dialogs.output import OutputScreen
from console.screens.dialogs.palette import PaletteScreen
from console.screens.dialogs.requirements import RequirementsScreen
from console.screens.dialogs.theme_picker import ThemePicker
from console.screens.dialogs.unlock import UnlockScreen
from console.screens.dialogs.warrants import WarrantsScreen
from console.screens.history.compare import CompareScreen
from console.screens.history.filter_picker import FilterPicker
from console.screens.history.history import HistoryScreen
from console.screens.history.replay import ReplayScreen
from console.screens.jobs.jobs import JobsScreen
from console.screens.settings import SettingsScreen
from console.screens.wall import WallScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore

SIZES = [(160, 50), (100, 30), (60, 20), (36, 10)]
HERE = HostInfo(name="rack-1", state=HostState.HERE, is_here=True)


class BreakingCore(FakeCore):
    """A core whose connection can break."""

    lost: StoreError | None = None
    hosts_lost: StoreError | None = None

    def break_events(self) -> None:
        """Break the stream of events, and every new one."""
        self.lost = StoreError("The store does not answer.")
        for queue in self.listeners:
            queue.put_nowait(None)  # type: ignore[arg-type]

    @asynccontextmanager
    async def events(
        self, *, after: int | None = None
    ) -> AsyncIterator[AsyncIterator[protocol.Event]]:
        if self.lost is not None:
            raise self.lost
        async with super().events(after=after) as events:
            yield events

    async def look_up(self, query: protocol.LookUp[protocol.Answer]) -> protocol.Answer:
        if self.hosts_lost is not None and isinstance(query, protocol.ListHosts):
            raise self.hosts_lost
        return await super().look_up(query)


def _lose_database(core: BreakingCore) -> None:
    core.hosts_lost = StoreError("The database cannot be reached.")


def _lose_host(core: BreakingCore) -> None:
    core.hosts = (HERE, HostInfo(name="rack-2", state=HostState.GONE))


BREAKS: dict[str, Callable[[BreakingCore], object]] = {
    "! host rack-2 is gone": _lose_host,
    "! database unreachable": _lose_database,
    "! reconnecting": BreakingCore.break_events,
}
"""Each is worse than the one before."""

SCREENS: tuple[Callable[[], ConsoleScreen], ...] = (
    WallScreen,
    JobsScreen,
    HistoryScreen,
    SettingsScreen,
    lambda: DeviceScreen("phone-1"),
    lambda: ReplayScreen("s1"),
    lambda: CompareScreen("s1", "s3"),
)
DIALOGS: tuple[Callable[[], Dialog[Any]], ...] = (
    lambda: PaletteScreen([]),
    lambda: HelpScreen(Where.DECK, "the Deck", Keymap()),
    ThemePicker,
    lambda: LeaveScreen(()),
    ExportScreen,
    lambda: FilterPicker(()),
    lambda: RequirementsScreen("s1"),
    lambda: UnlockScreen("Locked.", chooses=True),
    WarrantsScreen,
    lambda: OutputScreen(["version"], [sys.executable, "-c", ""]),
)


def _all_kinds(kind: type) -> set[type]:
    below = {found for one in kind.__subclasses__() for found in _all_kinds(one)}
    return below or {kind}


async def _walk(seat: Seat, sentence: str) -> set[type]:
    """See the sentence on every screen and on every dialog over it."""
    app, walked = seat.app, {type(seat.app.screen)}
    await seat.see(sentence)
    for build in (*SCREENS, *DIALOGS):
        screen = build()
        walked.add(type(screen))
        app.push_screen(screen)
        await seat.until(lambda one=screen: app.screen is one, "it")
        await seat.see(sentence)
        app.pop_screen()
        await seat.until(lambda one=screen: app.screen is not one, "what is below it")
    return walked


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_what_is_wrong_with_the_connection_is_on_every_screen_at_every_size(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        sentence = "× the core has ended"
        assert sentence not in seat.text()
        seat.core.tell(protocol.ShutdownComplete())
        walked = await _walk(seat, sentence)
        assert walked >= {
            one
            for kind in (ConsoleScreen, Dialog)
            for one in _all_kinds(kind)
            if one.__module__.startswith("console.")
        }


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_whatever_is_wrong_with_the_connection_is_said(
    console: Open, size: tuple[int, int]
) -> None:
    core = BreakingCore()
    core.hosts = (HERE,)
    async with console(size=size, core=core) as seat:
        for sentence, comes_about in BREAKS.items():
            comes_about(core)
            await seat.app.bridge.read_hosts()
            await seat.see(sentence)


async def test_a_connection_that_is_back_is_not_said_to_be_lost(console: Open) -> None:
    core = BreakingCore()
    core.hosts = (HERE,)
    async with console(core=core) as seat:
        core.break_events()
        await seat.see("! reconnecting")
        core.lost = None
        await seat.until(lambda: "reconnecting" not in seat.text().splitlines()[0], "events again")
        _lose_database(core)
        await seat.app.bridge.read_hosts()
        await seat.see("! database unreachable")
        core.hosts_lost = None
        await seat.app.bridge.read_hosts()
        await seat.until(lambda: "unreachable" not in seat.text(), "the database again")


@pytest.mark.parametrize("size", SIZES[:3], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_dialog_says_that_the_core_ended_under_it(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        await seat.press("ctrl+p")
        await seat.until(lambda: isinstance(seat.app.screen, PaletteScreen), "the palette")
        seat.core.tell(protocol.ShutdownComplete())
        await seat.see("× the core has ended")
