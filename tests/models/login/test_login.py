"""Signing in: a real issuer on loopback, the code flow with PKCE, refresh, and who is refused."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from agent.errors import ConfigError, ModelError, UsageError
from agent.models.callback import callback
from agent.models.login import Login, TokenFile, discover, refreshed, sign_in, sign_out

PATIENCE_S = 30.0
ENDPOINT = "https://models.example.com/v1"


@dataclass
class TinyIssuer:
    """An OAuth issuer: metadata, a token endpoint that checks PKCE, revocation."""

    port: int = 0
    challenge: str = ""
    redirect: str = ""
    refused: bool = False
    revoked: list[str] = field(default_factory=list)
    metadata_issuer: str = ""
    methods: tuple[str, ...] = ("S256",)
    refreshes: int = 0
    rotates: bool = False  # Whether each refresh token is taken once, and another given for it.
    refresh_token: str = "refresh-1"
    lasts: object = 3600
    page: bytes = b""  # What stands where the metadata should, when something does.

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lengths = [
                line for line in head.lower().split("\r\n") if line.startswith("content-length:")
            ]
            body = await reader.readexactly(int(lengths[0].split(":")[1]) if lengths else 0)
            status, answer = self.answer(head.split(" ")[1], body.decode())
            raw = self.page or json.dumps(answer).encode()
            writer.write(
                f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(raw)}\r\nConnection: close\r\n\r\n".encode()
                + raw
            )
            await writer.drain()
        finally:
            writer.close()

    def answer(self, path: str, body: str) -> tuple[int, dict[str, object]]:
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.metadata_issuer or self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "revocation_endpoint": f"{self.url}/revoke",
                "code_challenge_methods_supported": self.methods,
            }
        form = {name: values[0] for name, values in parse_qs(body).items()}
        if path == "/revoke":
            self.revoked.append(form["token"])
            return 200, {}
        if path != "/token":
            return 404, {}
        if self.refused:
            return 400, {"error": "invalid_grant"}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != self.refresh_token:
                return 400, {"error": "invalid_grant"}
            self.refreshes += 1
            token = {"access_token": "second", "token_type": "Bearer", "expires_in": self.lasts}
            if not self.rotates:
                return 200, token
            self.refresh_token = f"refresh-{self.refreshes + 1}"
            return 200, token | {"refresh_token": self.refresh_token}
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != self.challenge:
            return 400, {"error": "invalid_grant"}
        assert form["code"] == "good-code"
        assert form["redirect_uri"] == self.redirect
        return 200, {
            "access_token": "first",
            "refresh_token": self.refresh_token,
            "token_type": "Bearer",
            "expires_in": self.lasts,
        }


@asynccontextmanager
async def tiny_issuer() -> AsyncIterator[TinyIssuer]:
    issuer = TinyIssuer()
    server = await asyncio.start_server(issuer.handle, "127.0.0.1", 0)
    issuer.port = server.sockets[0].getsockname()[1]
    try:
        yield issuer
    finally:
        server.close()


class Browser:
    """Goes where it is sent and comes back with what the test says."""

    def __init__(self, issuer: TinyIssuer, *answers: dict[str, str]) -> None:
        self.issuer = issuer
        self.answers = answers or ({"code": "good-code"},)
        self.asked: dict[str, str] = {}
        self.pages: list[bytes] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self, url: str) -> None:
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.issuer.challenge = self.asked["code_challenge"]
        self.issuer.redirect = self.asked["redirect_uri"]
        task = asyncio.get_running_loop().create_task(self._come_back())
        self._tasks.add(task)

    async def _come_back(self) -> None:
        for answer in self.answers:
            query = urlencode({"state": self.asked["state"], **answer})
            address = urlsplit(self.issuer.redirect)
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(f"GET {address.path}?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            await writer.drain()
            page = await reader.read()
            assert b"good-code" not in page
            self.pages.append(page)
            writer.close()


async def login_at(issuer: TinyIssuer, browser: Browser, *, timeout_s: float = PATIENCE_S) -> Login:
    found = await asyncio.to_thread(discover, issuer.url)
    return await sign_in(
        found,
        client_id="switchboard",
        endpoint=ENDPOINT,
        scope="openid offline_access",
        port=0,
        open_browser=browser.open,
        timeout_s=timeout_s,
    )


async def test_a_person_signs_in_by_browser_with_pkce_and_a_loopback_answer() -> None:
    async with tiny_issuer() as issuer:
        browser = Browser(issuer)
        login = await login_at(issuer, browser)
    assert (login.access_token, login.refresh_token) == ("first", "refresh-1")
    assert browser.asked["code_challenge_method"] == "S256"
    assert browser.asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert len(browser.asked["state"]) >= 20
    assert "first" not in repr(login)


async def test_an_answer_with_another_state_is_passed_over_and_told_so() -> None:
    async with tiny_issuer() as issuer:
        forged = {"code": "evil-code", "state": "forged"}
        denied = {"error": "access_denied", "state": "forged"}
        browser = Browser(issuer, forged, denied, {"code": "good-code"})
        login = await login_at(issuer, browser)
    assert login.access_token == "first"
    assert browser.pages[0].startswith(b"HTTP/1.1 400 ")
    assert b"another question" in browser.pages[0]
    assert browser.pages[1].startswith(b"HTTP/1.1 400 ")


async def test_a_port_that_is_taken_is_named_before_the_browser_opens() -> None:
    async with tiny_issuer() as issuer:
        found = await asyncio.to_thread(discover, issuer.url)
        opened: list[str] = []
        with pytest.raises(UsageError, match=str(issuer.port)) as caught:
            await sign_in(
                found,
                client_id="c",
                endpoint=ENDPOINT,
                scope="",
                port=issuer.port,
                open_browser=opened.append,
            )
    assert opened == []
    assert "model.login_port" in caught.value.remedy


async def test_an_answer_of_another_issuer_is_passed_over() -> None:
    async with tiny_issuer() as issuer:
        foreign = {"code": "evil-code", "iss": "https://evil.example"}
        login = await login_at(issuer, Browser(issuer, foreign, {"code": "good-code"}))
    assert login.access_token == "first"


async def test_a_person_who_refuses_ends_it() -> None:
    async with tiny_issuer() as issuer:
        with pytest.raises(ModelError, match="access_denied"):
            await login_at(issuer, Browser(issuer, {"error": "access_denied"}))


async def test_nobody_who_signs_in_ends_it() -> None:
    async with tiny_issuer() as issuer:
        with pytest.raises(ModelError, match="Nobody signed in"):
            await login_at(
                issuer, Browser(issuer, {"code": "evil", "state": "forged"}), timeout_s=0.2
            )


async def test_what_came_to_another_question_is_said_when_nobody_signs_in() -> None:
    async with callback("https://issuer.example", 0) as callback_server:
        waiting = asyncio.ensure_future(callback_server.code("asked"))
        for path, status in {"/callback?state=forged&code=x": b"400", "/other": b"404"}.items():
            reader, writer = await asyncio.open_connection("127.0.0.1", callback_server.port)
            writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
            assert (await reader.read()).split(b" ")[1] == status
            writer.close()
        assert not waiting.done()
        assert callback_server.strangers == 1
        waiting.cancel()


async def test_an_issuer_that_is_another_or_cannot_do_pkce_is_refused() -> None:
    async with tiny_issuer() as issuer:
        issuer.metadata_issuer = "https://evil.example"
        with pytest.raises(ConfigError, match=r"evil\.example"):
            await asyncio.to_thread(discover, issuer.url)
        issuer.metadata_issuer = ""
        issuer.methods = ("plain",)
        with pytest.raises(ConfigError, match="S256"):
            await asyncio.to_thread(discover, issuer.url)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"<html>", "has no OAuth metadata"),
        (b"[" * 100_000, "has no OAuth metadata"),
        (b"[]", "cannot be used"),
        (b'{"issuer": 5}', "cannot be used"),
        (b" " * 1_500_000, "is too long to be metadata"),
    ],
    ids=["a page", "depths", "a list", "another object", "no end"],
)
async def test_what_is_no_metadata_is_refused_in_words(page: bytes, said: str) -> None:
    async with tiny_issuer() as issuer:
        issuer.page = page
        with pytest.raises(ConfigError, match=said):
            await asyncio.to_thread(discover, issuer.url)


def test_an_issuer_without_tls_is_refused() -> None:
    with pytest.raises(ConfigError, match="https"):
        discover("http://issuer.example")
    with pytest.raises(ConfigError, match="not an address"):
        discover("https://[::1")


async def test_an_answer_of_a_thousand_fields_is_passed_over() -> None:
    async with tiny_issuer() as issuer:
        many = {f"field{at}": "x" for at in range(1000)}
        browser = Browser(issuer, many | {"code": "evil-code"}, {"code": "good-code"})
        login = await login_at(issuer, browser)
    assert login.access_token == "first"
    assert browser.pages[0].startswith(b"HTTP/1.1 400 ")


async def test_a_login_is_kept_private_and_renewed_before_it_ends(tmp_path: Path) -> None:
    async with tiny_issuer() as issuer:
        login = await login_at(issuer, Browser(issuer))
        now = login.expires_s - 3600
        file = TokenFile(tmp_path / "login.json", now_s=lambda: now)
        file.keep(login)
        assert (tmp_path / "login.json").stat().st_mode & 0o777 == 0o600
        assert await file.token(ENDPOINT) == "first"
        assert issuer.refreshes == 0
        now = login.expires_s - 10
        assert await file.token(ENDPOINT) == "second"
        kept = file.read()
    assert issuer.refreshes == 1
    assert kept is not None
    assert (kept.access_token, kept.refresh_token) == ("second", "refresh-1")


async def test_a_refresh_token_that_is_taken_once_is_followed_by_the_next(tmp_path: Path) -> None:
    async with tiny_issuer() as issuer:
        issuer.rotates = True
        login = await login_at(issuer, Browser(issuer))
        file = TokenFile(tmp_path / "login.json", now_s=lambda: login.expires_s + 7200)
        file.keep(login)
        for _ in range(3):
            assert await file.token(ENDPOINT) == "second"
        kept = file.read()
    assert issuer.refreshes == 3
    assert kept is not None
    assert kept.refresh_token == "refresh-4"


async def test_of_two_processes_that_renew_at_once_the_second_takes_what_the_first_was_given(
    tmp_path: Path,
) -> None:
    async with tiny_issuer() as issuer:
        issuer.rotates = True
        login = await login_at(issuer, Browser(issuer))
        path = tmp_path / "login.json"
        first = TokenFile(path, now_s=lambda: login.expires_s)
        second = TokenFile(path, now_s=lambda: login.expires_s)
        first.keep(login)
        old = second.read()
        assert old is not None
        assert await first.token(ENDPOINT) == "second"
        # What the second had read before the first was done.
        renewed = await second._renewed(old)
        assert renewed.refresh_token == "refresh-2"
        issuer.refused = True
        with pytest.raises(ModelError, match="refused"):
            await second._renewed(renewed)


@pytest.mark.parametrize("lasts", ["soon", 1e400])
async def test_what_is_no_token_is_refused(lasts: object) -> None:
    async with tiny_issuer() as issuer:
        issuer.lasts = lasts
        with pytest.raises(ModelError, match="is not a token"):
            await login_at(issuer, Browser(issuer))


@pytest.mark.parametrize("lasts", [-5, None, "3600"])
async def test_a_token_whose_end_cannot_be_read_is_kept_without_one(
    tmp_path: Path, lasts: object
) -> None:
    async with tiny_issuer() as issuer:
        issuer.lasts = lasts
        login = await login_at(issuer, Browser(issuer))
    file = TokenFile(tmp_path / "login.json")
    file.keep(login)
    assert file.read() == login
    assert bool(login.expires_s) == (lasts == "3600")


async def test_a_login_that_the_issuer_ended_says_to_sign_in_again(tmp_path: Path) -> None:
    async with tiny_issuer() as issuer:
        login = await login_at(issuer, Browser(issuer))
        issuer.refused = True
        with pytest.raises(ModelError) as caught:
            await asyncio.to_thread(refreshed, login)
    assert not caught.value.retryable
    assert "switchboard login" in caught.value.remedy
    assert "refresh-1" not in str(caught.value)


async def test_a_login_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "login.json")
    file.keep(
        Login(issuer="i", client_id="c", token_endpoint="https://i/token", access_token="secret")
    )
    (tmp_path / "login.json").chmod(0o644)
    with pytest.raises(ConfigError, match="read by others"):
        file.read()


async def test_signing_out_tells_the_issuer() -> None:
    async with tiny_issuer() as issuer:
        login = await login_at(issuer, Browser(issuer))
        await asyncio.to_thread(sign_out, login)
    assert issuer.revoked == ["refresh-1"]
