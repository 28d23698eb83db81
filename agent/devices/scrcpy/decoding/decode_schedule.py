"""Which stream a decoding thread serves next: the largest picture first, the others in turn.

A picture that somebody looks at is larger than the thumbnails beside it. Invariants: one stream's
work is done in order, by one thread at a time; among streams of one size the one that has waited
longest is next, so none of them starves; one that gave way keeps its place among them.
"""

import heapq
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Work = TypeVar("Work")


@dataclass(slots=True)
class _Stream(Generic[Work]):
    waiting: deque[Work] = field(default_factory=deque)
    rank: int = 0
    arrival: int = 0
    is_served: bool = False


class DecodeSchedule(Generic[Work]):
    """Work by stream, for any number of threads. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._streams: dict[int, _Stream[Work]] = {}
        self._ready: list[tuple[int, int, int]] = []
        """A heap of (-rank, arrival, stream): each stream that has work and no thread, once."""
        self._arrivals = 0

    def put(self, stream: int, work: Work, *, rank: int | None = None) -> None:
        """Add work behind what the stream already has.

        Args:
            rank: how urgent the stream is from now on, the longer side of the largest picture that
                is wanted of it, in pixels; None keeps what was said before.
        """
        with self._changed:
            one = self._streams.setdefault(stream, _Stream())
            one.waiting.append(work)
            if rank is not None:
                one.rank = rank
            if not one.is_served and len(one.waiting) == 1:
                self._make_ready(stream, one)

    def take(self) -> tuple[int, Work]:
        """Wait for the most urgent work.

        The stream is this thread's until it calls `done`, `put_back` or `forget`.
        """
        with self._changed:
            while not self._ready:
                self._changed.wait()
            _, _, stream = heapq.heappop(self._ready)
            one = self._streams[stream]
            one.is_served = True
            return stream, one.waiting.popleft()

    def put_back(self, stream: int, work: Work) -> None:
        """Return work that is not finished; it stays first in its stream."""
        with self._changed:
            one = self._streams[stream]
            one.waiting.appendleft(work)
            one.is_served = False
            # Not behind the others: it would come to one packet a round, and to no picture.
            self._push(stream, one)

    def done(self, stream: int) -> None:
        """Let the stream's next work be taken."""
        with self._changed:
            one = self._streams[stream]
            one.is_served = False
            if one.waiting:
                self._make_ready(stream, one)

    def forget(self, stream: int) -> None:
        """Drop a stream that a thread has taken; what was put for it meanwhile begins it anew."""
        with self._changed:
            one = self._streams.pop(stream)
            for work in one.waiting:
                self.put(stream, work)

    def should_yield(self, stream: int) -> bool:
        """Return whether a more urgent stream than this one waits for a thread."""
        # Without the lock: a stream that arrives just now is seen after the next packet.
        ready = self._ready[:1]
        return bool(ready) and -ready[0][0] > self._streams[stream].rank

    def _make_ready(self, stream: int, one: _Stream[Work]) -> None:
        self._arrivals += 1
        one.arrival = self._arrivals
        self._push(stream, one)

    def _push(self, stream: int, one: _Stream[Work]) -> None:
        heapq.heappush(self._ready, (-one.rank, one.arrival, stream))
        self._changed.notify()
