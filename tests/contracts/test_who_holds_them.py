"""The tests that docs/contracts.md names for its statements and edges are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`((?:virtual_phone/)?tests/[\w/]+\.py)(?:::(test_\w+))?`")
_DEFINED = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def page() -> str:
    return (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")


def test_every_test_that_a_statement_names_is_there_and_no_statement_is_left_out() -> None:
    named = _NAMED.findall(page())
    assert len(named) > 70
    assert [file for file, name in named if not name] == [], "a file alone names no test"
    missing = [
        f"{file}::{name}"
        for file, name in named
        if name not in _DEFINED.findall((ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []
    rows = re.findall(r"^\| (A\d+) ", page(), flags=re.MULTILINE)
    assert set(rows) == {f"A{number}" for number in range(1, 10)}


def test_every_edge_has_a_test_that_holds_it() -> None:
    rows = re.findall(r"^\| (.+) \| (.+) \|$", page().split("## Edges")[1], flags=re.MULTILINE)
    edges = [row for row in rows if row[0] not in {"promise", "---"}]
    assert len(edges) >= 30
    assert [promise for promise, tests in edges if not _NAMED.search(tests)] == []
