"""Read the times of day of a text as values: 17:30, 5:30 pm, 17h30, 17 Uhr, 下午5:30. Pure.

A time without a part of the day is either of two where its hour is 12 or less: the reading by
24 hours comes first. Invariant: a time has a minute that exists; "12:75" is none.

Sources: CLDR's parts of the day and the words of its patterns behind hours and minutes.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agent.language.cldr import (
    HOUR,
    MINUTE,
    Folded,
    Name,
    clock_words,
    day_periods,
    fold_pieces,
    language_of,
    period_hours,
)
from agent.language.fold import plain_digits
from agent.language.tokens import Token, pieces

_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?")
_SHORT = 4
_KEPT_TOGETHER = frozenset("\u00a0\u202f")
_CLOSE = frozenset({"", " ", "\u00a0", "\u202f"})
_MOST_CHARS = 20_000
_MOST_PERIOD_PIECES = 5
_MOST_BETWEEN = 2
"""Characters between an hour and its part of the day: a blank, a comma."""


class Time(NamedTuple):
    """A time of day in a text."""

    readings: tuple[int, ...]
    """Minutes since midnight that it may say, the likelier first; at least one."""
    start: int
    end: int
    is_sure: bool = True
    """Whether it can be nothing else, such as an amount (12.30) or a duration (5 h)."""

    @property
    def minute(self) -> int:
        """The likeliest minute of the day."""
        return self.readings[0]

    def may_be(self, minute: int) -> bool:
        """Return whether it may say a minute of the day."""
        return minute in self.readings


def may_equal(one: Time, other: Time) -> bool:
    """Return whether two times may be the same minute."""
    return not frozenset(one.readings).isdisjoint(other.readings)


@lru_cache(maxsize=4096)
def times_in(text: str, locale: str = "") -> tuple[Time, ...]:
    """Return the times of day of a text in order, of its first 20,000 characters.

    Args:
        locale: of who wrote the text, as `sv-SE`: its short words for parts of the day count
            behind a mere number, as English ones do: 5 fm.
    """
    plain = plain_digits(text[:_MOST_CHARS])
    if not _DIGIT.search(plain):
        return ()
    found = pieces(plain)
    folded = fold_pieces(found)
    times: list[Time] = []
    at = 0
    while at < len(found):
        time, span = _time_at(plain, found, folded, at, language_of(locale))
        if time is not None:
            times.append(time)
        at += span
    return tuple(times)


def _time_at(
    text: str, found: Sequence[Token], folded: Folded, at: int, language: str
) -> tuple[Time | None, int]:
    """Return the time that begins at a piece, and how many pieces it takes."""
    piece = found[at]
    clock = _CLOCK.fullmatch(piece.text)
    end, is_sure = at + 1, True
    if clock is not None:
        hour, minute = int(clock[1]), int(clock[2])
        said = _word_pieces(text, found, folded, end, HOUR)
        end, is_sure = end + said, ":" in piece.text or said > 0
    elif piece.text.isdecimal() and len(piece.text) <= 2:
        hour, minute, end = _worded(text, found, folded, at)
        # "5 h" may be how long something takes.
        is_sure = end > at + 2 or (end == at + 2 and len(folded.plain[at + 1]) > 1)
    else:
        return None, 1
    is_bare = clock is None and end == at + 1
    hours, first, last = _period_of(text, found, folded, at, end, language, is_bare=is_bare)
    if (is_bare and not hours) or minute > 59 or hour > 24:
        return None, 1
    if hour == 24 and minute:
        return None, 1
    place = found[first].start, found[last - 1].end
    readings = _minutes(hour % 24, minute, hours)
    if clock is not None and clock[1][0] == "0" and not hours:
        # A clock of twelve hours leads none with a zero.
        readings = readings[:1]
    return Time(readings, *place, is_sure or bool(hours)), last - at


def _worded(text: str, found: Sequence[Token], folded: Folded, at: int) -> tuple[int, int, int]:
    """Read an hour and its word: 17 Uhr, 17 Uhr 30, 17h30, 5時30分, 오후 5시 30분."""
    hour, end = int(found[at].text), at + 1
    said = _word_pieces(text, found, folded, end, HOUR)
    if not said:
        return hour, 0, end
    end += said
    if end < len(found) and found[end].text.isdecimal() and len(found[end].text) <= 2:
        minute = int(found[end].text)
        said = _word_pieces(text, found, folded, end + 1, MINUTE)
        if said or len(found[end].text) == 2:
            return hour, minute, end + 1 + said
    return hour, 0, end


def _word_pieces(text: str, found: Sequence[Token], folded: Folded, at: int, wanted: int) -> int:
    """Return how many pieces a word for hours or minutes takes that stands close behind."""
    if _gap(text, found, at) not in _CLOSE:
        return 0
    word = clock_words().at(folded, at)
    return word.span if word and any(name.value == wanted for name in word.names) else 0


def _period_of(
    text: str,
    found: Sequence[Token],
    folded: Folded,
    at: int,
    end: int,
    language: str,
    *,
    is_bare: bool,
) -> tuple[tuple[frozenset[int], ...], int, int]:
    """Return the hours of the part of the day beside a time, and the pieces that both take.

    Args:
        is_bare: the time is nothing but a number, so the part must be one without doubt.
    """
    after = day_periods().at(folded, end) if _is_close(text, found, end) else None
    if after is not None:
        # Formatters keep an hour and its part together; people type a blank.
        certain = not is_bare or _gap(text, found, end) in _KEPT_TOGETHER
        hours = _hours_of(after.names, language, certain=certain)
        if hours:
            return hours, at, end + after.span
    if not _is_close(text, found, at):
        return (), at, end
    certain = not is_bare or _gap(text, found, at) in _KEPT_TOGETHER
    for first in range(max(at - _MOST_PERIOD_PIECES, 0), at):
        before = day_periods().at(folded, first)
        if before is not None and first + before.span == at:
            hours = _hours_of(before.names, language, certain=certain)
            if hours:
                return hours, first, end
    return (), at, end


def _hours_of(names: Sequence[Name], language: str, *, certain: bool) -> tuple[frozenset[int], ...]:
    """Return the hours that a part of the day may be, in the language where it has the name.

    Args:
        certain: it is a part of the day. Else short Latin names of other languages are left out:
            "1 de" is a morning in Hungary only.
    """
    own = [one for one in names if language in one.languages]
    return tuple(
        period_hours(one.value)
        for one in own or names
        if own
        or certain
        or "en" in one.languages
        or any(len(text) > _SHORT or not text.isascii() for text in one.written)
    )


def _is_close(text: str, found: Sequence[Token], at: int) -> bool:
    """Return whether a piece stands close behind the one before."""
    between = _gap(text, found, at)
    return len(between) <= _MOST_BETWEEN and not any(char in "\n|;/" for char in between)


def _gap(text: str, found: Sequence[Token], at: int) -> str:
    return text[found[at - 1].end : found[at].start] if at < len(found) else "\n"


def _minutes(hour: int, minute: int, periods: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """Return the minutes of the day that an hour may say; nothing contradicts one above 12."""
    if hour > 12 or (hour == 0 and not periods):
        return (hour * 60 + minute,)
    hours = dict.fromkeys((hour, (hour + 12) % 24))
    fitting = [one for period in periods for one in hours if one in period]
    return tuple(one * 60 + minute for one in dict.fromkeys(fitting or hours))
