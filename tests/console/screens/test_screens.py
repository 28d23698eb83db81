"""Jobs, replay, palette, help, themes and sizes, as the operator meets them."""

from io import BytesIO

import pytest
from PIL import Image

from agent import protocol
from agent.records import Foreground, Frame, Observation, SessionState
from console.screens.history.replay import ReplayScreen
from console.screens.jobs.jobs import JobsScreen
from console.steps.playback import Playback
from console.terminal.themes import DARK, LIGHT
from tests.console.conftest import Open, Seat
from tests.console.deck.test_waiting_for_you import with_approval
from tests.console.fakes import FakeCore, job
from tests.console.script import configure, evening


async def test_jobs_are_one_key_away_and_count_down(console: Open) -> None:
    async with console() as seat:
        await seat.press("3")
        await seat.see("Morning digest")
        await seat.see("active")
        await seat.press("1")
        await seat.until(lambda: seat.app.screen is seat.deck, "home")


async def test_a_job_is_stopped_by_two_acts(console: Open) -> None:
    async with console() as seat:
        await seat.press("3", "x")
        await seat.see("x again stops job 1")
        assert seat.core.ops == []
        await seat.press("x")
        await seat.until(lambda: seat.core.ops == [protocol.JobStop(job_id=1)], "stopped")


async def test_a_job_is_written_in_three_lines(console: Open) -> None:
    async with console() as seat:
        await seat.press("3", "n")
        await seat.until(lambda: seat.app.focused is not None, "a field")
        await seat.until(lambda: seat.app.focused.id == "job-prompt", "the first field")  # type: ignore[union-attr]
        await seat.press(*"check mail", "enter", *"10m", "enter", *"1h", "enter")
        await seat.until(lambda: seat.core.ops, "an op")
        [op] = seat.core.ops
        assert isinstance(op, protocol.JobCreate)
        assert (op.prompt, op.interval_ms) == ("check mail", 3_600_000)
        assert abs(op.next_run_at - seat.app.now_ms() - 600_000) < 60_000


async def test_a_time_that_cannot_be_read_is_said_and_nothing_is_lost(console: Open) -> None:
    async with console() as seat:
        await seat.press("3", "n")
        await seat.until(lambda: getattr(seat.app.focused, "id", "") == "job-prompt", "a field")
        await seat.press(*"check mail", "enter", "enter", *"often", "enter")
        await seat.see("is not a duration")
        assert seat.core.ops == []
        await seat.see("check mail")


async def test_a_changed_job_is_changed_on_the_screen(console: Open) -> None:
    async with console() as seat:
        await seat.press("3")
        await seat.see("Morning digest")
        seat.core.tell(protocol.JobChanged(job=job(1, title="Evening digest", status="failed")))
        await seat.see("Evening digest")
        await seat.see("failed")
        assert isinstance(seat.app.screen, JobsScreen)


def with_frames(core: FakeCore) -> None:
    """Play the evening and a session whose steps have frames."""
    evening(core)
    configure(core, "f", "look at colours")
    for number, colour in enumerate(("red", "green", "blue"), 1):
        out = BytesIO()
        Image.new("RGB", (90, 200), colour).save(out, "PNG")
        core.blobs[colour] = out.getvalue()
        core.tell(protocol.StepStarted(step=number), "f")
        frame = Frame(digest=colour, width_px=90, height_px=200, captured_ms=core.now_ms)
        seen = Observation(
            started_ms=0, ended_ms=0, foreground=Foreground(package="p"), frame=frame
        )
        core.tell(protocol.ObservationRecorded(step=number, observation=seen), "f")
    core.tell(protocol.SessionStateChanged(state=SessionState.COMPLETED), "f")


async def replay_of(seat: Seat, session_id: str) -> ReplayScreen:
    seat.deck.select(session_id)
    seat.deck.refresh_all()
    await seat.press("R")
    await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
    screen = seat.app.screen
    assert isinstance(screen, ReplayScreen)
    await seat.until(lambda: screen.tape.playback is not None, "the tape")
    return screen


