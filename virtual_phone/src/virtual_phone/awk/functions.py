"""The functions that awk has, as far as they need neither streams nor the program.

Invariant: none of them gives a text that is longer than one may be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from virtual_phone.awk.memory import Array, Memory
from virtual_phone.awk.patterns import LIMIT_S, compiled, found_in
from virtual_phone.awk.records import fields_of
from virtual_phone.awk.values import (
    MOST_CHARS,
    AwkError,
    Input,
    Value,
    formatted,
    number_of,
    text_of,
    whole_of,
)

if TYPE_CHECKING:
    import regex

_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_UPPER = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_MEANT = re.compile(r"\\\\|\\&|&|[^\\&]+|\\", re.DOTALL)
_ONE_NUMBER: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "int": math.trunc,
}


class Functions:
    """The functions over one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._seed = 1.0
        self._random = Random(1)

    def call(self, name: str, given: Sequence[Value]) -> Value:
        """Call one by its name. Raises AwkError: it cannot be called so."""
        try:
            return self._call(name, given)
        except IndexError as error:
            raise AwkError(f"not enough arguments for {name}") from error

    def _call(self, name: str, given: Sequence[Value]) -> Value:
        form = self._memory.text("CONVFMT")
        match name:
            case "length":
                return float(len(text_of(given[0], form) if given else self._memory.record()))
            case "substr":
                return _part(text_of(given[0], form), given[1:])
            case "index":
                return float(text_of(given[0], form).find(text_of(given[1], form)) + 1)
            case "sprintf":
                return formatted(text_of(given[0], form), given[1:])
            case "tolower":
                return text_of(given[0], form).translate(_LOWER)
            case "toupper":
                return text_of(given[0], form).translate(_UPPER)
            case "atan2":
                return math.atan2(number_of(given[0]), number_of(given[1]))
            case "rand":
                return self._random.random()
            case "srand":
                before, self._seed = self._seed, number_of(given[0]) if given else 0.0
                self._random.seed(self._seed)
                return before
            case _:
                return _calculated(name, number_of(given[0]))

    def match(self, text: str, pattern: str) -> float:
        """Find a pattern in a text; sets RSTART and RLENGTH."""
        found = found_in(text, pattern)
        start = 0.0 if found is None else float(found.start() + 1)
        length = -1.0 if found is None else float(found.end() - found.start())
        self._memory.set("RSTART", start)
        self._memory.set("RLENGTH", length)
        return start

    def split(self, text: str, array: Array, separator: str) -> float:
        """Part a text into the items of an array; returns how many there are."""
        parts = fields_of(text, separator)
        self._memory.empty(array)
        for at, part in enumerate(parts, start=1):
            self._memory.put(array, str(at), Input(part))
        return float(len(parts))

    def substitute(
        self, pattern: str, replacement: str, text: str, *, every: bool
    ) -> tuple[str, int]:
        """Replace the first match or every one; `&` in what replaces it is the match."""
        pieces: list[str] = _MEANT.findall(replacement)
        room = [len(text)]

        def meant(found: regex.Match[str]) -> str:
            said = "".join(_piece(one, found.group()) for one in pieces)
            room[0] += len(said)
            if room[0] > MOST_CHARS:
                raise AwkError("out of memory")
            return said

        try:
            return compiled(pattern).subn(meant, text, count=0 if every else 1, timeout=LIMIT_S)
        except TimeoutError as error:
            raise AwkError("regular expression takes too long") from error


def _piece(piece: str, match: str) -> str:
    if piece == "&":
        return match
    return {"\\&": "&", "\\\\": "\\"}.get(piece, piece)


def _part(text: str, bounds: Sequence[Value]) -> str:
    """Return a part from a place on, from 1, and so many characters; a place before it is 1."""
    if not bounds:
        raise AwkError("not enough arguments for substr")
    start, *count = (whole_of(one) for one in bounds)
    first = min(max(start, 1), len(text) + 1) - 1
    return text[first : first + max(count[0], 0)] if count else text[first:]


def _calculated(name: str, number: float) -> float:
    try:
        return float(_ONE_NUMBER[name](number))
    except OverflowError:
        return math.inf if name == "exp" else number
    except ValueError:
        return -math.inf if name == "log" and number == 0 else math.nan
