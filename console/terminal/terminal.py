"""Write to the operator's terminal, also when it has gone or takes nothing.

Not a driver of its own: it changes one thing of Textual's. Invariants: a terminal that takes no
more output, such as that of an SSH client without a network, blocks neither the console, which may
hold the core, nor its end; what cannot be written is dropped.
"""

import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock
from time import monotonic
from typing import Any, TextIO, cast

from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread

from console.terminal.ascii_fallback import Ascii, has_unicode, own_locale
from console.terminal.short_styles import in_short_styles, keeps_ten

_LAST_WORDS_S = 1.0  # How long a console that ends waits for a terminal that takes nothing at all.
_SLOWEST_S = 10.0
"""How long it waits for one that goes on taking, which is to be given back as it was."""
_LOOK_S = 0.05
_LOOKS_TO_BE_SURE = 2  # The signal, where there is one, has come before the second look.


class _Lenient:
    """A terminal's output that swallows what a terminal refuses that has gone.

    It writes past Python's file, which would wait in the middle of a write for as long as the
    terminal likes.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._letters = None if has_unicode(own_locale()) else Ascii()
        self._has_short_styles = keeps_ten(os.environ)
        self._descriptor: int | None = None
        self._is_open = False
        self._ends_s: float | None = None
        self._taken_s = 0.0

    def write(self, text: str) -> int:
        if not self._is_open:
            # Anew after every suspension, which closes it.
            self._descriptor = _opened_again(self._file)
            self._is_open = True
        if self._letters is not None and not text.isascii():
            text = text.translate(self._letters)
        if self._has_short_styles:
            text = in_short_styles(text)
        if self._descriptor is not None:
            self._put(self._descriptor, text.encode(self._file.encoding or "utf-8", "replace"))
            return len(text)
        try:
            return self._file.write(text)
        except (OSError, ValueError):
            # Textual's writing thread would end, and the next writes would wait for it for ever.
            return len(text)

    def _put(self, descriptor: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(descriptor, left) :]
                self._taken_s = monotonic()
            except BlockingIOError:
                if self._has_waited_enough():
                    return
                with suppress(OSError):
                    select.select([], [descriptor], [], _LOOK_S)
            except OSError:
                return

    def flush(self) -> None:
        try:
            self._file.flush()
        except (OSError, ValueError):
            return

    def end(self) -> None:
        """Wait no longer than a moment for a terminal that takes nothing: the rest is dropped."""
        self._ends_s = monotonic()

    def _has_waited_enough(self) -> bool:
        if self._ends_s is None:
            return False
        now_s = monotonic()
        is_stuck = now_s - max(self._ends_s, self._taken_s) > _LAST_WORDS_S
        return is_stuck or now_s - self._ends_s > _SLOWEST_S

    def let_go(self) -> None:
        """Close what was opened here."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None
        self._is_open, self._ends_s = False, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _opened_again(file: TextIO) -> int | None:
    """Open a file's terminal once more, to write without waiting; None where that cannot be.

    The mode belongs to an opening: the one that the shell gave is also what keys are read from, and
    the shell's own after us.
    """
    try:
        name = os.ttyname(file.fileno())
        return os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None


def _leniently(write: Callable[[bytes | memoryview], int]) -> Callable[[bytes], int]:
    """Make a write to a pipe keep packets whole, and swallow what a closed one refuses.

    Textual draws in one thread and sends the parts of a file from another, and a pipe mixes two
    writes that are longer than PIPE_BUF (pipe(7)): the reader then waits for a packet that has no
    end.
    """
    turn = Lock()

    def written(data: bytes) -> int:
        rest = memoryview(data)
        with turn, suppress(OSError):
            while rest:
                rest = rest[write(rest) :]
        return len(data)

    return written


def drawn_on(file: TextIO) -> TextIO:
    """Return what the console is drawn on: stderr, as Textual does, or stdout if that alone shows.

    So that `switchboard 2>errors.txt` draws, and stdout is known to be a terminal by then.
    """
    out = sys.__stdout__
    is_led_away = not file.isatty() and out is not None and out.isatty()
    return out if is_led_away and out is not None else file


def lenient(driver: type[Driver]) -> type[Driver]:
    """Make a driver outlive its terminal, and wait for none."""

    class LenientDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._outlet: _Lenient | None = None
            self._hung_up_looks = 0
            file = getattr(self, "_file", None)
            if file is not None:
                file = drawn_on(file)
                self._outlet = _Lenient(file)
                self._file = cast(TextIO, self._outlet)
            # Textual's driver for a browser writes to its server's pipe by this.
            write = getattr(self, "_write", None)
            if callable(write):
                self._write = _leniently(write)

        def start_application_mode(self) -> None:
            if isinstance(stopping := getattr(self, "exit_event", None), Event):
                stopping.clear()
            super().start_application_mode()

        def _sigcont_application(self, *about: object) -> None:
            # A terminal that hangs up continues its processes too (POSIX, General Terminal
            # Interface). Textual would take it once more, with a thread that nobody ends.
            number = getattr(self, "fileno", None)
            if isinstance(number, int) and os.isatty(number):
                super()._sigcont_application(*about)

        def look_after(self) -> None:
            """Hang up where the terminal has gone and nothing said so; asked once a second.

            The kernel tells the process of which it is the controlling terminal (tty(4)), and no
            other: that would read the end of its input again and again.
            """
            self._hung_up_looks = self._hung_up_looks + 1 if self._has_hung_up() else 0
            if self._hung_up_looks == _LOOKS_TO_BE_SURE:
                if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
                    # As under nohup: without a terminal there is nothing to go on for.
                    signal.signal(signal.SIGHUP, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGHUP)

        def _has_hung_up(self) -> bool:
            number = getattr(self, "fileno", None)
            if self._outlet is None or not isinstance(number, int):
                return False
            look = select.poll()
            look.register(number, 0)
            return any(happened & select.POLLHUP for _, happened in look.poll(0))

        @property
        def is_choked(self) -> bool:
            """Whether the terminal has taken nothing for so long that no more can wait for it."""
            thread = getattr(self, "_writer_thread", None)
            return isinstance(thread, WriterThread) and thread._queue.full()

        def close(self) -> None:
            if isinstance(stopping := getattr(self, "exit_event", None), Event):
                # Whatever thread still reads, the end of the process would wait for it.
                stopping.set()
            if self._outlet is None:
                super().close()
                return
            # Textual waits for its writing thread, and that for the terminal.
            self._outlet.end()
            super().close()
            self._outlet.let_go()

    return LenientDriver


def look_after(driver: Driver | None) -> None:
    """Hang up if a driver of ours finds its terminal gone; others are left alone."""
    look: Callable[[], None] | None = getattr(driver, "look_after", None)
    if look is not None:
        look()
