"""Where a goal is written: earlier goals come back, and phones and tags are named in it."""

import pytest
from msgspec.structs import replace

from agent.errors import WrongStateError
from agent.protocol import SessionCreate
from agent.records import DeviceInfo, DeviceState
from console.palette.handles import Placed, completions, phone_handle, servers_in
from tests.console.conftest import Open, Seat

PIXEL = DeviceInfo(serial="p1", name="Pixel 4", tags=("lab",), state=DeviceState.ONLINE)
AWAY = DeviceInfo(serial="p2", name="Old", tags=("shelf",), state=DeviceState.GONE)
DEVICES = {"p1": PIXEL, "p2": AWAY}


def goals(seat: Seat) -> list[SessionCreate]:
    return [op for op in seat.core.ops if isinstance(op, SessionCreate)]


async def test_an_arrow_recalls_goals_newest_first_and_comes_back_to_what_was_typed(
    console: Open,
) -> None:
    async with console() as seat:
        await seat.press("n")
        known = seat.deck.beginning.earlier_goals()
        assert len(known) >= 1
        field = seat.deck.composer.field
        await seat.press("up")
        assert field.text == known[0]
        await seat.press("down")
        assert field.text == ""
        word = known[-1].split()[-1]
        await seat.press(*word, "up")
        assert word.casefold() in field.text.casefold()
        await seat.press("down")
        assert field.text == word
        await seat.press("up", "enter")
        await seat.until(lambda: goals(seat), "the session")
        assert goals(seat)[0].goal in known


async def test_a_phone_is_completed_and_chosen_by_its_handle(console: Open) -> None:
    async with console() as seat:
        devices = seat.app.bridge.state.devices
        serial = next(s for s, one in devices.items() if one.state is DeviceState.ONLINE)
        handle = phone_handle(serial, devices)
        await seat.press("n", *"buy milk ", *handle[:3].lower(), "tab")
        written = seat.deck.composer.text.rstrip().removeprefix("buy milk ")
        assert len(written) > 3
        assert handle.startswith(written)
        await seat.press(*handle[len(written) :])
        await seat.press("enter")
        await seat.until(lambda: goals(seat), "the session")
        assert (goals(seat)[0].goal, goals(seat)[0].serial) == ("buy milk", serial)


@pytest.mark.parametrize(
    ("text", "goal", "serial", "unknown"),
    [
        ("buy milk @pixel-4", "buy milk", "p1", ""),
        ("@Pixel-4 buy milk", "buy milk", "p1", ""),
        ("buy milk #lab now", "buy milk now", "p1", ""),
        ("buy milk #shelf", "buy milk #shelf", "", "#shelf"),
        ("write to @anna about #42", "write to @anna about #42", "", ""),
        ("mail a@pixel-4", "mail a@pixel-4", "", ""),
        ("@p1", "", "p1", ""),
        ("@p1 @old buy milk", "buy milk", "p1", ""),
        ("buy @old milk @p1", "buy milk", "p2", ""),
    ],
)
def test_a_handle_is_taken_out_of_the_goal_and_other_words_stay(
    text: str, goal: str, serial: str, unknown: str
) -> None:
    placed = Placed(text, DEVICES)
    assert (placed.goal, placed.serial, placed.unknown) == (goal, serial, unknown)


@pytest.mark.parametrize(
    ("text", "goal", "servers"),
    [
        ("buy milk +files", "buy milk", ("files",)),
        ("+Files buy +tracker milk +files", "buy milk", ("files", "tracker")),
        ("call +49 30 1234 or +unknown", "call +49 30 1234 or +unknown", ()),
        ("2+files  stays", "2+files  stays", ()),
        ("+files", "", ("files",)),
    ],
)
def test_a_server_is_named_by_its_handle_and_other_words_stay(
    text: str, goal: str, servers: tuple[str, ...]
) -> None:
    assert servers_in(text, ("files", "tracker")) == (goal, servers)


async def test_a_goal_with_several_phones_is_begun_on_each(console: Open) -> None:
    async with console() as seat:
        serials = list(seat.app.bridge.state.devices)[:2]
        names = [phone_handle(one, seat.app.bridge.state.devices) for one in serials]
        await seat.press("n", *names[0], "space", *names[1], "space", *"hi")
        await seat.see("on each of")
        await seat.press("enter")
        await seat.until(lambda: len(goals(seat)) == 2, "both sessions")
        assert [(op.goal, op.serial) for op in goals(seat)] == [("hi", one) for one in serials]


async def test_a_phone_is_chosen_for_one_goal(console: Open) -> None:
    async with console() as seat:
        await seat.press("n", *"hi", "shift+down")
        chosen = seat.deck.composer.choice
        assert chosen
        await seat.press("enter")
        await seat.until(lambda: len(goals(seat)) == 1, "the first")
        await seat.press("n", *"ho", "enter")
        await seat.until(lambda: len(goals(seat)) == 2, "the second")
        assert [op.serial for op in goals(seat)] == [chosen, ""]


async def test_a_goal_that_was_refused_keeps_its_phone(console: Open) -> None:
    async with console() as seat:
        await seat.press("n", *"hi", "shift+down")
        chosen = seat.deck.composer.choice
        seat.core.fails_with = WrongStateError("The database is read-only.")
        await seat.press("enter")
        await seat.see("read-only")
        seat.core.fails_with = None
        await seat.press("n")
        await seat.until(lambda: seat.deck.composer.text == "hi", "the goal")
        assert seat.deck.composer.choice == chosen


async def test_a_busy_phone_is_said_before_a_goal_waits_for_it(console: Open) -> None:
    async with console() as seat:
        devices = seat.app.bridge.state.devices
        busy = next(one for one, device in devices.items() if device.driver)
        await seat.press("n", *phone_handle(busy, devices), "space")
        await seat.see("is busy with")


async def test_a_session_is_given_the_servers_that_its_goal_names(console: Open) -> None:
    async with console() as seat:
        seat.app.tool_servers = ("files", "tracker")
        await seat.press("n", *"buy milk +f", "tab", "enter")
        await seat.until(lambda: goals(seat), "the session")
        op = goals(seat)[0]
        assert (op.goal, op.tool_servers) == ("buy milk", ("files",))


def test_handles_are_completed_in_any_case_online_phones_first() -> None:
    assert completions("@", DEVICES) == ["@Pixel-4", "@Old"]
    assert completions("+T", DEVICES, ("files", "tracker")) == ["+tracker"]
    assert completions("@PIX", DEVICES) == ["@Pixel-4"]
    assert completions("#", {"p1": replace(PIXEL, tags=("lab", "two words"))}) == ["#lab"]
