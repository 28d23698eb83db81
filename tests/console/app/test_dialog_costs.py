"""A key in a dialog costs what the dialog shows, not what lies beneath it."""

import pytest
from textual.events import Key

from console.palette.ranking import Search
from console.screens.dialogs import dialog
from console.screens.dialogs.palette import PaletteScreen
from tests.console.conftest import Open
from tests.headless import look


async def test_keys_in_a_dialog_draw_nothing_beneath_it(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    begin = dialog.Beneath.__init__

    def counted(beneath: dialog.Beneath, over: dialog.Dialog[object]) -> None:
        drawn.append(over)
        begin(beneath, over)

    monkeypatch.setattr(dialog.Beneath, "__init__", counted)
    # On a busy machine there may be a pause between two keys.
    monkeypatch.setattr(dialog, "_BENEATH_S", 600.0)
    async with console() as seat:
        await seat.press("ctrl+p")
        look(seat.app)
        assert len(drawn) == 1
        for key in "pair the":
            await seat.press("space" if key == " " else key)
            seat.deck.refresh_all()
            look(seat.app)
        assert len(drawn) == 1
        await seat.pilot.resize_terminal(100, 30)
        await seat.pilot.pause()
        look(seat.app)
        assert len(drawn) == 2, "another size is another picture"


async def test_the_palette_looks_once_for_a_burst_of_keys_and_enter_does_what_they_say(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    find = Search.find

    def counted(search: Search, wanted: str) -> object:
        looked.append(wanted)
        return find(search, wanted)

    monkeypatch.setattr(Search, "find", counted)
    async with console() as seat:
        await seat.press("ctrl+p")
        looked.clear()
        for key in "history":
            seat.app.post_message(Key(key, key))
        await seat.until(lambda: looked[-1:] == ["history"], "the whole word")
        assert len(looked) < len("history")
        await seat.press("enter")
        await seat.until(lambda: not isinstance(seat.app.screen, PaletteScreen), "it is done")
        assert seat.app.top is not None
        assert type(seat.app.top).__name__ == "HistoryScreen"


async def test_a_longer_text_is_looked_for_in_what_the_shorter_one_found(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+p")
        screen = seat.app.screen
        assert isinstance(screen, PaletteScreen)
        entries = [entry for _, entry in screen._search._offered]
        for text in ("pair", "set max", "stop all", "history", "rn mx"):
            step_by_step = Search(entries)
            for length in range(1, len(text) + 1):
                one = step_by_step.find(text[:length])
                assert one == Search(entries).find(text[:length]), text[:length]
