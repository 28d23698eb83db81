"""The Wall: every phone live, under a cursor, and no work for what is not seen."""

from rich.color import ColorSystem

from agent.protocol import DeviceChanged
from agent.records import DeviceState
from console.screens.device.device import DeviceScreen
from console.screens.wall import WallScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, phone
from tests.console.script import configure, evening, run
from widgets.cells.cells import HOLE
from widgets.wall.wall_view import WallView


def many(count: int, *, state: DeviceState = DeviceState.ONLINE) -> FakeCore:
    core = FakeCore()
    for number in range(count):
        core.tell(DeviceChanged(device=phone(f"wall-{number:02}", state=state)))
    return core


async def open_wall(seat: Seat, *, colours: bool = True) -> WallView:
    # Without a terminal rich takes it for one without colours.
    seat.app.console._color_system = ColorSystem.TRUECOLOR if colours else None
    await seat.press("2")
    await seat.until(
        lambda: isinstance(seat.app.screen, WallScreen) and seat.app.screen.is_composed, "the wall"
    )
    screen = seat.app.screen
    assert isinstance(screen, WallScreen)
    await seat.until(lambda: screen.wall.places.tiles or not seat.core.state.devices, "tiles")
    return screen.wall


def nothing(_core: FakeCore) -> None:
    return None


async def test_every_phone_is_live_with_its_name_its_state_and_who_drives_it(console: Open) -> None:
    async with console(play=evening) as seat:
        wall = await open_wall(seat)
        online = [t.serial for t in wall.places.tiles if not t.missing]
        await seat.until(
            lambda: {asked[0] for asked in seat.core.frames_asked} >= set(online), "frames asked"
        )
        await seat.until(lambda: seat.text().count("● live") == len(online), "live labels")
        driven = [d for d in seat.core.state.devices.values() if d.driver]
        assert driven
        text = seat.text()
        assert all(f"Pixel {device.serial[-1]}" in text for device in driven)
        assert "in use" in text
        await seat.until(lambda: "▀" in seat.text(), "pictures of the phones")


async def test_a_screen_that_was_left_is_not_shown_again_by_what_comes_late(console: Open) -> None:
    async with console(play=evening) as seat:
        await open_wall(seat)
        screen = seat.app.screen
        assert isinstance(screen, WallScreen)
        await seat.press("1")
        await seat.until(lambda: not screen.query("#header"), "the wall to be gone")
        screen.refresh_all()


async def test_a_phone_that_is_away_says_so_and_is_asked_for_nothing(console: Open) -> None:
    core = many(2)
    async with console(core=core, play=nothing) as seat:
        wall = await open_wall(seat)
        await seat.until(lambda: core.frames_open == 2, "two streams")
        await seat.see("● live")
        core.tell(DeviceChanged(device=phone("wall-01", state=DeviceState.OFFLINE)))
        await seat.until(lambda: core.frames_open == 1, "one stream")
        await seat.until(lambda: seat.text().count("offline") >= 2, "that it is offline")
        # Its last picture stays, dimmed, under the word.
        assert wall.drawn is not None
        tile = wall.places.layout.columns * wall.places.layout.picture_rows
        assert (wall.drawn.cells.glyph != HOLE).sum() > 1.5 * tile


async def test_on_a_fleet_a_phone_has_its_host_beside_it_and_says_that_the_host_is_gone(
    console: Open,
) -> None:
    core = FakeCore()
    core.tell(DeviceChanged(device=phone("rack-1/p1", name="till 1")))
    core.tell(DeviceChanged(device=phone("rack-3/p3", name="till 3")))
    async with console(core=core, play=nothing) as seat:
        await open_wall(seat)
        await seat.see("till 1 rack-1")
        await seat.see("till 3 rack-3")
        note = "Host rack-3 is gone: what waits for this phone continues when it is back."
        gone = phone("rack-3/p3", name="till 3", state=DeviceState.GONE, note=note)
        core.tell(DeviceChanged(device=gone))
        await seat.see("host rack-3 is gone")
        await seat.press("G", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, DeviceScreen), "the phone's screen")
        await seat.see("till 3  rack-3/p3")
        await seat.see("Host rack-3 is gone")
        await seat.press("1")
        await seat.see("host rack-3 is gone")


async def test_arrows_move_between_phones_and_enter_opens_the_one_under_the_cursor(
    console: Open,
) -> None:
    opened: list[str] = []
    async with console(core=many(14), play=nothing) as seat:
        seat.app.navigation.show_device = opened.append  # type: ignore[method-assign]
        wall = await open_wall(seat)
        across = wall.places.layout.across
        assert 1 < across < 13
        await seat.press("right", "down")
        assert wall.places.cursor == f"wall-{across + 1:02}"
        await seat.press("up", "left", "left", "k")
        assert wall.places.cursor == "wall-00"
        await seat.press("G", "enter")
        await seat.until(lambda: opened == ["wall-13"], "opened")
        await seat.see("▌")


