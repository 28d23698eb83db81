"""The device flow against a provider of Authlib's: asked as seldom as it says, and nothing told."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from agent.errors import ConfigError, NotAllowedError, SwitchboardError
from agent.oidc.device_flow import DeviceCode, DeviceFlow
from agent.oidc.fetching import IssuerAwayError
from agent.oidc.id_token import claims_of
from tests.oidc.provider import CLIENT, SECRET, SECRET_CLIENT, Provider


class Person:
    """Who sees the code; the clock of the flow is theirs."""

    def __init__(self, idp: Provider) -> None:
        self.idp = idp
        self.now_s = 0.0
        self.pauses: list[float] = []
        self.shown: list[DeviceCode] = []
        self.does: Callable[[int], None] = lambda _: None

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds
        self.does(len(self.pauses))

    def flow(self, client_id: str = CLIENT, **more: Any) -> DeviceFlow:
        return DeviceFlow(
            self.idp.issuer, client_id, sleep=self.sleep, monotonic_s=lambda: self.now_s, **more
        )

    def allow(self, at: int, **claims: Any) -> None:
        """Allow it after so many pauses."""

        def does(count: int) -> None:
            if count == at:
                self.idp.allowed[self.shown[0].code] = claims or {"sub": "sub-1"}

        self.does = does


@pytest.fixture
def person(idp: Provider) -> Person:
    return Person(idp)


async def test_it_waits_as_the_provider_says_until_it_is_allowed(person: Person) -> None:
    person.idp.interval = 3
    person.allow(4)
    token = await person.flow().id_token("a-nonce", person.shown.append)
    claims = claims_of(token, person.idp.jwks()["keys"])
    assert (claims["sub"], claims["nonce"], claims["aud"]) == ("sub-1", "a-nonce", CLIENT)
    assert person.pauses == [3.0] * 4
    [asked] = person.shown
    assert asked.url == f"{person.idp.issuer}/activate"
    assert asked.code in asked.whole_url


async def test_slow_down_makes_every_later_pause_longer(person: Person) -> None:
    person.idp.to_slow_down = 2
    person.allow(4)
    await person.flow().id_token("n", person.shown.append)
    assert person.pauses == [1.0, 6.0, 11.0, 11.0]


async def test_a_person_who_refuses_is_believed(person: Person) -> None:
    person.does = lambda count: person.idp.allowed.update(
        {person.shown[0].code: {"_denied": True}} if count == 2 else {}
    )
    with pytest.raises(NotAllowedError, match="denied"):
        await person.flow().id_token("n", person.shown.append)
    assert len(person.pauses) == 2


async def test_a_code_that_ran_out_ends_it(person: Person) -> None:
    person.idp.expires_in = 30
    with pytest.raises(NotAllowedError, match="in time"):
        await person.flow().id_token("n", person.shown.append)
    assert 25 <= person.now_s <= 30
    person.shown.clear()
    person.does = lambda _: next(iter(person.idp.devices.values())).update(expires_at=0)
    person.idp.devices.clear()
    with pytest.raises(NotAllowedError, match="in time"):
        await person.flow().id_token("n", person.shown.append)


async def test_a_provider_that_is_away_for_a_while_is_asked_more_and_more_seldom(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = person.flow()
    real, tries = flow._poll, []

    def poll(*args: Any) -> str:
        tries.append(args)
        if len(tries) < 3:
            raise IssuerAwayError("away")
        return real(*args)

    monkeypatch.setattr(flow, "_poll", poll)
    person.allow(2)
    await flow.id_token("n", person.shown.append)
    assert person.pauses == [1.0, 2.0, 4.0]


async def test_a_client_with_a_secret_proves_it_and_no_other_gets_in(
    person: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    person.allow(1)
    flow = person.flow(SECRET_CLIENT, client_secret=SECRET)
    token = await flow.id_token("n", person.shown.append)
    for wrong in ("", "not-it"):
        with pytest.raises(ConfigError, match="refused to start") as refusal:
            await person.flow(SECRET_CLIENT, client_secret=wrong).id_token("n", print)
        assert "invalid_client" in str(refusal.value)
    # Not what the provider, in this process, says of its own work.
    ours = (one for one in caplog.records if not one.name.startswith("authlib.oauth2.rfc"))
    logged = "\n".join(one.getMessage() for one in ours)
    for secret in (SECRET, token, *person.idp.devices):
        assert secret not in logged


async def test_a_client_that_is_not_known_is_told_what_to_check(person: Person) -> None:
    with pytest.raises(ConfigError, match="client") as refusal:
        await person.flow("nobody").id_token("n", print)
    assert "oidc.client_id" in refusal.value.remedy


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/device", (200, {})),
        ("/device", (200, [])),
        ("/device", (200, {"device_code": "d", "user_code": "", "expires_in": 60})),
        ("/device", (500, "broken")),
        ("/token", (200, {})),
        ("/token", (200, {"id_token": 1})),
        ("/token", (200, [])),
        ("/token", (400, {"error": "invalid_grant"})),
        ("/token", (400, {})),
        ("/.well-known/openid-configuration", (200, {"issuer": "http://127.0.0.1"})),
        ("/.well-known/openid-configuration", (200, {})),
        ("/.well-known/openid-configuration", (302, {})),
    ],
)
async def test_odd_answers_are_errors(
    person: Person, monkeypatch: pytest.MonkeyPatch, path: str, answer: Any
) -> None:
    idp = person.idp
    get, post = idp.get, idp.post
    monkeypatch.setattr(idp, "get", lambda at: answer if at == path else get(at))
    monkeypatch.setattr(idp, "post", lambda at, *rest: answer if at == path else post(at, *rest))
    person.allow(1)
    with pytest.raises(SwitchboardError):
        async with asyncio.timeout(60):
            await person.flow().id_token("n", person.shown.append)


@pytest.mark.parametrize(
    "said",
    [
        {"verification_uri": "http://evil.example/activate"},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "https://x/\x1b[2J"},
        {"verification_uri_complete": "file:///etc/passwd"},
        {"user_code": "A\x1b]0;B"},
        {"user_code": "A" * 100},
        {"expires_in": 0},
        {"expires_in": "soon"},
        {"interval": "often"},
    ],
)
async def test_what_a_provider_would_have_shown_is_looked_at_first(
    person: Person, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    post = person.idp.post

    def odd(path: str, *rest: Any) -> tuple[int, Any]:
        status, body = post(path, *rest)
        return status, body | said if path == "/device" else body

    monkeypatch.setattr(person.idp, "post", odd)
    with pytest.raises(SwitchboardError):
        await person.flow().id_token("n", person.shown.append)
    assert not person.shown


async def test_a_provider_without_the_device_flow_is_said(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = person.idp.metadata()
    del known["device_authorization_endpoint"]
    monkeypatch.setattr(person.idp, "metadata", lambda: known)
    with pytest.raises(ConfigError, match="no device flow"):
        await person.flow().id_token("n", print)
