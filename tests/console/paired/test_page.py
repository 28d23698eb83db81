"""The page of paired phones as the network meets it: it serves its own phones, and nobody else."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.core import Overview
from agent.errors import UsageError
from console.paired import phone_page
from console.paired.page_server import FILES, page_app, serving
from console.paired.phone_page import PhonePage
from console.paired.qr_code import drawn, offer_url
from console.paired.serving import serving_page
from tests.console.paired.ground import Ground, opened_ground, phones_of, sent
from tests.safety.consent.phone import Phone, answering, statement
from tests.stage import PATIENCE_S


def looking(ground: Ground, **fields: Any) -> dict[str, Any]:
    return statement("look", ground.stage.clock(), **fields)


async def test_no_other_page_name_or_cookie_gets_anything(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        phone, page = ground.pair("Pixel"), PhonePage(ground.client, phones_of(ground))
        own: list[str] = []

        def make(port: int) -> aiohttp.web.Application:
            own.append(f"http://127.0.0.1:{port}")
            return page_app(page.reply, frozenset(own))

        async with (
            serving(make, host="127.0.0.1", port=0, tls=None),
            aiohttp.ClientSession() as browser,
        ):
            url, asked = own[0], await ground.question()
            json_kind = {"Content-Type": "application/json"}
            yes = sent(phone, answering(asked, 0, ground.stage.clock(), "Approve"))

            async def status(body: bytes, **headers: str) -> int:
                given = {**json_kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
                async with browser.post(f"{url}/speak", data=body, headers=given) as reply:
                    assert "Set-Cookie" not in reply.headers
                    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
                    assert "Access-Control-Allow-Origin" not in reply.headers
                    return reply.status

            port = url.rpartition(":")[2]
            for headers in (
                {"Origin": "https://evil.example"},
                {"Origin": "null"},
                {"Origin": "http://127.0.0.1:1"},
                {"Origin": f"https://127.0.0.1:{port}"},
                {"Origin": f"{url}.evil.example"},
                {"Host": "evil.example"},
                {"Host": f"evil.example:{port}"},
                {"Host": "127.0.0.1:1"},
                {"Sec_Fetch_Site": "cross-site"},
                {"Sec_Fetch_Site": "same-site"},
            ):
                assert await status(yes, **headers) == 403, headers
            assert await status(yes, Content_Type="text/plain") == 415
            assert await status(b"x" * 70_000) == 413
            for path in ("/page_server.py", "/pages/page.js", "/authority.crt"):
                async with browser.get(url + path) as reply:
                    assert reply.status == 404, path
            for path in FILES:
                async with browser.get(url + path) as reply:
                    assert reply.status == 200, path
            # What a cookie's thief has is no key, and what is not signed is read by nobody.
            stolen = {"Cookie": "switchboard=stolen; phone_id=" + phone.phone_id}
            thief = Phone(phone.phone_id)
            for body in (
                b"",
                b"null",
                b"[]",
                b'{"type":"look"}',
                sent(phone, looking(ground), signature=""),
                sent(phone, looking(ground), signature="AAAA"),
                sent(phone, looking(ground), phone_id="another"),
                sent(phone, looking(ground), cookie="x"),
                sent(thief, looking(ground)),
                sent(thief, answering(asked, 0, ground.stage.clock(), "Approve")),
                sent(phone, {**looking(ground), "at_ms": 0}),
                sent(phone, statement("request", ground.stage.clock(), op={})),
            ):
                given = {**json_kind, **stolen}
                async with browser.post(f"{url}/speak", data=body, headers=given) as reply:
                    found = await reply.json()
                    assert not found.get("is_done") and "queue" not in found, body
            assert await ground.answers() == []
            async with browser.post(f"{url}/speak", data=yes, headers=json_kind) as reply:
                assert (await reply.json())["is_done"]
            assert await ground.answers() == [("Approve", "paired phone Pixel")]


async def test_the_queue_says_all_that_an_answer_is_bound_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_page, "LOOK_S", 0.05)
    async with opened_ground(tmp_path) as ground:
        phone, page = ground.pair("Pixel"), PhonePage(ground.client, phones_of(ground))

        async def speak(said: dict[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = json.loads(await page.reply(sent(phone, said)))
            return found

        async with page.following():
            first = await speak(looking(ground))
            (card,) = first["queue"]["cards"]
            told = " ".join([card["headline"], card["act"], *(f["text"] for f in card["facts"])])
            for fact in ("Tom Becker", "$15.00", "Wallet", "not taken back"):
                assert fact in told
            assert first["queue"]["sessions"][0]["session_id"] == ground.session_id
            picture = await speak(
                statement("picture", ground.stage.clock(), question_id=card["question_id"])
            )
            assert base64.b64decode(picture["picture"]).startswith(b"\xff\xd8")
            # Nothing new: the look waits, and says the same.
            again = await speak(looking(ground, seen=first["version"]))
            assert again["version"] == first["version"]
            said = {name: card[name] for name in ("question_id", "generation", "digest")} | {
                "answer": "Deny: not today"
            }
            assert (await speak(statement("answer", ground.stage.clock(), **said)))["is_done"]
            late = await speak(statement("answer", ground.stage.clock(), **said))
            assert "no longer open" in late["message"] and not late.get("may_help_again")
            phones_of(ground).revoke("Pixel")
            assert (await speak(looking(ground)))["is_unpaired"]
        assert await ground.answers() == [("Deny: not today", "paired phone Pixel")]


async def test_a_core_that_is_gone_is_no_refusal(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        phone, page = ground.pair("Pixel"), PhonePage(ground.client, phones_of(ground))
        yes = sent(phone, answering(await ground.question(), 0, ground.stage.clock(), "Approve"))
        await ground.client.close()
        found = json.loads(await page.reply(yes))
        assert found["may_help_again"] and not found.get("is_done")


@pytest.mark.parametrize(
    "url",
    [
        "http://me.example.org",
        "https://",
        "https://me.example.org/page",
        "https://me.example.org?x=1",
        "https://ana@me.example.org",
        "https://me.example.org:99999",
        "me.example.org",
        "",
    ],
)
async def test_a_tunnel_is_named_by_its_origin(url: str, tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        with pytest.raises(UsageError, match="tunnel"):
            async with serving_page(
                ground.client, ground.stage.directory, host=None, port=0, url=url
            ):
                pass


@pytest.mark.parametrize(
    ("url", "fingerprint", "secret"),
    [
        ("https://192.168.178.123:8431/", bytes(32), b""),
        ("https://[fd12:3456:789a:1::1]:8431/", bytes(32), b""),
        ("https://a-name-of-a-tunnel.example.org/", b"", b""),
        ("https://relay.example.org/", b"", bytes(16)),
    ],
)
def test_the_picture_fits_a_terminal_of_80_by_24(
    url: str, fingerprint: bytes, secret: bytes
) -> None:
    lines = drawn(offer_url(url, "x" * 24, fingerprint, secret))
    assert len(lines) <= 21, "the address and two lines of words stand with it"
    assert max(map(len, lines)) <= 80
    assert len(offer_url(url, "x" * 24, fingerprint, secret)) <= 80


async def test_phones_that_look_read_the_queue_once_for_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_page, "LOOK_S", 0.05)
    async with opened_ground(tmp_path) as ground:
        phones = [ground.pair(f"Phone {number}") for number in range(4)]
        page, reads = PhonePage(ground.client, phones_of(ground)), []
        overview = ground.client.overview

        async def counted() -> Overview:
            reads.append(1)
            return await overview()

        monkeypatch.setattr(ground.client, "overview", counted)
        async with page.following():
            await page.reply(sent(phones[0], looking(ground)))
            first = json.loads(await page.reply(sent(phones[0], looking(ground))))
            reads.clear()
            for phone in phones * 3:
                said = looking(ground, seen=first["version"])
                assert json.loads(await page.reply(sent(phone, said)))["is_done"]
            assert len(reads) <= 1
            asked = await ground.question()
            yes = answering(asked, 0, ground.stage.clock(), "Approve")
            assert json.loads(await page.reply(sent(phones[0], yes)))["is_done"]

            async def another() -> str | None:
                reply = json.loads(await page.reply(sent(phones[1], looking(ground))))
                cards = reply["queue"]["cards"]
                return "seen" if cards and cards[0]["question_id"] != asked.question_id else None

            await ground.question()
            async with asyncio.timeout(PATIENCE_S):
                while await another() is None:
                    await asyncio.sleep(0.01)
