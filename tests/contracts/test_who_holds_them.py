"""The tests that docs/contracts.md names for its statements are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_that_a_statement_names_is_there_and_no_statement_is_left_out() -> None:
    page = (ROOT / "docs" / "contracts.md").read_text()
    named = _NAMED.findall(page)
    assert len(named) > 20
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"def {name}\(", (ROOT / file).read_text())
    ]
    assert not missing
    rows = re.findall(r"^\| (A\d+) ", page, flags=re.MULTILINE)
    assert set(rows) == {f"A{number}" for number in range(1, 10)}
