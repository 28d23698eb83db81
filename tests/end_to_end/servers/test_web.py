"""`switchboard web` as a browser of the same machine meets it: a real server, a real Chromium."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pyte
import pytest
from playwright.async_api import Browser, Page, WebSocket, async_playwright

from tests.end_to_end.harness import BOUND_S, Workshop, base_environment, end_all_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
# A container's root has no sandbox to give, and a test machine no network; ours is the only page.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_chromium = pytest.mark.skipif(
    not CHROMIUM and "SWITCHBOARD_NEEDS_ALL" not in os.environ,
    reason="needs Chromium, which this machine does not have",
)


@contextmanager
def serving(workshop: Workshop, *more: str) -> Iterator[str]:
    """Serve a console with one virtual phone; returns the address to open."""
    words = ("web", "--phones", "1", "--virtual-only", "--port", "0", "--json", *more)
    with workshop.running(*words) as server:
        yield str(server.wait_for(lambda line: "url" in line, "an address")["url"])


@pytest.fixture(scope="module")
def looking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workshop, str]]:
    """One server for the tests that change nothing, as those cannot that only look."""
    folder = tmp_path_factory.mktemp("web")
    workshop = Workshop(folder / "data", base_environment(folder))
    try:
        with serving(workshop) as address:
            yield workshop, address
    finally:
        end_all_of(folder / "data")


async def test_nothing_is_served_to_whoever_has_no_token(looking: tuple[Workshop, str]) -> None:
    _, served = looking
    bare = served.partition("/?")[0]
    async with aiohttp.ClientSession() as nobody:
        static = ("/phone.js", "/touch.js", "/static/js/textual.js")
        for path in ("/", "/ws", "/phone", *static, "/?token=guessed"):
            async with nobody.get(bare + path) as answer:
                assert answer.status == 403, path
                assert "console" in await answer.text()


async def test_another_page_or_name_does_not_get_in_with_the_operators_cookie(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    bare = served.partition("/?")[0]
    # An address, not a name: aiohttp keeps cookies of those only when it is told to.
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as operator:
        async with operator.get(served) as page:
            assert page.status == 200 and "token" not in str(page.url)
            assert "default-src 'self'" in page.headers["Content-Security-Policy"]
        for headers in (
            {"Origin": "https://evil.example"},
            {"Host": "evil.example"},
            {"Origin": "null"},
        ):
            for path in ("/ws", "/phone"):
                async with operator.get(f"{bare}{path}", headers=headers) as answer:
                    assert answer.status == 403, (path, headers)


class Tab:
    """A browser's tab, and what the terminal in it was told to draw."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.foreign: list[str] = []
        self.errors: list[str] = []
        """What the page's own scripts failed at."""
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        self._news = asyncio.Event()
        page.on("websocket", self._on_socket)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._on_request(request.url))

    def _on_request(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:")):
            self.foreign.append(url)

    def _on_socket(self, socket: WebSocket) -> None:
        if urlsplit(socket.url).path != "/ws":
            return
        size = parse_qs(urlsplit(socket.url).query)
        self._screen.resize(int(size["height"][0]), int(size["width"][0]))
        socket.on("framereceived", self._on_frame)
        socket.on("framesent", self._on_sent)

    def _on_sent(self, frame: str | bytes) -> None:
        match json.loads(frame):
            case ["resize", {"width": width, "height": height}]:
                self._screen.resize(height, width)
                self._news.set()

    def _on_frame(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self._stream.feed(frame)
            self._news.set()

    @property
    def text(self) -> str:
        return "\n".join(self._screen.display)

    @property
    def columns(self) -> int:
        """How many columns the page asked for."""
        return int(self._screen.columns)

    async def place(self, words: str) -> tuple[float, float]:
        """Return where on the page words begin, which are on the screen."""
        row, line = next((y, text) for y, text in enumerate(self._screen.display) if words in text)
        left, top, width, height = await self.page.evaluate(
            """() => {
              const box = document.querySelector(".xterm-screen").getBoundingClientRect();
              return [box.left, box.top, box.width, box.height];
            }"""
        )
        column = line.index(words) + 0.5
        return (
            left + column * width / self._screen.columns,
            top + (row + 0.5) * height / self._screen.lines,
        )

    async def until(self, fits: Callable[[str], bool], what: str) -> None:
        """Wait until what is on the screen fits."""
        try:
            async with asyncio.timeout(BOUND_S):
                while not fits(self.text):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{what} did not come\n{self.text}") from None

    def restart(self) -> None:
        """Forget what was drawn: the page is about to be loaded again."""
        self._screen.reset()

    async def wait_for(self, words: str) -> None:
        """Wait until words are on the screen."""
        await self.until(lambda text: words in text, repr(words))

    async def type(self, *keys: str) -> None:
        """Press keys, or type texts, one after the other."""
        for key in keys:
            await (
                self.page.keyboard.press(key) if key == "Enter" else self.page.keyboard.type(key)
            )


@asynccontextmanager
async def tab(address: str, size_px: tuple[int, int] = (1440, 900)) -> AsyncIterator[Tab]:
    # Chromium listens on a socket below its temporary folder, whose path must be short (unix(7)).
    with TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as short:
        async with async_playwright() as player:
            browser = await player.chromium.launch(
                executable_path=CHROMIUM or None,
                args=FLAGS,
                env={**os.environ, "TMPDIR": short},
                timeout=BOUND_S * 1000,
            )
            try:
                yield await _opened(browser, address, size_px)
            finally:
                await browser.close()


async def _opened(browser: Browser, address: str, size_px: tuple[int, int]) -> Tab:
    width, height = size_px
    # A window as small as a phone's is one: it would show a page of 980 px unless told otherwise.
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        is_mobile=min(size_px) < 600,
        has_touch=min(size_px) < 600,
    )
    context.set_default_timeout(BOUND_S * 1000)
    page = await context.new_page()
    opened = Tab(page)
    await page.goto(address)
    return opened


@pytest.mark.slow
@needs_chromium
async def test_a_session_is_begun_and_watched_in_a_browser(workshop: Workshop) -> None:
    with serving(workshop, "--drive") as address:
        await _begin_and_watch(address)


async def _begin_and_watch(address: str) -> None:
    async with tab(address) as console:
        await console.wait_for("No sessions yet")
        await console.wait_for("online")
        # Nothing was clicked: keys go to the console from the first.
        await console.type("n")
        await console.wait_for("What")
        await console.type("Open the settings", "Enter")
        await console.wait_for("Open the settings")
        await console.wait_for("running")
        assert console.foreign == []
        drawn = await console.page.evaluate(
            "[...document.querySelectorAll('canvas')].some(canvas => canvas.width > 600)"
        )
        assert drawn


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("drives", [True, False], ids=["acts", "looks"])
async def test_a_film_that_is_asked_for_in_a_browser_comes_to_its_downloads(
    workshop: Workshop, drives: bool
) -> None:
    run = workshop.call("run", "turn on Bluetooth", "--virtual", "--json")
    assert run.code == 0, run.err
    with serving(workshop, *(["--drive"] if drives else [])) as address:
        async with tab(address) as console:
            await console.wait_for("turn on Bluetooth")
            await console.type("R")
            await console.wait_for("event 0 of")
            for down, kind in ((2, b"GIF89a"), (3, b"{")):
                await console.type("E")
                await console.wait_for("Write as")
                async with console.page.expect_download() as coming:
                    for _ in range(down):
                        await console.page.keyboard.press("ArrowDown")
                    await console.type("Enter")
                download = await coming.value
                assert download.suggested_filename.startswith("session-")
                written = await asyncio.to_thread(Path(await download.path()).read_bytes)
                assert written.startswith(kind)
                await console.until(lambda text: "Write as" not in text, "the end of the dialog")
            assert written.endswith(b"\n"), "all of it"
            assert console.errors == []
            # What was delivered once is not there for the next one.
            again = await console.page.request.get(download.url)
            assert again.status == 404
        assert not (workshop.data / "exports").exists()


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("zoom", [1.25, 2.0, 0.5])
async def test_a_zoomed_page_is_laid_out_again_and_sharp(
    looking: tuple[Workshop, str], zoom: float
) -> None:
    _, served = looking
    async with tab(served) as console:
        await console.wait_for("No sessions yet")
        before = console.columns
        browser = await console.page.context.new_cdp_session(console.page)
        # What zooming does: the window has fewer and denser pixels.
        size = {"width": round(1440 / zoom), "height": round(900 / zoom)}
        metrics = {**size, "deviceScaleFactor": zoom, "mobile": False}
        await browser.send("Emulation.setDeviceMetricsOverride", metrics)
        # A cell is a whole number of pixels of the display.
        wanted = before / zoom
        await console.until(lambda _: abs(console.columns / wanted - 1) < 0.15, "other columns")
        drawn = """() => {
          const screen = document.querySelector(".xterm-screen").getBoundingClientRect();
          const all = [...document.querySelectorAll(".xterm-screen canvas")];
          return [screen.width, ...all.map((one) => one.width / one.getBoundingClientRect().width)];
        }"""
        async with asyncio.timeout(BOUND_S):
            while True:
                width, *dense = await console.page.evaluate(drawn)
                fills = size["width"] - 60 <= width <= size["width"]
                if fills and all(abs(one - zoom) < 0.02 * zoom for one in dense):
                    break
                await asyncio.sleep(0.05)
        assert console.errors == []


@pytest.mark.slow
@needs_chromium
async def test_a_tab_that_only_looks_begins_nothing_and_says_how_to_get_one_that_acts(
    looking: tuple[Workshop, str],
) -> None:
    workshop, served = looking
    async with tab(served) as console:
        await console.wait_for("read-only")
        await console.wait_for("No sessions yet")
        await console.page.click("#terminal")
        assert "Press n" not in console.text
        await console.type("n")
        await console.wait_for("switchboard web --drive")
        await console.type("Open the settings", "Enter")
    assert workshop.call("sessions", "list", "--json").json["data"] == []


@pytest.mark.slow
@needs_chromium
async def test_a_window_as_small_as_a_phones_shows_one_whole_pane(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    async with tab(served, (390, 844)) as console:
        await console.wait_for("No sessions yet")
        assert 40 <= console.columns < 80
        # The pane is as wide as the window.
        await console.until(
            lambda text: "─Devices".ljust(console.columns, "─") in text, "a whole pane"
        )
        wide = await console.page.evaluate("document.documentElement.scrollWidth")
        assert wide == 390


@pytest.mark.slow
@needs_chromium
async def test_a_phone_that_was_opened_on_its_side_shows_a_whole_pane_once_it_is_turned(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    async with tab(served, (844, 390)) as console:
        await console.wait_for("No sessions yet")
        await console.page.set_viewport_size({"width": 390, "height": 844})
        await console.until(lambda _: 40 <= console.columns < 80, "as many columns as a pane needs")
        await console.until(
            lambda text: "─Devices".ljust(console.columns, "─") in text, "a whole pane"
        )


async def drag(page: Page, start: tuple[float, float], up_px: float) -> None:
    browser = await page.context.new_cdp_session(page)
    x, y = start
    for kind, at in (
        ("touchStart", 0.0),
        *(("touchMove", part / 8) for part in range(1, 9)),
        ("touchEnd", None),
    ):
        points = [] if at is None else [{"x": x, "y": y - up_px * at}]
        await browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.slow
@needs_chromium
async def test_a_finger_has_the_keys_scrolls_and_gets_a_keyboard_when_it_asks(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    async with tab(served, (390, 844)) as console:
        page = console.page
        await console.wait_for("No sessions yet")
        buttons = page.locator("#touch button, #phone-open")
        assert await buttons.count() == 8
        end = await page.evaluate(
            "document.querySelector('.xterm-screen').getBoundingClientRect().bottom"
        )
        for button in await buttons.all():
            size = await button.bounding_box()
            assert size is not None and size["height"] >= 44 and size["width"] >= 44
            assert size["y"] >= end, "nothing lies over the console"
        await page.tap("[aria-label='All actions']")
        await console.wait_for("enter run")
        await console.wait_for("Wall")
        before = console.text
        await drag(page, await console.place("Wall"), 120)
        await console.until(lambda text: text != before and "enter run" in text, "another list")
        mode = "document.activeElement.inputMode"
        assert await page.evaluate(mode) == "none", "no keyboard at every tap"
        await page.tap("#touch-keyboard")
        assert await page.evaluate(mode) == "text"
        await console.type("dark or")
        await console.wait_for("Dark or light")
        await console.until(lambda text: "Quit" not in text, "what was typed")
        await page.tap("#touch-keyboard")
        await page.tap("[data-key=Escape]")
        await console.until(lambda text: "enter run" not in text, "the Deck")
        await page.touchscreen.tap(*await console.place("Jobs"))
        await console.wait_for("No jobs.")
        assert console.errors == []


@pytest.mark.slow
@needs_chromium
async def test_a_mouse_has_no_row_of_keys_and_its_button_lies_over_nothing(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    async with tab(served) as console:
        await console.wait_for("No sessions yet")
        assert not await console.page.is_visible("#touch")
        end = await console.page.evaluate(
            "document.querySelector('.xterm-screen').getBoundingClientRect().bottom"
        )
        button = await console.page.locator("#phone-open").bounding_box()
        assert button is not None and end <= button["y"] < button["y"] + button["height"] <= 900
        assert console.errors == []


@pytest.mark.slow
@needs_chromium
async def test_a_reloaded_tab_and_a_second_one_come_back_and_see_the_jobs_too(
    looking: tuple[Workshop, str],
) -> None:
    _, served = looking
    async with tab(served) as console:
        await console.wait_for("No sessions yet")
        # The token has left the address bar: what is loaded again is let in by its cookie.
        console.restart()
        await console.page.reload()
        await console.wait_for("No sessions yet")
        second = Tab(await console.page.context.new_page())
        await second.page.goto(console.page.url)
        await second.wait_for("No sessions yet")
        await second.page.click("#terminal")
        await second.type("3")
        await second.wait_for("No jobs.")
        await console.page.bring_to_front()
        assert "No sessions yet" in console.text, "the first tab stays where it was"


@pytest.mark.slow
@needs_chromium
async def test_a_tab_whose_server_has_ended_says_where_the_next_one_is(workshop: Workshop) -> None:
    async with AsyncExitStack() as tabs:
        with serving(workshop) as address:
            console = await tabs.enter_async_context(tab(address))
            await console.wait_for("No sessions yet")
            again = console.page.locator("#again")
        ended = console.page.get_by_text("open the address that it prints")
        await ended.wait_for(state="visible")
        assert not await again.is_visible(), "the cookie of this page is not the next server's"
