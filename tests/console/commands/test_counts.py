"""What commands and screens count: one of a thing is never told in the plural."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import console
import widgets

_PLURAL = re.compile(
    r" (?:new |open )?(blobs|calls|days|devices|episodes|events|exercises|files|frames|hosts|jobs"
    r"|lines|actions|objects|operators|phones|pictures|questions|rows|runs|sessions|steps|times|tokens"
    r"|trials|watchers)\b"
)


def counts(source: str) -> Iterator[str]:
    """Return each number of an f-string that a plural follows, whatever the number is."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, after in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(number, ast.FormattedValue)
                and isinstance(after, ast.Constant)
                and (found := _PLURAL.match(str(after.value)))
            ):
                yield f"line {node.lineno}: {ast.unparse(number)}{found[0]}"


def test_a_plural_after_a_number_is_found() -> None:
    assert list(counts("f'{n:,} events of {m} sessions'")) != []
    assert list(counts("f'{counted(n, \"event\")} of {m}'")) == []


@pytest.mark.parametrize("package", [console, widgets])
def test_what_is_counted_is_told_by_its_number(package: ModuleType) -> None:
    [place] = package.__path__
    found = {
        str(path.relative_to(place)): told
        for path in sorted(Path(place).rglob("*.py"))
        if (told := list(counts(path.read_text("utf-8"))))
    }
    assert not found, "use agent.text.counted"
