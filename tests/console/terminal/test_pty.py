"""The console on a real terminal: what bytes reach it when phone and model are hostile."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyte
import pytest

ROOT = Path(__file__).parent.parent.parent.parent
BOUND_S = 90.0
PATIENCE_S = 5.0  # A key is pressed again after so long.


class Terminal:
    """A program on a pty; everything it wrote, and the screen it made.

    With `controls` the pty is its controlling terminal, so that ctrl+c becomes a signal where the
    program lets it.
    """

    def __init__(
        self, columns: int, rows: int, *, controls: bool = False, **environment: str
    ) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.master = master
        self.written = b""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._lines: list[str] | None = None
        seat = environment.pop("seat", "tests.console.seats.hostile_seat")
        self.process = subprocess.Popen(
            [sys.executable, "-m", seat, environment.pop("argument", "")],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": environment.pop("home"),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                **environment,
            },
            start_new_session=not controls,
            preexec_fn=partial(os.login_tty, slave) if controls else None,
        )
        os.close(slave)

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, kept until more comes: pyte takes long to tell them."""
        if self._lines is None:
            self._lines = self.screen.display
        return self._lines

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def read_for(self, seconds: float) -> None:
        """Take what comes within a time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    data = os.read(self.master, 65_536)
                except OSError:
                    return
                self.written += data
                self._lines = None
                # pyte knows neither kitty's keyboard protocol nor its answers.
                self._stream.feed(re.sub(rb"\x1b\[[<>=?][0-9;]*u", b"", data))

    def see(self, text: str) -> None:
        """Read until a text is on the screen."""
        until = time.monotonic() + BOUND_S
        while text not in self.text:
            assert self.process.poll() is None, self.written[-2_000:]
            assert time.monotonic() < until, self.text
            self.read_for(0.2)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)
        self.read_for(0.3)

    def press_until(self, keys: bytes, text: str, *, is_seen: bool = True) -> None:
        """Type, and again if need be: a card that just appeared takes no key."""
        until = time.monotonic() + BOUND_S
        while True:
            self.press(keys)
            again = time.monotonic() + PATIENCE_S
            while time.monotonic() < again:
                if (text in self.text) is is_seen:
                    return
                assert self.process.poll() is None, self.written[-2_000:]
                self.read_for(0.2)
            assert time.monotonic() < until, self.text

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(140, 44, home=str(tmp_path), COLORTERM="truecolor")
    yield opened
    opened.close()


@pytest.mark.slow
def test_nothing_hostile_reaches_the_terminal(terminal: Terminal) -> None:
    terminal.see("LBL[@click=app.exit(9)]")
    terminal.see("asks:")
    for keys in (b"\t", b"\t", b"k", b" ", b"k", b" ", b"\t", b"#", b"3", b"1"):
        terminal.press(keys)
    terminal.press_until(b"R", "space play")
    terminal.press(b"\x1b[D")
    terminal.press_until(b"\x1b", "space play", is_seen=False)
    terminal.press_until(b"?", "Keys · Deck")
    terminal.press_until(b"\x1b", "Keys · Deck", is_seen=False)
    assert terminal.process.poll() is None, "markup was run"
    written = terminal.written
    text = written.decode("utf-8", "replace")
    for banned in ("\x1b]52", "aG9zdGlsZQ", "owned", "\u202e", "\u2066", "\u200f", "\x9b", "\x9d"):
        assert banned not in text, f"{banned!r} reached the terminal"
    assert b"\x1b[3J" not in written
    assert b"\x1bc" not in written
    # A label of 100 kB is cut, not sent again and again.
    assert len(re.findall(rb"A{2000,}", written)) == 0


def test_without_colour_no_colour_is_sent_and_states_still_read(tmp_path: Path) -> None:
    opened = Terminal(140, 44, home=str(tmp_path), NO_COLOR="1", TEXTUAL_ANIMATIONS="none")
    try:
        opened.see("asks you")
        opened.see("Waiting for you 1")
        opened.read_for(1.0)
        assert not re.search(rb"\x1b\[[0-9;]*(38|48);[25];[0-9;]*m", opened.written)
        assert not re.search(rb"\x1b\[(3|4)[0-7](;[0-9]+)*m", opened.written)
    finally:
        opened.close()


def test_leaving_gives_the_terminal_back(terminal: Terminal) -> None:
    terminal.see("asks:")
    terminal.press(b"\x11")
    until = time.monotonic() + BOUND_S
    while terminal.process.poll() is None and time.monotonic() < until:
        terminal.read_for(0.2)
    assert terminal.process.returncode == 0
    # What it wrote last before it ended; the reading ends with it.
    terminal.read_for(BOUND_S)
    assert b"\x1b[?1049l" in terminal.written
    assert b"\x1b[?25h" in terminal.written
