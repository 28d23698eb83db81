"""An approval that the core takes from a person only: the console asks for the passphrase."""

from agent.consent.gate import Proved
from agent.errors import LockedError
from agent.protocol import Op, Reply, UserInputAnswer
from console.screens.dialogs.unlock import UnlockScreen
from tests.console.conftest import Open, Seat, select
from tests.console.deck.test_deck_answers import approval
from tests.console.fakes import FakeCore


class LockedCore(FakeCore):
    """Takes answers once it was shown the passphrase."""

    def __init__(self, *, passphrase: str = "") -> None:
        super().__init__()
        self.passphrase = passphrase
        self.is_locked = True
        self.refused = 0

    async def prove(
        self, passphrase: str = "", *, chooses: bool = False, token: str = ""
    ) -> Proved:
        if chooses:
            self.passphrase = passphrase
        if passphrase:
            if passphrase != self.passphrase:
                raise LockedError("That is not the passphrase.", "Try again.")
            self.is_locked = False
        return Proved(has_passphrase=bool(self.passphrase))

    async def request(self, op: Op) -> Reply:
        if isinstance(op, UserInputAnswer) and self.is_locked:
            self.refused += 1
            raise LockedError("An approval is taken from a person only.", "Unlock it.")
        return await super().request(op)


async def approve(seat: Seat) -> None:
    seat.deck.card.clock_s = lambda: 1e9
    await select(seat, "s1")
    approval(seat, "s1", "q8")
    await seat.see("May I delete the thread?")
    seat.deck.card._came_s = 0.0
    await seat.press("a")
    await seat.until(lambda: seat.deck.focused is seat.deck.card, "the card first")
    await seat.press("a")
    await seat.until(lambda: isinstance(seat.app.screen, UnlockScreen), "the dialog")


async def test_the_passphrase_is_typed_unseen_and_the_answer_sent_again(console: Open) -> None:
    core = LockedCore(passphrase="correct horse")
    async with console(core=core) as seat:
        await approve(seat)
        await seat.press(*"wrong", "enter")
        await seat.see("That is not the passphrase")
        assert core.ops == []
        await seat.press("a")
        await seat.until(lambda: isinstance(seat.app.screen, UnlockScreen), "it asks again")
        await seat.press(*"correct", "space", *"horse")
        assert "correct" not in seat.text()
        await seat.press("enter")
        await seat.until(
            lambda: core.ops == [UserInputAnswer(question_id="q8", answer="Approve")], "approved"
        )


async def test_a_new_passphrase_is_typed_twice(console: Open) -> None:
    core = LockedCore()
    async with console(core=core) as seat:
        await approve(seat)
        await seat.press(*"battery", "enter", *"batter", "enter")
        await seat.see("The two differ")
        await seat.press("y", "enter")
        await seat.until(lambda: len(core.ops) == 1, "approved")
        assert core.passphrase == "battery"


async def test_leaving_the_dialog_leaves_the_question_open(console: Open) -> None:
    core = LockedCore(passphrase="correct horse")
    async with console(core=core) as seat:
        await approve(seat)
        await seat.press("escape")
        await seat.until(lambda: not isinstance(seat.app.screen, UnlockScreen), "the Deck")
        assert core.ops == [] and core.refused == 1
        assert seat.deck.card.question is not None
