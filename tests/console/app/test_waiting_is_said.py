"""That something waits for the operator is said on every screen, at every size."""

import pytest

from tests.console.conftest import Open


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 20)])
@pytest.mark.parametrize("keys", [(), ("2",), ("3",), ("4",), ("comma",), ("o",), ("R",)])
async def test_somebody_who_waits_is_said(
    console: Open, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        assert seat.app.bridge.state.questions
        await seat.press(*keys)
        await seat.until(lambda: "wait" in seat.text(), "that something waits")
        top = seat.text().split("\n")
        assert any("?" in row and "wait" in row for row in top)


async def test_it_leads_to_the_question(console: Open) -> None:
    async with console(size=(60, 20)) as seat:
        await seat.press("3")
        await seat.see("? 1 waiting !")
        row = seat.text().split("\n")[-1]
        await seat.pilot.click(offset=(row.index("waiting"), 19))
        await seat.until(lambda: seat.deck.is_current and seat.deck.card.has_focus, "the card")
