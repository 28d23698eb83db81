"""Groups by host on the Wall, on Jobs and in the History: one key, one choice, one heading."""

from functools import partial

from msgspec.structs import replace

from agent.protocol import DeviceChanged, JobChanged
from agent.records import HostState
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, job, phone
from tests.console.fleet_scene import play_fleet

fleet = partial(play_fleet, hosts=3, phones=4, live=20, settled=10)


def with_jobs(core: FakeCore) -> None:
    fleet(core)
    for number in (1, 2, 3):
        core.tell(JobChanged(job=job(number, title=f"Digest {number}", host=f"rack-{number}")))


async def show(seat: Seat, key: str, kind: str) -> None:
    await seat.press(key)
    await seat.until(lambda: type(seat.app.top).__name__ == kind, kind)
    await seat.until(lambda: seat.app.top is not None and seat.app.top.is_composed, "widgets")


async def test_one_key_groups_the_wall_the_jobs_and_the_history_by_host(console: Open) -> None:
    async with console(play=with_jobs, size=(160, 50)) as seat:
        await show(seat, "2", "WallScreen")
        assert "rack-3  4" not in seat.text()
        await seat.press("B")
        for heading in ("rack-1  4", "rack-2  4", "rack-3  4"):
            await seat.see(heading)
        await seat.see("○ gone")
        await seat.see("reaches the database in 0.7 ms")
        await show(seat, "3", "JobsScreen")
        await seat.see("rack-2  1")
        await seat.see("○ gone")
        await show(seat, "4", "HistoryScreen")
        await seat.see("rack-1  ")
        await seat.see("○ gone")
        await seat.press("B")
        await seat.until(lambda: "○ gone" not in seat.text(), "no groups")
        await show(seat, "2", "WallScreen")
        await seat.until(lambda: "rack-3  4" not in seat.text(), "no groups on the Wall either")


async def test_a_group_says_that_its_host_went_as_soon_as_it_is_read(console: Open) -> None:
    async with console(play=with_jobs) as seat:
        await show(seat, "2", "WallScreen")
        await seat.press("B")
        await seat.see("rack-3  4")
        gone = [replace(one, state=HostState.LEFT) for one in seat.core.hosts]
        seat.core.hosts = tuple(gone)
        await seat.app.bridge.read_hosts()
        await seat.see("○ has left")


async def test_the_cursor_of_a_grouped_wall_passes_over_the_ends_of_groups(console: Open) -> None:
    async with console(play=with_jobs) as seat:
        await show(seat, "2", "WallScreen")
        await seat.press("B")
        await seat.see("rack-3  4")
        wall = seat.app.screen.wall  # type: ignore[attr-defined]
        await seat.press("g")
        passed = [wall.places.cursor]
        for _ in range(len(wall.places.tiles) - 1):
            await seat.press("l")
            passed.append(wall.places.cursor)
        assert passed == [tile.serial for tile in wall.places.tiles]


async def test_a_store_of_one_core_offers_no_groups(console: Open) -> None:
    def one_core(core: FakeCore) -> None:
        core.tell(DeviceChanged(device=phone("emulator-5554")))

    async with console(play=one_core) as seat:
        await show(seat, "2", "WallScreen")
        assert "group by host" not in seat.text()
        await seat.press("B")
        await seat.see("Only one host is known.")
        assert not seat.app.kept.ui.by_host


async def test_the_history_finds_what_was_at_a_host_as_the_deck_does(console: Open) -> None:
    async with console(play=fleet) as seat:
        await show(seat, "4", "HistoryScreen")
        await seat.press("slash", "at", *"rack", "minus", "3", "slash")
        screen = seat.app.screen
        held = {one.host for one in screen.stored.newest() if screen.stored.holds(one)}  # type: ignore[attr-defined]
        await seat.until(lambda: screen.table.rows, "rows")  # type: ignore[attr-defined]
        assert held == {"rack-3"}
