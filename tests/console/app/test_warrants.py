"""The operator writes what is allowed, turns verdicts round, signs and revokes, in a dialog."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agent import protocol
from agent.errors import UsageError
from agent.records import Clause, EffectVerb, Warrant, WarrantStatus, WarrantView
from agent.safety.warrants.borderline import cases_of, corrected
from agent.safety.warrants.wording import clause_lines
from console.screens.dialogs.warrants import WarrantsScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import evening

WORDS = "today up to 40 EUR in com.example.shop"
SHOP = Clause(verb=EffectVerb.SPEND, app="com.example.shop", limit=4000, currency="EUR")


def playing(*, gaps: tuple[str, ...] = ()) -> Callable[[FakeCore], None]:
    """Play a core that keeps one warrant."""

    def play(core: FakeCore) -> None:
        evening(core)

        def show(warrant: Warrant) -> protocol.Reply:
            is_signed = warrant.status is WarrantStatus.SIGNED
            trouble = "" if is_signed else "it is not signed"
            if warrant.status is WarrantStatus.REVOKED:
                trouble = "it was revoked"
            view = WarrantView(
                warrant=warrant,
                trouble=trouble,
                gaps=gaps,
                cases=cases_of(warrant),
                lines=clause_lines(warrant, ()),
            )
            core.looks[protocol.ListWarrants] = (view,)
            return protocol.Reply(submission_id="x", warrant=view)

        def now() -> Warrant:
            kept: Warrant = core.looks[protocol.ListWarrants][0].warrant
            return kept

        def draft(op: protocol.WarrantDraft) -> protocol.Reply:
            if "40" not in op.words:
                raise UsageError("The words name no amount.", "Write one.")
            return show(
                Warrant(
                    warrant_id="w-1",
                    words=op.words,
                    clauses=(SHOP,),
                    expires_ms=core.now_ms + 3_600_000,
                )
            )

        core.answers[protocol.WarrantDraft] = draft
        core.answers[protocol.WarrantCorrect] = lambda op: show(
            corrected(now(), op.corrections, lambda _clauses: ())
        )
        core.answers[protocol.WarrantSign] = lambda _op: show(
            replace(now(), status=WarrantStatus.SIGNED, mac="m")
        )
        core.answers[protocol.WarrantRevoke] = lambda _op: show(
            replace(now(), status=WarrantStatus.REVOKED)
        )

    return play


async def opened(seat: Seat) -> WarrantsScreen:
    seat.deck.sessions.focus()
    await seat.until(lambda: seat.deck.focused is seat.deck.sessions, "the sessions")
    await seat.press("W")
    screen = seat.app.screen
    assert isinstance(screen, WarrantsScreen)
    return screen


@pytest.mark.parametrize("size", [(60, 20), (160, 50)])
async def test_words_are_drafted_corrected_and_signed_as_shown(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size, play=playing()) as seat:
        await opened(seat)
        await seat.see("Nothing is allowed in words")
        await seat.press("n", *WORDS, "enter")
        await seat.see("yes  Pay 40.00 EUR")
        await seat.see("40.00 EUR in total")
        await seat.press("v")
        await seat.see("39.99 EUR in total")
        await seat.press("s")
        signs = [op for op in seat.core.ops if isinstance(op, protocol.WarrantSign)]
        assert signs == []
        await seat.press("s")
        await seat.until(
            lambda: any(isinstance(op, protocol.WarrantSign) for op in seat.core.ops), "signing"
        )
        [sign] = [op for op in seat.core.ops if isinstance(op, protocol.WarrantSign)]
        assert sign.clauses == (replace(SHOP, limit=3999),)
        await seat.press("escape")
        await seat.see("in force")
        await seat.press("x", "x")
        await seat.see("it was revoked")
        await seat.press("escape")
        assert seat.app.screen is seat.deck


async def test_what_was_refused_stays_in_the_field(console: Open) -> None:
    async with console(size=(60, 20), play=playing()) as seat:
        screen = await opened(seat)
        await seat.press("n", *"some money", "enter")
        await seat.see("name no amount")
        assert screen.query_one("#written").display and "some money" in seat.text()


async def test_gaps_are_shown_with_what_to_write(console: Open) -> None:
    gap = "Clause 1: 40.00 EUR does not stand in your words; write amount and currency."
    async with console(size=(60, 20), play=playing(gaps=(gap,))) as seat:
        await opened(seat)
        await seat.press("n", *WORDS, "enter")
        await seat.see("Not signed yet")
