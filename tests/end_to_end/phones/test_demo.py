"""`switchboard demo` in a real terminal: what somebody sees who has just cloned the project."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator

import pyte
import pytest

from tests.end_to_end.harness import (
    BOUND_S,
    SWITCHBOARD,
    Workshop,
    children_of,
    is_alive,
    wait_until,
)

COLUMNS, LINES = 160, 50
CTRL_Q = b"\x11"


class Terminal:
    """A command in a terminal of its own, and what is on its screen."""

    def __init__(self, workshop: Workshop, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [*SWITCHBOARD, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**workshop.environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._text = ""

    def text(self) -> str:
        # BlockingIOError: nothing has; EIO: the other end is closed.
        with contextlib.suppress(OSError):
            while data := os.read(self._ours, 65_536):
                self.raw += data
                self._stream.feed(data)
                self._text = ""
        # pyte takes long to tell it, and it is asked fifty times a second.
        self._text = self._text or "\n".join(self._screen.display)
        return self._text

    def wait_for(self, words: str, bound_s: float = BOUND_S) -> None:
        """Wait until words are on the screen."""
        try:
            wait_until(lambda: words in self.text(), f"{words!r} on the screen", bound_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}") from None

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def ended(self) -> bool:
        """Return whether it has ended; a terminal has to be read until then."""
        self.text()
        return self.process.poll() is not None

    def wait(self, bound_s: float = BOUND_S) -> int:
        """Wait until it has ended; returns the exit code."""
        try:
            wait_until(self.ended, "it has ended", bound_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}") from None
        return self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            # In order if it can: a killed one leaves its adb server for the next start to find.
            self.process.terminate()
            with contextlib.suppress(AssertionError):
                wait_until(self.ended, "it has ended", 10)
            self.process.kill()
            self.process.wait()
        os.close(self._ours)


@pytest.fixture
def demo(workshop: Workshop) -> Iterator[Terminal]:
    terminal = Terminal(workshop, "demo")
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.mark.slow
def test_the_demo_shows_a_tree_a_frame_a_question_and_a_job_and_leaves_cleanly(
    demo: Terminal, workshop: Workshop
) -> None:
    demo.wait_for("Get both phones ready")
    demo.wait_for("turn on Bluetooth")
    demo.wait_for("tell Ben")
    demo.wait_for("Which one?")
    demo.wait_for("▀▀▀▀▀▀▀▀▀▀")
    owned = Workshop(workshop.data / "demo", workshop.environment)
    (job,) = owned.call("jobs", "list", "--json").json["data"]
    assert job["status"] == "active"
    sessions = owned.call("sessions", "list", "--json").json["data"]
    assert sorted(s["kind"] for s in sessions) == [
        "agent_parent",
        "genie_child",
        "genie_child",
        "home_session",
    ]
    demo.press(b"3")
    demo.wait_for(job["title"])
    started = children_of(demo.process.pid)
    assert started
    demo.press(CTRL_Q)
    # It may first ask, as sessions are at work; the same key says that it is meant.
    with contextlib.suppress(AssertionError):
        wait_until(demo.ended, "it has left at once", 3)
    if not demo.ended():
        demo.press(CTRL_Q)
    assert demo.wait() == 0, demo.text()
    assert b"\x1b[?1049l" in demo.raw, "the terminal's own screen is back"
    assert "Traceback" not in demo.raw.decode(errors="replace")
    wait_until(lambda: not any(map(is_alive, started)), "its children have ended")


@pytest.mark.slow
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_closes_the_console_in_order(
    demo: Terminal, signum: signal.Signals, code: int
) -> None:
    demo.wait_for("Get both phones ready")
    started = children_of(demo.process.pid)
    demo.process.send_signal(signum)
    assert demo.wait() == code, demo.text()
    assert b"\x1b[?1049l" in demo.raw, "the terminal's own screen is back"
    wait_until(lambda: not any(map(is_alive, started)), "its children have ended")


def reopened(workshop: Workshop, before: Terminal) -> Terminal:
    """Kill a demo as a crash would, and open it again."""
    before.process.kill()
    before.process.wait()
    return Terminal(workshop, "demo")


def stored(workshop: Workshop) -> tuple[list[str], int]:
    """Return the ids of all sessions of the open demo, and how many jobs it has."""
    owned = Workshop(workshop.data / "demo", workshop.environment)
    sessions = owned.call("sessions", "list", "--json").json["data"]
    jobs = owned.call("jobs", "list", "--json").json["data"]
    return sorted(one["sessionId"] for one in sessions), len(jobs)


@pytest.mark.slow
def test_a_demo_that_was_killed_resumes_with_its_sessions_its_question_and_its_phones(
    workshop: Workshop,
) -> None:
    demo = Terminal(workshop, "demo")
    try:
        demo.wait_for("Which one?")
        before = stored(workshop)
        ports = (workshop.data / "demo/phones/ports.json").read_bytes()
        demo = reopened(workshop, demo)
        demo.wait_for("Which one?")
        assert stored(workshop) == before
        assert (workshop.data / "demo/phones/ports.json").read_bytes() == ports
        # An answer resumes the work behind the question, up to the approval.
        owned = Workshop(workshop.data / "demo", workshop.environment)
        owned.let_scripts_approve()
        owned.call("sessions", "answer", asking(owned), "1")
        demo.wait_for("Send to Ben Carter")
        demo = reopened(workshop, demo)
        demo.wait_for("Send to Ben Carter")
        assert stored(workshop) == before
    finally:
        demo.close()


def asking(owned: Workshop) -> str:
    sessions = owned.call("sessions", "list", "--json").json["data"]
    found: str = next(one["sessionId"] for one in sessions if one["goal"].startswith("tell Ben"))
    return found


@pytest.mark.slow
def test_a_demo_that_was_killed_while_it_began_is_completed_and_nothing_is_begun_twice(
    workshop: Workshop,
) -> None:
    demo = Terminal(workshop, "demo")
    try:
        for _ in range(2):
            phones = workshop.data / "demo/phones/ports.json"
            wait_until(phones.exists, "its phones start")
            demo = reopened(workshop, demo)
        demo.wait_for("Which one?")
        sessions, jobs = stored(workshop)
        assert (len(sessions), jobs) == (4, 1)
    finally:
        demo.close()


@pytest.mark.slow
def test_an_open_demo_is_not_deleted_under_its_console(workshop: Workshop) -> None:
    demo = Terminal(workshop, "demo")
    other = None
    try:
        demo.wait_for("Get both phones ready")
        before = stored(workshop)
        other = Terminal(workshop, "demo", "--fresh")
        other.wait_for("A demo is already running in process")
        assert other.wait() == 2
        assert stored(workshop) == before
    finally:
        if other is not None:
            other.close()
        demo.close()
