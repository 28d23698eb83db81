"""How languages write months, days, hours and amounts: the tables of CLDR, read when first needed.

`scripts/cldr_tables.py` writes them. Names are found piece by piece (`agent.language.tokens`), so
that "12月", "tháng 12" and "a.m." are names as "December" is.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypedDict

from agent.language.fold import folded, unaccented
from agent.language.tokens import Token, pieces

FILE = Path(__file__).with_name("cldr.json")


class _Language(TypedDict):
    months: list[list[str]]
    days: list[list[str]]
    short_days: list[list[str]]
    relative: dict[str, list[str]]
    periods: dict[str, list[str]]
    joints: list[str]
    hours: list[str]
    minutes: list[str]
    multiples: dict[str, list[str]]
    orders: dict[str, str]


class _Tables(TypedDict):
    languages: dict[str, _Language]
    currencies: dict[str, list[str]]


class Name(NamedTuple):
    """What a name says, in the languages that say so."""

    value: int
    languages: frozenset[str]
    is_short: bool = False
    written: frozenset[str] = frozenset()  # The ways in which they write it.


class NameMatch(NamedTuple):
    """A name in a text: how many pieces it is, and what it may say, the commonest first."""

    span: int
    names: tuple[Name, ...]


class Folded(NamedTuple):
    """The pieces of a text in the two forms in which names are looked for."""

    plain: tuple[str, ...]  # Without accents, as people type.
    exact: tuple[str, ...]


def fold_pieces(found: Iterable[Token]) -> Folded:
    """Fold pieces as names are folded: case and accents, and zeros before numbers."""
    texts = [piece.text for piece in found]
    return Folded(tuple(_key(unaccented, texts)), tuple(_key(folded, texts)))


class Names:
    """Names of one kind, by their pieces; the longest that stands at a place counts."""

    def __init__(self, entries: Iterable[tuple[str, str, int, bool]]) -> None:
        """Make an index.

        Args:
            entries: text, language, value, and whether it is an abbreviation.
        """
        said: dict[Folded, dict[tuple[int, bool], tuple[set[str], set[str]]]] = {}
        for text, language, value, is_short in entries:
            key = fold_pieces(pieces(text))
            if key.plain:
                # "Thứ 3" is a Tuesday, and "Thu 3" a Thursday.
                has_digit = any(map(str.isdecimal, text))
                key = key if has_digit else Folded(key.plain, ())
                values = said.setdefault(key, {}).setdefault((value, is_short), (set(), set()))
                values[0].add(language)
                values[1].add(text)
        self._by_first: dict[str, list[tuple[Folded, tuple[Name, ...]]]] = {}
        for key, found in said.items():
            names = tuple(
                Name(value, frozenset(languages), is_short, frozenset(written))
                for (value, is_short), (languages, written) in sorted(
                    found.items(), key=lambda item: -len(item[1][0])
                )
            )
            self._by_first.setdefault(key.plain[0], []).append((key, names))
        for entry in self._by_first.values():
            entry.sort(key=lambda one: len(one[0].plain), reverse=True)

    def begins_in(self, text: Folded) -> bool:
        """Return whether a name may stand in a text: it has the first piece of one."""
        return not self._by_first.keys().isdisjoint(text.plain)

    def at(self, text: Folded, place: int) -> NameMatch | None:
        """Return the longest name that stands at a place."""
        if place >= len(text.plain):
            return None
        for key, names in self._by_first.get(text.plain[place], ()):
            end = place + len(key.plain)
            if text.plain[place:end] == key.plain and key.exact in {(), text.exact[place:end]}:
                return NameMatch(len(key.plain), names)
        return None


def _key(fold: Callable[[str], str], texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        key = text.lower() if text.isascii() else fold(text)
        yield key.lstrip("0") or "0" if key.isdecimal() else key


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    tables: _Tables = json.loads(FILE.read_text(encoding="utf-8"))
    return tables


def languages() -> tuple[str, ...]:
    """Return the languages that the tables have."""
    return tuple(_tables()["languages"])


@lru_cache(maxsize=1)
def months() -> Names:
    """Return the names of months: 1 to 12."""
    return Names(
        (name, tag, number, _is_short(name, names))
        for tag, language in _tables()["languages"].items()
        for number, names in enumerate(language["months"], 1)
        for name in names
    )


@lru_cache(maxsize=1)
def weekdays() -> Names:
    """Return the names of days of the week: 0 is Monday."""
    return Names(
        (name, tag, number, is_short)
        for tag, language in _tables()["languages"].items()
        for is_short, days in ((False, language["days"]), (True, language["short_days"]))
        for number, names in enumerate(days)
        for name in names
    )


@lru_cache(maxsize=1)
def date_joints() -> frozenset[str]:
    """Return the words, folded, that join day, month and year, as "de" does in Spain."""
    joints = (word for one in _tables()["languages"].values() for word in one["joints"])
    return frozenset(map(unaccented, joints))


@lru_cache(maxsize=1)
def relative_days() -> Names:
    """Return the words for days near today: -1 is yesterday."""
    return _by_value((tag, one["relative"]) for tag, one in _tables()["languages"].items())


@lru_cache(maxsize=1)
def multiples() -> Names:
    """Return the words behind short numbers, by their power of ten: 3 is thousand."""
    return _by_value((tag, one["multiples"]) for tag, one in _tables()["languages"].items())


@lru_cache(maxsize=1)
def day_periods() -> Names:
    """Return the words for parts of the day, by the hours that `period_hours` reads."""
    return Names(
        (name, tag, _period_value(hours), False)
        for tag, language in _tables()["languages"].items()
        for hours, names in language["periods"].items()
        for name in names
    )


def _period_value(hours: str) -> int:
    first, end = map(int, hours.split("-"))
    return first * _DAY + end


def period_hours(value: int) -> frozenset[int]:
    """Return the hours of a day's part: pm has 12 to 23."""
    first, end = divmod(value, _DAY)
    return frozenset(hour % 24 for hour in range(first, end if end > first else end + 24))


