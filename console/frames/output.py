"""How much the terminal has still to take, and how fast it takes it.

Counts beside Textual's writing thread, which holds up to thirty writes: whatever waits there is
what a key waits for. Invariants: the count is of characters and exact whenever nothing is being
written; while the console is suspended nothing is written at all, because another program has the
terminal and Textual's queue would fill and block the console for ever; what a terminal that takes
nothing has missed is drawn again, all of it, when it takes more.
"""

import time
from collections.abc import Callable
from typing import Any, TextIO, cast

from textual.driver import Driver

_MEASURED_CHARS = 2_048  # Less than this says nothing of how fast a terminal is.
_FASTEST = 50_000_000.0


class Backlog:
    """What is written and not yet taken.

    One thread adds and the writing thread takes; each changes a number of its own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._given = 0
        self._taken = 0
        self._buffered = 0
        self._since = 0
        self._since_s = 0.0
        self.rate = _FASTEST
        """Characters a second, as last seen while there was something to write."""

    @property
    def pending(self) -> int:
        """How many characters the terminal has not taken."""
        return self._given - self._taken

    def give(self, chars: int) -> None:
        """Note a write that was queued."""
        if not self.pending:
            self._since, self._since_s = self._given, self._clock()
        self._given += chars

    def buffer(self, chars: int) -> None:
        """Note a write that the writing thread has handed on."""
        self._buffered += chars

    def flush(self) -> None:
        """Note that all that was handed on has been taken."""
        self._taken = self._buffered
        written = self._taken - self._since
        if written >= _MEASURED_CHARS:
            took_s = max(self._clock() - self._since_s, 1e-6)
            self.rate = min(_FASTEST, 0.5 * self.rate + 0.5 * written / took_s)

    def forget(self) -> None:
        """Begin anew: another writing thread starts with nothing."""
        self._given = self._taken = self._buffered = 0


class _Counted:
    """A terminal's output that tells what it was given."""

    def __init__(self, file: TextIO, backlog: Backlog) -> None:
        self._file = file
        self._backlog = backlog

    def write(self, text: str) -> int:
        self._backlog.buffer(len(text))
        return self._file.write(text)

    def flush(self) -> None:
        self._file.flush()
        self._backlog.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def paced(driver: type[Driver]) -> type[Driver]:
    """Make a driver tell how much it has still to write, and write nothing while suspended."""

    class PacedDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.backlog: Backlog | None = None
            self.is_suspended = False
            self.owes_all = False
            file = getattr(self, "_file", None)
            if file is not None and hasattr(self, "_writer_thread"):
                self.backlog = Backlog()
                self._file = cast(TextIO, _Counted(file, self.backlog))

        def write(self, data: str) -> None:
            if self.is_suspended:
                return
            if getattr(self, "is_choked", False):
                # To wait here would be to stop the console, and with it the core.
                self.owes_all = True
                return
            if self.backlog is not None:
                self.backlog.give(len(data))
            super().write(data)

        def suspend_application_mode(self) -> None:
            super().suspend_application_mode()
            self.is_suspended = True

        def resume_application_mode(self) -> None:
            self.is_suspended = False
            if self.backlog is not None:
                self.backlog.forget()
            super().resume_application_mode()

    return PacedDriver


def owes_all(driver: Driver | None) -> bool:
    """Report, once, that a terminal that has missed output takes it again."""
    if not getattr(driver, "owes_all", False) or getattr(driver, "is_choked", False):
        return False
    driver.owes_all = False  # type: ignore[union-attr]
    return True


def backlog_of(driver: Driver | None) -> Backlog | None:
    """Return the backlog of a driver; None where it cannot be known."""
    found = getattr(driver, "backlog", None)
    return found if isinstance(found, Backlog) else None


def is_suspended(driver: Driver | None) -> bool:
    """Return whether another program has the terminal."""
    return driver is None or bool(getattr(driver, "is_suspended", False))
