"""The glossary is the law: no name in the code has a word that it forbids."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SECTION = "## Words that name nothing here"
ALONE = "## Names that say too little"

# The program is read once for all tests of this module.
pytestmark = pytest.mark.xdist_group("names")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PROGRAM = ("agent", "widgets", "console", "bench", "scripts", "virtual_phone")
_REFERENCE = re.compile(rf"`((?:{'|'.join(PROGRAM)})(?:\.\w+)+)`")


@cache
def forbidden() -> dict[str, str]:
    """Return the forbidden words with what is said instead, as the glossary lists them."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    table = page.split(SECTION, 1)[1]
    rows = dict(re.findall(r"^\| ([a-z]+) \| ([^|]+?) \|$", table, re.MULTILINE))
    del rows["word"]
    return rows


@cache
def too_short() -> frozenset[str]:
    """Return the words that are no name by themselves, as the glossary lists them."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    section = page.split(ALONE, 1)[1].split("\n## ", 1)[0]
    return frozenset(re.findall(r"`([a-z_]+)`[,.]", section))


class Read(NamedTuple):
    """What the program calls things, each with the file that has it."""

    outer: set[tuple[str, str]]
    """Modules and classes."""
    inner: set[tuple[str, str]]
    """Functions, parameters and variables."""
    functions: set[tuple[str, str]]
    docstrings: list[tuple[str, str]]
    """The first line of each function's docstring that returns something, after its place."""
    prose: list[tuple[str, str]]
    """The docstrings and comments that hold a forbidden word, after their place."""
    references: set[tuple[str, str]]
    """What is referred to by its whole name, with the file that does."""


@cache
def program() -> Read:
    """Read the program once; its trees are not kept."""
    read = Read(set(), set(), set(), [], [], set())
    for package in PROGRAM:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            read.outer.update((part, where) for part in Path(where).with_suffix("").parts)
            source = path.read_text(encoding="utf-8")
            read.references.update((name, where) for name in _REFERENCE.findall(source))
            for node in ast.walk(ast.parse(source)):
                _add(read, where, node)
            if said_wrongly(source):
                read.prose.extend((f"{where}:{line}", text) for line, text in prose(source))
    return read


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a source, with their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text), lineno=line)):
                yield line, text
            case _:
                pass
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


# What such a word also means where it is no metaphor: to roll up or back, the desk somebody sits
# at, the rack that phones stand in.
_PLAIN = re.compile(
    r"\broll(?:s|ed|ing)?[- ](?:up|back)\b|\ba(?:t a)? (?:desk|rack)\b|\brack-\d+", re.IGNORECASE
)


def said_wrongly(text: str) -> list[str]:
    """Return the forbidden words that a text has, in the singular or the plural."""
    flat = _PLAIN.sub(" ", " ".join(text.casefold().split()))
    return [
        word
        for word in forbidden()
        # Most words are in no text, and a plain search says so in a tenth of the time.
        if word in flat and re.search(rf"(?<![\w`]){word}(?:s|es)?(?![\w`])", flat)
    ]


def _add(read: Read, where: str, node: ast.AST) -> None:
    match node:
        case ast.ClassDef(name=name):
            read.outer.add((name, where))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            read.inner.add((name, where))
            read.functions.add((name, where))
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


def test_no_module_class_or_function_is_called_by_a_word_that_says_too_little() -> None:
    assert len(too_short()) > 50, "the list was not found"
    read = program()
    wrong = [
        f"{where}: {name}"
        for name, where in sorted(read.outer | read.functions)
        if re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip("_")).lower() in too_short()
    ]
    assert not wrong, "\n".join(wrong)


def test_no_docstring_and_no_comment_has_one_either() -> None:
    words = forbidden()
    wrong = [
        f"{where}: {word}; say {words[word]}"
        for where, text in program().prose
        for word in said_wrongly(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_word_is_found_in_docstrings_and_comments_and_passes_where_it_is_plain_english() -> None:
    source = '''"""Ask the core's desks."""
NAME = "a clerk"  # kept by the clerk
class Sight:
    """The eyes of one
    operator."""
    field: int
    """Rolled up, then rolled back; a rack of phones, rack-3, new seeds for a desk."""
'''
    found = {word for _, text in prose(source) for word in said_wrongly(text)}
    assert found == {"desk", "clerk", "eyes"}


_NO_VALUE = re.compile(r"(Give|Tell|Say|Word|Know)\b")


def test_what_returns_a_value_says_return() -> None:
    wrong = [f"{where}: {said}" for where, said in program().docstrings if _NO_VALUE.match(said)]
    assert not wrong, "\n".join(wrong)


def is_there(name: str) -> bool:
    """Return whether a whole name is that of a module, or of something that stands in it."""
    parts = name.split(".")
    root = ROOT / "virtual_phone/src" if parts[0] == "virtual_phone" else ROOT
    for length in range(len(parts), 0, -1):
        place = root.joinpath(*parts[:length])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                left = parts[length : length + 1]
                text = file.read_text(encoding="utf-8") if left else ""
                return all(re.search(rf"\b{word}\b", text) for word in left)
    return False


def test_what_is_referred_to_by_its_whole_name_is_there() -> None:
    read = program()
    assert len(read.references) > 300
    wrong = [f"{where}: {name}" for name, where in sorted(read.references) if not is_there(name)]
    assert not wrong, "\n".join(wrong)
