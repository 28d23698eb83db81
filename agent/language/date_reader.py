"""Find dates in a text by the kinds of its pieces. The values are `agent.language.dates`'."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import NamedTuple

from agent.language.calendar_day import Day, day_exists
from agent.language.cldr import (
    Name,
    NameMatch,
    date_joints,
    fold_pieces,
    months,
    relative_days,
    weekdays,
)
from agent.language.tokens import pieces

_FIRST_YEAR, _LAST_YEAR = 1800, 2200
_BUDDHIST = 543
_CENTURY_FROM = 70
"""Years of two digits from here on are of the last century."""
_MOST_FILLER_LETTERS = 4
_BREAKS = frozenset("\n;|:!?")
"""Between two pieces, these end a date."""
_MOST_BETWEEN = 3  # Characters between a date in digits and its weekday.
_APOSTROPHES = ("'", "\u2019")
_OPENING = frozenset("(（[")

_MARK = "[\u200e\u200f]?"  # The direction of a script from right to left.
_GAP = f"{_MARK}[ \u00a0\u202f]?{_MARK}"
_IN_DIGITS = re.compile(
    r"(?<![\d./:,-])(?:"
    rf"(?P<y>\d{{4}}){_MARK}(?P<s>[-/.]){_GAP}(?P<m>\d{{1,2}}){_MARK}(?P=s){_GAP}(?P<d>\d{{1,2}})"
    rf"|(?P<a>\d{{1,2}}){_MARK}(?P<t>[-/.]){_GAP}(?P<b>\d{{1,2}}){_MARK}(?P=t){_GAP}"
    r"(?P<c>\d{4}|\d{1,2})"
    rf"|(?P<e>\d{{1,2}}){_MARK}(?:/{_MARK}(?P<f>\d{{1,2}})|\.{_GAP}(?P<g>\d{{1,2}})\.)"
    r")(?!\d|[:./-]\d|,\d)"
)
_NAMED = re.compile(
    # Month, day, year and weekday; a piece that may be both a month and a weekday is B.
    "(?P<w0>[WB]f?)?(?:"
    "(?P<y0>Y)f{0,2}(?P<m0>[MB])f{0,2}(?P<d0>D)?"
    "|(?P<y4>Y)f{0,2}(?P<d4>D)f?(?P<m4>[MB])(?!f?D)"
    "|(?P<d1>D)f{0,2}(?P<m1>[MB])(?!f?Df?Y)(?:f{0,2}(?P<y1>Y))?"
    "|(?P<m2>[MB])f?(?P<d2>D)(?:f?(?P<y2>Y))?"
    "|(?P<m3>[MB])f{0,2}(?P<y3>Y)"
    ")(?P<w1>f?[WB](?!f?D))?"
)
"""The orders in which languages write a date with a month's name, over the kinds of its pieces."""


class Dated(NamedTuple):
    """Where a date stands, and what it may say."""

    readings: tuple[Day, ...]
    start: int
    end: int


class _Symbol(NamedTuple):
    """Some pieces of a text, by what they may be of a date."""

    kind: str  # D day, Y year, M month, W weekday, B month or weekday, f filler, x none, | a break.
    first: int
    last: int
    months: tuple[Name, ...] = ()
    weekdays: tuple[Name, ...] = ()


