"""Turn mouse input on a phone's picture into gestures: taps, long presses, swipes.

Pure except for its clock. Invariant: every point is on the screen, from 0 to 1, however far outside
the picture the button was released.
"""

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from agent.records import Point

LONG_S = 0.6  # From when on a press that stays is a long one; Android's own is 0.4 s.
_LEAST_SWIPE_MS, _MOST_SWIPE_MS = 80, 2_000


class Touch(NamedTuple):
    """One finger from down to up; equal ends are a tap or a long press."""

    start: Point
    end: Point
    duration_ms: int

    @property
    def is_swipe(self) -> bool:
        """Return whether the finger moved."""
        return self.start != self.end

    @property
    def is_long(self) -> bool:
        """Return whether it stayed in place for long."""
        return not self.is_swipe and self.duration_ms >= LONG_S * 1000


class Hand:
    """Follows the mouse over a picture of some cells.

    Args:
        clock_s: a monotonic clock, in seconds.
    """

    def __init__(self, clock_s: Callable[[], float] = monotonic) -> None:
        self.clock_s = clock_s
        self._down: tuple[int, int, float] | None = None

    def press(self, column: int, row: int) -> None:
        """Handle a button press on a cell."""
        self._down = (column, row, self.clock_s())

    def release(self, column: int, row: int, size: tuple[int, int]) -> Touch | None:
        """Return the gesture when the button is released on a cell of (columns, rows)."""
        down, self._down = self._down, None
        if down is None or not all(size):
            return None
        took_ms = round((self.clock_s() - down[2]) * 1000)
        start = place(down[0], down[1], size)
        if (column, row) == down[:2]:
            return Touch(start, start, took_ms)
        took_ms = max(_LEAST_SWIPE_MS, min(_MOST_SWIPE_MS, took_ms))
        return Touch(start, place(column, row, size), took_ms)


def place(column: int, row: int, size: tuple[int, int]) -> Point:
    """Return the middle of a cell as a point on the screen."""
    columns, rows = size
    return Point(
        x=min(1.0, max(0.0, (column + 0.5) / columns)), y=min(1.0, max(0.0, (row + 0.5) / rows))
    )
