"""Signals of a command: the first one asks it to end in order, the next ones insist.

Invariants: after SIGINT, SIGTERM or SIGHUP every `finally` of the command runs, so the store, the
phones it started and the socket are closed; only a third signal ends the process on the spot; what
is typed at another program that was lent the keyboard ends nothing here.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from console.cli_support.exits import CommandEnd, ExitCode
from console.terminal.last_resort import give_back_all

CODES = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HANGUP,
}


_lent: list[None] = []  # One entry while another program has the keyboard.


@contextmanager
def keyboard_lent() -> Iterator[None]:
    """Leave ctrl+c and ctrl+\\ to another program on this terminal, as git does for its editor.

    The terminal sends both signals to every process in the foreground. They are taken by handlers
    and not ignored: what is ignored stays ignored in the program that is started.
    """
    quit_before = signal.signal(signal.SIGQUIT, lambda *_: None)
    _lent.append(None)
    try:
        yield
    finally:
        _lent.pop()
        signal.signal(signal.SIGQUIT, quit_before)


class StopRequest:
    """Whether a signal asked the command to end, and with which code.

    A command that knows how to end well takes the request with `graceful`; any other is cancelled.
    """

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.code = ExitCode.INTERRUPTED
        self._signals = 0
        self._graceful = False
        self._task: asyncio.Task[ExitCode] | None = None

    @contextmanager
    def graceful(self) -> Iterator[None]:
        """Leave the first signal to the command, which watches `asked`."""
        self._graceful = True
        try:
            yield
        finally:
            self._graceful = False

    def run(self, work: Awaitable[ExitCode]) -> asyncio.Task[ExitCode]:
        """Start the work that signals are about."""
        self._task = asyncio.ensure_future(work)
        return self._task

    def ask(self, signum: signal.Signals) -> None:
        """Take note of a signal."""
        if signum is signal.SIGINT and _lent:
            return
        self._signals += 1
        self.code = CODES[signum]
        if self._signals > 2:
            give_back_all()
            os._exit(self.code)
        self.asked.set()
        if self._task is not None and (not self._graceful or self._signals > 1):
            self._task.cancel()


def run_async(work: Callable[[StopRequest], Awaitable[ExitCode]]) -> ExitCode:
    """Run a command's coroutine under its own event loop and signal handlers.

    Raises:
        CommandEnd: a signal cancelled the work; everything it had opened is closed.
    """

    async def main() -> ExitCode:
        stop = StopRequest()
        loop = asyncio.get_running_loop()
        for signum in CODES:
            loop.add_signal_handler(signum, stop.ask, signum)
        try:
            return await stop.run(work(stop))
        except asyncio.CancelledError:
            if stop.asked.is_set():
                raise CommandEnd(stop.code) from None
            raise
        finally:
            for signum in CODES:
                loop.remove_signal_handler(signum)

    return asyncio.run(main())
