"""Count the methods of each class, those of its mixins of ours included.

`python -m scripts.class_sizes [N]` prints the N largest. What Textual and other libraries bring is
not counted; a method that a subclass writes again counts once.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from scripts.rooms import ROOT, modules

PHONE = ROOT / "virtual_phone" / "src"


class _Class(NamedTuple):
    module: str
    bases: tuple[str, ...]
    methods: frozenset[str]


def class_sizes() -> dict[str, int]:
    """Return how many methods each class of the sources has, by `module.Class`."""
    known = dict(_classes())
    by_name: dict[str, list[str]] = {}
    for full in known:
        by_name.setdefault(full.rpartition(".")[2], []).append(full)
    return {full: len(_methods(full, known, by_name, set())) for full in known}


def _methods(
    full: str, known: Mapping[str, _Class], by_name: Mapping[str, list[str]], seen: set[str]
) -> set[str]:
    if full in seen:
        return set()
    seen.add(full)
    found = set(known[full].methods)
    for base in known[full].bases:
        # The same name may stand for several classes: the nearest by its place is meant.
        meant = max(by_name.get(base, ()), key=lambda one: _shared(one, full), default="")
        if meant:
            found |= _methods(meant, known, by_name, seen)
    return found


def _shared(one: str, other: str) -> int:
    """Return how many leading parts two dotted names share."""
    count = 0
    for left, right in zip(one.split("."), other.split("."), strict=False):
        if left != right:
            break
        count += 1
    return count


def _classes() -> Iterator[tuple[str, _Class]]:
    phone = {
        ".".join(path.relative_to(PHONE).with_suffix("").parts): path
        for path in sorted(PHONE.rglob("*.py"))
    }
    for module, path in (modules() | phone).items():
        for node in _of_module(path):
            methods = frozenset(
                one.name
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            )
            bases = tuple(filter(None, map(_name, node.bases)))
            yield f"{module}.{node.name}", _Class(module, bases, methods)


def _of_module(path: Path) -> Iterator[ast.ClassDef]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node


def _name(base: ast.expr) -> str:
    if isinstance(base, ast.Subscript):
        return _name(base.value)
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""


def main() -> None:
    """Print the largest classes."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    sizes = class_sizes()
    for full in sorted(sizes, key=lambda one: -sizes[one])[:most]:
        print(f"{sizes[full]:4} {full}")


if __name__ == "__main__":
    main()
