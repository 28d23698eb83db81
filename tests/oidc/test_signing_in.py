"""Sign in at a core by an account: the token that it gives, and what ends it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.errors import NotAllowedError, RuntimeDiedError, SwitchboardError, UsageError
from agent.oidc.claims import nonce_of
from agent.oidc.issuer import Issuer
from agent.operators.changes import MOST_SIGN_INS, granted, with_identity, without_credential
from agent.operators.operator import Operator, identity_at
from agent.records import Right
from agent.rpc.credentials import IdTokenShown, TokenShown
from agent.rpc.remote_core import Client
from agent.rpc.rpc_client import RpcClient
from agent.rpc.rpc_messages import Hello, Nothing, SignedIn
from tests.oidc.provider import CLIENT, Provider
from tests.operators.house import HOUR_MS, House, opened

VERIFIER = b"v" * 32
MAIL = {"email": "ana@example.com", "email_verified": True}


@dataclass
class Lab:
    """A core with operators of a provider."""

    house: House
    idp: Provider

    async def account(self, name: str, *, subject: str = "", email: str = "") -> None:
        account = identity_at(self.idp.issuer, 1, subject=subject, email=email)

        def made(known: Mapping[str, Operator]) -> Operator:
            one = known.get(name) or granted(Operator(name=name), [Right.WATCH], ())
            return with_identity(one, account, known.values())

        await self.house.register.change(name, made)

    def token(self, sub: str = "sub-1", **claims: object) -> str:
        """Make an ID token as of now, by the stage's clock, for this core's socket."""
        now = self.house.stage.clock() // 1000
        said = {"iat": now, "exp": now + 300, "nonce": nonce_of(VERIFIER, b"")} | claims
        return self.idp.id_token(sub=sub, **said)

    async def show(self, id_token: str, verifier: bytes = VERIFIER) -> SignedIn:
        place = self.house.daemon.path
        client = await RpcClient.connect(place, credentials=IdTokenShown(id_token, verifier))
        await client.close()
        assert client.signed is not None
        return client.signed

    def kept(self, name: str = "ana") -> Operator:
        found = self.house.register.find(name)
        assert found is not None
        return found


@pytest.fixture
async def lab(tmp_path: Path, idp: Provider, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Lab]:
    async with opened(tmp_path) as house:
        door = house.daemon._door
        assert door is not None
        monkeypatch.setattr(door, "_issuer", Issuer(idp.issuer, CLIENT))
        yield Lab(house, idp)


async def test_an_account_gets_a_token_that_signs_in_until_it_expires(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    signed = await lab.show(lab.token())
    assert signed.operator == "ana"
    client = await lab.house.come(token=signed.token)
    assert (await client.overview()).devices
    assert signed.token not in repr(signed)
    lab.house.stage.now_ms = lab.house.stage.clock() + 8 * HOUR_MS
    with pytest.raises((NotAllowedError, RuntimeDiedError)):
        await client.overview()
    with pytest.raises(NotAllowedError):
        await lab.house.come(token=signed.token)


async def test_an_id_token_opens_once(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    shown = lab.token()
    await lab.show(shown)
    with pytest.raises(NotAllowedError, match="used before"):
        await lab.show(shown)
    # Also at another door of the same register.
    assert lab.house.daemon._door is not None
    lab.house.daemon._door._shown.clear()
    with pytest.raises(NotAllowedError, match="used before"):
        await lab.show(shown)


async def test_an_id_token_is_no_use_without_what_its_nonce_was_made_of(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    for verifier in (b"", b"w" * 32):
        with pytest.raises(NotAllowedError, match="another sign-in"):
            await lab.show(lab.token(), verifier)


async def test_a_verified_address_signs_in_and_no_other(lab: Lab) -> None:
    await lab.account("ana", email="ana@example.com")
    assert (await lab.show(lab.token("any", **MAIL))).operator == "ana"
    for claims in (
        {**MAIL, "email_verified": False},
        {"email": "ana@example.com"},
        {**MAIL, "email": "Ana@example.com"},
        {**MAIL, "email": "ana@example.com.evil.example"},
        {**MAIL, "email": "ana@example.com\u200b"},
        {},
    ):
        with pytest.raises(NotAllowedError, match="No operator has"):
            await lab.show(lab.token("any", **claims))


async def test_a_subject_goes_before_an_address(lab: Lab) -> None:
    await lab.account("ana", email="ana@example.com")
    await lab.account("ben", subject="sub-1")
    assert (await lab.show(lab.token(**MAIL))).operator == "ben"


async def test_an_account_of_another_issuer_is_no_operators(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    lab.idp.issuer, real = "http://127.0.0.1:1", lab.idp.issuer
    try:
        await lab.account("eve", subject="sub-2")
    finally:
        lab.idp.issuer = real
    with pytest.raises(NotAllowedError, match="No operator has"):
        await lab.show(lab.token("sub-2"))


async def test_one_account_is_one_operators(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    with pytest.raises(UsageError, match="ana's"):
        await lab.account("ben", subject="sub-1")


async def test_with_an_account_its_sign_ins_go(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    await lab.account("ana", email="ana@example.com")
    first = await lab.show(lab.token())
    second = await lab.show(lab.token("another", **MAIL))
    by_subject = next(one for one in lab.kept().identities if one.subject)
    await lab.house.register.change(
        "ana", lambda known: without_credential(known["ana"], by_subject.identity_id)
    )
    with pytest.raises(NotAllowedError):
        await lab.house.come(token=first.token)
    await lab.house.come(token=second.token)
    [left] = lab.kept().tokens
    await lab.house.register.change(
        "ana", lambda known: without_credential(known["ana"], left.token_id)
    )
    with pytest.raises(NotAllowedError):
        await lab.house.come(token=second.token)


async def test_the_oldest_sign_ins_make_room(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    own = await lab.house.add("ben", Right.WATCH)
    tokens = [
        (await lab.show(lab.token(jti=str(number)))).token for number in range(MOST_SIGN_INS + 1)
    ]
    with pytest.raises(NotAllowedError):
        await lab.house.come(token=tokens[0])
    await lab.house.come(token=tokens[-1])
    await lab.house.come(token=own)


async def test_signing_out_ends_a_sign_in_and_nothing_else(lab: Lab) -> None:
    await lab.account("ana", subject="sub-1")
    other = await lab.house.add("ben", Right.WATCH)
    signed = await lab.show(lab.token())
    place = lab.house.daemon.path
    client = await RpcClient.connect(place, credentials=TokenShown(signed.token))
    await client.call("sign_out", Nothing(), Hello)
    await client.close()
    with pytest.raises(NotAllowedError):
        await lab.house.come(token=signed.token)
    made_by_the_owner = await RpcClient.connect(place, credentials=TokenShown(other))
    with pytest.raises(UsageError, match="account"):
        await made_by_the_owner.call("sign_out", Nothing(), Hello)
    await made_by_the_owner.close()
    await lab.house.come(token=other)


async def test_where_no_issuer_is_set_no_account_signs_in(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lab.account("ana", subject="sub-1")
    monkeypatch.setattr(lab.house.daemon._door, "_issuer", None)
    with pytest.raises(NotAllowedError, match="no OpenID issuer"):
        await lab.show(lab.token())


async def test_an_issuer_that_is_away_lets_nobody_in_and_says_so(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lab.account("ana", subject="sub-1")
    token = lab.token()
    monkeypatch.setattr(lab.house.daemon._door, "_issuer", Issuer("http://127.0.0.1:9", CLIENT))
    with pytest.raises(SwitchboardError, match="cannot be reached") as refusal:
        await lab.show(token)
    assert token not in str(refusal.value)


async def test_a_core_that_asks_for_no_sign_in_is_told_from_one_that_does(lab: Lab) -> None:
    from agent.rpc.places import UnixPlace

    place = UnixPlace(lab.house.daemon.path)
    assert await RpcClient.channel_of(place) is None
    await lab.account("ana", subject="sub-1")
    assert await RpcClient.channel_of(place) == b""
    with pytest.raises(NotAllowedError, match="switchboard sign-in"):
        await Client.connect(place)
