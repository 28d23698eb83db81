"""What is wrong and lasts is on every screen as long as it does, with the command that helps."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from agent import protocol
from agent.errors import ErrorKind, UnwritableError
from console.core.connection import ModelRefusals
from console.screens.base.header_footer import standing_line
from console.screens.base.standing_troubles import Trouble, troubles
from tests.console.conftest import Open, Seat

SIZES = ((160, 50), (100, 30), (60, 20))


async def unwritable(seat: Seat) -> None:
    seat.core.fails_with = UnwritableError("store.db could not be written: the disk is full.")
    await seat.press("x")


async def writable(seat: Seat) -> None:
    seat.core.fails_with = None
    await seat.press("x")


def tell(*messages: protocol.EventMsg) -> Callable[[Seat], object]:
    async def told(seat: Seat) -> None:
        for message in messages:
            seat.core.tell(message, "s1" if not _is_global(message) else "")

    return told


def _is_global(message: protocol.EventMsg) -> bool:
    return isinstance(message, protocol.AdbServerChanged)


REFUSED = protocol.ErrorEvent(message="401: no such key", kind=ErrorKind.MODEL)
ANSWERED = protocol.AgentMessage(step=9, text="I see.")
LASTS = {
    "a full disk": (unwritable, "df -h ", writable),
    "no adb": (
        tell(protocol.AdbServerChanged(address="127.0.0.1:5037", why="It does not answer.")),
        "adb -P 5037 start-server",
        tell(protocol.AdbServerChanged(address="127.0.0.1:5037", why="")),
    ),
    "a model that refuses": (tell(REFUSED), "models test", tell(ANSWERED)),
}


def stands(seat: Seat, command: str) -> bool:
    """Return whether the line has a command; a long one may wrap."""
    line = seat.app.screen.query_one("#standing").region
    rows = seat.text().split("\n")[line.y : line.bottom]
    return "".join(command.split()) in "".join("".join(rows).split())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", LASTS)
async def test_it_stands_until_it_is_over(console: Open, what: str, size: tuple[int, int]) -> None:
    begin, command, end = LASTS[what]
    async with console(size=size) as seat:
        seat.deck.select("s1")
        await begin(seat)
        await seat.until(lambda: stands(seat, command), "the command")
        seat.app.clear_notifications()
        for key in ("2", "3", "4", "comma"):
            await seat.press(key)
            await seat.until(lambda: stands(seat, command), f"the command after {key}")
        await seat.press("1")
        seat.deck.select("s1")
        await end(seat)
        await seat.until(lambda: not stands(seat, command), "it is over")


async def test_a_core_that_has_ended_says_how_the_console_is_opened_again(console: Open) -> None:
    async with console() as seat:
        seat.app.bridge._end("The core was taken over.")
        seat.app.refresh_top()
        await seat.see("The core was taken over.")
        await seat.see("switchboard --data-dir")


async def test_notices_do_not_pile_up_and_leave_header_and_trouble_alone(console: Open) -> None:
    async with console(size=(60, 20)) as seat:
        seat.core.tell(protocol.AdbServerChanged(address="h:1", why="It does not answer."))
        await seat.see("switchboard doctor")
        for number in range(9):
            seat.app.say(f"This is line {number} of what happened to somebody somewhere.")
            await seat.pilot.pause()
        await seat.see("line 8")
        toasts = list(seat.app.screen.query(Toast))
        assert 1 <= len(toasts) <= 2
        line = seat.app.screen.query_one("#standing").region
        assert all(toast.region.y >= line.bottom for toast in toasts)
        # What went leaves no empty lines behind.
        assert max(toast.region.bottom for toast in toasts) < seat.app.size.height // 2


class Core:
    def __init__(self, *, has_ended: bool = False) -> None:
        self.refusals, self.ended_why, self.has_ended = ModelRefusals(), "", has_ended


def test_the_worst_comes_first_and_each_has_a_command_for_a_shell() -> None:
    listed = troubles(
        Core(has_ended=True), {"127.0.0.1:5037": "", "desk:5037": ""}, "full", Path("/a b"), {}
    )
    assert [one.command for one in listed] == [
        "switchboard --data-dir '/a b'",
        "df -h '/a b'",
        "adb -P 5037 start-server",
        "switchboard doctor",
    ]


@pytest.mark.parametrize("width", range(20, 200, 7))
def test_the_command_is_whole_at_every_width(width: int) -> None:
    command = "adb -P 5037 start"
    line = standing_line([Trouble("x" * 300, command), Trouble("y", "z")], width)
    rows = "".join(text for text, _ in line).split("\n")
    assert any(command in row for row in rows)
    assert all(len(row) <= width for row in rows)
