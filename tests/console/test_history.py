"""The history: every stored session by pages, found by what was said in it, replayed from there."""

from __future__ import annotations

import pytest

from console.screens import history
from console.screens.history import HistoryScreen
from console.screens.replay import ReplayScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.script import configure
from tests.console.test_waiting_for_you import with_approval


async def open_history(seat: Seat) -> HistoryScreen:
    await seat.press("4")
    await seat.until(lambda: isinstance(seat.app.screen, HistoryScreen), "the history")
    screen = seat.app.screen
    assert isinstance(screen, HistoryScreen)
    await seat.until(lambda: screen.table.rows, "rows")
    return screen


async def test_what_was_said_is_found_and_replayed_from_there(console: Open) -> None:
    async with console() as seat:
        screen = await open_history(seat)
        await seat.press("slash", *"every weekday")
        await seat.until(lambda: [r.key for r in screen.table.rows] == ["s4/4"], "the one hit")
        await seat.see("Set an alarm for 6:45 · ResultPublished")
        await seat.press("enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        replay = seat.app.screen
        assert isinstance(replay, ReplayScreen)
        await seat.until(lambda: replay.playback is not None, "the tape")
        assert replay.playback is not None
        assert (replay.session_id, replay.playback.position) == ("s4", 4)
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is screen, "the history again")
        await seat.press("escape")
        await seat.until(lambda: len(screen.table.rows) == 4, "all sessions")
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "the Deck")
        assert seat.core.ops == []


async def test_half_a_query_is_said_beside_the_list_and_is_no_error(console: Open) -> None:
    async with console() as seat:
        await open_history(seat)
        await seat.press("slash", "minus")
        await seat.see("A search needs a word that must occur.")


async def test_older_sessions_come_when_the_cursor_reaches_the_last(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 5)

    def many(core: FakeCore) -> None:
        for number in range(12):
            configure(core, f"n{number:02}", f"errand {number}")

    async with console(play=many) as seat:
        screen = await open_history(seat)
        assert len(screen.table.rows) == 5
        await seat.see("5 sessions, more below")
        for expected in (10, 12):
            await seat.press("G")
            await seat.until(
                lambda expected=expected: len(screen.table.rows) == expected, "another page"
            )
        await seat.see("12 sessions")
        assert screen.table.rows[-1].key == "n00"


async def test_a_session_that_asks_is_said_to_ask_in_the_history_too(console: Open) -> None:
    async with console(play=with_approval) as seat:
        screen = await open_history(seat)

        def asks() -> bool:
            shown = [part for row in screen.table.rows for line in row.lines for part in line.right]
            return any("asks you" in text for text, _ in shown)

        await seat.until(asks, "the session that asks")
