"""The mouse on a real terminal: what it points at is pressed, dragged, scrolled and selected."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.console.terminal.test_pty import BOUND_S, Terminal
from widgets.base.row_places import SEEN_S

COLUMNS, ROWS = 140, 44
_OSC_52 = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)(?:\x07|\x1b\\)")


class Mouse:
    """A pointer on a terminal, in the sequences of xterm's SGR mode (ctlseqs, 1006)."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def _send(self, button: int, column: int, row: int, end: str = "M") -> None:
        self._terminal.press(f"\x1b[<{button};{column + 1};{row + 1}{end}".encode())

    def move(self, column: int, row: int) -> None:
        """Move without a button."""
        self._send(35, column, row)

    def click(self, column: int, row: int, *, modifiers: int = 0, times: int = 1) -> None:
        """Press and release, in one write, as a terminal tells a click."""
        place = f"{modifiers};{column + 1};{row + 1}"
        self._terminal.press(f"\x1b[<{place}M\x1b[<{place}m".encode() * times)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Press, move over two places and release."""
        self._send(0, *start)
        middle = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2)
        for place in (middle, end):
            self._send(32, *place)
        self._send(0, *end, end="m")

    def wheel(self, column: int, row: int, *, down: bool) -> None:
        self._send(65 if down else 64, column, row)


class Desktop:
    """The console with fifty sessions, and what is asked of its core."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.ops_file = home / "ops.json"
        self.home = home
        self.terminal = Terminal(
            COLUMNS,
            ROWS,
            home=str(home),
            seat="tests.console.seats.fifty_seat",
            argument=str(self.ops_file),
            TEXTUAL_ANIMATIONS="none",
            XDG_CONFIG_HOME=str(home / "config"),
            XDG_DATA_HOME=str(home / "data"),
            **environment,
        )
        self.mouse = Mouse(self.terminal)
        self.terminal.see("Sessions 50")
        self.terminal.see("Which Ben")
        self.rest()

    def rest(self) -> None:
        """Read until rows have stood long enough that a press is meant for what they show now."""
        seen, since = self.lines, time.monotonic()
        bound = since + BOUND_S
        while time.monotonic() - since < 2 * SEEN_S:
            assert time.monotonic() < bound, "\n".join(self.lines)
            self.terminal.read_for(0.1)
            if self.lines != seen:
                seen, since = self.lines, time.monotonic()

    @property
    def lines(self) -> list[str]:
        return self.terminal.lines

    def ops(self) -> list[dict[str, object]]:
        if not self.ops_file.exists():
            return []
        return [json.loads(line) for line in self.ops_file.read_text().splitlines()]

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Read until a condition holds."""
        bound = time.monotonic() + BOUND_S
        while not holds():
            assert time.monotonic() < bound, f"{what}\n" + "\n".join(self.lines)
            self.terminal.read_for(0.1)

    def place(self, text: str, *, first_row: int = 0) -> tuple[int, int]:
        """Find where a text stands: column and row, from 0."""
        self.until(lambda: any(text in line for line in self.lines[first_row:]), text)
        for row, line in enumerate(self.lines[first_row:], first_row):
            if text in line:
                return line.index(text), row
        raise AssertionError(text)

    def copied(self) -> list[str]:
        found = _OSC_52.findall(self.terminal.written)
        return [base64.b64decode(one).decode() for one in found]


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Desktop]:
    opened = Desktop(tmp_path)
    yield opened
    opened.terminal.close()


def test_tabs_and_the_keys_of_the_footer_are_pressed_and_underlined_under_the_pointer(
    desktop: Desktop,
) -> None:
    column, row = desktop.place("Jobs")
    desktop.mouse.move(column, row)
    cells = desktop.terminal.screen.buffer
    desktop.until(lambda: cells[row][column].underscore, "the tab under the pointer")
    assert not cells[row][column + 8].underscore
    desktop.mouse.click(column, row)
    desktop.terminal.see("watchers  commitments")
    desktop.mouse.click(*desktop.place("Deck"))
    desktop.terminal.see("Sessions 50")
    desktop.mouse.click(*desktop.place("p pause", first_row=ROWS - 1))
    desktop.until(lambda: desktop.ops(), "an op of the key")
    assert [op["type"] for op in desktop.ops()] == ["session_pause"]
    desktop.terminal.see("p resume")
    desktop.mouse.click(*desktop.place("n new", first_row=ROWS - 1))
    desktop.terminal.see("What should be done?")


@pytest.mark.slow
def test_an_option_of_a_card_is_answered_by_a_click_and_an_approval_by_two(
    desktop: Desktop,
) -> None:
    card = next(row for row, line in enumerate(desktop.lines) if "? Question" in line)
    # What has just come takes no press: that is over once it has stood on the screen.
    column, row = desktop.place("Ben Baker", first_row=card)
    desktop.mouse.click(column, row)
    desktop.until(lambda: desktop.ops(), "the answer")
    assert desktop.ops()[0]["answer"] == "Ben Baker"
    # The queue is one row shorter then: a row that is pressed before that is another.
    desktop.terminal.see("Waiting for you 14")
    desktop.rest()
    column, row = desktop.place("to Ana (s20)")
    desktop.mouse.click(column, row)
    desktop.terminal.see("May I do this? Send “On my way” to Ana (s20)")
    desktop.rest()
    card = next(row for row, line in enumerate(desktop.lines) if "◆ Approval" in line)
    approve = desktop.place(" 1  Approve", first_row=card)
    before = len(desktop.ops())
    desktop.mouse.click(approve[0] + 5, approve[1])
    desktop.terminal.see("Click again for “Approve”")
    assert len(desktop.ops()) == before
    desktop.mouse.click(approve[0] + 5, approve[1])
    desktop.until(lambda: len(desktop.ops()) > before, "the approval")
    assert desktop.ops()[before]["answer"] == "Approve"


@pytest.mark.slow
def test_an_option_in_the_queue_answers_the_row_under_the_cursor_and_no_other(
    desktop: Desktop,
) -> None:
    queue = next(row for row, line in enumerate(desktop.lines) if "Waiting for you 15" in line)
    desktop.mouse.click(*desktop.place("Pixel 12", first_row=queue))
    desktop.rest()
    option = desktop.place("2 Ben Baker", first_row=queue)
    other = desktop.place("1 Ben", first_row=queue)
    desktop.mouse.move(*option)
    cells = desktop.terminal.screen.buffer
    desktop.until(lambda: cells[option[1]][option[0]].underscore, "the option under the pointer")
    assert not cells[other[1]][other[0]].underscore
    desktop.mouse.move(*other)
    desktop.until(lambda: not cells[option[1]][option[0]].underscore, "the pointer elsewhere")
    desktop.mouse.click(*option)
    desktop.until(desktop.ops, "the answer")
    assert desktop.ops()[0]["answer"] == "Ben Baker"
    desktop.terminal.see("Waiting for you 14")
    # Another question is under the pointer now: the press of a hurried hand is not for it.
    desktop.mouse.click(*option)
    desktop.rest()
    assert len(desktop.ops()) == 1
    approval = desktop.place("to Ana (s20)", first_row=queue)
    desktop.mouse.click(*approval)
    desktop.rest()
    approve = desktop.place("1 Approve", first_row=approval[1])
    desktop.mouse.click(*approve)
    desktop.terminal.see("Click again for “Approve”")
    assert len(desktop.ops()) == 1
    desktop.mouse.click(*approve)
    desktop.until(lambda: len(desktop.ops()) == 2, "the approval")


@pytest.mark.slow
def test_a_border_is_dragged_and_stays_for_the_next_start(desktop: Desktop) -> None:
    border = desktop.lines[5].index("▏")
    desktop.mouse.drag((border, 5), (border + 12, 6))
    desktop.until(lambda: desktop.lines[5].index("▏") == border + 12, "the border moved")
    settings = desktop.home / "config" / "switchboard" / "config.toml"
    desktop.until(settings.exists, "the settings file")
    desktop.until(lambda: f"left_columns = {border + 12}" in settings.read_text(), "the width")
    desktop.terminal.close()
    again = Desktop(desktop.home)
    try:
        again.until(lambda: again.lines[5].index("▏") == border + 12, "the width again")
    finally:
        desktop.terminal = again.terminal


def test_text_of_a_transcript_is_selected_and_copied_by_osc_52(desktop: Desktop) -> None:
    column, row = desktop.place("Bluetooth is on now; the switch changed.")
    desktop.mouse.drag((column, row), (column + len("Bluetooth is on now") - 1, row))
    desktop.until(desktop.copied, "the clipboard")
    assert desktop.copied() == ["Bluetooth is on now"]
    top = desktop.place("The Bluetooth row is in view")
    desktop.mouse.drag(top, (column + len("Bluetooth") - 1, row))
    desktop.until(lambda: len(desktop.copied()) == 2, "the second text")
    lines = desktop.copied()[1].splitlines()
    assert lines[0].startswith("The Bluetooth row is in view and its switch is")
    assert lines[-1].strip() == "Bluetooth"
    # What is dragged then is a border, and the clipboard may have something else by now.
    border = desktop.lines[5].index("▏")
    desktop.mouse.drag((border, 5), (border + 6, 6))
    desktop.until(lambda: desktop.lines[5].index("▏") == border + 6, "the border moved")
    desktop.rest()
    assert len(desktop.copied()) == 2


def test_within_tmux_the_text_is_sent_to_tmux_and_past_it(tmp_path: Path) -> None:
    desktop = Desktop(tmp_path, TMUX="/tmp/tmux-0/default,1,0")
    try:
        column, row = desktop.place("Bluetooth is on now; the switch changed.")
        desktop.mouse.drag((column, row), (column + 9, row))
        desktop.until(desktop.copied, "the clipboard")
        plain = base64.b64encode(b"Bluetooth")
        assert b"\x1b]52;c;" + plain + b"\x07" in desktop.terminal.written
        wrapped = b"\x1bPtmux;\x1b\x1b]52;c;" + plain + b"\x07\x1b\\"
        desktop.until(lambda: wrapped in desktop.terminal.written, "the wrapped sequence")
    finally:
        desktop.terminal.close()


def test_the_wheel_scrolls_what_is_under_it_and_leaves_the_focus(desktop: Desktop) -> None:
    rows = [line[:40] for line in desktop.lines[2:10]]
    for _ in range(4):
        desktop.mouse.wheel(10, 5, down=True)
    desktop.until(lambda: [line[:40] for line in desktop.lines[2:10]] != rows, "other rows")
    for _ in range(4):
        desktop.mouse.wheel(10, 5, down=False)
    desktop.until(lambda: [line[:40] for line in desktop.lines[2:10]] == rows, "the rows again")
    assert desktop.ops() == []


@pytest.mark.slow
def test_a_click_selects_a_double_click_opens_and_ctrl_marks(desktop: Desktop) -> None:
    row = next(at for at, line in enumerate(desktop.lines) if at > 2 and "asks you" in line[:48])
    title = desktop.lines[row][:40]
    desktop.mouse.click(20, row, modifiers=16)
    desktop.until(lambda: "1 marked" in desktop.lines[1], "a mark")
    desktop.mouse.click(20, row + 2, modifiers=16)
    desktop.until(lambda: "2 marked" in desktop.lines[1], "another mark")
    desktop.terminal.press(b"\x1b")
    desktop.until(lambda: "marked" not in desktop.lines[1], "no mark")
    desktop.mouse.click(20, row)
    desktop.until(lambda: desktop.lines[row].startswith("▌"), f"the cursor on {title}")
    # A range begins at the row that was clicked before, marked or not.
    desktop.mouse.click(20, row + 3, modifiers=4)
    desktop.until(lambda: "4 marked" in desktop.lines[1], "a range")
    desktop.terminal.press(b"\x1b")
    desktop.until(lambda: "marked" not in desktop.lines[1], "no mark")
    desktop.mouse.click(20, row, times=2)
    # It asks: opening it goes to its card.
    desktop.terminal.see("choose")


@pytest.mark.slow
def test_a_press_beside_a_dialog_or_on_the_keys_at_its_foot_leaves_it(desktop: Desktop) -> None:
    for opener, title in (("? help", "Keys · "), ("^p palette", "─ Palette ")):
        for leaves in ("esc back", ""):
            desktop.mouse.click(*desktop.place(opener, first_row=ROWS - 1))
            desktop.terminal.see(title)
            desktop.rest()
            desktop.mouse.click(*(desktop.place(leaves) if leaves else (3, ROWS - 2)))
            desktop.until(lambda seen=title: seen not in "".join(desktop.lines), "no dialog")
    desktop.mouse.click(*desktop.place("^p palette", first_row=ROWS - 1))
    desktop.terminal.see("─ Palette ")
    desktop.terminal.press(b"jobs")
    desktop.terminal.see("The queue of scheduled work")
    desktop.mouse.click(*desktop.place("enter run"))
    desktop.terminal.see("watchers  commitments")
    assert desktop.ops() == []


def test_phones_without_room_on_the_deck_are_a_press_away(desktop: Desktop) -> None:
    for words in ("more on the Wall", "12 devices"):
        desktop.mouse.click(*desktop.place(words))
        desktop.terminal.see("12 phones")
        desktop.mouse.click(*desktop.place("Deck"))
        desktop.terminal.see("Sessions 50")


@pytest.mark.slow
def test_the_tape_of_a_replay_is_pressed_and_dragged(desktop: Desktop) -> None:
    desktop.terminal.press(b"R")
    desktop.terminal.see("event ")
    _, row = desktop.place("event ")

    def place() -> tuple[str, str]:
        return re.findall(r"event (\d+) of (\d+)", desktop.lines[row])[0]

    desktop.mouse.click(1, row - 1)
    desktop.until(lambda: place()[0] == "0", "the beginning")
    desktop.mouse.drag((1, row - 1), (COLUMNS - 1, row + 1))
    desktop.until(lambda: place()[0] == place()[1], "the end, drawn past it")
