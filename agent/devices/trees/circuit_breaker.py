"""Let what hung rest: a circuit breaker for one way to the UI tree. No I/O.

Invariant: a way that did not answer in a fair time is not waited for again before its rest is over;
each failure in a row makes the rest longer, and one success ends it.
"""

import time
from collections.abc import Callable

FIRST_REST_S = 5.0
LONGEST_REST_S = 300.0
FAIR_S = 2.5
"""What is cut off sooner says nothing: a dump takes two to four seconds on many phones."""


class CircuitBreaker:
    """When one way may be tried again."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._next_s = FIRST_REST_S
        self._until_s = 0.0
        self.why = ""
        """Why it rests; empty where its newest try went well."""

    @property
    def left_s(self) -> float:
        """How long it rests yet; 0 = it may be tried."""
        return max(self._until_s - self._seconds(), 0.0)

    def begin(self, why: str) -> None:
        """Note a failure."""
        self.why = why
        self._until_s = self._seconds() + self._next_s
        self._next_s = min(self._next_s * 2, LONGEST_REST_S)

    def end(self) -> None:
        """Note that it works, or that the phone is another one."""
        self.why, self._until_s, self._next_s = "", 0.0, FIRST_REST_S
