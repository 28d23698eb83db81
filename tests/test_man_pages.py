"""The manual pages are those of the commands as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.man_pages import PAGES, page


@pytest.mark.parametrize("path", list(PAGES), ids=lambda path: path.name)
def test_a_manual_page_is_that_of_its_command(path: Path) -> None:
    name, command = PAGES[path]
    assert path.read_text(encoding="utf-8") == page(name, command), (
        "make it anew: python scripts/man_pages.py"
    )
