"""Time travel over a stored session: which events have happened at a position, and when the next
one does.

Pure: events in, states out; the clock is the caller's. Invariants: a position is a number of
folded events; the state at a position is exactly the fold of those events, whichever way it was
reached.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from agent.protocol import (
    ErrorEvent,
    Event,
    RequestUserInput,
    ResultPublished,
    StepStarted,
    UserMessage,
)
from agent.state import State, reduce_all

_EVERY = 64
"""Events between the states that are kept, so that going back folds few events again."""
LONGEST_GAP_MS = 3_000
"""Waiting for a person or for tomorrow is not replayed at length."""


class Sign(NamedTuple):
    """A place on the scrubber worth stopping at."""

    position: int
    kind: str


class Playback:
    """A stored session's events as a tape.

    Args:
        events: the events of one session, in order.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = tuple(events)
        self.position = 0
        self._kept: dict[int, State] = {0: State()}
        self._at_ms = _squeezed(self.events)
        # A stop is the last event before the next step begins, so a step is seen whole.
        starts = [at for at, e in enumerate(self.events) if isinstance(e.msg, StepStarted)]
        self.stops = sorted({*starts[1:], len(self.events)})
        self.signs = tuple(_signs(self.events))

    @property
    def length_ms(self) -> int:
        """How long the tape is, long waits cut short."""
        return self._at_ms[-1] if self._at_ms else 0

    @property
    def played_ms(self) -> int:
        """How far the tape has been played."""
        return self._at_ms[self.position - 1] if self.position else 0

    @property
    def is_at_end(self) -> bool:
        """Whether everything has happened."""
        return self.position >= len(self.events)

    def state(self) -> State:
        """Fold what has happened at this position."""
        base = max(at for at in self._kept if at <= self.position)
        state = self._kept[base]
        while base < self.position:
            upto = min(base - base % _EVERY + _EVERY, self.position)
            state = reduce_all(state, self.events[base:upto])
            base = upto
            self._kept[base] = state
        self._kept[self.position] = state
        for stale in [at for at in self._kept if at % _EVERY and at != self.position]:
            del self._kept[stale]
        return state

    def now_ms(self) -> int:
        """Tell the time on the tape."""
        return self.events[self.position - 1].ts_ms if self.position else 0

    def go_to(self, position: int) -> None:
        """Go to a position."""
        self.position = max(0, min(len(self.events), position))

    def step(self, by: int) -> None:
        """Go by whole steps."""
        at = (
            bisect_right(self.stops, self.position)
            if by > 0
            else bisect_left(self.stops, self.position)
        )
        at = at + by - 1 if by > 0 else at + by
        if at < 0:
            self.go_to(0)
        else:
            self.go_to(self.stops[min(at, len(self.stops) - 1)] if self.stops else 0)

    def play_to(self, tape_ms: float) -> None:
        """Go to what has happened at a time on the tape."""
        self.go_to(bisect_right(self._at_ms, tape_ms))


def _squeezed(events: Sequence[Event]) -> list[int]:
    """Give each event its time on the tape, with long gaps cut short."""
    at: list[int] = []
    now = 0
    for before, event in zip((None, *events), events, strict=False):
        gap = event.ts_ms - before.ts_ms if before is not None else 0
        now += max(0, min(gap, LONGEST_GAP_MS))
        at.append(now)
    return at


_SIGNS: dict[type, str] = {
    RequestUserInput: "question",
    ErrorEvent: "error",
    UserMessage: "message",
    ResultPublished: "result",
}


def _signs(events: Sequence[Event]) -> list[Sign]:
    found = ((at, _SIGNS.get(type(event.msg))) for at, event in enumerate(events, 1))
    return [Sign(at, kind) for at, kind in found if kind is not None]
