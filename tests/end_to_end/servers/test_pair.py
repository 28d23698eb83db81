"""The page of paired phones in a real browser the size of one, on a line that is slow and loses."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import BrowserContext, Page, Route, async_playwright

from console.paired.page_server import page_app, serving
from console.paired.phone_page import PhonePage
from console.paired.qr_code import offer_url
from console.paired.relay_server import Boxes, relay_app
from console.paired.serving import relaying_page, serving_page
from tests.console.paired.ground import Ground, opened_ground, phones_of, sent
from tests.end_to_end.harness import BOUND_S
from tests.end_to_end.servers.test_web import CHROMIUM, FLAGS, needs_chromium
from tests.safety.consent.phone import answering

pytestmark = [pytest.mark.slow, needs_chromium]

DELAY_S = 0.3
LOSS = 0.1


@dataclass
class Pocket:
    """A phone's browser on the page, and the core behind it."""

    ground: Ground
    context: BrowserContext
    page: Page
    url: str

    async def until(self, expression: str) -> None:
        """Wait until an expression is true. The page's policy forbids Playwright's own wait."""
        async with asyncio.timeout(BOUND_S):
            while not await self.page.evaluate(expression):
                await asyncio.sleep(0.05)

    async def told(self, place: str, words: str) -> None:
        await self.until(f"document.getElementById('{place}')?.innerText.includes({words!r})")

    async def pair(self, name: str) -> None:
        await self.page.goto(offer_url(self.url, self.ground.offer(name), bytes(32)))
        await self.page.click("#pairing-go")
        await self.until("!!document.querySelector('#cards button')")


def losing(rng: random.Random) -> tuple[list[str], Callable[[Route], Awaitable[None]]]:
    """Make a line of 300 ms on which each tenth request, or its reply, is lost."""
    lost: list[str] = []

    async def carry(route: Route) -> None:
        await asyncio.sleep(DELAY_S / 2)
        chance = rng.random()
        if chance < LOSS / 2:
            lost.append("request")
            await route.abort()
            return
        reply = await route.fetch()
        await asyncio.sleep(DELAY_S / 2)
        if chance < LOSS:
            lost.append("reply")
            await route.abort()
            return
        await route.fulfill(response=reply)

    return lost, carry


@asynccontextmanager
async def pocket(folder: Path) -> AsyncIterator[Pocket]:
    async with (
        opened_ground(folder) as ground,
        serving_page(
            ground.client, ground.stage.directory, host="127.0.0.1", port=0, url=None
        ) as address,
        async_playwright() as engine,
    ):
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = await browser.new_context(
            viewport={"width": 390, "height": 844},
            has_touch=True,
            is_mobile=True,
            ignore_https_errors=True,
        )
        try:
            page = await context.new_page()
            yield Pocket(ground, context, page, address.url)
        finally:
            await browser.close()


async def test_a_card_is_answered_within_two_taps_on_a_slow_line_that_loses(tmp_path: Path) -> None:
    async with pocket(tmp_path) as found:
        errors: list[str] = []
        found.page.on("pageerror", lambda error: errors.append(str(error)))
        lost, carry = losing(random.Random(7))
        await found.page.route("**/speak", carry)
        await found.page.goto(offer_url(found.url, found.ground.offer("Pixel"), bytes(32)))
        assert "#" not in found.page.url, "the code is out of the address"
        for _ in range(5):
            await found.page.tap("#pairing-go")
            await asyncio.sleep(2 * DELAY_S)
            if await found.page.evaluate("document.getElementById('pairing').hidden"):
                break
        await found.until("!!document.querySelector('#cards button')")
        for number in range(1, 5):
            await found.page.tap("#cards button")
            await found.until("!document.querySelector('.buttons').inert")
            approve = await found.page.locator("#approve").bounding_box()
            reject = await found.page.locator("#reject").bounding_box()
            assert approve is not None and reject is not None
            assert approve["x"] - (reject["x"] + reject["width"]) >= 90
            assert min(approve["height"], reject["height"], approve["width"]) >= 48
            assert await found.page.evaluate("document.documentElement.scrollWidth") == 390
            await found.page.tap("#approve")
            await found.told("status", "Approved at")
            assert len(await found.ground.answers()) == number
            await found.page.tap("#back")
            await found.until("!!document.querySelector('#cards button')")
        assert set(await found.ground.answers()) == {("Approve", "paired phone Pixel")}
        assert errors == [] and lost != []
        # The key cannot be taken out of the browser, and nothing else would be of use.
        assert await found.context.cookies() == []
        taken = """async () => {
          const asked = indexedDB.open("switchboard", 1);
          const base = await new Promise((done) => { asked.onsuccess = () => done(asked.result); });
          const read = base.transaction("kept").objectStore("kept").get("phone");
          const phone = await new Promise((done) => { read.onsuccess = () => done(read.result); });
          try { await crypto.subtle.exportKey("jwk", phone.key); return "taken"; }
          catch (error) { return error.name; }
        }"""
        assert await found.page.evaluate(taken) == "InvalidAccessError"


