"""The documentation site is built without a warning, and its pages fetch nothing from elsewhere."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Request, async_playwright

from scripts.site_pages import ROOT, stage
from tests.end_to_end.servers.test_web import CHROMIUM, FLAGS, needs_chromium
from tests.slow.test_extras_installed import environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("extras")]
_CSS_URL = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")
BOUND_MS = 60_000


class Fetches(HTMLParser):
    """Collects what a browser fetches of a page by itself, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted = {name: value or "" for name, value in attrs}
        if tag == "link":
            self.fetched.append(wanted.get("href", ""))
        elif tag != "a":
            self.fetched += [wanted.get("src", ""), wanted.get("srcset", "")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


def build(folder: Path, python: Path) -> subprocess.CompletedProcess[str]:
    words = [python.with_name("zensical"), "build", "--strict", "--clean"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    python = environment(folder, "requirements-site.lock")
    shutil.copy(ROOT / "zensical.toml", folder)
    pages = folder / "build/site-pages"
    stage(pages)
    built = build(folder, python)
    assert built.returncode == 0, built.stdout + built.stderr
    # The control: a link that leads nowhere is told of, so that silence means something.
    other = folder / "broken"
    other.mkdir()
    shutil.copy(ROOT / "zensical.toml", other)
    shutil.copytree(pages, other / "build/site-pages")
    with (other / "build/site-pages/docs/guide.md").open("a") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    assert build(other, python).returncode != 0
    return folder / "build/site"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; yields its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_no_page_and_no_style_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    outside = []
    for page in pages:
        fetches = Fetches()
        fetches.feed(page.read_text(encoding="utf-8"))
        outside += [(page.name, one) for one in fetches.fetched if urlsplit(one).netloc]
    for style in site.rglob("*.css"):
        outside += [(style.name, one) for one in _CSS_URL.findall(style.read_text("utf-8"))]
    assert outside == []


@needs_chromium
async def test_a_browser_that_reads_the_site_asks_nobody_else(site: Path) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    with serving(site) as address, TemporaryDirectory(dir="/tmp") as short:
        async with async_playwright() as player:
            browser = await player.chromium.launch(
                executable_path=CHROMIUM or None, args=FLAGS, env={**os.environ, "TMPDIR": short}
            )
            page = await browser.new_page()
            page.set_default_timeout(BOUND_MS)
            page.on("request", note)
            for name in ("index", "docs/guide", "docs/architecture", "docs/decisions/index"):
                await page.goto(f"{address}/{name}.html", wait_until="networkidle")
                assert await page.locator("h1").first.is_visible()
            await browser.close()
    assert len(asked) > 10
    assert [one for one in asked if not one.startswith((address, "data:"))] == []
