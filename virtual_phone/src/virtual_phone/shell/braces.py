"""Brace expansion: `a{b,c}d` is the two words `abd` and `acd`, before anything else is expanded.

As mksh does it: a list needs a comma, so `{a}` and `{1..3}` stay as they are. Invariant: how many
words one becomes is bounded.
"""

from collections.abc import Iterator
from itertools import groupby, pairwise, product
from typing import cast

from virtual_phone.shell.call import CommandError
from virtual_phone.shell.syntax import Part, Text, Word

MAX_WORDS = 10_000
MAX_CHARS = 1024 * 1024
MAX_DEPTH = 20

_Unit = Part | str  # A part as it is, or one character that was not quoted.


def expand_braces(word: Word) -> list[Word]:
    """Return the words that a word's braces make of it, or the word alone.

    Raises:
        CommandError: they are too many.
    """
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in word):
        return [word]
    units: list[_Unit] = []
    for part in word:
        units.extend(part.text if isinstance(part, Text) and not part.quoted else [part])
    return [_joined(one) for one in _expanded(units, 0)]


def _expanded(units: list[_Unit], depth: int) -> list[list[_Unit]]:
    lists = _lists(units) if depth < MAX_DEPTH else {}
    pieces: list[list[list[_Unit]]] = []
    at, count, size = 0, 1, 0
    while at < len(units):
        marks = lists.get(at)
        if marks is None:
            pieces.append([[units[at]]])
            at += 1
            size += 1
            continue
        made: list[list[_Unit]] = []
        for comma, following in pairwise(marks):
            made.extend(_expanded(units[comma + 1 : following], depth + 1))
        pieces.append(made)
        at = marks[-1] + 1
        count *= len(made)
        size += max(len(one) for one in made)
        if count > MAX_WORDS:
            break
    if count > MAX_WORDS or (count > 1 and count * size > MAX_CHARS):
        raise CommandError("/system/bin/sh: Argument list too long", 126)
    return [[unit for part in parts for unit in part] for parts in product(*pieces)]


def _lists(units: list[_Unit]) -> dict[int, list[int]]:
    """Return where each list in braces has its opening brace, its commas and its closing brace."""
    found: dict[int, list[int]] = {}
    open_lists: list[list[int]] = []
    for at, unit in enumerate(units):
        if unit == "{":
            open_lists.append([at])
        elif unit == "," and open_lists:
            open_lists[-1].append(at)
        elif unit == "}" and open_lists:
            marks = open_lists.pop()
            if len(marks) > 1:
                found[marks[0]] = [*marks, at]
    return found


def _joined(units: list[_Unit]) -> Word:
    parts: list[Part] = []
    for is_text, run in groupby(units, lambda unit: isinstance(unit, str)):
        if is_text:
            parts.append(Text("".join(cast("Iterator[str]", run)), False))
        else:
            parts.extend(cast("Iterator[Part]", run))
    return tuple(parts)
