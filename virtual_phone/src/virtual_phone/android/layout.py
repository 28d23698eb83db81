"""Tables of the lines that a service prints, by version and maker, and how they become text.

A table is a file in `lines`: a line of Android with the versions that print it in front. Not what
the phone is like: its values come from the caller. Format of a table:

    = NAME                a block: lines that are printed together, once or once for each of a kind
    @ SOURCE              where the lines below were read
    RANGE [MAKER] [?KEY] |TEXT

RANGE is `*`, `14`, `9-11`, `14-` or `-11`. MAKER restricts a line to one maker's phones, or with a
minus to all others. `?KEY` leaves the line out where that value is empty, `?!KEY` where it is not.
In TEXT, `$key` or `${key}` is a value and `$$` a dollar sign. `#` begins a comment.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

_ROW = re.compile(r"(?P<range>\*|\d*-?\d*)(?P<words>(?: +[-?!\w]+)*) *\|(?P<text>.*)")
_VALUE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<braced>\w+)\}|(?P<plain>\w+))")

Values = Mapping[str, str]


class Block:
    """Lines that are printed together.

    Args:
        rows: the value that a line needs ("" where none, "!" in front where it must be empty), and
            the line as a format of the operator %.
    """

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        self._rows = rows
        self._whole = "\n".join(text for _, text in rows) if not any(key for key, _ in rows) else ""

    def lines(self, values: Values) -> list[str]:
        """Return the lines with their values. Raises KeyError: a value is missing."""
        if self._whole:
            return [self._whole % values]
        return [
            text % values
            for key, text in self._rows
            if not key or (not values[key[1:]] if key[0] == "!" else values[key])
        ]


@lru_cache(maxsize=128)
def layout(name: str, android: int, maker: str) -> Mapping[str, Block]:
    """Return the blocks of a table for one version and maker.

    Raises:
        ValueError: a row of the table cannot be read.
    """
    table = (files(__package__) / "lines" / f"{name}.txt").read_text(encoding="utf-8")
    blocks: dict[str, list[tuple[str, str]]] = {}
    rows: list[tuple[str, str]] = []
    sourced = False
    for number, row in enumerate(table.splitlines(), 1):
        if not row or row.startswith("#"):
            continue
        if row.startswith("= "):
            rows = blocks.setdefault(row[2:].strip(), [])
            sourced = False
            continue
        if row.startswith("@ "):
            sourced = True
            continue
        match = _ROW.fullmatch(row)
        if match is None or not sourced:
            raise ValueError(f"{name}.txt, line {number}: no row with a source above it: {row}")
        makers, needs = _words(match["words"].split())
        if _within(match["range"], android) and all(_made_by(one, maker) for one in makers):
            rows.append((needs, _format(match["text"])))
    return {block: Block(found) for block, found in blocks.items()}


def _words(words: list[str]) -> tuple[list[str], str]:
    needs = next((word[1:] for word in words if word.startswith("?")), "")
    return [word for word in words if not word.startswith("?")], needs


def _within(versions: str, android: int) -> bool:
    first, dash, last = versions.partition("-")
    if versions == "*":
        return True
    if not dash:
        return android == int(first)
    return int(first or 0) <= android <= int(last or 99)


def _made_by(word: str, maker: str) -> bool:
    return word[1:] != maker if word.startswith("-") else word == maker


def _format(text: str) -> str:
    """Return a line as a format of %: `$key` becomes `%(key)s`."""
    plain = text.replace("%", "%%")
    return _VALUE.sub(
        lambda found: "$" if found["dollar"] else f"%({found['braced'] or found['plain']})s", plain
    )