async def test_without_a_network_it_says_so_and_delivers_once_when_there_is_one(
    tmp_path: Path,
) -> None:
    async with pocket(tmp_path) as found:
        await found.pair("Pixel")
        await found.page.tap("#cards button")
        await found.until("!document.querySelector('.buttons').inert")
        await found.context.set_offline(True)
        await found.page.tap("#reject")
        await found.page.fill("#words", "the wrong Tom")
        await found.page.tap("#reject")
        await found.told("status", "not delivered yet")
        await found.told("link", "No connection")
        assert await found.ground.answers() == []
        await found.context.set_offline(False)
        await found.told("status", "Rejected at")
        assert await found.ground.answers() == [("Deny: the wrong Tom", "paired phone Pixel")]
        # Another answers the next one first: this page says so, and has no live button.
        await found.page.tap("#back")
        await found.until("!!document.querySelector('#cards button')")
        await found.page.tap("#cards button")
        asked = await found.ground.question()
        await found.page.reload()
        await found.until("!!document.querySelector('#cards button')")
        await found.page.tap("#cards button")
        other = found.ground.pair("Other")
        yes = sent(other, answering(asked, 0, found.ground.stage.clock(), "Approve"))
        await found.page.request.post(
            f"{found.url}speak", data=yes, headers={"Content-Type": "application/json"}
        )
        await found.told("status", "no longer open")
        assert await found.page.is_disabled("#approve")
        phones_of(found.ground).revoke("Pixel")
        await found.page.reload()
        await found.told("pairing", "revoked")


async def test_it_starts_without_a_network_as_an_app_and_shows_what_is_pushed(
    tmp_path: Path,
) -> None:
    async with opened_ground(tmp_path) as ground, async_playwright() as engine:
        own: list[str] = []
        page_of = PhonePage(ground.client, phones_of(ground))

        def make(port: int) -> web.Application:
            # Loopback is a secure context without a certificate.
            own.append(f"http://localhost:{port}")
            return page_app(page_of.reply, frozenset(own))

        async with serving(make, host="127.0.0.1", port=0, tls=None):
            browser = await engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = await browser.new_context(viewport={"width": 390, "height": 844})
            await context.grant_permissions(["notifications"], origin=own[0])
            found = Pocket(ground, context, await context.new_page(), f"{own[0]}/")
            devtools = await context.new_cdp_session(found.page)
            registered: list[str] = []
            devtools.on(
                "ServiceWorker.workerRegistrationUpdated",
                lambda event: registered.extend(
                    one["registrationId"] for one in event["registrations"]
                ),
            )
            await devtools.send("ServiceWorker.enable")
            await found.pair("Pixel")
            await found.until(
                "navigator.serviceWorker.ready.then((one) => one.active?.state === 'activated')"
            )
            problems = await devtools.send("Page.getInstallabilityErrors")
            said = [one["errorId"] for one in problems["installabilityErrors"]]
            assert set(said) <= {"in-incognito"}, said
            pushed = {
                "origin": own[0],
                "registrationId": registered[-1],
                "data": '{"body": "An approval waits for you.", "tag": "q1"}',
            }
            shown = (
                "navigator.serviceWorker.ready.then((one) => one.getNotifications())"
                ".then((all) => all.map((one) => one.body))"
            )
            async with asyncio.timeout(BOUND_S):
                # The tools of Chromium drop a push to a worker that has only just begun.
                while not (bodies := await found.page.evaluate(shown)):
                    await devtools.send("ServiceWorker.deliverPushMessage", pushed)
                    await asyncio.sleep(0.2)
            assert set(bodies) == {"An approval waits for you."}
            await context.set_offline(True)
            await found.page.reload()
            await found.told("link", "No connection")
            await context.set_offline(False)
            await found.until("!!document.querySelector('#cards button')")
            await browser.close()


async def test_through_a_relay_the_page_pairs_answers_and_opens_again(tmp_path: Path) -> None:
    boxes = Boxes(wait_s=2.0)
    async with (
        opened_ground(tmp_path) as ground,
        serving(lambda _port: relay_app(boxes), host="127.0.0.1", port=0, tls=None) as port,
        relaying_page(
            ground.client, ground.stage.directory, f"http://localhost:{port}", pairs=True
        ) as address,
        async_playwright() as engine,
    ):
        browser = await engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = await browser.new_context(viewport={"width": 390, "height": 844})
        found = Pocket(ground, context, await context.new_page(), address.url)
        target = offer_url(address.url, ground.offer("Pixel"), b"", address.secret)
        await found.page.goto(target)
        assert "#" not in found.page.url
        await found.page.click("#pairing-go")
        for number in (1, 2):
            await found.until("!!document.querySelector('#cards button')")
            await found.page.click("#cards button")
            await found.until("!document.querySelector('.buttons').inert")
            await found.until("!!document.querySelector('figure img')")
            await found.page.click("#approve")
            await found.told("status", "Approved at")
            assert len(await ground.answers()) == number
            # The secret is not in the address any more, and is known all the same.
            await found.page.goto("about:blank")
            await found.page.goto(address.url)
        assert set(await ground.answers()) == {("Approve", "paired phone Pixel")}
        await browser.close()