HOUR, MINUTE = range(2)


@lru_cache(maxsize=1)
def clock_words() -> Names:
    """Return the words behind hours and minutes: HOUR or MINUTE."""
    return Names(
        (name, tag, value, False)
        for tag, language in _tables()["languages"].items()
        for value, names in ((HOUR, language["hours"]), (MINUTE, language["minutes"]))
        for name in names
    )


@lru_cache(maxsize=1)
def currencies() -> Mapping[str, frozenset[str]]:
    """Return the ISO 4217 codes that each folded sign of a currency stands for."""
    codes: dict[str, set[str]] = {}
    for sign, found in _tables()["currencies"].items():
        codes.setdefault(folded_sign(sign), set()).update(found)
    return {sign: frozenset(found) for sign, found in codes.items() if sign}


def currency_signs() -> tuple[str, ...]:
    """Return the signs of currencies, as languages write them."""
    return tuple(_tables()["currencies"])


def folded_sign(sign: str) -> str:
    """Fold a currency's sign: without points and spaces."""
    return "".join(char for char in unaccented(sign) if char not in ". ")


def language_of(locale: str) -> str:
    """Return the language of a locale as the tables name it: `iw-IL` is in he."""
    code = locale.replace("_", "-").split("-")[0].lower()
    return _OLD_CODES.get(code, code)


@lru_cache(maxsize=64)
def date_order(locale: str) -> str:
    """Return the order of a short date in a locale as `en-GB`: dmy, mdy or ymd; empty: unknown."""
    language = _tables()["languages"].get(language_of(locale))
    parts = [language_of(locale), *locale.replace("_", "-").split("-")[1:]]
    if language is None:
        return ""
    orders = {tag.lower(): order for tag, order in language["orders"].items()}
    for end in range(len(parts), 0, -1):
        order = orders.get("-".join(parts[:end]).lower())
        if order:
            return order
    return ""


def _is_short(name: str, names: Iterable[str]) -> bool:
    beginning = name.rstrip(".")
    return len(beginning) <= _SHORT or any(
        other.startswith(beginning) and len(other) > len(name) for other in names
    )


def _by_value(tables: Iterable[tuple[str, Mapping[str, list[str]]]]) -> Names:
    return Names(
        (name, tag, int(value), False)
        for tag, table in tables
        for value, names in table.items()
        for name in names
    )


_DAY = 100
_SHORT = 3
"""Up to so many letters a month's only name is an abbreviation as well: May."""
_OLD_CODES = {"iw": "he", "in": "id", "ji": "yi", "tl": "fil"}
"""Codes that Android still gives for languages: `java.util.Locale`."""
