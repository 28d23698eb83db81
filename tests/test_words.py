"""Words that are not said stay away from screens, errors and commands."""

import re
from pathlib import Path

import pytest

from scripts.visible_strings import ROOT, errors, raising, sources, strings

_HEADING = "## Words that are not said"
_ROW = re.compile(r"^\| (?P<wrong>[^|]+?) \| (?P<right>[^|]+?) \|$", re.MULTILINE)
# The glossary lists the words; contracts.md quotes its sources.
EXCEPT = {"glossary.md", "contracts.md"}
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(
        f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md") if page.name not in EXCEPT
    ),
)


def forbidden() -> dict[str, str]:
    """Read the list of the glossary: what is not said, and what is said instead."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = text.partition(_HEADING)[2].partition("\n## ")[0]
    rows = {row["wrong"].casefold(): row["right"] for row in _ROW.finditer(table)}
    del rows["not"]
    return rows


WRONG = forbidden()


def found_in(text: str) -> list[str]:
    """List what is said wrongly in a text, each with what to say."""
    said = " ".join(text.casefold().split())
    return [
        f"{wrong!r}: say {right!r}"
        for wrong, right in WRONG.items()
        if re.search(rf"\b{re.escape(wrong)}", said)
    ]


def test_the_list_is_read() -> None:
    assert len(WRONG) > 20
    assert found_in("Nobody asks anything.") == ["'nobody asks': say 'no open questions'"]


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_string_that_an_operator_reads_has_a_word_that_is_not_said(path: Path) -> None:
    wrong = [f"{line}: {said}" for line, text in strings(path) for said in found_in(text)]
    assert not wrong, "\n".join(wrong)


def test_no_error_of_the_core_has_a_word_that_is_not_said() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {said}"
        for path in raising()
        for line, text in errors(path)
        for said in found_in(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_that_an_operator_reads_has_a_word_that_is_not_said(page: str) -> None:
    wrong = found_in((ROOT / page).read_text(encoding="utf-8"))
    assert not wrong, "\n".join(wrong)


def test_the_strings_of_a_file_are_those_that_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text('''"""A module is not shown."""
import click
@click.command()
def verb():
    """A help page is shown."""
def other():
    """A docstring is not shown."""
    return f"a part {other} is shown"
''')
    assert [text for _, text in strings(file)] == ["A help page is shown.", "a part ", " is shown"]
