"""What the documents promise of themselves: they are there, short, linked and true to the tree."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "virtual_phone").glob("*.md")]
)
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


ANCHOR = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """List the anchors that the site makes of a page's headings."""
    headings: list[str] = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_into_a_page_lead_to_a_heading(page: Path) -> None:
    broken = [
        f"{target}#{anchor}"
        for target, anchor in ANCHOR.findall(page.read_text(encoding="utf-8"))
        if "://" not in target
        and anchor not in anchors(page if not target else page.parent / target)
    ]
    assert broken == []


NAMED = re.compile(r"`((?:agent|bench|console|docs|scripts|tests|virtual_phone|widgets)/[\w./-]+)`")
PLACE = re.compile(r"^\| `([\w/]+\.py)` \| `(\w+)` \|", re.MULTILINE)


WALKS = ["docs/how-one-tap-travels.md", "docs/how-one-question-travels.md", "docs/the-loop.md"]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", *WALKS])
def test_files_that_a_guide_names_exist(page: str) -> None:
    named = set(NAMED.findall((ROOT / page).read_text(encoding="utf-8")))
    assert named, "the page names no file"
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", *WALKS])
def test_files_hold_what_a_guide_says_is_in_them(page: str) -> None:
    places = PLACE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert places, "the page has no table of places"
    missing = [
        (file, name)
        for file, name in places
        if not re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_every_dependency_has_its_reason() -> None:
    wanted: list[str] = []
    for file in ("pyproject.toml", "virtual_phone/pyproject.toml"):
        project = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))
        wanted += [*project["project"]["dependencies"]]
        for rows in project["dependency-groups"].values():
            wanted += rows
        for rows in project["project"]["optional-dependencies"].values():
            wanted += rows
    names = [re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0] for requirement in wanted]
    reasons = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    assert [
        name for name in names if f"`{name}`" not in reasons and name != "switchboard-console"
    ] == []


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("requirements.lock", 20),
        ("requirements-tools.lock", 4),
        ("requirements-site.lock", 8),
        ("virtual_phone/requirements.lock", 20),
    ],
)
def test_a_lock_holds_hashes_and_no_address(name: str, least: int) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock
    assert "index-url" not in lock
    pinned = re.findall(r"^[A-Za-z0-9_.-]+(?:\[[^\]]*\])?==", lock, re.MULTILINE)
    assert len(pinned) > least
    assert lock.count("--hash=sha256:") >= len(pinned)


def test_nothing_is_installed_without_its_hash() -> None:
    script = (ROOT / "scripts/bootstrap.sh").read_text(encoding="utf-8").replace("\\\n", " ")
    installs = re.findall(r"^\s*(?:if ! )?(?:install|.*pip install) (.*)$", script, re.MULTILINE)
    assert len(installs) > 3
    unhashed = [one for one in installs if "--require-hashes" not in one and '"$@"' not in one]
    assert unhashed == ["--no-build-isolation --editable . --editable ./virtual_phone"], (
        "only what is here needs none"
    )


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


CITED = re.compile(
    r"CONTRACTS\s+((?:[A-E]\d+|\d+\.\d+)(?:(?:,|\s+and|,\s+and)\s+(?:[A-E]\d+|\d+\.\d+))*)"
)
"""The numbers behind the word; several may follow one another."""
NUMBER = re.compile(r"[A-E]\d+|\d+\.\d+")
CHAPTER = re.compile(r"\bchapter (\d)\b|CONTRACTS [\d., ]+ and (\d)(?![\d.])")
HAZARD = re.compile(r"CONTRACTS 2\.3,\s+hazards ((?:\d|,| |and)+)")


def contract_numbers() -> set[str]:
    page = (ROOT / "docs/contracts.md").read_text(encoding="utf-8")
    headings: list[str] = re.findall(r"^\*\*([^*]+)\*\*", page, re.MULTILINE)
    return {number for heading in headings for number in NUMBER.findall(heading)}


def test_every_contract_that_is_cited_is_on_its_page() -> None:
    kept = contract_numbers()
    sources = [p for p in tracked() if p.suffix in {".py", ".md"} and p.is_file()]
    cited = {
        (number, path.relative_to(ROOT).as_posix())
        for path in sources
        for found in CITED.finditer(path.read_text(encoding="utf-8"))
        for number in NUMBER.findall(found[1])
    }
    assert len(cited) > 50, "the citations were not found"
    assert sorted(one for one in cited if one[0] not in kept) == []


def test_every_chapter_and_hazard_that_a_source_cites_is_on_the_page() -> None:
    page = (ROOT / "docs/contracts.md").read_text(encoding="utf-8")
    chapters = set(re.findall(r"^## (\d)\. ", page, re.MULTILINE))
    hazards = set(re.findall(r"\((\d)\)", page.split("Six hazards")[1].split("\n\n")[0]))
    rooms = ("agent", "tests", "console")
    sources = [p for p in tracked() if p.suffix == ".py" and p.relative_to(ROOT).parts[0] in rooms]
    cited: set[str] = set()
    for path in sources:
        text = path.read_text(encoding="utf-8")
        for found in CHAPTER.findall(text):
            cited |= set(filter(None, found))
        for some in HAZARD.findall(text):
            assert set(re.findall(r"\d", some)) <= hazards, path
    assert {"6", "7"} <= cited <= chapters


def test_every_deviation_from_a_contract_says_what_is_done_instead() -> None:
    page = (ROOT / "docs/contracts.md").read_text(encoding="utf-8")
    said = [part.split("\n\n")[0] for part in page.split("≠ ")[1:]]
    assert len(said) > 25
    short = [part for part in said if len(part.split(".")[0].split()) < 3]
    assert short == []
