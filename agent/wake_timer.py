"""One timer that wakes a scheduler when the earliest of what it awaits is due.

Used by the schedulers of jobs (`agent.jobs.job_scheduler`) and of watchers and commitments
(`agent.watchers.watcher_scheduler`), which know what is due and do it. Times are milliseconds
since the epoch by a clock that is handed in, because a clock is set and a computer sleeps.
"""

import asyncio
import logging
from collections.abc import Callable

LONGEST_SLEEP_S = 15.0
"""The longest sleep before it looks at the clock again: only a look notices a set clock."""
_UNSTEADY_MS = 1000
"""How far a clock may go back without having been set: it is slewed, or two are read."""
_log = logging.getLogger(__name__)


class WakeTimer:
    """Sleeps until something is due, or until the clock was set back.

    Args:
        clock_ms: the time now.
        due_ms: when the earliest is due, by what is known now; None when nothing is awaited.
        set_back: called when the clock was set back: what was reckoned by the old time is late.
    """

    def __init__(
        self,
        clock_ms: Callable[[], int],
        due_ms: Callable[[], int | None],
        set_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock_ms = clock_ms
        self._due_ms = due_ms
        self._set_back = set_back
        self._changed = asyncio.Event()
        self._looked_ms = 0

    def changed(self) -> None:
        """Have it ask anew when the earliest is due."""
        self._changed.set()

    async def wait(self) -> None:
        """Wait until it is time; return at once where it is already."""
        self._changed.clear()
        while not self.is_time():
            await self._sleep()
            self._changed.clear()

    def is_time(self) -> bool:
        """Look at the clock: return whether something is due now, or the clock was set back."""
        now_ms, before_ms = self._clock_ms(), self._looked_ms
        self._looked_ms = now_ms
        if now_ms < before_ms - _UNSTEADY_MS:
            _log.info("The clock was set back by %d s", (before_ms - now_ms) // 1000)
            self._set_back()
            return True
        due_ms = self._due_ms()
        return due_ms is not None and due_ms <= now_ms

    async def _sleep(self) -> None:
        wait_s = None
        due_ms = self._due_ms()
        if due_ms is not None:
            wait_s = min(max((due_ms - self._clock_ms()) / 1000, 0.0), LONGEST_SLEEP_S)
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return
