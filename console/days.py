"""Days of this computer's own time zone, as the store counts them.

Not a calendar. Invariant: a day begins at its own midnight, also where the clocks change.
"""

from __future__ import annotations

from datetime import date, datetime


def day_of(at_ms: int) -> date:
    """Give the day of a moment."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().date()


def begin_ms(day: date) -> int:
    """Give the moment at which a day begins."""
    return int(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)