async def test_a_replay_steps_through_the_same_view(console: Open) -> None:
    async with console() as seat:
        screen = await replay_of(seat, "s1")
        await seat.press("home", "right")
        await seat.see("Settings is on the launcher.")
        assert "The Bluetooth row" not in seat.text()
        await seat.press("right", "right")
        await seat.see("The Bluetooth row")
        await seat.press("left", "left", "left", "left")
        await seat.until(lambda: screen.tape.playback.position == 0, "the start")  # type: ignore[union-attr]
        await seat.press("end")
        await seat.until(lambda: screen.tape.playback.is_at_end, "the end")  # type: ignore[union-attr]
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is seat.deck, "home")
        assert seat.core.ops == []


async def test_a_replay_of_what_has_ended_opens_at_its_beginning_and_says_the_keys(
    console: Open,
) -> None:
    async with console() as seat:
        screen = await replay_of(seat, "s3")
        await seat.see("The beginning. space plays it")
        await seat.see("event 0 of")
        assert screen.tape.playback is not None
        assert screen.tape.playback.position == 0
        await seat.press("right")
        await seat.see("All steps so far")
        await seat.press("home")
        await seat.until(lambda: "All steps so far" not in seat.text(), "no time has passed yet")
        await seat.see("The beginning.")


async def test_a_replay_of_what_goes_on_opens_where_it_is(console: Open) -> None:
    async with console() as seat:
        screen = await replay_of(seat, "s1")
        await seat.until(lambda: screen.tape.playback.is_at_end, "the present")  # type: ignore[union-attr]
        assert not screen.tape.is_playing


async def test_a_replay_plays_at_a_speed_until_its_end(console: Open) -> None:
    async with console() as seat:
        screen = await replay_of(seat, "s1")
        await seat.press("home", *["plus"] * 7)
        assert screen.tape.speed == 64
        await seat.press("space")
        await seat.until(lambda: screen.tape.playback.is_at_end, "the end")  # type: ignore[union-attr]
        await seat.until(lambda: not screen.tape.is_playing, "it holds")


