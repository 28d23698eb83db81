"""The operator's editor on a real terminal: it has all of it, and the console has it back."""

import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.terminal.test_pty import BOUND_S, Terminal
from tests.console.terminal.test_stalled_terminal import count, wait_until

SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: print("HEARD CTRL+C", flush=True))
open(sys.argv[1], "w").write(sys.argv[-1])
print("EDITOR AT WORK", sys.argv[-1].rpartition("/")[2], flush=True)
while (line := sys.stdin.readline().strip()) != "leave":
    print("EDITOR READ", line, flush=True)
"""


@pytest.fixture
def ticks(tmp_path: Path) -> Path:
    return tmp_path / "ticks"


@pytest.fixture
def terminal(tmp_path: Path, ticks: Path) -> Iterator[Terminal]:
    script = tmp_path / "editor.py"
    script.write_text(SCRIPT, encoding="utf-8")
    opened = Terminal(
        140,
        44,
        controls=True,
        home=str(tmp_path),
        seat="tests.console.seats.editor_seat",
        argument=str(ticks),
        EDITOR=shlex.join([sys.executable, str(script), str(tmp_path / "path")]),
    )
    yield opened
    opened.close()


def test_the_editor_has_the_terminal_while_the_core_goes_on(
    terminal: Terminal, ticks: Path
) -> None:
    terminal.see("There are two notebooks")
    terminal.press(b"e")
    terminal.see("EDITOR AT WORK transcript.txt")
    before, so_far = count(ticks), len(terminal.written)
    wait_until(lambda: count(ticks) > before + 4, "the core going on")
    terminal.press(b"x1\r")
    terminal.see("EDITOR READ x1")
    # What is typed at the editor is no key of the console, and ctrl+c does not end it.
    terminal.press(b"\x03")
    terminal.see("HEARD CTRL+C")
    drawn = terminal.written[so_far:]
    assert b"\x1b[" not in drawn.replace(b"\x1b[?2026", b""), drawn[:400]
    terminal.press(b"leave\r")

    def is_drawn_over() -> bool:
        terminal.read_for(0.2)
        return "EDITOR" not in terminal.text

    wait_until(is_drawn_over, "the console having drawn over what the editor wrote")
    terminal.press(b"?")
    terminal.see("Keys · Deck")


def test_a_console_that_is_ended_takes_its_editor_along(terminal: Terminal, ticks: Path) -> None:
    terminal.see("There are two notebooks")
    terminal.press(b"e")
    terminal.see("EDITOR AT WORK")
    kept = Path(ticks.with_name("path").read_text("utf-8"))
    assert kept.exists()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(BOUND_S) == 143
    assert not kept.exists()


def test_ctrl_z_goes_to_the_shell_at_the_second_press_and_fg_comes_back(
    tmp_path: Path, ticks: Path
) -> None:
    shell = Terminal(
        140,
        44,
        controls=True,
        home=str(tmp_path),
        seat="tests.console.seats.shell_seat",
        PS1="SHELL> ",
    )
    try:
        shell.see("SHELL>")
        words = [sys.executable, "-m", "tests.console.seats.editor_seat", str(ticks)]
        shell.press(shlex.join(words).encode() + b"\r")
        shell.see("There are two notebooks")
        shell.press(b"\x1a")
        shell.see("^z again also suspends 2 sessions at work")
        shell.press(b"\x1a")
        shell.see("Stopped")
        stood = count(ticks)
        shell.press(b"echo A$((1+1))SHELL\r")
        shell.see("A2SHELL")
        assert count(ticks) == stood
        shell.press(b"fg\r")
        shell.see("There are two notebooks")
        wait_until(lambda: count(ticks) > stood, "the core going on")
        shell.press_until(b"?", "Keys · Deck")
        shell.press_until(b"\x1b", "Keys · Deck", is_seen=False)
        shell.press(b"\x11")
        shell.see("Leave")
        shell.press(b"\x11")
        shell.see("SHELL>")
    finally:
        shell.close()


def test_ctrl_z_stops_nothing_that_no_shell_would_continue(terminal: Terminal, ticks: Path) -> None:
    terminal.see("There are two notebooks")
    terminal.press(b"\x1a")
    terminal.see("No shell waits behind this console")
    stood = count(ticks)
    wait_until(lambda: count(ticks) > stood, "the core going on")
