"""The operator reads and edits what a goal requires, while the session runs, through the one op."""

import pytest

from agent import protocol, records
from agent.records.requirements import with_edits
from console.screens.dialogs.requirements import RequirementsScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import evening

LONG = "and then tell Anna Berg about it in a message that is friendly and says when it was done"
FIRST = (
    records.Requirement(number=1, text="Turn on Bluetooth", object="Bluetooth", value="on"),
    records.Requirement(number=2, text=LONG, recipient="Anna Berg"),
    records.Requirement(number=3, text="the tone is kind", kind=records.RequirementKind.PERSON),
)


def listing(core: FakeCore) -> None:
    """Play a session with a list that is edited as the core edits it."""
    evening(core)
    core.tell(protocol.RequirementsUpdate(requirements=FIRST), "s1")

    def edited(op: protocol.EditRequirements) -> protocol.Reply:
        session = core.state.sessions["s1"].session
        listed = with_edits(
            session.requirements, add=op.add, withdraw=op.withdraw, person=op.person
        )
        core.tell(protocol.RequirementsUpdate(requirements=listed), "s1")
        return protocol.Reply(submission_id="x", session_id="s1")

    core.answers[protocol.EditRequirements] = edited


async def opened(seat: Seat) -> RequirementsScreen:
    seat.deck.select("s1")
    seat.deck.refresh_all()
    seat.deck.sessions.focus()
    await seat.until(lambda: seat.deck.focused is seat.deck.sessions, "the sessions")
    await seat.press("Q")
    screen = seat.app.screen
    assert isinstance(screen, RequirementsScreen)
    return screen


def edits(seat: Seat) -> list[protocol.EditRequirements]:
    return [op for op in seat.core.ops if isinstance(op, protocol.EditRequirements)]


@pytest.mark.parametrize("size", [(60, 20), (120, 40)])
async def test_the_list_is_read_with_how_it_was_understood(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size, play=listing) as seat:
        await opened(seat)
        await seat.see("1  Turn on Bluetooth")
        await seat.see("read as Bluetooth · on")
        await seat.see("you judge")
        await seat.press("j")
        await seat.see("says when it was done")
        await seat.see("to Anna Berg")
        for key in ("add", "ask", "edit", "withdraw", "back"):
            assert key in seat.text()
        await seat.press("escape")
        assert seat.app.screen is seat.deck


@pytest.mark.parametrize(("key", "person"), [("a", False), ("A", True)])
async def test_one_is_added_in_the_operators_words(console: Open, key: str, person: bool) -> None:
    async with console(size=(60, 20), play=listing) as seat:
        screen = await opened(seat)
        await seat.press(key, *"pay nothing", "enter")
        await seat.until(lambda: len(screen.listed) == 4, "the new one")
        [op] = edits(seat)
        assert (op.add, op.withdraw, op.person) == (("pay nothing",), (), person)
        await seat.see("pay nothing")


async def test_one_is_changed_by_another_in_its_place(console: Open) -> None:
    async with console(size=(60, 20), play=listing) as seat:
        screen = await opened(seat)
        await seat.press("enter", *" and Wi-Fi", "enter")
        await seat.until(lambda: len(screen.listed) == 4, "the new one")
        [op] = edits(seat)
        assert (op.add, op.withdraw) == (("Turn on Bluetooth and Wi-Fi",), (1,))
        assert screen.listed[0].withdrawn
        await seat.see("withdrawn")
        # What was withdrawn is changed no more.
        await seat.press("e", "w", "w")
        assert len(edits(seat)) == 1


async def test_one_is_withdrawn_by_two_presses(console: Open) -> None:
    async with console(size=(60, 20), play=listing) as seat:
        screen = await opened(seat)
        await seat.press("j", "w")
        assert not edits(seat)
        await seat.press("w")
        await seat.until(lambda: screen.listed[1].withdrawn, "withdrawn")
        assert [op.withdraw for op in edits(seat)] == [(2,)]


async def test_what_was_refused_or_left_is_not_lost_by_accident(console: Open) -> None:
    async with console(size=(60, 20), play=listing) as seat:
        screen = await opened(seat)

        def refuse(_op: protocol.EditRequirements) -> protocol.Reply:
            from agent.errors import WrongStateError

            raise WrongStateError("Session s1 is cancelled.", "Begin a new session.")

        seat.core.answers[protocol.EditRequirements] = refuse
        await seat.press("a", *"pay nothing", "enter")
        await seat.see("is cancelled")
        assert screen.query_one("#written").display and "pay nothing" in seat.text()
        await seat.press("escape")
        assert seat.app.screen == screen
        await seat.press("escape")
        assert not isinstance(seat.app.screen, RequirementsScreen)


async def test_what_somebody_else_edits_is_shown(console: Open) -> None:
    async with console(size=(60, 20), play=listing) as seat:
        await opened(seat)
        more = with_edits(FIRST, add=("take the bus",))
        seat.core.tell(protocol.RequirementsUpdate(requirements=more), "s1")
        await seat.see("take the bus")
