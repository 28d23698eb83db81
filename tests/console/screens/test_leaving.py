"""What comes to a screen that is being taken away fails nobody."""

from collections.abc import Callable

import pytest
from textual.dom import DOMNode
from textual.widget import Widget

from console.app_parts.redraw import is_live
from console.screens.base.console_screen import ConsoleScreen
from tests.console.conftest import Open, Seat

_UPDATES: dict[str, Callable[[ConsoleScreen], object]] = {
    "a tick": lambda screen: screen.refresh_all(),
    "the header": lambda screen: screen.console_app.refresh_top(),
    "a frame": lambda screen: screen.console_app.redraw._on_frame_clock(),
    "a still": lambda screen: screen.console_app.redraw._on_still_clock(),
    "a second": lambda screen: screen.console_app.redraw._on_second(),
}


async def went(seat: Seat, *keys: str) -> ConsoleScreen:
    await seat.press(*keys)
    assert seat.app.top is not None
    await seat.until(lambda: seat.app.top is not None and seat.app.top.is_composed, "the screen")
    return seat.app.top


@pytest.mark.parametrize("keys", [(), ("2",), ("3",), ("4",), ("o",), ("R",), ("comma",)])
async def test_a_clock_that_ticks_while_a_screen_goes_reports_nothing(
    console: Open, keys: tuple[str, ...]
) -> None:
    async with console() as seat:
        screen = await went(seat, *keys)
        assert is_live(screen)
        screen._pruning = True
        await screen.remove_children()
        assert not is_live(screen)
        for update in _UPDATES.values():
            update(screen)
        assert seat.app.errors.recent_s == []


async def test_a_clock_that_ticks_while_the_console_closes_reports_nothing(console: Open) -> None:
    async with console() as seat:
        screen = await went(seat)
        prune = seat.app._prune
        ticked: list[ConsoleScreen] = []

        async def pruned(*nodes: Widget, parent: DOMNode | None = None) -> None:
            await prune(*nodes, parent=parent)
            if screen in nodes:
                ticked.append(screen)
                screen._pruning = False
                for update in _UPDATES.values():
                    update(screen)

        seat.app._prune = pruned  # type: ignore[method-assign]
    assert ticked, "the screen was taken down"
    assert seat.app.errors.recent_s == []
