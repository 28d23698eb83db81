"""Nothing waits unseen: what reaches the terminal of an operator who looks elsewhere."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.terminal.title import has_title, title_words
from tests.console.terminal.test_pty import BOUND_S, Terminal

FOCUS_IN, FOCUS_OUT = b"\x1b[I", b"\x1b[O"
_NOTICE = re.compile(rb"\x1b\]9;([^\x1b\x07]*)\x1b\\")
_COMMAND = re.compile(rb"\x1b\][^\x1b\x07]*\x07")
"""What Textual writes that ends with BEL, as the shape of the mouse's pointer does."""
_TITLE = re.compile(rb"\x1b\]2;([^\x1b\x07]*)\x1b\\")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(100, 30, home=str(tmp_path), seat="tests.console.seats.attention_seat")
    yield opened
    opened.close()


def titles(terminal: Terminal) -> list[str]:
    return [title.decode() for title in _TITLE.findall(terminal.written)]


def see_title(terminal: Terminal, begin: str) -> None:
    until = time.monotonic() + BOUND_S
    while not any(title.startswith(begin) for title in titles(terminal)):
        assert terminal.process.poll() is None, terminal.written[-2_000:]
        assert time.monotonic() < until, titles(terminal)
        terminal.read_for(0.1)


def test_what_comes_while_nobody_looks_rings_once_is_told_once_and_counts_in_the_title(
    terminal: Terminal,
) -> None:
    see_title(terminal, "Switchboard")
    terminal.press(FOCUS_OUT)
    see_title(terminal, "(1) waiting for you")
    terminal.press(FOCUS_IN + FOCUS_OUT)
    # Both were called for before the title counted the second.
    see_title(terminal, "(2) waiting for you")
    told = _NOTICE.findall(terminal.written)
    assert len(told) == 2
    for words in [*told, *(title.encode() for title in titles(terminal))]:
        assert not re.search(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|owned|aG9z|\xe2\x80\xae", words)
    assert _COMMAND.sub(b"", terminal.written).count(b"\x07") == 2


def test_the_terminal_gets_its_own_title_back(terminal: Terminal) -> None:
    see_title(terminal, "Switchboard")
    terminal.press(b"\x11")
    until = time.monotonic() + BOUND_S
    while terminal.process.poll() is None and time.monotonic() < until:
        terminal.read_for(0.2)
    assert terminal.process.returncode == 0
    terminal.read_for(BOUND_S)
    assert titles(terminal)[-1] == ""
    kept, given_back = terminal.written.find(b"\x1b[22;2t"), terminal.written.rfind(b"\x1b[23;2t")
    assert 0 <= kept < terminal.written.find(b"\x1b]2;") < given_back


@pytest.mark.parametrize(
    ("name", "has"),
    [("xterm", True), ("tmux-256color", True), ("linux", False), ("vt100", False), ("", False)],
)
def test_a_title_is_written_only_where_it_is_one(name: str, has: bool) -> None:
    assert has_title({"TERM": name}) is has


def test_a_title_says_first_what_waits() -> None:
    assert title_words("Switchboard", "", 0, 0) == "Switchboard"
    assert title_words("Switchboard", "demo", 2, 1) == (
        "(2) waiting for you · 1 to read · Switchboard demo"
    )
