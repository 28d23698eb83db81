"""A terminal that is there and takes nothing, as when an SSH client loses its network."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console.seats.stalling_seat import FLOOD, LAST
from tests.console.terminal.test_pty import BOUND_S, Terminal


@pytest.fixture
def ticks(tmp_path: Path) -> Path:
    return tmp_path / "ticks"


def opened(ticks: Path) -> Terminal:
    return Terminal(
        140,
        44,
        home=str(ticks.parent),
        seat="tests.console.seats.stalling_seat",
        argument=str(ticks),
    )


def count(ticks: Path) -> int:
    text = ticks.read_text(encoding="ascii") if ticks.exists() else ""
    return int(text or 0)


def wait_until(true: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + BOUND_S
    while not true():
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(0.02)


@pytest.mark.slow
def test_the_console_goes_on_while_its_terminal_takes_nothing_and_is_drawn_whole_after(
    ticks: Path,
) -> None:
    terminal = opened(ticks)
    try:
        terminal.see("tick")
        wait_until(lambda: count(ticks) > FLOOD + 50, "the console going on")
        terminal.see(LAST)
        terminal.see("asks:")
    finally:
        terminal.close()


@pytest.mark.slow
def test_a_console_ends_on_a_terminal_that_takes_nothing(ticks: Path) -> None:
    terminal = opened(ticks)
    try:
        terminal.see("tick")
        wait_until(lambda: count(ticks) > FLOOD, "the terminal being full")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(BOUND_S) == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("start", [signal.SIG_DFL, signal.SIG_IGN], ids=["", "nohup"])
def test_a_console_ends_whose_terminal_goes_without_a_signal(
    ticks: Path, start: signal.Handlers
) -> None:
    # A pty that is nobody's controlling terminal: the kernel has no one to tell. What is ignored
    # here is ignored in the console too.
    before = signal.signal(signal.SIGHUP, start)
    try:
        terminal = opened(ticks)
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        terminal.see("tick")
        os.close(terminal.master)
        assert terminal.process.wait(BOUND_S) == -signal.SIGHUP
    finally:
        terminal.master = os.open(os.devnull, os.O_RDWR)
        terminal.close()
