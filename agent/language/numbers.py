"""Read the numbers of a text as values, whatever separates their thousands and decimals. Pure.

A written number may say several values: 1.284 is 1284 in Germany and one and a bit in Britain. All
of them are its readings, the likelier first, and two numbers are the same where a reading is.
Invariant: a number is never a part of one: "284" is not read in "1,284.50". What no separator rule
explains (an address, a version, a date with points) gives its parts.

Sources: CLDR's decimal and group separators and digits; India groups by two above the thousands.
"""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from agent.language.cldr import Name, fold_pieces, multiples
from agent.language.fold import plain_digits
from agent.language.tokens import pieces

_BLANKS = " \u00a0\u2009\u202f"
_GROUPS = f",.'\u2019\u066c_{_BLANKS}"
"""What may part groups of digits."""
_DECIMALS = ".,\u066b"
_WIDE = str.maketrans("，．", ",.")
_RUN = re.compile(
    rf"\d+(?:[,.'\u2019\u066b\u066c_]\d+)*(?:[{_BLANKS}]\d+(?:[,.'\u2019\u066b\u066c_]\d+)*)*"
)
_GROUPED = re.compile(
    rf"[1-9]\d{{0,2}}([{_GROUPS}])\d{{3}}(?:\1\d{{3}})*|[1-9]\d?(?:,\d{{2}})+,\d{{3}}"
)
_ANY_BLANK = re.compile(f"[{_BLANKS}]")
_DIGIT = re.compile(r"[\d¼-¾⅐-⅞↉]")
_SEPARATOR = re.compile(r"\D")
_FRACTION = re.compile(r"(?P<sign>[¼-¾⅐-⅞↉])|(?<=\d)\u2044(?P<below>\d{1,3})")
_LAST_DIGITS = re.compile(r"\d{0,40}$")
_ALPHABETS = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]")
"""Letters before which a digit is a part of a name, as in mp3."""
_SHORTENED = ".\N{DEVANAGARI ABBREVIATION SIGN}\u200f"
_MINUS = "-\u2212\ufe63\uff0d"
_SHORT_LETTERS = 3
_MOST_DIGITS = 40
_MOST_CHARS = 20_000
_MOST_MULTIPLE_CHARS = 24


class Number(NamedTuple):
    """A number in a text."""

    readings: tuple[Decimal, ...]
    """What it may say, the likelier first; at least one."""
    start: int
    end: int
    steps: tuple[Decimal, ...] = ()
    """The unit that each reading of a short number, as 1.2K, is rounded to; 0, or none: exact."""

    @property
    def value(self) -> Decimal:
        """The likeliest value."""
        return self.readings[0]

    @property
    def is_ambiguous(self) -> bool:
        return len(self.readings) > 1

    def may_be(self, value: Decimal | float | int) -> bool:
        """Return whether it may say a value; a short number says those that round to it."""
        wanted = value if isinstance(value, Decimal) else Decimal(str(value))
        if not wanted.is_finite():
            return False
        steps = self.steps or (Decimal(0),) * len(self.readings)
        return any(
            abs(one - wanted) <= step / 2 for one, step in zip(self.readings, steps, strict=True)
        )


def may_equal(one: Number, other: Number) -> bool:
    """Return whether two numbers may say the same value."""
    return any(map(one.may_be, other.readings)) or any(map(other.may_be, one.readings))


def parse_number(text: str) -> Number | None:
    """Read a text that is one number and nothing else; None: it is not."""
    found = numbers_in(text.strip())
    whole = [one for one in found if (one.start, one.end) == (0, len(text.strip()))]
    return whole[0] if whole else None


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text in order, of its first 20,000 characters.

    Where a plain blank may part thousands as well as numbers ("1 284"), the whole and each part
    are numbers, the whole first. Digits behind a letter of an alphabet are a name's (mp3), not a
    number.
    """
    return tuple(one for one in all_numbers_in(text) if not is_part_of_name(one, text))


def is_part_of_name(number: Number, text: str) -> bool:
    """Return whether a number of a text stands right behind a letter of an alphabet."""
    return bool(_ALPHABETS.match(text[number.start - 1 : number.start]))


@lru_cache(maxsize=4096)
def all_numbers_in(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text as `numbers_in` does, with those that are parts of names."""
    plain = plain_digits(text[:_MOST_CHARS]).translate(_WIDE)
    if not _DIGIT.search(plain):
        return ()
    found = [
        _with_surroundings(number, plain)
        for run in _RUN.finditer(plain)
        for number in _numbers_of(run.group(), run.start())
    ]
    if not plain.isascii():
        fractions = list(_fractions(plain))
        taken = {place for one in fractions for place in range(one.start, one.end + 1)}
        found = [one for one in found if one.end not in taken] + fractions
    return tuple(sorted(found, key=lambda one: (one.start, -one.end)))


def _numbers_of(run: str, start: int) -> Iterator[Number]:
    """Return the numbers of digits with separators and blanks between them."""
    parts: list[tuple[str, int]] = []
    at = 0
    for blank in _ANY_BLANK.finditer(run):
        parts.append((run[at : blank.start()], at))
        at = blank.end()
    parts.append((run[at:], at))
    first = 0
    while first < len(parts):
        last, certain = _blank_groups(run, parts, first)
        if last > first:
            begin, end = parts[first][1], parts[last][1] + len(parts[last][0])
            readings = readings_of(run[begin:end])
            if readings:
                yield Number(readings, start + begin, start + end)
        if last == first or not certain:
            for text, begin in parts[first : last + 1]:
                yield from _separated(text, start + begin)
        first = last + 1


