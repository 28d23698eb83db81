"""What the documents promise of themselves: they are there, short, linked and true to the tree."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_CACHES = {".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"}
_MADE = {".git", ".venv", *_CACHES}
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


def tracked() -> list[Path]:
    """List what git keeps; an unpacked archive, or a machine without git, lists the tree itself."""
    git = shutil.which("git")
    if git is not None:
        done = subprocess.run(
            [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return [ROOT / name for name in done.stdout.split("\0") if name]
    return [p for p in ROOT.rglob("*") if p.is_file() and _MADE.isdisjoint(p.parts)]


@pytest.mark.parametrize(("name", "most"), [("README.md", 120), ("docs/architecture.md", 200)])
def test_a_page_that_must_be_short_is_short(name: str, most: int) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = [
        target
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = [re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0] for requirement in wanted]
    reasons = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in reasons] == []


def test_the_lock_holds_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert "index-url" not in lock
    pinned = re.findall(r"^[A-Za-z0-9_.-]+(?:\[[^\]]*\])?==", lock, re.MULTILINE)
    assert len(pinned) > 20
    assert lock.count("--hash=sha256:") >= len(pinned)


def test_no_file_names_a_machine_or_a_registry() -> None:
    # Put together here so that this file does not name them either.
    forbidden = [
        "/" + "work/",
        "/" + "farm/",
        "pypi" + ".org",
        "pythonhosted" + ".org",
        "registry.npmjs" + ".org",
        "deb.debian" + ".org",
    ]
    guilty = []
    for path in tracked():
        if not path.is_file() or path.stat().st_size > 2_000_000:
            continue
        data = path.read_bytes()
        guilty += [
            (path.relative_to(ROOT).as_posix(), word) for word in forbidden if word.encode() in data
        ]
    assert guilty == []


def test_every_decision_says_context_choice_and_consequence() -> None:
    pages = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for heading in ("## Context", "## Choice", "## Consequence"):
            assert heading in text, f"{page.name} lacks {heading}"
