"""Time travel over a stored session: which events have happened at a position, and when the next
one does.

Pure: events in, states out; the clock is the caller's, and so is the reading: a long tape can be
looked at while the rest of it is still being read. Invariants: a position is a number of
folded events; the state at a position is exactly the fold of those events, whichever way it was
reached.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from agent import protocol
from agent.state.reducer import State, reduce_all

_EVERY = 64  # Events between the states that are kept, so that going back folds few events again.
LONGEST_GAP_MS = 3_000  # Waiting for a person or for tomorrow is not replayed at length.


class Sign(NamedTuple):
    """A place on the scrubber worth stopping at."""

    position: int
    kind: str


class Playback:
    """A stored session's events as a tape.

    Args:
        events: the events of one session, in order, from the first.
        is_whole: whether these are all; else `add` brings the others, and the end is not reached
            before.
    """

    def __init__(self, events: Sequence[protocol.Event], *, is_whole: bool = True) -> None:
        self.events: list[protocol.Event] = []
        self.signs: list[Sign] = []
        self.position = 0
        self.is_whole = False
        self._kept: dict[int, State] = {0: State()}
        self._at_ms: list[int] = []
        self._starts: list[int] = []
        """Where steps begin."""
        self._seeks_end = False
        self._package = ""
        """The app that was in front at the end of what is known."""
        self.add(events, is_whole=is_whole)

    def add(self, events: Sequence[protocol.Event], *, is_whole: bool) -> None:
        """Take in the events that follow."""
        at = len(self.events)
        now_ms = self.length_ms
        before_ms = self.events[-1].ts_ms if self.events else None
        for event in events:
            gap_ms = 0 if before_ms is None else event.ts_ms - before_ms
            now_ms += max(0, min(gap_ms, LONGEST_GAP_MS))
            self._at_ms.append(now_ms)
            before_ms = event.ts_ms
            kind = type(event.msg)
            if kind is protocol.StepStarted:
                self._starts.append(at)
            at += 1
            if kind in _SIGNS:
                self.signs.append(Sign(at, _SIGNS[kind]))
            elif isinstance(event.msg, protocol.ObservationRecorded):
                package = event.msg.observation.foreground.package
                if package and self._package and package != self._package:
                    self.signs.append(Sign(at, "app"))
                self._package = package or self._package
        self.events.extend(events)
        self.is_whole = is_whole
        if self._seeks_end:
            self.position = len(self.events)

    @property
    def stops(self) -> list[int]:
        """Where a step back or forth ends: before the next step begins, so a step is seen whole."""
        return [*self._starts[1:], len(self.events)]

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
        return self.is_whole and self.position >= len(self.events)

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
        """Return the time on the tape."""
        return self.events[self.position - 1].ts_ms if self.position else 0

    def go_to(self, position: int) -> None:
        self._seeks_end = False
        self.position = max(0, min(len(self.events), position))

    def go_to_end(self) -> None:
        """Go to the last event, and on to the last of those that `add` brings."""
        self.go_to(len(self.events))
        self._seeks_end = True

    def step(self, by: int) -> None:
        """Go by whole steps."""
        stops = self.stops
        at = bisect_right(stops, self.position) if by > 0 else bisect_left(stops, self.position)
        at = at + by - 1 if by > 0 else at + by
        if at < 0:
            self.go_to(0)
        else:
            self.go_to(stops[min(at, len(stops) - 1)])

    def play_to(self, tape_ms: float) -> None:
        """Go to what has happened at a time on the tape."""
        self.go_to(bisect_right(self._at_ms, tape_ms))


_SIGNS: dict[type, str] = {
    protocol.RequestUserInput: "question",
    protocol.ErrorEvent: "error",
    protocol.UserMessage: "message",
    protocol.ResultPublished: "result",
}
