"""Pushes: encrypted and signed as the standards say, and sent to phones that are paired."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agent.consent.phone_statements import Push
from agent.errors import UsageError
from console.paired.phone_page import PhonePage
from console.paired.push_sender import FILE_NAME, PushSender
from console.paired.web_push import as_base64url, encrypted, from_base64url, public_of
from tests.console.paired.ground import Ground, opened_ground, phones_of, sent
from tests.safety.consent.phone import Phone, statement
from tests.stage import PATIENCE_S

# RFC 8291, appendix A.
SERVER_KEY = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
BROWSER_PUBLIC = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
PUSHED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6"
    "TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy"
    "4a-fN"
)


def test_a_push_is_the_one_of_the_standard() -> None:
    key = derive_private_key(int.from_bytes(from_base64url(SERVER_KEY)), SECP256R1())
    made = encrypted(
        b"When I grow up, I want to be a watermelon",
        from_base64url(BROWSER_PUBLIC),
        from_base64url(AUTH),
        key=key,
        salt=from_base64url(SALT),
    )
    assert as_base64url(made) == PUSHED


@dataclass
class Service:
    """A push service on loopback, and the browser that subscribed there."""

    url: str = ""
    status: int = 201
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    pushed: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    auth: bytes = b"0123456789abcdef"

    def subscribing(self, **changes: str) -> dict[str, Any]:
        said = {
            "endpoint": f"{self.url}/push/1",
            "p256dh": as_base64url(public_of(self.key)),
            "auth": as_base64url(self.auth),
        }
        return {**said, **changes}

    def read(self, body: bytes) -> Any:
        salt, public = body[:16], body[21:86]
        other = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), public)
        shared = self.key.exchange(ECDH(), other)

        def derived(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
            return HKDF(SHA256(), length, salt, info).derive(secret)

        secret = derived(self.auth, shared, b"WebPush: info\0" + public_of(self.key) + public, 32)
        content_key = derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(salt, secret, b"Content-Encoding: nonce\0", 12)
        return json.loads(AESGCM(content_key).decrypt(nonce, body[86:], None).rstrip(b"\x02"))


@asynccontextmanager
async def push_service() -> AsyncIterator[Service]:
    service = Service()

    async def take(request: web.Request) -> web.Response:
        service.pushed.append((dict(request.headers), await request.read()))
        service.arrived.set()
        return web.Response(status=service.status, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_post("/push/1", take)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()


def sender(ground: Ground) -> PushSender:
    return PushSender(
        ground.stage.directory,
        phones_of(ground),
        "https://me.example.org/",
        ground.stage.clock,
        schemes=frozenset({"http", "https"}),
    )


async def test_a_question_is_pushed_to_phones_that_are_paired_and_says_nothing_of_it(
    tmp_path: Path,
) -> None:
    async with opened_ground(tmp_path) as ground, push_service() as service:
        phone, pushes = ground.pair("Pixel"), sender(ground)
        page = PhonePage(ground.client, phones_of(ground), pushes=pushes)

        async def speak(said: dict[str, Any], by: Phone = phone) -> dict[str, Any]:
            found: dict[str, Any] = json.loads(await page.reply(sent(by, said)))
            return found

        now_ms = ground.stage.clock()
        assert (await speak(statement("look", now_ms)))["vapid"] == pushes.public
        assert (await speak(statement("push", now_ms, **service.subscribing())))["is_done"]
        async with page.following():
            asked = await ground.question()
            said = {"answer": "Deny"} | {
                name: card
                for name, card in (await speak(statement("look", now_ms)))["queue"]["cards"][
                    0
                ].items()
                if name in ("question_id", "generation", "digest")
            }
            assert (await speak(statement("answer", now_ms, **said)))["is_done"]
            async with asyncio.timeout(PATIENCE_S):
                await service.arrived.wait()
        headers, body = service.pushed[0]
        found = service.read(body)
        assert found["body"] == "An approval waits for you." and found["tag"] != asked.question_id
        assert headers["Content-Encoding"] == "aes128gcm" and int(headers["TTL"]) >= 60
        # The signature is of the key that the page gave the browser, and for this service.
        scheme, token, key = headers["Authorization"].replace(",", "").split(" ")
        assert scheme == "vapid" and key == f"k={pushes.public}"
        signed, _, signature = token.removeprefix("t=").rpartition(".")
        raw = from_base64url(signature)
        EllipticCurvePublicKey.from_encoded_point(
            SECP256R1(), from_base64url(pushes.public)
        ).verify(
            encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:])),
            signed.encode(),
            ECDSA(SHA256()),
        )
        claims = json.loads(from_base64url(signed.split(".")[1]))
        assert claims["aud"] == service.url and claims["sub"] == "https://me.example.org/"


async def test_a_phone_that_is_revoked_or_has_unsubscribed_is_pushed_nothing(
    tmp_path: Path,
) -> None:
    async with opened_ground(tmp_path) as ground, push_service() as service:
        asked, pushes = await ground.question(), sender(ground)
        first, second = ground.pair("Pixel"), ground.pair("Old phone")
        for phone in (first, second):
            pushes.subscribe(phone.phone_id, Push(id="", at_ms=0, **service.subscribing()))
        service.status = 302
        await pushes.notify(asked)
        assert len(service.pushed) == 2, "a redirection is not followed, and not the end"
        phones_of(ground).revoke("Pixel")
        service.status = 410
        await pushes.notify(asked)
        assert len(service.pushed) == 3
        await pushes.notify(asked)
        assert len(service.pushed) == 3, "the service said that the subscription is gone"
        # Its key is kept for the next server; who is gone is forgotten.
        assert sender(ground).public == pushes.public
        kept = json.loads((ground.stage.directory / FILE_NAME).read_bytes())
        assert kept["phones"] == {}
        assert base64.b64decode(kept["key"]).startswith(b"-----BEGIN")


@pytest.mark.parametrize(
    "changes",
    [
        {"endpoint": "file:///etc/passwd"},
        {"endpoint": "ftp://push.example/1"},
        {"endpoint": "https://"},
        {"endpoint": "https://push.example/\nx"},
        {"endpoint": "//push.example/1"},
        {"p256dh": ""},
        {"p256dh": "BAAA"},
        {"p256dh": "not base64!"},
        {"auth": ""},
        {"auth": "AAAA"},
    ],
)
async def test_a_subscription_that_cannot_be_used_is_refused(
    changes: dict[str, str], tmp_path: Path
) -> None:
    from agent.consent.paired_phones import PairedPhones

    pushes = PushSender(tmp_path, PairedPhones(tmp_path), "https://me.example.org/", lambda: 0)
    said = Service(url="https://push.example").subscribing(**changes)
    with pytest.raises(UsageError):
        pushes.subscribe("1", Push(id="", at_ms=0, **said))