class DateReader:
    """A text as pieces, in which dates are looked for."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._pieces = pieces(text)
        self._folded = fold_pieces(self._pieces)
        self._has_month = months().begins_in(self._folded)
        self._has_weekday = weekdays().begins_in(self._folded)

    @cached_property
    def _symbols(self) -> list[_Symbol]:
        return list(self._symbols_of())

    def named(self) -> Iterator[Dated]:
        """Find dates whose month is a name, with the day, year and weekday around it."""
        if not self._has_month:
            return
        for match in self._named_matches():
            parts = {
                name[0]: match.end(name) - 1 for name, said in match.groupdict().items() if said
            }
            first = match.start("w0") if match["w0"] else -1
            weekdays = self._symbols[first].weekdays if first >= 0 else ()
            if not weekdays and match["w1"]:
                weekdays = self._symbols[match.end("w1") - 1].weekdays
            months = self._symbols[parts["m"]].months
            year = _year_of(self._digits(parts["y"])) if "y" in parts else None
            day = self._number(parts["d"]) if "d" in parts else None
            dated = [
                (Day(year, month.value, day), month)
                for month in months
                if day_exists(year, month.value, day)
            ]
            readings = tuple(dict.fromkeys(_with_weekday(dated, weekdays)))
            if readings:
                yield Dated(readings, *self._span(match.start(), match.end()))

    def _named_matches(self) -> Iterator[re.Match[str]]:
        """Find the orders of dates: those of full names with any short word between, then others.

        A name cut short may be a word ("4 days ago" is none of August): only what is glued to a
        number or joins dates in some language stands between.
        """
        long, short = [], []
        for at, symbol in enumerate(self._symbols):
            # So short a name, in Latin letters, may be a word.
            is_short = all(name.is_short for name in symbol.months)
            is_short = is_short and bool(symbol.months) and self._is_ascii(symbol)
            long.append(("W" if symbol.weekdays else "x") if is_short else symbol.kind)
            is_loose = symbol.kind == "f" and not self._joins(at)
            short.append("x" if is_loose else symbol.kind)
        found = list(_NAMED.finditer("".join(long)))
        yield from found
        for match in _NAMED.finditer("".join(short)):
            if not any(one.start() < match.end() and match.start() < one.end() for one in found):
                yield match

    def _is_ascii(self, symbol: _Symbol) -> bool:
        return all(text.isascii() for text in self._folded.exact[symbol.first : symbol.last + 1])

    def _joins(self, at: int) -> bool:
        first = self._symbols[at].first
        letter = self._folded.plain[first]
        if len(letter) == 1 and letter.isascii():
            # "3 d ago" is none of August, but Basque writes 2026(e)ko.
            return bool(self._gap_before(first).strip())
        behind_digit = first > 0 and self._folded.plain[first - 1].isdecimal()
        is_glued = behind_digit and not self._gap_before(first)
        return is_glued or self._folded.plain[first] in date_joints()

    def in_digits(self, order: str) -> Iterator[Dated]:
        """Find dates that are all digits, with the weekday beside them."""
        for match in _IN_DIGITS.finditer(self._text):
            dated = [(day, None) for day in dict.fromkeys(_days_of(match, order))]
            if not dated:
                continue
            start, end = match.span()
            beside = self._weekday_beside(start, end)
            weekdays = beside.weekdays if beside is not None else ()
            if beside is not None:
                start = min(start, self._pieces[beside.first].start)
                end = max(end, self._pieces[beside.last].end)
            yield Dated(tuple(dict.fromkeys(_with_weekday(dated, weekdays))), start, end)

    def weekdays_alone(self) -> Iterator[Dated]:
        """Find full names of weekdays."""
        for at, symbol in enumerate(self._symbols if self._has_weekday else ()):
            values = dict.fromkeys(name.value for name in symbol.weekdays if not name.is_short)
            if values:
                days = tuple(Day(weekday=value) for value in values)
                yield Dated(days, *self._span(at, at + 1))

    def relative(self, today: date | None) -> Iterator[Dated]:
        """Find words for days near today."""
        if today is None or not relative_days().begins_in(self._folded):
            return
        for at in range(len(self._pieces)):
            found = relative_days().at(self._folded, at)
            if found is not None:
                days = (today + timedelta(days=name.value) for name in found.names)
                readings = tuple(Day(when.year, when.month, when.day) for when in days)
                last = self._pieces[at + found.span - 1]
                yield Dated(readings, self._pieces[at].start, last.end)

    def _symbols_of(self) -> Iterator[_Symbol]:
        at = 0
        while at < len(self._pieces):
            if at and not _BREAKS.isdisjoint(self._gap_before(at)):
                yield _Symbol("|", at, at)
            month = self._known(months().at(self._folded, at))
            weekday = self._known(weekdays().at(self._folded, at))
            if weekday is not None and not self._may_be_weekday(at, weekday):
                weekday = None
            span = max((one.span for one in (month, weekday) if one is not None), default=1)
            kind = self._kind_of(at)
            if month is not None or weekday is not None:
                kind = "B" if month and weekday else "M" if month else "W"
            yield _Symbol(
                kind,
                at,
                at + span - 1,
                month.names if month is not None else (),
                weekday.names if weekday is not None else (),
            )
            at += span

    def _known(self, found: NameMatch | None) -> NameMatch | None:
        """Leave out abbreviations of other languages: "Set 5" is a date in Italy only."""
        if found is None or not self._language:
            return found
        known = {self._language, "en"}
        names = tuple(
            one for one in found.names if not one.is_short or not known.isdisjoint(one.languages)
        )
        return NameMatch(found.span, names) if names else None

    def _may_be_weekday(self, at: int, weekday: NameMatch) -> bool:
        # 日 is Sunday, but also what follows a day; 月 Monday, but also what follows a month.
        is_letter = weekday.span == 1 and len(self._folded.plain[at]) == 1
        return not is_letter or self._gap_before(at)[-1:] in _OPENING

    def _kind_of(self, at: int) -> str:
        text = self._folded.plain[at]
        if text.isdecimal():
            written = len(self._pieces[at].text)
            if written == 2 and self._gap_before(at)[-1:] in _APOSTROPHES:
                return "Y"
            if written <= 2 and 1 <= int(text) <= 31:
                return "D"
            return "Y" if written == 4 and _year(int(text)) is not None else "x"
        return (
            "f" if len(text) <= _MOST_FILLER_LETTERS and not any(map(str.isdecimal, text)) else "x"
        )

    def _number(self, at: int) -> int:
        return int(self._digits(at))

    def _digits(self, at: int) -> str:
        return self._pieces[self._symbols[at].first].text

    def _gap_before(self, at: int) -> str:
        start = self._pieces[at - 1].end if at else 0
        return self._text[start : self._pieces[at].start]

    def _span(self, first: int, end: int) -> tuple[int, int]:
        return (
            self._pieces[self._symbols[first].first].start,
            self._pieces[self._symbols[end - 1].last].end,
        )

    def _weekday_beside(self, start: int, end: int) -> _Symbol | None:
        if not self._has_weekday:
            return None
        at = bisect_left(self._symbols, start, key=lambda one: self._pieces[one.first].start)
        after = bisect_left(self._symbols, end, key=lambda one: self._pieces[one.first].start)
        if at and self._symbols[at - 1].weekdays:
            before = self._symbols[at - 1]
            if self._is_beside(self._pieces[before.last].end, start):
                return before
        if after < len(self._symbols) and self._symbols[after].weekdays:
            behind = self._symbols[after]
            if self._is_beside(end, self._pieces[behind.first].start):
                return behind
        return None

    def _is_beside(self, start: int, end: int) -> bool:
        between = self._text[start:end] if end - start <= _MOST_BETWEEN else "x"
        return not any(map(str.isalnum, between))


def _with_weekday(dated: Sequence[tuple[Day, Name | None]], names: Sequence[Name]) -> Iterator[Day]:
    """Join dates with the weekday beside them, in the languages that have both; that fit, first."""
    joined = [
        day._replace(weekday=name.value)
        for day, month in dated
        for name in names
        if month is None or not month.languages.isdisjoint(name.languages)
    ]
    yield from sorted(joined, key=lambda day: not _fits(day))
    # Two letters beside a month's full name are rather a word: "so 3 December".
    is_word = any(len(text) <= 2 and text.isascii() for name in names for text in name.written)
    is_word = is_word and any(month is not None and not month.is_short for _, month in dated)
    if not joined or is_word:
        yield from (day for day, _ in dated)


def _fits(day: Day) -> bool:
    if day.year is None or day.month is None or day.day is None:
        return True
    return date(day.year, day.month, day.day).weekday() == day.weekday


def _days_of(match: re.Match[str], order: str) -> Iterator[Day]:
    """Return what a date in digits may say."""
    if match["y"]:
        orders = [(match["y"], match["m"], match["d"])]
    elif match["a"]:
        a, b, c = match["a"], match["b"], match["c"]
        orders = {
            "dmy": [(c, b, a)],
            "mdy": [(c, a, b)],
            "ymd": [(a, b, c)] if len(c) <= 2 else [],
        }.get(order, [])
        orders += [(c, b, a), (c, a, b)]
    else:
        e, f = match["e"], match["f"] or match["g"]
        orders = [("", e, f)] if order in {"mdy", "ymd"} else []
        orders += [("", f, e)] if match["g"] else [("", f, e), ("", e, f)]
    for written, month, day in orders:
        year = _year_of(written)
        if (not written or year is not None) and day_exists(year, int(month), int(day)):
            yield Day(year, int(month), int(day))


def _year_of(written: str) -> int | None:
    if len(written) == 2:
        return int(written) + (1900 if int(written) >= _CENTURY_FROM else 2000)
    return _year(int(written)) if written else None


def _year(number: int) -> int | None:
    """Return a year as the West counts it; None: it is none that a phone would show."""
    if _FIRST_YEAR + _BUDDHIST <= number <= _LAST_YEAR + _BUDDHIST and number > _LAST_YEAR:
        return number - _BUDDHIST
    return number if _FIRST_YEAR <= number <= _LAST_YEAR else None
