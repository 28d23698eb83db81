"""A relay carries what it cannot read: sealed both ways, bounded, and answered once."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.errors import UsageError
from console.paired import relay_server
from console.paired.page_server import serving
from console.paired.phone_page import PhonePage
from console.paired.relay_link import RelayLink
from console.paired.relay_server import MESSAGE_LIFE_MS, MOST_BOXES, MOST_MESSAGES, Boxes, relay_app
from console.paired.sealing import new_secret, way_down, way_up
from console.paired.serving import relaying_page
from tests.console.paired.ground import Ground, opened_ground, phones_of, sent
from tests.safety.consent.phone import Phone, answering, statement
from tests.stage import PATIENCE_S


class Seen(Boxes):
    """Boxes that remember all that was laid into them."""

    def __init__(self) -> None:
        super().__init__(wait_s=1.0)
        self.laid: list[tuple[str, bytes]] = []

    def put(self, name: str, message: bytes) -> bool:
        self.laid.append((name, message))
        return super().put(name, message)


@dataclass
class Line:
    """A core behind a relay, and the phone's end of it."""

    ground: Ground
    boxes: Seen
    url: str
    secret: bytes
    browser: aiohttp.ClientSession

    async def lay(self, sealed: bytes) -> None:
        place = f"{self.url}/box/{way_up(self.secret).box}"
        async with self.browser.post(place, data=sealed) as laid:
            assert laid.status == 204

    def sealed(self, body: bytes, letter_id: str = "1") -> bytes:
        letter = json.dumps({"id": letter_id, "body": body.decode()}).encode()
        return way_up(self.secret).seal(letter)

    async def reply(self) -> dict[str, Any]:
        down, after = way_down(self.secret), 0
        async with asyncio.timeout(PATIENCE_S):
            while True:
                place = f"{self.url}/box/{down.box}?after={after}"
                async with self.browser.get(place) as found:
                    if found.status == 204:
                        continue
                    body = await found.read()
                plain = down.open(body)
                assert plain is not None
                # What was read is dropped by the next read.
                number = found.headers[relay_server.NUMBER]
                async with self.browser.get(f"{place.partition('?')[0]}?after={number}"):
                    pass
                answer: dict[str, Any] = json.loads(json.loads(plain)["body"])
                return answer


@asynccontextmanager
async def line(folder: Path) -> AsyncIterator[Line]:
    async with AsyncExitStack() as stack:
        ground = await stack.enter_async_context(opened_ground(folder))
        boxes, secret = Seen(), new_secret()
        port = await stack.enter_async_context(
            serving(lambda _port: relay_app(boxes), host="127.0.0.1", port=0, tls=None)
        )
        url = f"http://127.0.0.1:{port}"
        page = PhonePage(ground.client, phones_of(ground))
        link = RelayLink(url, page.reply, ground.stage.directory, phones_of(ground))
        await stack.enter_async_context(page.following())
        await stack.enter_async_context(link.fetching(secret))
        browser = await stack.enter_async_context(aiohttp.ClientSession())
        yield Line(ground, boxes, url, secret, browser)


