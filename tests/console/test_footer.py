"""The last line, help and notices: what is always said, at every size, and what they leave free."""

from __future__ import annotations

import pytest

from console.keys import actions
from console.keys.keymap import Keymap
from console.screens.dialogs.help import help_text
from tests.console.conftest import Open, Seat

SIZES = [(160, 50), (100, 30), (60, 20)]


def last_line(seat: Seat) -> str:
    return seat.text().splitlines()[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_way_to_every_key_is_in_the_footer_at_every_size(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        await seat.until(lambda: "^x stop all" in last_line(seat), "the footer")
        assert "? help" in last_line(seat)
        assert ("^p palette" in last_line(seat)) == (size[0] >= 100)
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
