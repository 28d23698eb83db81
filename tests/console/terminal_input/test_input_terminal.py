"""The gate on a real terminal: bytes through the console's driver, and consoles that break."""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.terminal.test_pty import BOUND_S, ROOT, Terminal
from tests.console.terminal_input.sent import ALL, OTHERS, REPLIES, SILENT_KEYS

SYNCHRONISES = "TerminalSupportsSynchronizedOutput"
MARK, MARKED = b"\x1b[57398u", "f35"
ASK, END = b"\x1b[57396u", b"\x1b[57397u"  # f33 and f34, at which the seat does so.
ASKED, IT_IS = b"\x1b[c", b"\x1b[?62;22c"


class Seat:
    """An app on a pty that tells what comes in."""

    def __init__(self) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._told, tell = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.console.seats.input_seat", str(tell)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            pass_fds=(tell,),
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        self._slave = slave
        os.close(tell)
        self._lines = b""
        self.written = b""
        assert self.next_one() == "ready"

    def next_one(self) -> str:
        """Return what is told next; what is drawn meanwhile is taken and not looked at."""
        until = time.monotonic() + BOUND_S
        while b"\n" not in self._lines:
            assert time.monotonic() < until and self.process.poll() is None
            for one in select.select([self.master, self._told], [], [], 0.2)[0]:
                if one == self._told:
                    self._lines += os.read(one, 65_536)
                else:
                    self.written += os.read(one, 65_536)
        line, _, self._lines = self._lines.partition(b"\n")
        return str(json.loads(line))

    def means(self, *pieces: bytes) -> list[str]:
        """Return the events of pieces, by a key that is pressed after them.

        Without the releases of a button that Textual adds where a terminal sent none.
        """
        for piece in (*pieces, MARK):
            os.write(self.master, piece)
        found = []
        while (name := self.next_one()) != MARKED:
            found.append(name)
        return [one for one in found if one != "MouseUp"]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)
        os.close(self._told)

    def see_written(self, what: bytes, times: int) -> None:
        """Read until the app has written something so often."""
        until = time.monotonic() + BOUND_S
        while self.written.count(what) < times:
            assert time.monotonic() < until, self.written
            if select.select([self.master], [], [], 0.2)[0]:
                self.written += os.read(self.master, 65_536)

    def left_for_the_shell(self) -> bytes:
        """Return what was typed into the terminal that nobody has read."""
        tty.setraw(self._slave, termios.TCSANOW)
        return os.read(self._slave, 65_536) if select.select([self._slave], [], [], 0)[0] else b""


@pytest.fixture(scope="module")
def seat() -> Iterator[Seat]:
    opened = Seat()
    yield opened
    opened.close()


def test_what_terminals_send_means_the_same_on_a_terminal(seat: Seat) -> None:
    wrong = []
    for sent in ALL:
        expected = [one for one in sent.means if one not in ("MouseUp", SYNCHRONISES)]
        for pieces in ((sent.raw,), *torn(sent.raw)):
            if (found := seat.means(*pieces)) != expected:
                wrong.append((pieces, found))
        if (found := seat.means(sent.raw, sent.raw)) != expected * 2:
            wrong.append(((sent.raw, sent.raw), found))
    assert not wrong


def test_an_answer_that_is_late_is_not_left_for_the_shell() -> None:
    seat = Seat()
    try:
        os.write(seat.master, ASK)
        seat.see_written(ASKED, 1)
        os.write(seat.master, IT_IS + ASK + END)
        seat.see_written(ASKED, 3)
        os.write(seat.master, IT_IS)
        with pytest.raises(subprocess.TimeoutExpired):
            seat.process.wait(0.5)
        os.write(seat.master, IT_IS)
        assert seat.process.wait(BOUND_S) == 0
        assert seat.left_for_the_shell() == b""
    finally:
        seat.close()


def torn(raw: bytes) -> list[tuple[bytes, ...]]:
    half = len(raw) // 2
    return [(raw[:half], raw[half:])] if half else []


def ended(terminal: Terminal) -> int:
    """Wait until a program has ended; returns its status."""
    until = time.monotonic() + BOUND_S
    while terminal.process.poll() is None:
        assert time.monotonic() < until
        terminal.read_for(0.2)
    terminal.read_for(BOUND_S)
    return int(terminal.process.returncode)


def is_clean(written: bytes) -> bool:
    """Return whether each mode that was set was reset after it, by what was written last."""
    modes = (1000, 1003, 1006, 1049, 1004, 2004)
    resets = all(
        written.rfind(b"\x1b[?%dl" % mode) > written.rfind(b"\x1b[?%dh" % mode) for mode in modes
    )
    popped = written.rfind(b"\x1b[<u") > written.rfind(b"\x1b[>25u")
    cursor = written.rfind(b"\x1b[?25h") > written.rfind(b"\x1b[?25l")
    return resets and popped and cursor


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def opened(home: Path, kind: str) -> Terminal:
    return Terminal(
        100, 30, home=str(home), seat="tests.console.seats.breaking_seat", argument=kind
    )


def test_the_release_of_the_key_that_started_it_does_nothing(home: Path) -> None:
    terminal = opened(home, "none")
    try:
        terminal.press(b"\x1b[13;1:3u")
        terminal.see("1 Deck")
        for sent in (*REPLIES, *SILENT_KEYS, *(one for one in OTHERS if not one.means)):
            os.write(terminal.master, sent.raw)
        terminal.press_until(b"?", "Keys · Deck")
        terminal.press_until(b"\x1b[27u", "Keys · Deck", is_seen=False)
        terminal.press(b"\x1b[113;5u")
        assert ended(terminal) == 0
        assert is_clean(terminal.written)
    finally:
        terminal.close()


@pytest.mark.parametrize("kind", ["input", "cutting"])
def test_an_error_in_what_a_key_means_is_said_and_the_next_key_counts(
    home: Path, kind: str
) -> None:
    terminal = opened(home, kind)
    try:
        terminal.see("1 Deck")
        terminal.press_until(b"z", "reading the terminal")
        terminal.press_until(b"?", "Keys · Deck")
        terminal.press(b"\x11\x11")
        assert ended(terminal) == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("kind", ["drawing", "thread", "leaving", "insist"])
def test_a_console_that_must_end_by_an_error_leaves_the_terminal_clean(
    home: Path, kind: str
) -> None:
    terminal = opened(home, kind)
    try:
        if kind in ("leaving", "insist"):
            terminal.see("1 Deck")
            (home / "drawn").touch()
            terminal.press(b"\x11")
        assert ended(terminal) not in (0, None)
        assert is_clean(terminal.written)
    finally:
        terminal.close()


def test_a_console_that_cannot_be_drawn_at_all_says_so(home: Path) -> None:
    terminal = opened(home, "style")
    try:
        assert ended(terminal) == 1
        assert "style.tcss" in terminal.text
    finally:
        terminal.close()
