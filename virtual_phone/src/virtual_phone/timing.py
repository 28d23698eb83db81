"""The time that a phone lives by: the running loop's, or one that passes only when it is told to.

Invariant: what is planned happens in the order of its time, whichever time that is. The wall clock
is the phone's own (`Phone.now`).
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    """Something that is planned."""

    def cancel(self) -> None:
        """Plan it no longer."""
        ...


class Timing(Protocol):
    """What a phone asks of time."""

    def monotonic(self) -> float:
        """Return seconds since some moment."""
        ...

    def later(self, delay_s: float, call: Callable[[], object]) -> Timer | None:
        """Plan a call; None where time does not go on, so that nothing comes later."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...


class LoopTiming:
    """The time of the running loop; where none runs, nothing can be planned."""

    def monotonic(self) -> float:
        """Return the system's monotonic clock, which loops use too."""
        return time.monotonic()

    def later(self, delay_s: float, call: Callable[[], object]) -> Timer | None:
        """Plan a call by the running loop."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return None
        return loop.call_later(delay_s, call)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Planned:
    __slots__ = ("call",)

    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        self.call = None


class SimulatedTiming:
    """Time that passes at once: whoever sleeps finds all that was due in between done.

    No loop is needed, and none is asked: what only sleeps never suspends (`finish`).
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._planned: list[tuple[float, int, _Planned]] = []
        self._numbers = itertools.count()

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self._now

    def later(self, delay_s: float, call: Callable[[], object]) -> Timer:
        planned = _Planned(call)
        at = self._now + max(delay_s, 0.0)
        heapq.heappush(self._planned, (at, next(self._numbers), planned))
        return planned

    async def sleep(self, seconds: float) -> None:
        """Let time pass, without suspending."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass, doing what is due on the way."""
        until = self._now + max(seconds, 0.0)
        while self._planned and self._planned[0][0] <= until:
            at, _, planned = heapq.heappop(self._planned)
            if planned.call is not None:
                self._now = max(self._now, at)
                planned.call()
        self._now = max(self._now, until)

    def restart(self) -> None:
        """Begin again at zero, with nothing planned."""
        self._now = 0.0
        self._planned.clear()


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns that sleeps by a simulated time, and waits for nothing else.

    Raises:
        RuntimeError: it waits for something else.
    """
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    work.close()
    raise RuntimeError("This work needs an event loop.")
