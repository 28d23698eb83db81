"""What the direct route writes, replayed into a terminal: no cell is wrong, whatever lies over."""

from __future__ import annotations

import fcntl
import json
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
from pathlib import Path
from typing import Any

import pyte
import pytest

ROOT = Path(__file__).parent.parent.parent
COLUMNS, ROWS = 100, 26
BOUND_S = 60.0
SETTLED_S = 5.0
"""How long an order may go on to change the screen after it was answered."""
_STRANGE = re.compile(rb"\x1b\[[<>=?][0-9;]*[u$p]+")


class Stage:
    """The app of `frame_stage` on a pty, and the screen it has made."""

    def __init__(self, *words: str) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        orders, self._tell = os.pipe()
        self._hear, answers = os.pipe()
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.widgets.frame_stage", str(orders), str(answers), *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            pass_fds=(orders, answers),
            env={
                "PATH": os.environ["PATH"],
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "LANG": "C.UTF-8",
                "TEXTUAL_ANIMATIONS": "none",
            },
            start_new_session=True,
        )
        for end in (slave, orders, answers):
            os.close(end)
        self._heard = b""

    def do(self, order: str) -> dict[str, Any]:
        """Give an order; returns what should be seen once it is carried out and all is written."""
        os.write(self._tell, order.encode())
        until = time.monotonic() + BOUND_S
        while b"\n" not in self._heard:
            assert time.monotonic() < until, "\n".join(self.screen.display)
            ready, _, _ = select.select([self.master, self._hear], [], [], 1.0)
            if self.master in ready:
                self._feed()
            if self._hear in ready:
                self._heard += os.read(self._hear, 1 << 16)
        while select.select([self.master], [], [], 0.0)[0]:
            self._feed()
        line, _, self._heard = self._heard.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _feed(self) -> None:
        # pyte does not know the protocols of keyboards and modes that this asks for.
        self._stream.feed(_STRANGE.sub(b"", os.read(self.master, 1 << 16)))

    def wrong_cells(self, answer: dict[str, Any]) -> list[tuple[int, int]]:
        """List the cells that the terminal does not show as they should be."""
        wrong = []
        for row, cells in enumerate(answer["rows"]):
            for column, (letter, ink, paper) in enumerate(cells):
                shown = self.screen.buffer[row][column]
                same = shown.data == letter and _same(shown.bg, paper)
                if not same or (letter != " " and not _same(shown.fg, ink)):
                    wrong.append((row, column))
        return wrong

    def settle(self, order: str) -> tuple[dict[str, Any], list[tuple[int, int]]]:
        """Give an order; returns what should be seen and the cells that stay wrong.

        On a busy machine a dialog may come after the answer that it should be in. Asking again
        draws nothing, so what the route left wrong stays so.
        """
        answer = self.do(order)
        until = time.monotonic() + SETTLED_S
        while (wrong := self.wrong_cells(answer)) and time.monotonic() < until:
            answer = self.do(".")
        return answer, wrong

    def close(self) -> None:
        """End the app."""
        self.process.kill()
        self.process.wait()
        for end in (self.master, self._tell, self._hear):
            os.close(end)


def _same(shown: str, wanted: str | None) -> bool:
    return wanted is None or shown == wanted


@pytest.fixture
def stage() -> Iterator[Stage]:
    opened = Stage()
    yield opened
    opened.close()


def test_no_cell_is_wrong_under_overlays_dialogs_scrolling_and_batches(stage: Stage) -> None:
    shown = []
    for order in "fffoffofmffcffsffbftfnffbsoffot":
        answer, wrong = stage.settle(order)
        assert wrong == [], f"after {order!r}, the {len(shown)}th order"
        shown.append(answer["direct"])
    # The route was taken, and was left where something lay over the pictures.
    assert shown[2] > shown[1] > 0
    assert shown[-1] > shown[2]


def test_a_route_that_does_not_look_what_lies_over_it_is_found_out() -> None:
    stage = Stage("blind")
    try:
        left_wrong = [stage.settle(order)[1] for order in "fof"]
        assert left_wrong[-1]
    finally:
        stage.close()
