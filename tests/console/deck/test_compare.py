"""Two sessions chosen on screen, laid side by side where they part, and replayed from there."""

import pytest

from agent.protocol import ToolCallRequested
from console.screens.history.compare import CompareScreen
from console.screens.history.history import HistoryScreen
from console.screens.history.replay import ReplayScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore
from tests.console.report.test_report import filmed
from tests.console.script import configure, run, step
from widgets.pictures.phone_pane import PhonePane


def two_ways(core: FakeCore) -> None:
    """Play two sessions that do the same twice, and then not."""
    for session_id in ("a1", "b1"):
        configure(core, session_id, f"Turn on Bluetooth {session_id}")
        run(core, session_id)
        step(core, session_id, 1, tool="launch_app", arguments='{"package": "x"}')
        step(core, session_id, 2)
    step(core, "a1", 3, "Now I go back.", tool="press_button", arguments='{"button": "BACK"}')
    step(core, "b1", 3, "Now I go home.", tool="press_button", arguments='{"button": "HOME"}')
    step(core, "b1", 4, tool="press_button", arguments='{"button": "HOME"}')


async def compare(seat: Seat) -> CompareScreen:
    """Pick one session in the history and compare the other with it."""
    await seat.press("4")
    await seat.until(lambda: isinstance(seat.app.screen, HistoryScreen), "the history")
    history = seat.app.screen
    assert isinstance(history, HistoryScreen)
    await seat.until(lambda: [row.key for row in history.table.rows] == ["b1", "a1"], "the rows")
    await seat.press("d")
    await seat.see("Pick a session first")
    await seat.press("space")
    await seat.see("▣ picked")
    await seat.press("d")
    await seat.see("Choose a session other")
    await seat.press("j", "d")
    await seat.until(lambda: isinstance(seat.app.screen, CompareScreen), "both")
    screen = seat.app.screen
    assert isinstance(screen, CompareScreen)
    await seat.until(lambda: screen.table.rows, "what both did")
    return screen


async def test_the_cursor_begins_where_two_sessions_part(console: Open) -> None:
    async with console(play=two_ways) as seat:
        screen = await compare(seat)
        await seat.until(lambda: screen.at == 2, "the parting")
        await seat.see("Identical for 2 actions, then they diverge.")
        await seat.see("Now I go back.")
        await seat.see("in Settings (com.android.settings)")
        await seat.see("Now I go home.")
        await seat.press("j")
        await seat.see("No more actions.")
        await seat.press("g", "d")
        await seat.until(lambda: screen.at == 2, "the parting again")
        assert seat.core.ops == []


@pytest.mark.parametrize(("key", "session_id"), [("enter", "b1"), ("o", "a1")])
async def test_either_session_is_replayed_from_the_place_under_the_cursor(
    console: Open, key: str, session_id: str
) -> None:
    async with console(play=two_ways) as seat:
        screen = await compare(seat)
        await seat.until(lambda: screen.at == 2, "the parting")
        await seat.press(key)
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        replay = seat.app.screen
        assert isinstance(replay, ReplayScreen)
        await seat.until(lambda: replay.tape.playback is not None, "the tape")
        assert replay.tape.playback is not None
        pairs = screen.compared.parting.pairs if screen.compared else ()
        act = pairs[2].left if session_id == "b1" else pairs[2].right
        assert act is not None
        assert (replay.tape.session_id, replay.tape.playback.position) == (session_id, act.seq)
        await seat.press("escape")
        await seat.until(lambda: seat.app.screen is screen, "both again")


@pytest.mark.parametrize("size", [(160, 50), (100, 24), (60, 30), (40, 12)])
async def test_both_read_at_every_size_and_the_signs_say_what_differs(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(play=two_ways, size=size) as seat:
        screen = await compare(seat)
        await seat.until(lambda: screen.at == 2, "the parting")
        await seat.see("▶")
        # On forty columns the sentence takes two lines.
        await seat.see("Identical for 2 actions")
        rows = ["".join(t for line in row.lines for t, _ in line.left) for row in screen.table.rows]
        assert all(word in rows[2] for word in ("Back", "Home")) or "BACK" in rows[2], rows
        assert "=" in rows[0]
        assert "≠" in rows[3]


async def test_a_replay_is_picked_and_its_other_is_chosen_in_the_history(console: Open) -> None:
    async with console(play=two_ways) as seat:
        await seat.press("4")
        await seat.until(lambda: isinstance(seat.app.screen, HistoryScreen), "the history")
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        replayed = seat.app.screen
        assert isinstance(replayed, ReplayScreen)
        await seat.until(lambda: replayed.tape.playback is not None, "the tape")
        await seat.press("d")
        await seat.see("Picked. Choose the other session; d compares them.")
        assert seat.app.navigation.picked == replayed.tape.session_id
        history = seat.app.screen
        assert isinstance(history, HistoryScreen)
        await seat.until(lambda: history.table.rows, "the sessions to choose from")


async def test_the_frames_of_both_stand_beside_each_other(console: Open) -> None:
    def play(core: FakeCore) -> None:
        for name in ("a1", "b1"):
            filmed(core, name, 2)
            back = ToolCallRequested(
                step=2, call_id="c", tool="press_button", arguments='{"button": "BACK"}'
            )
            core.tell(back, name)

    async with console(play=play) as seat:
        await seat.press("4")
        await seat.until(lambda: isinstance(seat.app.screen, HistoryScreen), "the history")
        history = seat.app.screen
        assert isinstance(history, HistoryScreen)
        await seat.until(lambda: len(history.table.rows) == 2, "rows")
        await seat.press("space", "j", "d")
        await seat.see("Identical throughout: 1 action.")
        screen = seat.app.screen
        panes = list(screen.query(PhonePane))
        assert len(panes) == 2
        await seat.until(lambda: all(pane.frame.has_picture for pane in panes), "both frames")
        shown = [pane.shown for pane in panes]
        assert all(one is not None and one.rgb for one in shown)


async def test_a_stored_picture_is_read_at_the_size_of_an_image_and_not_kept(console: Open) -> None:
    async with console(play=lambda core: filmed(core, "a1", 2), replay="a1") as seat:
        await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        screen = seat.app.screen
        assert isinstance(screen, ReplayScreen)
        await seat.until(lambda: screen.tape.playback is not None, "the tape")
        await seat.press("G")
        await seat.until(lambda: screen.still() is not None, "a picture that may rest")
        source = screen.still()
        assert source is not None
        await seat.until(lambda: source.view.has_picture, "the picture as cells")
        kept = len(seat.app.stored._kept)
        frame = await source.read(400, 800)
        assert frame is not None
        assert (frame.width_px, len(frame.rgb)) == (400, 400 * 800 * 3)
        assert len(seat.app.stored._kept) == kept
