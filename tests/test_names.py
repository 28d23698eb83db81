"""The glossary is the law: no module and no class is called by a word that it forbids."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECTION = "## Words that name nothing here"
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def forbidden() -> dict[str, str]:
    """Return the forbidden words with what is said instead, as the glossary lists them."""
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    table = page.split(SECTION, 1)[1]
    return dict(re.findall(r"^\| ([a-z]+) \| ([^|]+?) \|$", table, re.MULTILINE))


def names() -> set[tuple[str, str]]:
    """Return every module and class of the program with the file that has it."""
    found = set()
    for package in ("agent", "widgets", "console"):
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            found.update((part, where) for part in path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found.add((node.name, where))
    return found


def test_no_module_and_no_class_has_a_name_that_the_glossary_forbids() -> None:
    words = forbidden()
    assert len(words) > 10, "the table was not found"
    guilty = [
        f"{where}: {name}; say {words[part.lower()]}"
        for name, where in sorted(names())
        for part in _PART.findall(name)
        if part.lower() in words
    ]
    assert guilty == []
