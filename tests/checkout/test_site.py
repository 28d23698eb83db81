"""The documentation site has every document, under links that lead there."""

import re
import tomllib
from pathlib import Path
from typing import Any

from scripts.site_pages import ROOT, TEXTS, decisions, stage

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")


def named(nav: Any) -> set[str]:
    """Return the pages of a navigation, at any depth."""
    if isinstance(nav, str):
        return {nav}
    parts = nav if isinstance(nav, list) else nav.values()
    return set().union(*(named(part) for part in parts))


def test_every_document_is_in_the_navigation(tmp_path: Path) -> None:
    stage(tmp_path / "pages")
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    pages = {path.relative_to(tmp_path / "pages").as_posix() for path in tmp_path.rglob("*.md")}
    records = {page for page in pages if page.startswith("docs/decisions/0")}
    texts = {f"{name}.md" for name in TEXTS}
    assert pages - records - texts == named(config["project"]["nav"])
    assert len(records) > 50


def test_every_link_between_staged_pages_leads_to_a_file(tmp_path: Path) -> None:
    stage(tmp_path)
    broken = [
        f"{page.relative_to(tmp_path)}: {target}"
        for page in tmp_path.rglob("*.md")
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).is_file()
    ]
    assert broken == []


def test_the_list_of_decisions_has_their_titles() -> None:
    page = decisions()
    assert "- [0004: A small asyncio client for the adb calls](0004-" in page
    assert page.count("\n- [") == len(list((ROOT / "docs/decisions").glob("*.md")))


def test_staging_again_leaves_nothing_of_before(tmp_path: Path) -> None:
    stage(tmp_path / "pages")
    (tmp_path / "pages/docs/gone.md").write_text("# Gone\n")
    stage(tmp_path / "pages")
    assert not (tmp_path / "pages/docs/gone.md").exists()