async def test_a_phone_pairs_looks_and_answers_and_the_relay_reads_nothing(tmp_path: Path) -> None:
    async with line(tmp_path) as found:
        phone, code = Phone(), found.ground.offer("Pixel")
        pair = {
            "type": "pair",
            "code": code,
            "public": base64.b64encode(phone.public).decode(),
            "signature": base64.b64encode(phone.sign("pair", code)).decode(),
        }
        await found.lay(found.sealed(json.dumps(pair).encode()))
        phone.phone_id = (await found.reply())["phone_id"]
        await found.lay(found.sealed(sent(phone, statement("look", found.ground.stage.clock()))))
        card = (await found.reply())["queue"]["cards"][0]
        assert "Tom Becker" in card["headline"]
        asked = await found.ground.question()
        yes = found.sealed(sent(phone, answering(asked, 0, found.ground.stage.clock(), "Approve")))
        # The relay may bring it again, cut it or change it; another secret seals nothing here.
        for sealed in (
            b"",
            b"short",
            yes[:-1],
            yes[:-1] + bytes([yes[-1] ^ 1]),
            way_up(new_secret()).seal(b"{}"),
            way_down(found.secret).seal(b"{}"),
            way_up(found.secret).seal(b"not a letter"),
            yes,
            yes,
            yes,
        ):
            await found.lay(sealed)
        assert (await found.reply())["is_done"]
        assert (await found.reply())["is_done"]
        assert await found.ground.answers() == [("Approve", "paired phone Pixel")]
        known = {way_up(found.secret).box, way_down(found.secret).box}
        assert {name for name, _ in found.boxes.laid} == known
        told = b"".join(message for _, message in found.boxes.laid)
        for word in (b"Tom", b"15.00", b"Approve", code.encode(), phone.phone_id.encode(), b"look"):
            assert word not in told
        # The next server of the page knows the phone's secret, until the phone is revoked.
        kept = phones_of(found.ground)
        page = PhonePage(found.ground.client, kept)
        link = RelayLink(found.url, page.reply, found.ground.stage.directory, kept)
        assert link.secrets() == {phone.phone_id: found.secret}
        kept.revoke("Pixel")
        assert link.secrets() == {}


async def test_boxes_are_bounded_and_messages_end(tmp_path: Path) -> None:
    now = [1_000_000]
    boxes = Boxes(lambda: now[0], wait_s=0.01)
    name = "0" * 32
    assert [boxes.put(name, b"x") for _ in range(MOST_MESSAGES + 1)].count(True) == MOST_MESSAGES
    assert [boxes.put(f"{n:032x}", b"x") for n in range(1, MOST_BOXES + 1)].count(True) == (
        MOST_BOXES - 1
    )
    first = await boxes.read(name, 0)
    assert first is not None and await boxes.read(name, 0) == first, "it is read until it is had"
    second = await boxes.read(name, first[0])
    assert second is not None and second[0] > first[0]
    now[0] += MESSAGE_LIFE_MS
    assert await boxes.read(name, 0) is None
    assert boxes.put("f" * 32, b"x"), "what is empty takes no room"
    # A relay that was started again counts on: readers ask for what is newer than they have.
    newer = Boxes(lambda: now[0] + MOST_MESSAGES, wait_s=0.01)
    newer.put(name, b"new")
    assert await newer.read(name, second[0]) is not None


async def test_a_relay_serves_boxes_and_the_page_and_nothing_else(tmp_path: Path) -> None:
    boxes = Boxes(wait_s=0.01)
    async with (
        serving(lambda _port: relay_app(boxes), host="127.0.0.1", port=0, tls=None) as port,
        aiohttp.ClientSession() as browser,
    ):
        url = f"http://127.0.0.1:{port}"
        for method, path, status in (
            ("GET", "/", 200),
            ("GET", "/wire.js", 200),
            ("POST", "/speak", 404),
            ("GET", "/box/short", 404),
            ("GET", f"/box/{'G' * 32}", 404),
            ("GET", f"/box/{'a' * 32}?after=x", 400),
            ("GET", f"/box/{'a' * 32}?after=-1", 400),
            ("GET", f"/box/{'a' * 32}", 204),
            ("DELETE", f"/box/{'a' * 32}", 405),
        ):
            async with browser.request(method, url + path) as reply:
                assert reply.status == status, (method, path)
        async with browser.post(f"{url}/box/{'a' * 32}", data=b"x" * 200_000) as reply:
            assert reply.status == 413


@pytest.mark.parametrize("url", ["http://relay.example.org", "https://", "ftp://localhost", ""])
async def test_a_relay_is_named_by_its_origin(url: str, tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        with pytest.raises(UsageError, match="relay"):
            async with relaying_page(ground.client, ground.stage.directory, url, pairs=True):
                pass
