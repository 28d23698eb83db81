"""Read the dates of a text as values: 3 December 2026, 12/3/26, 2026年12月3日, tomorrow. Pure.

A date in digits may be day and month in either order, and a name may be one of several languages:
all readings are returned, the likelier first, and only what is written is in them, so "3 December"
has no year. A weekday beside a date is a part of it, and whether the date is on that day is asked
of the value: `is_contradictory`. Invariant: every reading is a date that exists.

Sources: CLDR's names of months and days, its words for the days near today, and its short dates
for the order in a locale. Thailand counts years from 543 before Christ.
"""

from datetime import date
from functools import lru_cache
from typing import NamedTuple

from agent.language.calendar_day import Day as Day
from agent.language.calendar_day import may_be_same
from agent.language.cldr import date_order, language_of
from agent.language.date_reader import DateReader
from agent.language.fold import plain_digits

_MOST_CHARS = 20_000


class DateText(NamedTuple):
    """A date in a text."""

    readings: tuple[Day, ...]
    """What it may say, the likelier first; at least one."""
    start: int
    end: int

    def may_be(self, wanted: date) -> bool:
        """Return whether it may say a date."""
        return any(one.may_be(wanted) for one in self.readings)

    def is_contradictory(self, today: date) -> bool:
        """Return whether it names a weekday that the date, however it is read, is not.

        Args:
            today: tells the year where none is written.
        """
        said = [(one.on(today), one.weekday) for one in self.readings]
        return bool(said) and all(
            when is not None and weekday is not None and when.weekday() != weekday
            for when, weekday in said
        )


def may_equal(one: DateText, other: DateText) -> bool:
    """Return whether two dates may be the same day: nothing that both say differs."""
    return any(may_be_same(mine, its) for mine in one.readings for its in other.readings)


@lru_cache(maxsize=4096)
def dates_in(text: str, today: date | None = None, locale: str = "") -> tuple[DateText, ...]:
    """Return the dates of a text in order, of its first 20,000 characters.

    Args:
        today: what "tomorrow" counts from; None: such words are no dates.
        locale: of who wrote the text, as `en-GB`: its order of day and month comes first, and
            names are cut short only in it and in English. Empty: the day first, every language.
    """
    reader = DateReader(plain_digits(text[:_MOST_CHARS]), language_of(locale))
    found = [*reader.named(), *reader.in_digits(date_order(locale) if locale else "")]
    taken = [(one.start, one.end) for one in found]
    for one in (*reader.relative(today), *reader.weekdays_alone()):
        if not any(start < one.end and one.start < end for start, end in taken):
            found.append(one)
    return tuple(DateText(*one) for one in sorted(found, key=lambda one: one.start))
