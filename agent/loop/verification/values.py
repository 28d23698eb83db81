"""The values in what an operator wrote, and whether another text carries them. Pure.

Values are what can be compared whatever language a text is in: quoted texts, listed entries, dates,
times, amounts, numbers, addresses. Words are none. Invariant: a value is carried by an equal value,
however either is written, never by a part of a longer one.
"""

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from agent.language import dates, times
from agent.language.cldr import fold_pieces, weekdays
from agent.language.dates import DateText, dates_in
from agent.language.numbers import Number, numbers_in
from agent.language.numbers import may_equal as same_number
from agent.language.times import Time, times_in
from agent.language.tokens import has_phrase, pieces, words

MOST_VALUES = 24
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^”“\n]+)[”“]|„([^“”\n]+)[“”]|«([^«»\n]+)»|»([^«»\n]+)«|「([^」\n]+)」|『([^』\n]+)』"
    r"|(?<!\w)['‘]([^'‘’\n]{2,})['’](?!\w)"
)
_ADDRESS = re.compile(r"(?<![\w.@-])(?:https?://)?[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+")
_DIALLED = re.compile(r"(?<![\w.,:])\+?\d(?:[\d ()/\u00a0-]*\d){5,}(?![\w:]|[.,]\d)")
"""A telephone number: at least seven digits, however they are grouped."""
_LISTED = re.compile(r"[:：]\s+([^:：;.!?。\n]+(?:[,，、]\s*[^:：;.!?。\n,，、]+)+)")
_COMMA = re.compile(r"[,，、]\s*")
_LEAST_DIALLED = 7
_MOST_ENTRY_WORDS = 5
_MOST_JOINING_LETTERS = 4
_LABELLED = 3
"""An entry of so many words may begin or end with one that says what it is."""
_HALF_DAY = 12 * 60
_SHORTEST_DAY = 2
_MOST_CELL_WORDS = 3
"""A day of a calendar says hardly more than its number and its states."""


class ValueKind(StrEnum):
    """What a value is."""

    QUOTE = "quote"
    ENTRY = "entry"
    """One of several things after a colon."""
    ADDRESS = "address"
    DIALLED = "dialled"
    DATE = "date"
    TIME = "time"
    NUMBER = "number"


class Value(NamedTuple):
    """One value, as it is written."""

    kind: ValueKind
    text: str
    start: int
    end: int
    number: Number | None = None
    time: Time | None = None
    date: DateText | None = None


@lru_cache(maxsize=512)
def values_of(text: str, today: date | None = None) -> tuple[Value, ...]:
    """Return the values of a text in order.

    Args:
        today: what "tomorrow" counts from; None: such words are no values.
    """
    found: list[Value] = []
    for value in _candidates(text, today):
        if not any(value.start < one.end and one.start < value.end for one in found):
            found.append(value)
    return tuple(sorted(found, key=lambda one: one.start)[:MOST_VALUES])


def _candidates(text: str, today: date | None) -> Iterator[Value]:
    """Yield what may be a value; of two in one place the first counts."""
    for match in _QUOTED.finditer(text):
        said = next(filter(None, match.groups()), "")
        if words(said):
            yield Value(ValueKind.QUOTE, said.strip(), *match.span())
    for match in _ADDRESS.finditer(text):
        yield Value(ValueKind.ADDRESS, match.group().rstrip(".,;)"), *match.span())
    for day in dates_in(text, today):
        yield Value(ValueKind.DATE, text[day.start : day.end], day.start, day.end, date=day)
    for match in _DIALLED.finditer(text):
        if sum(map(str.isdigit, match.group())) >= _LEAST_DIALLED:
            yield Value(ValueKind.DIALLED, match.group(), *match.span())
    for time in times_in(text):
        if time.is_sure:
            yield Value(
                ValueKind.TIME, text[time.start : time.end], time.start, time.end, time=time
            )
    for number in numbers_in(text):
        said = text[number.start : number.end]
        yield Value(ValueKind.NUMBER, said, number.start, number.end, number=number)
    for match in _LISTED.finditer(text):
        yield from _entries(match[1], match.start(1))


def _entries(listed: str, start: int) -> Iterator[Value]:
    at = 0
    for entry in _COMMA.split(listed):
        at = listed.index(entry, at)
        if 0 < len(words(entry)) <= _MOST_ENTRY_WORDS:
            yield Value(ValueKind.ENTRY, entry.strip(), start + at, start + at + len(entry))