async def test_what_happened_at_the_moment_of_a_replay_is_shown_by_the_key_that_plays_it(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.screens.history.tape.monotonic", lambda: 0.0)
    async with console() as seat:
        screen = await replay_of(seat, "s1")
        playback = screen.tape.playback
        assert playback is not None
        playback.go_to(0)
        screen.tape.do_replay_play()
        assert playback.position > 0
        assert playback.played_ms == 0


async def test_a_replay_shows_the_frame_of_its_moment(console: Open) -> None:
    async with console(play=with_frames) as seat:
        await replay_of(seat, "f")
        await seat.press("home", "right")
        await seat.see("stored · step 1")
        await seat.press("right")
        await seat.see("stored · step 2")
        seat.core.blobs.clear()
        await seat.press("right")
        await seat.see("This picture is gone.")


async def test_a_replay_asked_for_alone_leaves_the_console_with_escape(console: Open) -> None:
    async with console(replay="s1") as seat:
        await seat.see("Settings is on the launcher.")
        await seat.press("escape")
        await seat.until(lambda: seat.app.return_code == 0, "left")


def test_any_way_to_a_position_shows_the_same() -> None:
    core = FakeCore()
    evening(core)
    events = [event for event in core.stored if event.session_id == "s1"]
    forward, jumped = Playback(events), Playback(events)
    for position in range(len(events) + 1):
        forward.go_to(position)
        forward.state()
        jumped.go_to(len(events) - position)
        jumped.state()
        jumped.go_to(position)
        assert jumped.state() == forward.state()


def test_a_tape_that_is_still_being_read_is_the_same_tape_when_it_is_whole() -> None:
    core = FakeCore()
    evening(core)
    events = [event for event in core.stored if event.session_id == "s1"]
    whole, read = Playback(events), Playback(events[:3], is_whole=False)
    read.go_to_end()
    assert (read.position, read.is_at_end) == (3, False)
    read.add(events[3:5], is_whole=False)
    read.add(events[5:], is_whole=True)
    assert (read.position, read.is_at_end) == (len(events), True)
    whole.go_to_end()
    assert read.state() == whole.state()
    assert (read.stops, read.signs, read.length_ms) == (whole.stops, whole.signs, whole.length_ms)


async def test_a_long_replay_is_shown_before_all_of_it_is_read(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.screens.history.tape.PAGE_EVENTS", 2)
    async with console(replay="s1") as seat:
        await seat.see("Settings is on the launcher.")
        tape = seat.app.screen.tape.playback  # type: ignore[attr-defined]
        await seat.until(lambda: tape.is_whole, "the whole tape")
        assert len(tape.events) == sum(e.session_id == "s1" for e in seat.core.stored)
        await seat.press("G")
        await seat.until(lambda: tape.is_at_end, "the end")


async def test_the_palette_does_what_it_names(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+p", *"stop all")
        await seat.see("Interrupt every session")
        await seat.press("enter")
        await seat.until(lambda: seat.core.ops == [protocol.Interrupt()], "stopped")


async def test_the_palette_shows_what_cannot_be_done_now_with_the_reason(console: Open) -> None:
    async with console(play=lambda core: None) as seat:
        await seat.press("ctrl+p", *"cancel")
        await seat.see("No open session is selected.")
        # First is what can be done under that name.
        await seat.press("down", "enter")
        await seat.see("Cancel: No open session is selected.")
        assert seat.core.ops == []


async def test_help_says_the_keys_of_this_screen(console: Open) -> None:
    async with console() as seat:
        await seat.press("question_mark")
        await seat.see("Keys · Deck")
        await seat.see("Interrupt the selected session")
        await seat.press("escape", "3", "f1")
        await seat.see("Keys · Jobs")


async def test_dark_and_light_are_a_key_apart(console: Open) -> None:
    async with console() as seat:
        assert seat.app.theme == DARK.name
        await seat.press("ctrl+t")
        await seat.until(lambda: seat.app.theme == LIGHT.name, "light")


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (80, 24), (60, 20), (40, 12)])
async def test_every_pane_can_be_reached_at_every_size(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        seen = set()
        for _ in range(7):
            await seat.press("tab")
            await seat.until(lambda: seat.app.focused is not None, "a focus")
            focused = seat.app.focused
            assert focused is not None
            await seat.until(lambda: seat.app.focused.region.area > 0, "it is seen")  # type: ignore[union-attr]
            seen.add(focused.id)
        assert {"sessions", "attention", "transcript", "card", "composer-field"} <= seen
        assert ("phone" in seen) == (size[0] < 120 and size[1] >= 24)


async def test_a_terminal_too_small_says_so_and_still_stops(console: Open) -> None:
    async with console(size=(38, 10)) as seat:
        await seat.see("Too small")
        await seat.press("ctrl+x")
        await seat.until(lambda: seat.core.ops == [protocol.Interrupt()], "stopped")


async def test_copying_says_where_it_is(console: Open, tmp_path: object) -> None:
    async with console() as seat:
        await seat.press("y")
        await seat.see("Copied.")
        assert seat.app.data_dir is not None
        kept = seat.app.data_dir / "copied" / "clipboard.txt"
        assert "milk and eggs" in kept.read_text(encoding="utf-8")
        assert kept.stat().st_mode & 0o077 == 0


async def test_a_steer_goes_to_the_session_that_runs(console: Open) -> None:
    async with console(size=(60, 20)) as seat:
        seat.deck.select("s1")
        seat.deck.refresh_all()
        await seat.press("i")
        await seat.see("steer ▸")
        await seat.press(*"slower", "enter")
        await seat.until(
            lambda: (
                seat.core.ops == [protocol.UserInput(session_id="s1", text="slower", steers=True)]
            ),
            "steered",
        )


async def test_every_tab_is_pressed_where_the_name_has_no_room(console: Open) -> None:
    async with console(size=(55, 30), play=with_approval) as seat:
        await seat.see("2 wait for you")
        header = next(line for line in seat.text().splitlines() if "wait for you" in line)
        assert all(tab in header for tab in ("1 Deck", "2 Wall", "3 Jobs", "4 History")), header


async def test_help_leaves_a_column_before_its_scrollbar(console: Open) -> None:
    async with console(size=(100, 30)) as seat:
        await seat.press("question_mark")
        await seat.see("Keys ·")
        place = seat.app.screen.query_one("#help")
        assert place.size.width < place.region.width


@pytest.mark.parametrize("size", [(160, 50), (60, 20)])
async def test_a_core_that_was_stopped_is_said_for_as_long_as_the_console_shows_it(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        seat.core.tell(protocol.ShutdownComplete())
        await seat.see("× the core has ended")
        assert "waiting" not in seat.text().splitlines()[0]