def _blank_groups(run: str, parts: list[tuple[str, int]], first: int) -> tuple[int, bool]:
    """Return the last part of a number whose groups blanks part, and whether it must be one."""
    text, begin = parts[first]
    if not (text.isdecimal() and len(text) <= 3):
        return first, False
    blank = ""
    last = first
    for at in range(first + 1, len(parts)):
        text, begin = parts[at]
        between = run[begin - 1]
        head = _SEPARATOR.split(text, maxsplit=1)[0]
        if len(head) != 3 or (blank and between != blank):
            break
        blank, last = between, at
        if head != text:
            break
    return last, bool(blank) and blank != " "


def _separated(text: str, start: int) -> Iterator[Number]:
    readings = readings_of(text)
    if readings:
        yield Number(readings, start, start + len(text))
        return
    for part in re.finditer(r"\d+", text):
        yield Number(
            (Decimal(part.group()[:_MOST_DIGITS]),), start + part.start(), start + part.end()
        )


def readings_of(written: str) -> tuple[Decimal, ...]:
    """Return the values that ASCII digits with separators may say; none: they are no number."""
    if len(written) > _MOST_DIGITS:
        return ()
    separators = _SEPARATOR.findall(written)
    if not separators:
        return (Decimal(written),)
    readings: list[Decimal] = []
    if _GROUPED.fullmatch(written):
        readings.append(Decimal(_SEPARATOR.sub("", written)))
    last = separators[-1]
    at = written.rindex(last)
    whole, decimals = written[:at], written[at + 1 :]
    if last in _DECIMALS and last not in whole and (whole.isdecimal() or _GROUPED.fullmatch(whole)):
        readings.append(Decimal(f"{_SEPARATOR.sub('', whole)}.{decimals}"))
    return tuple(readings)


def _with_surroundings(number: Number, text: str) -> Number:
    """Return a number with the minus before it and the multiple behind it."""
    before, point = _two_before(text, number.start)
    nothing = not before or before.isspace() or before in f"{_MINUS}("
    if point == "." and nothing and text[number.start : number.end].isdecimal():
        # ".5 km" leaves out the nought.
        part = Decimal(f"0.{text[number.start : number.end][:_MOST_DIGITS]}")
        number = number._replace(readings=(part,), start=number.start - 1)
    return _signed(_multiplied(number, text), text)


def _two_before(text: str, at: int) -> tuple[str, str]:
    """Return the two characters before a place, the last one second; empty where there is none."""
    return text[at - 2 : at - 1] if at > 1 else "", text[at - 1 : at] if at else ""


def _signed(number: Number, text: str) -> Number:
    before, sign = _two_before(text, number.start)
    if not sign or sign not in _MINUS or before.isalnum() or before in tuple(")]%\"'"):
        return number
    readings = tuple(-one for one in number.readings)
    return number._replace(readings=readings, start=number.start - 1)


def _multiplied(number: Number, text: str) -> Number:
    """Return a number with the word that multiplies it: 1.2K, 15 Mio., 3万."""
    rest = text[number.end : number.end + _MOST_MULTIPLE_CHARS]
    space = len(rest) - len(rest.lstrip(_BLANKS))
    if space > 1 or not rest[space:][:1].isalpha():
        return number
    follow = pieces(rest)
    found = multiples().at(fold_pieces(follow), 0)
    if found is None:
        return number
    written = rest[space : follow[found.span - 1].end]
    is_short = sum(map(str.isalpha, written)) <= _SHORT_LETTERS
    names = [
        name for name in found.names if not is_short or _is_multiple(name, written, rest[:space])
    ]
    if not names:
        return number
    # One spelling may be thousand in one language and billion in another.
    places = max(-int(one.as_tuple().exponent) for one in number.readings)
    said = {
        one.scaleb(name.value): Decimal(1).scaleb(name.value - max(places, 0))
        for name in names
        for one in number.readings
    }
    if is_short and written.isascii():
        # It may as well be a unit, above all in lower case.
        plain = dict.fromkeys(number.readings, Decimal(0))
        said = plain | said if written.islower() else said | plain
    end = number.end + follow[found.span - 1].end
    return Number(tuple(said), number.start, end, tuple(said.values()))


def _is_multiple(name: Name, written: str, space: str) -> bool:
    """Return whether a few letters multiply: as a language writes them, one not apart."""
    if len(written) == 1 and written.islower() and space == " ":
        return False
    return written in {text.rstrip(_SHORTENED) for text in name.written}


def _fractions(text: str) -> Iterator[Number]:
    for match in _FRACTION.finditer(text):
        head = text[max(match.start() - _MOST_DIGITS, 0) : match.start()]
        digits = _LAST_DIGITS.search(head)
        whole = digits.group() if digits is not None else ""
        value = _value_of(whole, match)
        if value is not None:
            yield _signed(Number((value,), match.start() - len(whole), match.end()), text)


def _value_of(whole: str, match: re.Match[str]) -> Decimal | None:
    if match["sign"]:
        part = unicodedata.numeric(match["sign"])
        return Decimal(whole or 0) + Decimal(str(round(part, 12)))
    below = int(match["below"])
    return Decimal(whole) / below if below else None