def is_carried(value: Value, text: str, today: date | None = None) -> bool:
    """Return whether a text carries a value."""
    match value:
        case Value(kind=ValueKind.QUOTE | ValueKind.ADDRESS, text=said):
            return has_phrase(words(text), words(said))
        case Value(kind=ValueKind.ENTRY, text=said):
            return _has_entry(words(said), frozenset(words(text)))
        case Value(kind=ValueKind.DIALLED, text=said):
            wanted = _digits(said)
            runs = (_digits(match.group()) for match in _DIALLED.finditer(text))
            return any(_same_dialled(wanted, run) for run in runs) or wanted in _digits(text)
        case Value(date=DateText() as day):
            return _has_date(day, text, today)
        case Value(time=Time() as time):
            return any(times.may_equal(time, one) for one in times_in(text))
        case Value(number=Number() as number):
            return _has_number(number, text)
        case _:
            return False


def missing_values(
    values: tuple[Value, ...], text: str, today: date | None = None
) -> tuple[Value, ...]:
    """Return the values that a text does not carry."""
    return tuple(value for value in values if not is_carried(value, text, today))


def contradicts_itself(text: str, today: date | None) -> str:
    """Return the date in a text whose weekday is another one; empty: there is none."""
    if today is None:
        return ""
    for day in dates_in(text, today):
        said = text[day.start : day.end]
        # "to" is a short Thursday in Danish, and more often no day at all.
        has_name = any(len(word) > _SHORTEST_DAY for word in words(said) if word.isalpha())
        if has_name and day.is_contradictory(today):
            return said
    return ""


def _has_entry(wanted: tuple[str, ...], said: frozenset[str]) -> bool:
    """Return whether all words of an entry are said; a short one that joins two may be left out,
    and one that says what the others are: "name Ada Byron".
    """
    absent = [word for word in wanted if word not in said]
    if len(wanted) >= _LABELLED and absent in ([wanted[0]], [wanted[-1]]):
        return True
    inner = wanted[1:-1] if len(wanted) > 2 else ()
    return not absent or (
        len(absent) == 1 and absent[0] in inner and len(absent[0]) <= _MOST_JOINING_LETTERS
    )


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _same_dialled(one: str, other: str) -> bool:
    """Return whether two numbers ring the same phone: a country's code or a 0 may lead one."""
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    return len(short) >= _LEAST_DIALLED - 1 and long.endswith(short)


def _has_date(day: DateText, text: str, today: date | None) -> bool:
    found = dates_in(text, today)
    # A month alone is no day of it.
    found = found if not _says_day(day) else tuple(filter(_says_day, found))
    if any(dates.may_equal(day, one) for one in found):
        return True
    if _has_weekday(day, text, found, today):
        return True
    # A calendar says only the day where the month is on its page.
    alone = [reading.day for reading in day.readings if reading.day is not None]
    lines = (numbers_in(line) for line in text.splitlines() if len(words(line)) <= _MOST_CELL_WORDS)
    return any(len(line) == 1 and any(map(line[0].may_be, alone)) for line in lines)


def _says_day(text: DateText) -> bool:
    return any(one.day is not None or one.weekday is not None for one in text.readings)


def _has_weekday(day: DateText, text: str, found: tuple[DateText, ...], today: date | None) -> bool:
    """Return whether a text says a weekday, in short or by a date, of which no more is wanted."""
    wanted = {one.weekday for one in day.readings if one.month is None and one.day is None} - {None}
    if not wanted:
        return False
    said = {one.weekday for other in found for one in other.readings} - {None}
    if said:
        # Where a day is written out, no letters beside it are the short name of another.
        return not wanted.isdisjoint(said)
    folded = fold_pieces(pieces(text))
    for at in range(len(folded.plain)):
        names = weekdays().at(folded, at)
        if names is not None and any(name.value in wanted for name in names.names):
            return True
    if today is None:
        return False
    dated = (reading.on(today) for one in found for reading in one.readings)
    return any(when is not None and when.weekday() in wanted for when in dated)


def _has_number(number: Number, text: str) -> bool:
    if any(same_number(number, one) for one in numbers_in(text)):
        return True
    # "at 7" is shown as 07:00 or as 7 pm.
    return any(
        reading == minute / 60 or reading * 60 == minute - _HALF_DAY
        for time in times_in(text)
        for minute in time.readings
        if minute % 60 == 0
        for reading in number.readings
    )