async def test_sixty_four_phones_are_paged_and_only_those_that_are_seen_are_followed(
    console: Open,
) -> None:
    core = many(64)
    async with console(core=core, play=nothing, size=(120, 40)) as seat:
        wall = await open_wall(seat)
        seen = len(wall.places.visible)
        assert 12 <= seen < 64
        await seat.until(lambda: core.frames_open == seen, "as many streams as tiles")
        await seat.see(f"1–{seen} of 64")
        await seat.press("G")
        await seat.until(lambda: wall.places.visible[-1].serial == "wall-63", "the end")
        last = {tile.serial for tile in wall.places.visible}
        await seat.until(lambda: seat.app.wall_feeds.followed == last, "the last ones followed")
        await seat.until(lambda: core.frames_open == len(last), "and no others")
        await seat.press("1")
        await seat.until(lambda: not seat.app.wall_feeds.followed, "none while nobody looks")


async def test_the_cursor_stays_on_its_phone_when_others_come(console: Open) -> None:
    core = many(5)
    async with console(core=core, play=nothing) as seat:
        wall = await open_wall(seat)
        await seat.press("right", "right")
        assert wall.places.cursor == "wall-02"
        core.tell(DeviceChanged(device=phone("earlier-1")))
        await seat.until(lambda: len(wall.places.tiles) == 6, "the sixth")
        assert wall.places.cursor == "wall-02"
        assert wall.places.tiles[0].serial == "earlier-1"


async def test_without_phones_one_sentence_says_what_to_do(console: Open) -> None:
    async with console(core=FakeCore(), play=nothing) as seat:
        await open_wall(seat)
        await seat.see("No devices. Plug one in")


async def test_it_fits_every_size_and_a_hostile_name_does_not_break_a_line(console: Open) -> None:
    core = many(3)
    core.tell(DeviceChanged(device=phone("wall-01", name="[@click=app.exit(9)]日本語\x1b[2J" * 3)))
    for size in ((60, 20), (100, 30), (40, 12)):
        async with console(core=core, play=nothing, size=size) as seat:
            wall = await open_wall(seat)
            await seat.until(lambda: core.frames_open == len(wall.places.visible), "frames")  # noqa: B023
            await seat.see("● live")
            strips = seat.app.screen._compositor.render_strips()
            assert {strip.cell_length for strip in strips} == {size[0]}
            assert "\x1b[2J" not in seat.text()


async def test_without_colour_the_wall_is_words(console: Open) -> None:
    async with console(core=many(3), play=nothing) as seat:
        wall = await open_wall(seat, colours=False)
        assert wall.places.layout.picture_rows == 0
        assert seat.app.wall_feeds.followed == frozenset()
        assert "▀" not in seat.text()
        await seat.until(lambda: seat.text().count("Pixel") == 3, "three names")


async def test_leaving_the_console_ends_every_stream(console: Open) -> None:
    core = many(9)
    async with console(core=core, play=nothing) as seat:
        await open_wall(seat)
        await seat.until(lambda: core.frames_open == 9, "nine streams")
    assert core.frames_open == 0


async def test_a_terminal_that_becomes_much_smaller_breaks_no_picture(console: Open) -> None:
    async with console(play=evening) as seat:
        wall = await open_wall(seat)
        await seat.until(lambda: "▀" in seat.text(), "pictures")
        # Another class of size: its styles come before the Wall's own Resize.
        await seat.pilot.resize_terminal(100, 24)
        await seat.until(lambda: seat.app.screen.has_class("-normal"), "the other class")
        await seat.until(
            lambda: wall.drawn is not None and wall.drawn.cells.rows == wall.size.height,
            "the pictures",
        )
        assert seat.app.errors.recent_s == []


async def test_the_wall_is_filtered_by_host_phone_tag_state_and_session_as_the_deck(
    console: Open,
) -> None:
    core = FakeCore()
    for number in range(12):
        serial = f"rack-{number % 3 + 1}/{number}"
        state = DeviceState.GONE if number == 4 else DeviceState.ONLINE
        tags = ("wall",) if number == 5 else ()
        driver = "s1" if number == 6 else ""
        one = phone(serial, state=state, tags=tags, driver=driver)
        core.tell(DeviceChanged(device=one))
    configure(core, "s1", "Pay the invoice", serial="rack-1/6")
    run(core, "s1")
    async with console(core=core, play=nothing) as seat:
        wall = await open_wall(seat)
        for text, serials in (
            ("@rack-2/", {"rack-2/1", "rack-2/4", "rack-2/7", "rack-2/10"}),
            ("@rack-2/ away", {"rack-2/4"}),
            ("#wall", {"rack-3/5"}),
            ("invoice", {"rack-1/6"}),
            ("running", {"rack-1/6"}),
            ("nowhere", set()),
        ):
            await seat.press("slash", *text, "enter")
            await seat.until(
                lambda serials=serials: {tile.serial for tile in wall.places.tiles} == serials, text
            )
            if text == "@rack-2/":
                await seat.see("4 of 12 phones · 3 online")
                asked = {serial for serial in seat.app.screen.wall.wanted_px}  # type: ignore[attr-defined]
                assert asked <= serials
            await seat.press("escape")
            await seat.until(lambda: len(wall.places.tiles) == 12, "all phones")
