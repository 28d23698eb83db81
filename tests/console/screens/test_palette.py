"""The palette over everything: any action by its name, any verb with its arguments."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config import load_settings
from agent.settings import KEYS
from console.keys import actions
from console.palette import catalog, commands
from console.palette.entry import Entry, Kind
from console.palette.ranking import search
from console.screens.dialogs.output import OutputScreen
from console.screens.dialogs.palette import PaletteScreen
from console.screens.jobs.jobs import JobsScreen
from console.storage.recent import FILE_NAME, Recent
from console.storage.short_list import MOST
from tests.console.conftest import Open, Seat
from widgets.base.row_list import RowList
from widgets.lists.session_rows import device_name

SCREENS = {"1": actions.Where.DECK, "2": actions.Where.WALL, "3": actions.Where.JOBS}
PATIENCE_S = 60.0


def shown(seat: Seat) -> list[str]:
    """Return the keys of the rows of the open palette."""
    return [row.key.split(" ")[0] for row in seat.app.screen.query_one(RowList).rows]


@pytest.mark.parametrize("key", list(SCREENS))
async def test_every_action_of_every_screen_is_found_by_its_name(console: Open, key: str) -> None:
    async with console() as seat:
        await seat.press(key)
        offered = catalog.offered(seat.app)
        for action in actions.ACTIONS:
            found = [entry.about for entry in search(offered, action.title)[:20]]
            assert action.id in found, f"{action.title} on {key}"


async def test_every_verb_of_the_command_line_is_found_by_its_name(console: Open) -> None:
    async with console() as seat:
        offered = catalog.offered(seat.app)
        listed = {entry.about for entry in offered if entry.kind is Kind.COMMAND}
        assert len(listed) == len(commands.verbs()) > 100
        for verb in commands.verbs():
            first = [entry for entry in search(offered, verb.path) if entry.kind is Kind.COMMAND]
            assert verb.path in [entry.about for entry in first[:2]]
            assert first[0].about == verb.path or first[1].why_not


async def test_every_setting_session_phone_and_job_is_found(console: Open) -> None:
    async with console() as seat:
        offered = catalog.offered(seat.app)
        keys = {entry.key for entry in offered}
        state = seat.app.bridge.state
        assert {f"setting:{name}" for name in KEYS} <= keys
        assert {f"session:{one}" for one in state.sessions} <= keys
        assert {f"replay:{one}" for one in state.sessions} <= keys
        assert {f"phone:{serial}" for serial in state.devices} <= keys
        assert {f"job:{number}" for number in state.jobs} <= keys


async def test_what_cannot_be_done_says_why(console: Open) -> None:
    async with console() as seat:
        reasons = {entry.about: entry.why_not for entry in catalog.offered(seat.app)}
        assert reasons["job.edit"] == "On the Jobs screen: press 3 first."
        assert reasons["demo"] == "It opens a console of its own: run it in a shell."
        assert not reasons["session.new"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("stop all", "action:session.stop_all"),
        ("jobs", "action:screen.jobs"),
        ("element numbers", "action:view.numbers"),
        ("resume", "action:session.pause"),
        ("jbcreate", "command:jobs create"),
        ("max_steps", "setting:run.max_steps"),
    ],
)
async def test_the_best_fit_comes_first(console: Open, typed: str, first: str) -> None:
    async with console() as seat:
        offered = [one for one in catalog.offered(seat.app) if one.kind is not Kind.SESSION]
        keys = [entry.key for entry in search(offered, typed) if not entry.why_not]
        assert first in keys[:3], keys[:5]


def test_nothing_is_called_what_nothing_is_called() -> None:
    offered = [Entry(Kind.ACTION, "a", "Stop all"), Entry(Kind.ACTION, "b", "Pause")]
    assert search(offered, "zqx") == []


def test_what_can_be_done_comes_before_a_better_name_that_cannot() -> None:
    blocked = Entry(Kind.ACTION, "stop", "Stop", why_not="No running session is selected.")
    offered = [
        blocked,
        Entry(Kind.ACTION, "said", "Pause", "Halt it; it does not stop."),
        Entry(Kind.ACTION, "all", "Stop all"),
        Entry(Kind.COMMAND, "command", "sessions stop"),
    ]
    found = [one.about for one in search(offered, "stop", {"action:stop": 0})]
    assert found == ["all", "stop", "command", "said"]
    # What only mentions the word does not take the place of the name that was typed.
    assert search([blocked, offered[1]], "stop")[0] is blocked


def test_what_was_chosen_last_comes_first_also_after_a_restart(tmp_path: Path) -> None:
    offered = [Entry(Kind.ACTION, name, name) for name in "abc"]
    recent = Recent(tmp_path)
    for key in ("action:c", "action:b", "action:c"):
        recent.note(key)
    again = Recent(tmp_path)
    assert [one.about for one in search(offered, "", again.places)] == ["c", "b", "a"]
    for number in range(3 * MOST):
        again.note(f"action:{number}")
    assert len(Recent(tmp_path).places) == MOST


@pytest.mark.parametrize("text", ["", "{}", "[1]", "\x00", "[" * 9000])
def test_a_broken_list_of_last_choices_costs_the_order_only(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    recent = Recent(tmp_path)
    assert recent.places == {}
    recent.note("action:a")
    assert Recent(tmp_path).places == {"action:a": 0}


async def test_a_setting_is_written_by_a_typed_line(console: Open, tmp_path: Path) -> None:
    async with console() as seat:
        await seat.press("ctrl+p", *"set run.max_steps 40")
        await seat.see("set run.max_steps 40")
        await seat.press("enter")
        await seat.see("run.max_steps is 40")
        written = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
        assert written.run.max_steps == 40


async def test_a_value_that_cannot_be_used_says_so_before_enter(console: Open) -> None:
    async with console() as seat:
        before = seat.app.settings
        await seat.press("ctrl+p", *"set run.max_steps many")
        await seat.until(lambda: "run.max_steps" in seat.text(), "the line")
        (row,) = seat.app.screen.query_one(RowList).rows
        assert "now" not in row.lines[0].left[1][0]
        await seat.press("enter")
        assert seat.app.settings is before
        assert seat.app.written == {}


async def test_tab_completes_and_enter_opens_a_phone_by_its_handle(console: Open) -> None:
    async with console() as seat:
        serial = next(iter(seat.app.bridge.state.devices))
        await seat.press("ctrl+p", *"open @")
        assert all(key.startswith("phone:") for key in shown(seat))
        await seat.press("tab")
        screen = seat.app.screen
        assert isinstance(screen, PaletteScreen)
        await seat.press("enter")
        await seat.until(lambda: seat.app.screen is not screen, "the phone")
        assert type(seat.app.screen).__name__ == "DeviceScreen"
        assert serial


@pytest.mark.parametrize("typed", ["@{name}", "@{upper}", "@{end}", "@{hyphens}"])
async def test_a_phone_is_opened_by_its_name_as_the_lists_show_it(
    console: Open, typed: str
) -> None:
    async with console() as seat:
        devices = seat.app.bridge.state.devices
        serial = next(iter(devices))
        name = device_name(serial, devices)
        assert " " in name
        ways = {"name": name, "upper": name.upper(), "end": name.split()[-1]}
        line = typed.format(**ways, hyphens="-".join(name.split()))
        found = catalog.typed(seat.app, f"open {line}")
        assert found is not None and [entry.about for entry in found][:1] == [serial]


async def test_a_verb_that_needs_words_is_completed_and_says_what_it_misses(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+p", *"jobs create")
        await seat.press("enter")
        await seat.see("Missing argument")
        await seat.press(*'"look" --ty')
        await seat.see("--type")
        await seat.press("tab")
        await seat.see("heartbeat")


async def test_a_verb_runs_beside_the_console_and_shows_what_it_prints(console: Open) -> None:
    async with console() as seat:
        await seat.press("ctrl+p", *"models prices", "enter")
        screen = seat.app.screen
        assert isinstance(screen, OutputScreen)
        await seat.see("done · y copy")
        assert "claude" in screen.text.casefold() or "gpt" in screen.text.casefold()
        await seat.press("escape")
        assert seat.app.screen is seat.deck


async def test_leaving_the_output_ends_what_still_runs(console: Open) -> None:
    async with console() as seat:
        command = ["sleep", "600"]
        screen = OutputScreen(["sleep"], command)
        seat.app.push_screen(screen)
        await seat.until(lambda: screen._process is not None, "the process")
        process = screen._process
        assert process is not None
        await seat.press("escape")
        await seat.until(lambda: process.returncode is not None, "its end")


async def test_hostile_output_reaches_the_screen_as_text(console: Open) -> None:
    async with console() as seat:
        printed = "\\033]52;c;AAAA\\007[@click=app.bell()]x[/]\\033[2J"
        seat.app.push_screen(OutputScreen(["printf"], ["printf", printed]))
        await seat.see("[@click=app.bell()]x[/]")
        assert "\x1b" not in seat.text()


async def test_an_own_action_presses_its_key_where_the_focus_was(console: Open) -> None:
    async with console() as seat:
        await seat.press("3")
        assert isinstance(seat.app.screen, JobsScreen)
        await seat.press("ctrl+p", *"details", "enter")
        jobs = seat.app.screen
        assert isinstance(jobs, JobsScreen)
        await seat.until(lambda: jobs.focused is jobs.detail, "the details")


@given(st.text(max_size=60))
def test_any_typed_text_is_split_and_completed_without_an_error(text: str) -> None:
    line = commands.split(text)
    assert len(line.all_words) >= len(line.words)
    for start in ("jobs create ", "sessions show ", "devices "):
        commands.completed(start + text, lambda _name: (), is_web=False, lends=True)


@pytest.mark.parametrize(
    ("text", "words", "partial"),
    [
        ("jobs cr", ("jobs",), "cr"),
        ("jobs create ", ("jobs", "create"), ""),
        ('run "turn on', ("run",), "turn on"),
        ("run 'a b' --de", ("run", "a b"), "--de"),
        ("", (), ""),
    ],
)
def test_a_line_is_split_as_a_shell_splits_it(
    text: str, words: tuple[str, ...], partial: str
) -> None:
    line = commands.split(text)
    assert (line.words, line.partial) == (words, partial)


async def test_a_session_that_is_opened_is_seen_where_one_pane_is_shown(console: Open) -> None:
    async with console(size=(60, 20)) as seat:
        await seat.press("ctrl+p")
        await seat.press(*"bluetooth", "enter")
        await seat.until(lambda: seat.deck.focused is seat.deck.pane.transcript, "its transcript")
