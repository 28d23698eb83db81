"""The phone panel of `switchboard web`: a phone in a real browser, seen and driven."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Page

from agent.config import load_settings
from agent.protocol import WheelActed, WheelHandedBack
from agent.records import ActionOutcome
from agent.rpc.remote_core import connect_or_none
from tests.end_to_end.harness import BOUND_S, Workshop, base_environment, end_all_of
from tests.end_to_end.servers.test_web import needs_chromium, serving, tab

pytestmark = pytest.mark.slow

# An empty canvas is 150 high.
DRAWN = "document.getElementById('phone-screen').height > 200"
CANVAS = "document.getElementById('phone-screen').toDataURL()"


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workshop, str]]:
    """A server whose tabs may act."""
    folder = tmp_path_factory.mktemp("web")
    workshop = Workshop(folder / "data", base_environment(folder))
    try:
        with serving(workshop, "--drive") as address:
            yield workshop, address
    finally:
        end_all_of(folder / "data")


async def acted(data: Path, count: int) -> list[WheelActed]:
    """Return the stored gestures, once there are so many and the wheel was handed back."""
    client = await connect_or_none(
        load_settings(overrides={"data_dir": str(data)}, environ={}), name="test"
    )
    assert client is not None
    found: list[WheelActed] = []
    try:
        async with asyncio.timeout(BOUND_S), client.events(after=0) as events:
            async for event in events:
                if isinstance(event.msg, WheelActed):
                    found.append(event.msg)
                if isinstance(event.msg, WheelHandedBack) and len(found) >= count:
                    return found
    finally:
        await client.close()
    return found


async def until(page: Page, expression: str, wanted: object = True) -> None:
    """Wait until an expression has a value. The page's policy forbids Playwright's own wait."""
    async with asyncio.timeout(BOUND_S):
        while await page.evaluate(expression) != wanted:
            await asyncio.sleep(0.05)


async def changed(page: Page, before: str) -> str:
    """Wait until the picture is another one; return it."""
    async with asyncio.timeout(BOUND_S):
        while await page.evaluate(CANVAS) == before:
            await asyncio.sleep(0.05)
    return str(await page.evaluate(CANVAS))


async def place(page: Page, x: float, y: float) -> tuple[float, float]:
    """Return where a place of the phone is on the page; x and y in [0, 1]."""
    left, top, width, height = await page.evaluate(
        """() => {
          const screen = document.getElementById('phone-screen');
          const box = screen.getBoundingClientRect();
          const scale = Math.min(box.width / screen.width, box.height / screen.height);
          const [wide, high] = [screen.width * scale, screen.height * scale];
          return [box.left + (box.width - wide) / 2, box.top + (box.height - high) / 2, wide, high];
        }"""
    )
    return left + x * width, top + y * height


@needs_chromium
async def test_a_phone_is_driven_by_mouse_and_keyboard_and_handed_back_when_the_tab_goes(
    driven: tuple[Workshop, str],
) -> None:
    workshop, served = driven
    async with tab(served) as console:
        page = console.page
        await page.click("#phone-open")
        await until(page, DRAWN)
        home = await page.evaluate(CANVAS)
        await page.click("#phone-wheel")
        await page.wait_for_selector("#phone-wheel:text('Hand back')")
        # The search field of the home screen.
        await page.mouse.click(*await place(page, 0.5, 0.09))
        searching = await changed(page, home)
        await page.keyboard.type("clo")
        await changed(page, searching)
        await page.click("[data-button=HOME]")
        start, end = await place(page, 0.5, 0.8), await place(page, 0.5, 0.2)
        await page.mouse.move(*start)
        await page.mouse.down()
        await page.mouse.move(*end, steps=4)
        await page.mouse.up()
        assert await page.inner_text("#phone-problem") == ""
        assert console.foreign == []
        # Gestures are done in order: once the wheel is back, all were.
        await page.click("#phone-wheel")
        await page.wait_for_selector("#phone-wheel:text('Take the wheel')")
        await page.click("#phone-wheel")
        await page.wait_for_selector("#phone-wheel:text('Hand back')")
    gestures = await acted(workshop.data, 4)
    assert {one.outcome for one in gestures} == {ActionOutcome.DONE}
    devices = workshop.call("devices", "list", "--json").json["data"]
    assert [one["driver"] for one in devices] == [""]


@needs_chromium
async def test_a_small_window_shows_the_phone_sharp_with_buttons_that_a_finger_meets(
    driven: tuple[Workshop, str],
) -> None:
    _, served = driven
    async with tab(served, (390, 844)) as console:
        page = console.page
        await page.click("#phone-open")
        await until(page, DRAWN)
        # As sharp as the display: as many pixels as the place has, on one side at least.
        await until(
            page,
            """() => {
              const screen = document.getElementById('phone-screen');
              const box = screen.getBoundingClientRect();
              return Math.max(screen.width / box.width, screen.height / box.height) >= 0.95;
            }""",
        )
        for button in await page.locator("#phone button:visible").all():
            size = await button.bounding_box()
            assert size is not None and size["height"] >= 44 and size["width"] >= 44
        assert await page.evaluate("document.documentElement.scrollWidth") == 390
        buttons = await page.locator("#phone footer").bounding_box()
        assert buttons is not None and buttons["height"] < 60, "one row: the picture needs the room"
        # On its side, the picture is nearly as high as the window.
        await page.set_viewport_size({"width": 844, "height": 390})
        await until(
            page, "document.getElementById('phone-screen').getBoundingClientRect().height > 350"
        )
        for button in await page.locator("#phone button:visible").all():
            size = await button.bounding_box()
            assert size is not None and size["x"] >= 0 and size["x"] + size["width"] <= 844


@needs_chromium
async def test_keys_go_to_the_console_again_once_the_panel_is_closed(
    driven: tuple[Workshop, str],
) -> None:
    _, served = driven
    async with tab(served) as console:
        await console.wait_for("No sessions yet")
        await console.page.click("#phone-open")
        await until(console.page, DRAWN)
        await console.page.click("#phone-close")
        await console.type("3")
        await console.wait_for("No jobs.")


@asynccontextmanager
async def panel(served: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open the panel's socket without a browser."""
    bare = served.partition("/?")[0]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as visitor:
        await visitor.get(served)
        async with visitor.ws_connect(f"{bare}/phone") as socket:
            yield socket


