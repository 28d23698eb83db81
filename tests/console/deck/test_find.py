"""Finding words inside a transcript."""

from tests.console.conftest import Open


async def test_enter_goes_from_hit_to_hit_and_round(console: Open) -> None:
    async with console() as seat:
        seat.deck.select("s1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) >= 5, "the transcript")
        hits = [item.key for item in view.items if "launcher" in repr(item)]
        assert len(hits) == 1
        await seat.press("f", *"launcher", "enter")
        await seat.until(lambda: view.cursor_key == hits[0], "the hit")
        assert not view.is_following
        await seat.press("enter")
        assert view.cursor_key == hits[0]
        seat.deck.finding.field.value = "no such word"
        await seat.press("enter")
        await seat.see("Nothing here contains")
        await seat.press("escape")
        await seat.until(lambda: seat.deck.focused is view, "the transcript")
        assert not seat.deck.finding.field.has_class("-shown")
        assert seat.deck.listing.wanted == ""
