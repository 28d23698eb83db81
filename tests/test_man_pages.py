"""The manual pages are those of the commands as they are."""

import subprocess
import sys
from pathlib import Path

from scripts.man_pages import PAGES, ROOT


def test_the_manual_pages_are_those_of_the_commands(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "scripts.man_pages", str(tmp_path)], cwd=ROOT, check=True, timeout=60
    )
    for path in PAGES:
        kept = (ROOT / path).read_text(encoding="utf-8")
        written = (tmp_path / path).read_text(encoding="utf-8")
        assert kept == written, "make it anew: python -m scripts.man_pages"
