"""A terminal that has gone takes no console with it."""

from __future__ import annotations

import os
from typing import Any

from textual.driver import Driver

from console.terminal import lenient


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
        driver = lenient(_Writes)(terminal)  # type: ignore[call-arg]
        driver.write("there")
        assert os.read(master, 100) == b"there"
        os.close(master)
        driver.write("gone")
        driver.write("still gone")
        # What is left in the buffer has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), terminal.fileno())
