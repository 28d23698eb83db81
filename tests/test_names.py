"""The glossary is the law: no name in the code has a word that it forbids."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SECTION = "## Words that name nothing here"

# The program is read once for all tests of this module.
pytestmark = pytest.mark.xdist_group("names")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PROGRAM = ("agent", "widgets", "console", "bench", "scripts", "virtual_phone")


def forbidden() -> dict[str, str]:
    """Return the forbidden words with what is said instead, as the glossary lists them."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    table = page.split(SECTION, 1)[1]
    rows = dict(re.findall(r"^\| ([a-z]+) \| ([^|]+?) \|$", table, re.MULTILINE))
    del rows["word"]
    return rows


class Read(NamedTuple):
    """What the program calls things, each with the file that has it."""

    outer: set[tuple[str, str]]
    """Modules and classes."""
    inner: set[tuple[str, str]]
    """Functions, parameters and variables."""
    docstrings: list[tuple[str, str]]
    """The first line of each function's docstring that returns something, after its place."""


@cache
def program() -> Read:
    """Read the program once; its trees are not kept."""
    read = Read(set(), set(), [])
    for package in PROGRAM:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            read.outer.update((part, where) for part in Path(where).with_suffix("").parts)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                _add(read, where, node)
    return read


def _add(read: Read, where: str, node: ast.AST) -> None:
    match node:
        case ast.ClassDef(name=name):
            read.outer.add((name, where))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            read.inner.add((name, where))
            if said := _said_of_a_value(node):
                read.docstrings.append((f"{where}:{node.lineno}", said))
        case ast.arg(arg=name):
            read.inner.add((name, where))
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            read.inner.add((name, where))
        case _:
            pass


def _said_of_a_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if node.returns is None:
        return ""
    if isinstance(node.returns, ast.Constant) and node.returns.value is None:
        return ""
    return (ast.get_docstring(node) or "").partition("\n")[0]


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
    assert guilty(program().outer) == []


def test_no_function_and_no_variable_has_one_either() -> None:
    assert guilty(program().inner) == []


_NO_VALUE = re.compile(r"(Give|Tell|Say|Word|Know)\b")


def test_what_returns_a_value_says_return() -> None:
    wrong = [f"{where}: {said}" for where, said in program().docstrings if _NO_VALUE.match(said)]
    assert not wrong, "\n".join(wrong)
