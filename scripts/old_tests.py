"""Say where each test from before the move of the rooms is today: `python -m scripts.old_tests`.

`tests/data/old_tests.txt.gz` holds their ids, `path::name`, as of `BEFORE`. Where one test alone
has that name today, or one alone in a file of the same name, it is that one, wherever it was moved.
For the others `tests/data/old_tests.tsv` says by hand: the old id, then today's, then why where the
name does not say it. A test that went without a successor has `-` and the reason. With `--write`,
the ids are read from git's history again.
"""

import ast
import gzip
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEFORE = "4c78171d05825025b6294fc467fd13b47d3c9a61"  # The last commit before the rooms were moved.
OLD = ROOT / "tests" / "data" / "old_tests.txt.gz"
BY_HAND = ROOT / "tests" / "data" / "old_tests.tsv"
FOLDERS = ("tests", "virtual_phone/tests")
GONE = "-"


def names(source: str) -> Iterator[str]:
    """Yield the tests of a module: functions, methods as `Class::name`, and assigned machines."""
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test_"):
                    yield name
            case ast.ClassDef(name=name) if name.startswith("Test"):
                for inner in node.body:
                    inner_name = getattr(inner, "name", "")
                    if inner_name.startswith("test_"):
                        yield f"{name}::{inner_name}"
            case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("Test"):
                yield name


@cache
def today() -> frozenset[str]:
    return frozenset(
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("test_*.py")
        for name in names(path.read_text(encoding="utf-8"))
    )


def before() -> list[str]:
    return gzip.decompress(OLD.read_bytes()).decode().split()


def by_hand() -> dict[str, tuple[str, str]]:
    """Return today's id and the reason by the old id, as they are written by hand."""
    table = {}
    for line in BY_HAND.read_text(encoding="utf-8").splitlines():
        old, new, why = (*line.split("\t"), "")[:3]
        table[old] = (new, why)
    return table


def new_ids(
    old: list[str], new: Collection[str], hand: dict[str, tuple[str, str]]
) -> dict[str, str]:
    """Return today's id by the old id: `GONE` where it went on purpose, "" where nothing says."""
    named: dict[str, list[str]] = defaultdict(list)
    for one in new:
        named[one.split("::", 1)[1]].append(one)

    def now(one: str) -> str:
        place, name = one.split("::", 1)
        same = named[name]
        if len(same) > 1:
            same = [new for new in same if _file(new) == _file(place)]
        return one if one in same else same[0] if len(same) == 1 else ""

    table = {}
    for one in old:
        target = hand[one][0] if one in hand else one
        table[one] = GONE if target == GONE else now(target)
    return table


def _file(one: str) -> str:
    return one.split("::", 1)[0].rsplit("/", 1)[-1]


def _read_history() -> list[str]:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout

    paths = git("ls-tree", "-r", "--name-only", BEFORE, "tests").splitlines()
    return sorted(
        f"{path}::{name}"
        for path in paths
        if path.rsplit("/", 1)[-1].startswith("test_") and path.endswith(".py")
        for name in dict.fromkeys(names(git("show", f"{BEFORE}:{path}")))
    )


def main(words: list[str]) -> int:
    """Print the whole table, old and new id a line; 1 where an old test is found nowhere."""
    if words == ["--write"]:
        OLD.write_bytes(gzip.compress("\n".join(_read_history()).encode(), mtime=0))
        return 0
    table = new_ids(before(), today(), by_hand())
    for old, new in table.items():
        print(f"{old}\t{new or '?'}")
    return int("" in table.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