async def next_message(socket: aiohttp.ClientWebSocketResponse, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(BOUND_S):
        while True:
            message = await socket.receive()
            if message.type is aiohttp.WSMsgType.TEXT:
                said: dict[str, Any] = json.loads(message.data)
                if said["type"] == kind:
                    return said
            assert message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)


async def test_a_panel_that_only_looks_shows_the_phone_and_refuses_to_act(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "data", base_environment(tmp_path))
    try:
        with serving(workshop) as served:
            async with panel(served) as socket:
                phones = await next_message(socket, "phones")
                assert phones["may_drive"] is False
                serial = phones["phones"][0]["serial"]
                show = {"type": "show", "serial": serial, "width_px": 300, "height_px": 600}
                await socket.send_json(show)
                assert (await next_message(socket, "picture"))["serial"] == serial
                for act in (
                    {"type": "take"},
                    {"type": "act", "gesture": {"do": "text", "text": "x"}},
                ):
                    await socket.send_json(act)
                    assert "read-only" in (await next_message(socket, "problem"))["message"]
    finally:
        end_all_of(tmp_path / "data")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        '{"type": "destroy"}',
        '{"type": "show", "serial": 5}',
        '{"type": "act", "gesture": {"do": "shell", "text": "id"}}',
        '{"type": "act", "gesture": {"do": "tap", "at": {"x": "a", "y": 0}}}',
        '{"type": "take", "serial": "another"}',
        "[" * 50_000,
    ],
)
async def test_a_message_of_another_form_is_refused_and_the_panel_lives(
    driven: tuple[Workshop, str], said: str
) -> None:
    async with panel(driven[1]) as socket:
        await socket.send_str(said)
        assert "another form" in (await next_message(socket, "problem"))["message"]
        await socket.send_json({"type": "hand_back"})
        assert (await next_message(socket, "wheel"))["held"] is False


async def test_a_phone_that_does_not_exist_is_named(driven: tuple[Workshop, str]) -> None:
    async with panel(driven[1]) as socket:
        show = {"type": "show", "serial": "nosuch", "width_px": 10**9, "height_px": -5}
        await socket.send_json(show)
        assert "nosuch" in (await next_message(socket, "problem"))["message"]
