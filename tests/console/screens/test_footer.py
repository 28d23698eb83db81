"""The last line, help and notices: what is always said, at every size, and what they leave free."""

import pytest
from textual.events import Key
from textual.screen import Screen

from agent.protocol import SessionPause, SessionResume
from console.keys import actions
from console.keys.keymap import Keymap
from console.screens.dialogs.help import help_text
from tests.console.burst.core import ScriptedCore
from tests.console.conftest import Open, Seat, select
from tests.console.fakes import FakeCore
from widgets.base.action_line import ActionLine

SIZES = [(160, 50), (100, 30), (80, 30), (60, 20)]


def last_line(seat: Seat) -> str:
    return seat.text().splitlines()[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_way_to_every_key_is_in_the_footer_at_every_size(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        await seat.until(lambda: "^x stop all" in last_line(seat), "the footer")
        assert "? help" in last_line(seat)
        # Without tabs of the screens, the palette is all that leads there by mouse.
        has_tabs = "3 Jobs" in seat.text()
        assert ("^p palette" in last_line(seat)) == (size[0] >= 100 or not has_tabs)
        assert "…" not in last_line(seat), "a key that is cut says nothing"
        # Where letters are text the key is another, and it works there.
        await seat.press("i")
        await seat.until(lambda: "F1 help" in last_line(seat), "the key that works while typing")
        await seat.press("f1")
        await seat.see("Keys · Deck")
        await seat.press("escape")
        assert seat.deck.composer.field.has_focus
        # A sentence that has to be read has the line for itself, but for stopping everything.
        await seat.press("escape", "c")
        await seat.until(lambda: "c again ends" in last_line(seat), "the sentence")
        assert "help" not in last_line(seat)
        assert "^x stop all" in last_line(seat)


def nothing(core: FakeCore) -> None:
    """Add nothing: a scripted core has played already."""


async def test_the_footer_says_what_a_key_does_while_what_was_asked_for_is_under_way(
    console: Open,
) -> None:
    core = ScriptedCore()
    async with console(core=core, play=nothing) as seat:
        await select(seat, "s1")
        await seat.until(lambda: "p pause" in last_line(seat), "what the key does")
        core.stop()
        seat.app.post_message(Key("p", "p"))
        await seat.until(lambda: "p resume" in last_line(seat), "what the key does now")
        seat.app.post_message(Key("p", "p"))
        await seat.until(lambda: "p pause" in last_line(seat), "what it does after the second")
        core.go_on()
        asked = [SessionPause(session_id="s1"), SessionResume(session_id="s1")]
        await seat.until(lambda: core.ops == asked, "the ops of both")
        await seat.until(lambda: seat.app.gate.is_idle, "the end of both")
        assert "p pause" in last_line(seat)


async def test_the_footer_changes_once_by_a_key(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    refresh = Screen._compositor_refresh

    def noted(screen: Screen[object]) -> None:
        if screen is screen.app.screen and (lines := screen.query("#footer")):
            told = "".join(text for text, _ in lines.first(ActionLine).parts)
            if [told] != drawn[-1:]:
                drawn.append(told)
        refresh(screen)

    async with console(core=ScriptedCore(), play=nothing, size=(120, 36)) as seat:
        await select(seat, "s1")
        monkeypatch.setattr(Screen, "_compositor_refresh", noted)
        seat.app.screen.refresh()
        await seat.until(lambda: drawn, "a picture")
        for key in ("space", "tab", "w", "escape", "enter", "i", "escape", "g", "space", "escape"):
            del drawn[:-1]
            await seat.press(key)
            await seat.until(lambda: seat.app.gate.is_idle, "the end of the key")
            assert len(drawn) <= 2, (key, drawn)


@pytest.mark.parametrize("size", SIZES)
async def test_a_notice_lies_neither_over_the_composer_nor_over_the_card(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        seat.deck.card.clock_s = lambda: 1e9
        await seat.press("exclamation_mark", "enter", *"both")
        for _ in range(2):
            seat.app.say("A notice that is as long as the name of a folder far away. " * 2)
        await seat.see("A notice that is")
        for told in ("There are two notebooks", "Home", "Work", "both"):
            await seat.see(told)


@pytest.mark.parametrize("where", list(actions.Where))
@pytest.mark.parametrize("width", [90, 46])
def test_keys_and_titles_have_columns_of_their_own_in_help(
    where: actions.Where, width: int
) -> None:
    keymap = Keymap()
    written = "".join(text for text, _ in help_text(where, width, keymap))
    for action in actions.on_screen(where):
        [line] = [
            line
            for line in written.split("\n")
            if line.startswith(f"  {keymap.names(action)} ") and f" {action.title}" in line
        ]
        after = line.partition(f" {action.title}")[2]
        assert not after or after.startswith("  "), line
    # The last line is a sentence, which the widget wraps.
    assert all(len(line) <= width for line in written.split("\n")[:-1])


async def test_the_count_of_what_waits_is_pressed_also_where_there_is_no_header(
    console: Open,
) -> None:
    async with console(size=(60, 20)) as seat:
        await seat.see("waiting")
        [line] = [line for line in seat.text().splitlines() if " waiting" in line][:1]
        await seat.pilot.click("#tabs", offset=(line.index(" waiting"), 0))
        await seat.until(lambda: seat.deck.places.is_at_card, "the card")
