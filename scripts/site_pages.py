"""Stage the pages of the documentation site: `python scripts/site_pages.py [FOLDER]`.

The site is built from the documents as they lie in the repository, which are written for readers of
the repository: README is the first page, the decisions get a list of their own, and links to files
that are no page lead to their text. Invariant: nothing is written but into the folder, which is
made anew.
"""

import re
import shutil
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGED = ROOT / "build" / "site-pages"
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "virtual_phone/README.md")
TEXTS = (
    "LICENSE",
    "NOTICE",
    "virtual_phone/NOTICE",
    "deploy/compose.yaml",
    "deploy/switchboard-host.service",
    "deploy/switchboard.service",
)
"""Files that are no pages, and that pages link to."""
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")


def main() -> None:
    """Stage the pages."""
    stage(Path(sys.argv[1]) if len(sys.argv) > 1 else STAGED)


def stage(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("man"))
    shutil.copytree(ROOT / "screenshots", folder / "screenshots")
    shutil.copy(ROOT / "README.md", folder / "index.md")
    for name in PAGES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in TEXTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        title = Path(name).name.capitalize()
        (folder / name).parent.mkdir(exist_ok=True)
        page = f"# {title}\n\n```text\n{text}```\n"
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    (folder / "docs/decisions/index.md").write_text(decisions(), encoding="utf-8")
    for path in folder.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        led = _LINK.sub(partial(_led, page=path, folder=folder), text)
        path.write_text(led, encoding="utf-8")
    _show_only_what_is_linked(folder)


def decisions() -> str:
    """Return a page that lists the decision records by their titles."""
    lines = ["# Decisions\n", "Choices that may be questioned, and the reasons for them.\n"]
    for path in sorted((ROOT / "docs/decisions").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0]
        words = re.sub(r"^#\s*\d+\s*[.:]?\s*", "", title)
        lines.append(f"- [{path.name[:4]}: {words}]({path.name})")
    return "\n".join(lines) + "\n"


def _led(link: re.Match[str], page: Path, folder: Path) -> str:
    before, target, after = link.groups()
    place = (page.parent / target).resolve()
    if place == folder.resolve() / "README.md":
        target = target.removesuffix("README.md") + "index.md"
    elif (place / "index.md").is_file():
        target = f"{target.rstrip('/')}/index.md"
    elif place.with_name(f"{place.name}.md").is_file():
        target = f"{target}.md"
    return f"{before}{target}{after}"


def _show_only_what_is_linked(folder: Path) -> None:
    """Leave out pictures that no page shows: they are of the repository, and many."""
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.rglob("*.md"))
    for picture in (folder / "screenshots").iterdir():
        if f"screenshots/{picture.name})" not in pages:
            picture.unlink()


if __name__ == "__main__":
    main()
