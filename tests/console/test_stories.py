"""The list of stories names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NAMED = re.findall(
    r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs/stories.md").read_text("utf-8")
)


def written_in(path: str) -> set[str]:
    text = (ROOT / path).read_text("utf-8")
    return set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED}))
def test_every_story_names_a_test_that_is_there(path: str) -> None:
    assert {name for where, name in NAMED if where == path} <= written_in(path)


def test_the_list_is_read() -> None:
    assert len(NAMED) > 40
