"""A terminal that has gone takes no console with it."""

import os
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.driver import Driver

from console.terminal.terminal import drawn_on, lenient


class _Writes(Driver):
    """A driver whose output is a terminal's."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, data: str) -> None:
        self._file.write(data)
        self._file.flush()

    def start_application_mode(self) -> None: ...
    def disable_input(self) -> None: ...
    def stop_application_mode(self) -> None: ...


def test_writing_to_a_terminal_that_has_gone_is_dropped_and_raises_nothing() -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        made: Any = lenient(_Writes)
        driver = made(terminal)
        driver.write("there")
        assert os.read(master, 100) == b"there"
        os.close(master)
        driver.write("gone")
        driver.write("still gone")
        # What is left in the buffer has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), terminal.fileno())


def test_a_console_whose_errors_go_to_a_file_is_drawn_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal, (tmp_path / "errors").open("w") as errors:
        monkeypatch.setattr(sys, "__stdout__", terminal)
        assert drawn_on(errors) is terminal
        monkeypatch.setattr(sys, "__stdout__", errors)
        assert drawn_on(terminal) is terminal
        assert drawn_on(errors) is errors, "a test has no terminal at all"
    os.close(master)


class _Continues(_Writes):
    """A driver that begins anew when its process is continued, as Textual's does."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.fileno = file.fileno()
        self.exit_event = Event()
        self._writer_thread = None
        self.begun = 0

    def _sigcont_application(self, *_: object) -> None:
        self.begun += 1

    def close(self) -> None: ...


def test_a_terminal_that_has_gone_is_not_taken_again_and_nobody_goes_on_reading_it() -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        made: Any = lenient(_Continues)
        driver = made(terminal)
        driver._sigcont_application()
        assert driver.begun == 1
        os.close(master)
        driver._sigcont_application()
        assert driver.begun == 1
        driver.close()
        assert driver.exit_event.is_set()
        # A suspension closes it too, and what comes after that is read again.
        driver.start_application_mode()
        assert not driver.exit_event.is_set()
        os.dup2(os.open(os.devnull, os.O_WRONLY), terminal.fileno())
