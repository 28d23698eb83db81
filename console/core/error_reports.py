"""Log what the console failed on, say it, and give up where it does nothing but fail.

Invariant: an error anywhere becomes a log line and a notice while the core goes on.
"""

import logging
import time
from collections.abc import Callable

from console.core.op_client import Say

_log = logging.getLogger(__name__)
_FATAL_AFTER = 25  # Errors in ten seconds that mean the console can no longer draw itself.
_SAID = 3  # Errors in ten seconds that are said, not only logged.


class ErrorReports:
    """The errors of a console.

    Args:
        say: says a line to the operator.
        is_ending: returns whether the screens are being taken down.
        give_up: ends the console, with a line for the terminal.
        clock_s: the time, of a clock that never goes back.
    """

    def __init__(
        self,
        say: Say,
        *,
        is_ending: Callable[[], bool],
        give_up: Callable[[str], object],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._is_ending = is_ending
        self._give_up = give_up
        self._clock_s = clock_s
        self.recent_s: list[float] = []
        """When the errors of the last ten seconds came."""

    def guarded(self, doing: str, work: Callable[[], object]) -> None:
        """Do some work, and report what it fails with."""
        try:
            work()
        except Exception as error:
            self.report(error, doing)

    def report(self, error: BaseException, doing: str) -> None:
        """Log an error and say it; the console goes on unless it does nothing but fail."""
        if self._is_ending():
            # Frames and events still arrive while the screens are taken down.
            _log.debug("While the console closed, %s: %s", doing, error)
            return
        _log.error("The console failed %s", doing, exc_info=error)
        now_s = self._clock_s()
        self.recent_s = [at for at in self.recent_s if now_s - at < 10.0] + [now_s]
        if len(self.recent_s) > _FATAL_AFTER:
            self._give_up("The console failed too often; see the log.")
        elif len(self.recent_s) <= _SAID:
            self._say(f"{doing}: {type(error).__name__}: {error}", tone="error")
