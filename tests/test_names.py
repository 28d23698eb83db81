"""The glossary is the law: no name in the code has a word that it forbids."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECTION = "## Words that name nothing here"
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PROGRAM = ("agent", "widgets", "console", "bench", "scripts", "virtual_phone")


def forbidden() -> dict[str, str]:
    """Return the forbidden words with what is said instead, as the glossary lists them."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    table = page.split(SECTION, 1)[1]
    rows = dict(re.findall(r"^\| ([a-z]+) \| ([^|]+?) \|$", table, re.MULTILINE))
    del rows["word"]
    return rows


def trees() -> Iterator[tuple[str, ast.AST]]:
    """Return every node of the program with the file that has it."""
    for package in PROGRAM:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield where, node


def names() -> set[tuple[str, str]]:
    """Return every module and class of the program with the file that has it."""
    found = {(node.name, where) for where, node in trees() if isinstance(node, ast.ClassDef)}
    for package in PROGRAM:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT)
            found.update((part, where.as_posix()) for part in where.with_suffix("").parts)
    return found


def inner_names() -> set[tuple[str, str]]:
    """Return every function, parameter and variable with the file that has it."""
    found = set()
    for where, node in trees():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                found.add((name, where))
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add((name, where))
            case _:
                pass
    return found


def guilty(found: set[tuple[str, str]]) -> list[str]:
    """Return what is wrongly called, each with the word that is said instead."""
    words = forbidden()
    return [
        f"{where}: {name}; say {words[part.lower()]}"
        for name, where in sorted(found)
        for part in _PART.findall(name)
        if part.lower() in words
    ]


def test_no_module_and_no_class_has_a_name_that_the_glossary_forbids() -> None:
    assert len(forbidden()) > 10, "the table was not found"
    assert guilty(names()) == []


def test_no_function_and_no_variable_has_one_either() -> None:
    assert guilty(inner_names()) == []


_NO_VALUE = re.compile(r"(Give|Tell|Say|Word|Know)\b")


def docstrings_of_values() -> Iterator[tuple[str, str]]:
    """Yield the first words of each function's docstring that returns something."""
    for where, node in trees():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
            continue
        if isinstance(node.returns, ast.Constant) and node.returns.value is None:
            continue
        if said := ast.get_docstring(node):
            yield f"{where}:{node.lineno}", said.partition("\n")[0]


def test_what_returns_a_value_says_return() -> None:
    wrong = [f"{where}: {said}" for where, said in docstrings_of_values() if _NO_VALUE.match(said)]
    assert not wrong, "\n".join(wrong)
