"""A day as a text names it: a date whose parts may be missing. Pure."""

from datetime import date
from typing import NamedTuple

_LEAP_YEAR = 2024


class Day(NamedTuple):
    """A day as a text names it; None: the text does not name that part."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    """0 is Monday."""

    def may_be(self, wanted: date) -> bool:
        """Return whether a date fits every part that is named."""
        return (
            self.year in {None, wanted.year}
            and self.month in {None, wanted.month}
            and self.day in {None, wanted.day}
            and self.weekday in {None, wanted.weekday()}
        )

    def on(self, today: date) -> date | None:
        """Return the date, whatever weekday is named; None: day or month is missing.

        A missing year is the one that brings the date nearest to today.
        """
        if self.month is None or self.day is None:
            return None
        years = (self.year,) if self.year else (today.year, today.year - 1, today.year + 1)
        dates = [
            one for year in years if (one := date_or_none(year, self.month, self.day)) is not None
        ]
        return min(dates, key=lambda one: abs(one - today), default=None)


def may_be_same(one: Day, other: Day) -> bool:
    """Return whether two days agree in all parts that both name, or that follow from these."""
    pairs = zip(_with_weekday(one), _with_weekday(other), strict=True)
    return all(mine is None or its is None or mine == its for mine, its in pairs)


def _with_weekday(day: Day) -> Day:
    """Return a day with the weekday that its date is on, whatever it says."""
    if day.year is None or day.month is None or day.day is None:
        return day
    when = date_or_none(day.year, day.month, day.day)
    return day if when is None else day._replace(weekday=when.weekday())


def day_exists(year: int | None, month: int, day: int | None) -> bool:
    """Return whether a month has a day, in some year where none is given."""
    return day is None or date_or_none(year or _LEAP_YEAR, month, day) is not None


def date_or_none(year: int, month: int, day: int) -> date | None:
    """Return a date; None: no calendar has it."""
    try:
        return date(year, month, day)
    except ValueError:
        return None
