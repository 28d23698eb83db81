"""Change what a phone says in every way that texts are changed on their way, and count the facts.

    python -m tests.devices.facts.mutations --count 10000 --seed 1

A fact that is read of a changed text is the one of the whole text, or it is not read at all.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.devices.facts.mutated_cases import Case, cases

NOISE = (
    "WARNING: linker: /system/lib64/libx.so has text relocations.",
    "/system/bin/sh: grep: not found",
    "/system/bin/sh: cmd: inaccessible or not found",
    "Can't find service: thermalservice",
    "cmd: Can't find service: notification",
    "Failure calling service window: Failed transaction (2147483646)",
    "警告：不支持的操作",
    "تحذير: خدمة غير متوفرة",
    "W/libc    ( 1234): Unable to set property",
    "",
)
_LOGS = 2  # The last ones are no words of a program of the shell.
WORDS = (" (v2)", " mMakersWord=0", " isFloat=false", " #845d91b")
ENDS = ("\r\n", "\r\r\n", "\n")
_SECTION = re.compile(r"(?m)^(?=  Display: mDisplayId=)")
_AFTER = "WINDOW MANAGER WINDOWS"
_HEADING = re.compile(r"WINDOW MANAGER|Display: mDisplayId=|Window #|state:|List|Users:|Status")


def mutate(case: Case, draw: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return the changed text, and what was done to it, in its order."""
    text = case.text
    names = tuple(name for name in _CHANGES if name not in case.spared)
    drawn = [draw.choice(names) for _ in range(draw.randint(1, 3))]
    done = tuple(sorted(drawn, key="cut".__eq__))  # A stream ends after all else.
    for name in done:
        text = _CHANGES[name](text, draw)
    return text, done


def _warn(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(draw.randint(0, len(lines)), draw.choice(NOISE))
    return "\n".join(lines)


def _interleave(text: str, draw: random.Random) -> str:
    """What is written to the other stream breaks in where the first one was flushed."""
    at = draw.randint(0, len(text))
    return f"{text[:at]}{draw.choice(NOISE[:-_LOGS])}\n{text[at:]}"


def _double(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    return "\n".join([*lines[: at + 1], *lines[at:]])


def _cut(text: str, draw: random.Random) -> str:
    raw = text.encode()
    return raw[: draw.randint(0, len(raw))].decode("utf-8", "replace")


def _end(text: str, draw: random.Random) -> str:
    return text.replace("\n", draw.choice(ENDS))


def _reorder(text: str, draw: random.Random) -> str:
    body, after, rest = text.partition(_AFTER)
    head, *sections = _SECTION.split(body)
    draw.shuffle(sections)
    return "".join([head, *sections, after, rest])


def _add_words(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = [n for n, line in enumerate(lines) if _HEADING.search(line)]
    if at:
        lines[draw.choice(at)] += draw.choice(WORDS)
    return "\n".join(lines)


def _wrap(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    at = draw.randrange(len(lines))
    blanks = [found.start() for found in re.finditer(r"(?<=\S) (?=\S)", lines[at])]
    if not blanks or lines[at].startswith("<"):
        return text
    cut = draw.choice(blanks)
    lines[at : at + 1] = [lines[at][:cut], f"        {lines[at][cut + 1 :]}"]
    return "\n".join(lines)


_CHANGES = {
    "warning": _warn,
    "interleaved": _interleave,
    "doubled": _double,
    "cut": _cut,
    "line ends": _end,
    "reordered": _reorder,
    "words": _add_words,
    "wrapped": _wrap,
}


@dataclass
class Tally:
    """What came of many changed texts."""

    right: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)
    by_case: Counter[str] = field(default_factory=Counter)


def wrong_facts(case: Case, truth: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """Return what was read and is not so."""
    return [f"{name}={found[name]!r}" for name in found if found[name] != truth.get(name)]


def run(every: Sequence[Case], count: int, seed: int) -> Tally:
    """Read a number of changed texts, the cases in turn."""
    truths = {case.name: case.read(case.text) for case in every}
    tally = Tally()
    for number in range(count):
        case = every[number % len(every)]
        draw = random.Random(f"{seed}/{number}")
        text, done = mutate(case, draw)
        truth, found = truths[case.name], case.read(text)
        wrong = wrong_facts(case, truth, found)
        tally.right += len(found) - len(wrong)
        tally.unknown += len(truth.keys() - found.keys())
        if wrong:
            tally.wrong.append(f"{case.name} #{number} {'+'.join(done)}: {', '.join(wrong)[:300]}")
            tally.by_case[case.name] += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = run(list(cases()), options.count, options.seed)
    for line in tally.wrong[:100]:
        print(line)
    print(
        f"{options.count} texts: {tally.right} facts right, {tally.unknown} unknown, "
        f"{len(tally.wrong)} texts with a wrong one {dict(tally.by_case)}"
    )
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
