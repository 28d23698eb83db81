"""The demo in a real tmux, driven by keys alone: what an operator over SSH does in ten minutes."""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.harness import BOUND_S, SWITCHBOARD, Workshop, wait_until

TMUX = shutil.which("tmux") or ""
PATIENCE_S = 5.0
"""A key is pressed again after so long: a card that just appeared takes none (docs/sessions.md)."""

pytestmark = pytest.mark.skipif(
    not TMUX and "SWITCHBOARD_NEEDS_ALL" not in os.environ,
    reason="needs tmux, which this machine does not have",
)


class Tmux:
    """A tmux server of the test's own with one window, in which a command runs."""

    def __init__(self, workshop: Workshop, folder: Path, columns: int, rows: int) -> None:
        # Short, as a socket's path must be.
        self._home = tempfile.TemporaryDirectory(prefix="tmux", dir="/tmp")
        self._socket = f"{self._home.name}/socket"
        self._environment = {**workshop.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._ended = folder / "ended"
        words = shlex.join([*SWITCHBOARD, "demo"])
        self._tmux(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            str(columns),
            "-y",
            str(rows),
            f"{words}; echo $? > {shlex.quote(str(self._ended))}; sleep {BOUND_S:g}",
        )

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            [TMUX, "-u", "-S", self._socket, *words],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=True,
        )
        return done.stdout

    def screen(self) -> str:
        """Read what is on the screen, as somebody who looks at it would."""
        return self._tmux("capture-pane", "-p")

    def see(self, *words: str) -> None:
        """Wait until all the words are on the screen."""
        try:
            wait_until(lambda: all(word in self.screen() for word in words), repr(words), BOUND_S)
        except AssertionError:
            raise AssertionError(f"{words} did not come\n{self.screen()}") from None

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press_until(self, key: str, *words: str) -> None:
        """Press a key until it takes effect, as somebody does before a card that just appeared.

        A key that is on its way is waited for: with the one after it, Escape would be another key.
        """
        deadline = time.monotonic() + BOUND_S
        while not self._comes(words):
            assert time.monotonic() < deadline, f"{key}: {words} did not come\n{self.screen()}"
            self.press(key)

    def _comes(self, words: tuple[str, ...]) -> bool:
        try:
            wait_until(lambda: all(word in self.screen() for word in words), "", PATIENCE_S)
        except AssertionError:
            return False
        return True

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def exit_code(self) -> int | None:
        """What the command ended with; None while it runs."""
        text = self._ended.read_text(encoding="utf-8") if self._ended.exists() else ""
        return int(text) if text.strip() else None

    def end(self) -> None:
        subprocess.run([TMUX, "-S", self._socket, "kill-server"], capture_output=True, check=False)
        self._home.cleanup()


@pytest.fixture
def tmux(workshop: Workshop, tmp_path: Path) -> Iterator[Tmux]:
    opened = Tmux(workshop, tmp_path, 160, 50)
    yield opened
    opened.end()


@pytest.mark.slow
def test_an_operator_in_tmux_answers_approves_steers_drives_stops_and_replays(tmux: Tmux) -> None:
    tmux.see("There are 2 conversations", "9:")
    for columns, rows in ((60, 20), (100, 30), (160, 50)):
        tmux.resize(columns, rows)
        tmux.see("tell Ben")

    # The question, then what cannot be undone: each is answered with one key.
    tmux.press_until("!", "1-2 choose")
    tmux.press_until("1", "The operator answers: Ben Carter")
    tmux.see("Send SMS", "approve")
    tmux.press_until("a", "you: Approve")
    tmux.see("The conversation with Ben", "✓ Get both phones", "Nothing is waiting for you")

    # A hint for one at work: it is held first, so that it cannot end while the hint is written.
    tmux.press("n")
    tmux.see("What should be done")
    tmux.type(", then ".join(f"open {app}" for app in ("Contacts", "Notes", "Settings") * 3))
    tmux.press("Enter")
    tmux.see("steer ▸")
    tmux.press("p")
    tmux.see("paused")
    tmux.press("i")
    tmux.type("no hurry")
    tmux.press("Enter")
    tmux.see("you no hurry", "waits for the next step")
    tmux.press("p")
    tmux.see("applied at step")

    # One that asks is held, and the wheel of its phone is taken.
    tmux.press("n")
    tmux.see("What should be done")
    tmux.type('tell Ben "see you"')
    tmux.press("Enter")
    tmux.see('? tell Ben "see you"', "9:")
    tmux.press("p")
    tmux.see("Paused by the operator")
    tmux.press("w")
    tmux.see("You drive")
    tmux.press("F3")
    tmux.see("pressed HOME")
    tmux.press("Escape")
    tmux.see("hand back ▸")
    tmux.press("Enter")
    tmux.see("handed the wheel back")

    # A half-typed answer outlives a change of size; stop-all works over it, and ends nothing.
    tmux.press("i")
    tmux.type("half an ans")
    tmux.see("half an ans")
    tmux.resize(100, 30)
    tmux.see("half an ans")
    tmux.press("C-x")
    tmux.see("it can be resumed")
    tmux.resize(160, 50)
    tmux.press_until("Escape", "n new", "stopped")

    tmux.press("R")
    tmux.see("event", "space play")
    tmux.resize(60, 20)
    tmux.see("space play")
    tmux.press("Escape")
    tmux.resize(160, 50)
    tmux.see("Devices", "new")

    tmux.press("C-q")
    wait_until(lambda: tmux.exit_code is not None, "the end", BOUND_S)
    assert tmux.exit_code == 0
