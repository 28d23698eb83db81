"""Keys that can do nothing now say so, and what stands below says what enter does there."""

import pytest

from agent.protocol import JobChanged, SessionFlagsChanged, SessionStateChanged
from agent.records import SessionState
from console.app import SwitchboardApp
from console.keys import actions
from console.keys.unavailable import WHY_NOT
from console.screens.dialogs.leave import under_way
from console.screens.dialogs.palette import PaletteScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, job
from tests.console.script import configure, evening, run
from widgets.base.detail_pane import DetailPane
from widgets.base.row_list import RowList


def last_line(seat: Seat) -> str:
    return seat.text().splitlines()[-1]


def test_every_sentence_is_about_an_action_that_there_is() -> None:
    assert set(WHY_NOT) <= set(actions.BY_ID)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (("d",), WHY_NOT["question.dismiss"]),
        (("a",), WHY_NOT["question.approve"]),
        (("A",), WHY_NOT["question.approve"]),
        (("D",), WHY_NOT["notice.done"]),
        (("3", "z"), WHY_NOT["job.snooze"]),
        (("3", "R"), WHY_NOT["job.replay"]),
        (("4", "m"), WHY_NOT["history.measure"]),
    ],
)
async def test_a_key_that_can_do_nothing_now_says_why(
    console: Open, keys: tuple[str, ...], sentence: str
) -> None:
    async with console(play=_one_idle) as seat:
        *ways, key = keys
        for way in ways:
            await seat.press(way)
            await seat.until(lambda: seat.app.top is not seat.deck, "the other screen")
            await seat.until(lambda: seat.app.top and seat.app.top.is_composed, "its widgets")
        await seat.press(key)
        await seat.see(sentence[:50])


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("S", "No session here."),
        ("H", "No session here."),
        ("T", "No session here."),
        ("number_sign", "No picture here."),
    ],
)
async def test_with_nothing_there_at_all_a_key_says_so(console: Open, key: str, said: str) -> None:
    async with console(play=lambda _core: None) as seat:
        await seat.press(key)
        await seat.see(said)


def _one_idle(core: FakeCore) -> None:
    configure(core, "s1", "Look at the weather")
    core.tell(JobChanged(job=job(1, title="Look at the weather")))


async def test_the_header_tells_a_paused_session_from_one_that_runs(console: Open) -> None:
    def two(core: FakeCore) -> None:
        for name in ("s1", "s2"):
            configure(core, name, f"Goal of {name}")
            run(core, name)

    async with console(play=two) as seat:
        await seat.see("● 2 running")
        paused = SessionFlagsChanged(paused=True)
        seat.core.tell(paused, "s1")
        await seat.see("● 1 running  ‖ 1 paused")


async def test_pages_of_the_palette_are_turned(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+p")
        await seat.until(lambda: isinstance(seat.app.screen, PaletteScreen), "the palette")
        rows = seat.app.screen.query_one(RowList)
        first = rows.cursor_key
        await seat.press("pagedown")
        at = [row.key for row in rows.rows].index(rows.cursor_key)
        assert at > 1
        await seat.press("pageup")
        assert rows.cursor_key == first


@pytest.mark.parametrize("size", [(160, 50), (100, 30)])
async def test_the_details_of_a_job_scroll_and_enter_leads_back(
    console: Open, size: tuple[int, int]
) -> None:
    def long(core: FakeCore) -> None:
        evening(core)
        text = "\n".join(f"line {n}" for n in range(90))
        core.tell(JobChanged(job=job(1, title="A long one", prompt=text)))

    async with console(size=size, play=long) as seat:
        await seat.press("3")
        await seat.see("A long one")
        await seat.until(lambda: "enter details" in last_line(seat), "the footer")
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.focused, DetailPane), "the details")
        await seat.until(lambda: "enter list" in last_line(seat), "the footer of the details")
        await seat.press("G")
        await seat.see("line 89")
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.focused, RowList), "the list")
        await seat.press("enter", "escape")
        await seat.until(lambda: isinstance(seat.app.focused, RowList), "the list again")


async def test_the_last_line_says_what_enter_does_in_a_filter_and_in_a_form(console: Open) -> None:
    async with console() as seat:
        await seat.press("slash")
        await seat.until(lambda: "enter to the results" in last_line(seat), "of the filter")
        assert "new line" not in last_line(seat)
        await seat.press("escape", "3")
        await seat.until(lambda: seat.app.top and seat.app.top.is_composed, "the jobs")
        await seat.press("n")
        await seat.until(lambda: "enter next line" in last_line(seat), "of the first line")
        await seat.press(*"look", "enter", "enter")
        await seat.until(lambda: "enter store it" in last_line(seat), "of the last line")


def test_leaving_says_what_becomes_of_the_sessions(console: Open) -> None:
    core = FakeCore()
    app = SwitchboardApp(core)
    assert app.controls.holds_core
    configure(core, "s1", "Look at the weather")
    run(core, "s1")
    state = core.state
    assert state.sessions["s1"].session.state is SessionState.RUNNING
    ends = "".join(text for text, _ in under_way(state, ends_here=True))
    goes_on = "".join(text for text, _ in under_way(state, ends_here=False))
    assert "It stops with this console, and can be resumed." in ends
    assert "● Look at the weather  running" in ends
    core.tell(SessionStateChanged(state=SessionState.QUEUED), "s1")
    queued = "".join(text for text, _ in under_way(core.state, ends_here=True))
    assert "◌ Look at the weather  queued" in queued, "what waits is not said to run"
    assert "It goes on: the core is a process of its own." in goes_on
