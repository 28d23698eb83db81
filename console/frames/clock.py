"""When pictures may be drawn: not while a key is worked on, nor while the terminal has still to
take what it was given.

Pure but for the driver it looks at. Invariants: a frame waits rather than a key: nothing is queued
behind what a slow terminal has not taken, so a key's answer is the next thing that is written;
keys that never end do not stop the pictures.
"""

from textual.driver import Driver

from console.frames.output import backlog_of, is_suspended

_CHARS_A_CELL = 16  # About what a changed cell of a moving picture takes.
_WORTH_S = 0.025  # How long a terminal may work on one turn's pictures.
LEAST_CELLS, MOST_CELLS = 600, 40_000
MOST_FOR_KEYS = 3  # So many turns in a row are left to keys: a tenth of a second.


class FrameClock:
    """Looks at the driver each time it ticks."""

    def __init__(self) -> None:
        self.sent = 0
        """Turns in which pictures could be drawn."""
        self.held = 0
        """Turns in which the terminal was still busy."""
        self._for_keys = 0

    def may_draw(self, driver: Driver | None, *, key_is_under_way: bool = False) -> bool:
        """Return whether pictures may be drawn now."""
        if is_suspended(driver):
            return False
        if key_is_under_way and self._for_keys < MOST_FOR_KEYS:
            self._for_keys += 1
            return False
        self._for_keys = 0
        backlog = backlog_of(driver)
        if backlog is not None and backlog.pending > 0:
            self.held += 1
            return False
        self.sent += 1
        return True

    @staticmethod
    def budget_cells(driver: Driver | None) -> int:
        """Return how many cells may be drawn at once; at least a picture's worth."""
        backlog = backlog_of(driver)
        if backlog is None:
            return MOST_CELLS
        worth = int(backlog.rate * _WORTH_S / _CHARS_A_CELL)
        return max(LEAST_CELLS, min(MOST_CELLS, worth))
