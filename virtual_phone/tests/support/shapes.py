"""Shapes: what a command's output has to look like, written after Android's sources.

A shape says which lines there must be and in which order, which there must not be, and which keys
are known. It is written from the sources and recordings that it names, never from what the virtual
phone prints. Format of a shape file, for one command:

    @ SOURCE                  where the rows below were read
    RANGE [MAKER] MARK|PATTERN

RANGE and MAKER as in the phone's tables: `*`, `14`, `9-11`, `14-`, `-11`; `samsung` or, for all
others, `-samsung`. MARK: `+` a line that must be
there, after the `+` lines before it; `{` a line that begins a block, at least one; `*` a line that
must be in every block, in order; `-` a line that must not be there; `=` keys (`key=`) that are
known, by name, where the shape knows them all. A pattern is text with `<n>`, `<hex>`, `<bool>`,
`<size>`, `<window>`, `<record>` or `<any>` in it, and must fit a whole line.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

_ROW = re.compile(
    r"(?P<range>\*|\d*-?\d*)(?: +(?P<maker>-?[a-z]+))? +(?P<mark>[-+{*=])\|(?P<text>.*)"
)
_WORDS = {
    "<n>": r"-?\d+",
    "<hex>": r"[0-9a-f]+",
    "<bool>": r"(?:true|false)",
    "<size>": r"\d+x\d+",
    "<window>": r"(?:null|Window\{[0-9a-f]+ u-?\d+ [^}\n]*\})",
    "<record>": r"(?:null|ActivityRecord\{[0-9a-f]+ u\d+ [\w.]+/[\w.$]+\}? t\d+\})",
    "<any>": r".*",
}
_KEY = re.compile(r"(?<![\w.])([A-Za-z_][\w]*)=")


@dataclass
class Shape:
    """What one version's output of a command has to look like."""

    must: list[str] = field(default_factory=list)
    begins: list[str] = field(default_factory=list)
    in_block: list[str] = field(default_factory=list)
    must_not: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def wrong(self, text: str, *, is_whole: bool = True) -> list[str]:
        """Return what is wrong with an output; nothing where it has this shape.

        Args:
            text: the output, its lines with LF or CR LF.
            is_whole: whether every key must be known; a recording has more than a shape names.
        """
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        found = _in_order(self.must, lines, "the output")
        blocks = _blocks(self.begins, lines)
        if self.begins and not blocks:
            found.append(f"no block begins with {self.begins}")
        for block in blocks:
            found += _in_order(self.in_block, block, f"the block {block[0].strip()!r}")
        for pattern in self.must_not:
            hit = next((line for line in lines if _fits(pattern, line)), None)
            if hit is not None:
                found.append(f"must not be there: {hit!r}")
        if is_whole and self.keys:
            unknown = sorted(set(_KEY.findall(text)) - self.keys)
            found += [f"no phone prints this key: {key}" for key in unknown]
        return found


def read_shape(path: Path, android: int, maker: str = "aosp") -> Shape:
    """Return the shape of a version and maker.

    Raises:
        ValueError: a row has no form or no source.
    """
    shape = Shape()
    sourced = False
    lists = {"+": shape.must, "{": shape.begins, "*": shape.in_block, "-": shape.must_not}
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not row or row.startswith("#"):
            continue
        if row.startswith("@ "):
            sourced = True
            continue
        match = _ROW.fullmatch(row)
        if match is None or not sourced:
            raise ValueError(f"{path.name}, line {number}: no row with a source above it: {row}")
        if not _within(match["range"], android) or not _made_by(match["maker"], maker):
            continue
        if match["mark"] == "=":
            shape.keys.update(match["text"].split())
        else:
            lists[match["mark"]].append(match["text"])
    return shape


def _within(versions: str, android: int) -> bool:
    first, dash, last = versions.partition("-")
    if versions == "*":
        return True
    if not dash:
        return android == int(first)
    return int(first or 0) <= android <= int(last or 99)


def _made_by(word: str | None, maker: str) -> bool:
    return word is None or (word[1:] != maker if word.startswith("-") else word == maker)


def _fits(pattern: str, line: str) -> bool:
    parts = re.split(r"(<\w+>)", pattern)
    return (
        re.fullmatch("".join(_WORDS.get(part, re.escape(part)) for part in parts), line) is not None
    )


def _in_order(patterns: list[str], lines: list[str], where: str) -> list[str]:
    at = 0
    for pattern in patterns:
        hit = next((n for n in range(at, len(lines)) if _fits(pattern, lines[n])), None)
        if hit is None:
            earlier = any(_fits(pattern, line) for line in lines[:at])
            return [f"{where} has no {pattern!r}{' at its place' * earlier}"]
        at = hit + 1
    return []


def _blocks(begins: list[str], lines: list[str]) -> list[list[str]]:
    starts = [n for n, line in enumerate(lines) if any(_fits(one, line) for one in begins)]
    return [lines[begin:end] for begin, end in pairwise([*starts, len(lines)])]
