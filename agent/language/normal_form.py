"""Fold a text character by character, and find the way back: for secrets. Pure.

Not for comparing (`agent.language.fold`), and not the patterns (`agent.safety.redacting`).
Invariant: two texts that a person reads as the same digits and words have the same normal form:
compatibility forms are folded (NFKC's), marks and what draws nothing are dropped, digits of every
script are ASCII. A text with an overridden direction has two: a person reads the one and copies
the other. Every character of the normal form knows where in the text it came from, so what is
judged, typed and recorded is cut at the same places.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent.language.fold import DRAWS_NOTHING, OVERRIDE, CharTable
from agent.language.look_alikes import LOOK_ALIKES

BARRIER = "\0"
"""Nothing is found across it."""
_DROPPED = frozenset({"Mn", "Me", "Cf", "Cc", "Cs", "Co"})
"""Categories that draw nothing of their own. Spacing marks (Mc) are letters' own vowels."""
_KEPT_CONTROLS = frozenset("\t\n\r\0")
_NUMERO = "\N{NUMERO SIGN}"
_HAN_DIGITS = {char: str(value) for value, char in enumerate("〇一二三四五六七八九")} | {"零": "0"}


class _Normal(CharTable):
    """What each character becomes."""

    def becomes(self, char: str) -> str:
        return _normal(char)


class _Spaced(CharTable):
    """What each character becomes where only digits matter."""

    def becomes(self, char: str) -> str:
        found = _TABLE[ord(char)]
        if unicodedata.category(char)[0] in "SP":
            return "".join(" " if one.isalpha() else one for one in found)
        return found


@dataclass(frozen=True)
class Normal:
    """A text in its normal form."""

    source: str
    text: str
    """With its letters' case."""
    as_drawn: bool = False
    """Characters are in the order in which they are drawn, not in the source's."""

    @cached_property
    def lower(self) -> str:
        """The same in lower case, place by place, with Latin letters for those that look so."""
        if self.text.isascii():
            return self.text.lower()
        shapes = self.text.translate(LOOK_ALIKES)
        low = shapes.lower()
        if len(low) != len(self.text):
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in shapes)
        return low.translate(LOOK_ALIKES)

    @cached_property
    def spaced(self) -> str:
        """The text, place by place, with a space for each letter that a sign is made of.

        A sign as ™, ℃ or ㈀ stands between digits as a dash does, though its letters are words.
        """
        if self.text is self.source:
            return self.text
        places = _in_order(self.source) if self.as_drawn else enumerate(self.source)
        return "".join(_SPACED[ord(char)] for _, char in places)

    @cached_property
    def _origins(self) -> list[int]:
        places = _in_order(self.source) if self.as_drawn else enumerate(self.source)
        return [place for place, char in places for _ in _TABLE[ord(char)]]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the source a span of the normal form lies; both are not empty."""
        if self.text is self.source:
            return start, end
        places = self._origins[start:end]
        return min(places), max(places) + 1


def normal_form(text: str) -> Normal:
    if text.isascii() and (text.isprintable() or not _CONTROLS.search(text)):
        return Normal(text, text)
    return Normal(text, text.translate(_TABLE))


def normal_forms(text: str) -> tuple[Normal, ...]:
    """Return the normal forms of a text: as it is written and, where that is another, as drawn."""
    written = normal_form(text)
    if "\u202e" not in text:
        return (written,)
    drawn = "".join(char for _, char in _in_order(text)).translate(_TABLE)
    return written, Normal(text, drawn, as_drawn=True)


def _in_order(text: str) -> Iterator[tuple[int, str]]:
    """Return the characters with their places, in the order in which they are drawn."""
    at = 0
    for override in OVERRIDE.finditer(text):
        yield from enumerate(text[at : override.start()], at)
        first, last = override.span(1)
        yield from ((place, text[place]) for place in range(last - 1, first - 1, -1))
        at = override.end()
    yield from enumerate(text[at:], at)


def _normal(char: str) -> str:
    if char in _KEPT_CONTROLS:
        return char
    if char in _HAN_DIGITS:
        return _HAN_DIGITS[char]
    if char == _NUMERO:
        # It stands before a number, and its "No" would make a Norwegian account of a parcel's.
        return "#"
    value = unicodedata.digit(char, None)
    if value is not None:
        return str(value)
    return "".join(
        _HAN_DIGITS.get(c) or (str(unicodedata.digit(c)) if c.isdigit() else c)
        for c in unicodedata.normalize("NFKD", char)
        if unicodedata.category(c) not in _DROPPED and c not in DRAWS_NOTHING
    )


_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TABLE = _Normal()
_SPACED = _Spaced()
