"""A notice covers nothing: what is under it is pressed, whether it still stands or has gone."""

from textual.events import MouseMove
from textual.geometry import Offset, Region
from textual.widgets._toast import Toast

from tests.console.conftest import Open, Seat

WORDS = "Saved: F offers “is:open”."


async def place_of_notice(seat: Seat) -> Region:
    seat.app.say(WORDS)
    await seat.see(WORDS)
    [toast] = seat.app.screen.query(Toast)
    return toast.region


async def test_the_mouse_finds_what_is_under_a_notice(console: Open) -> None:
    async with console() as seat:
        await seat.see("There are two notebooks")
        width, height = seat.app.size
        places = [Offset(x, y) for x in range(width) for y in range(height)]
        before = [seat.app.get_widget_at(*place)[0] for place in places]
        notice = await place_of_notice(seat)
        assert any(notice.contains_point(place) for place in places)
        assert [seat.app.get_widget_at(*place)[0] for place in places] == before


async def test_a_notice_makes_way_for_the_pointer(console: Open) -> None:
    async with console() as seat:
        notice = await place_of_notice(seat)
        for x in (notice.x - 1, notice.x):
            assert WORDS in seat.text()
            event = MouseMove(None, x, notice.y, 0, 0, 0, False, False, False, x, notice.y)
            seat.app.post_message(event)
            await seat.until(lambda: seat.app.gate.is_idle, "the move")
        await seat.until(lambda: WORDS not in seat.text(), "no notice")


async def test_a_notice_is_whole_on_a_screen_that_is_narrower_than_notices_are(
    console: Open,
) -> None:
    async with console(size=(50, 30)) as seat:
        path = "/tmp/exports/session-da4a82109f9e.mp4"
        seat.app.say(f"Written: {path}")
        await seat.see(path)
        [toast] = seat.app.screen.query(Toast)
        assert toast.region.right <= 50
