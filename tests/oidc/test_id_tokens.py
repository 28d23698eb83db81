"""Hostile ID tokens: none of them names an account."""

import asyncio
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

from agent.errors import NotAllowedError, SwitchboardError
from agent.oidc.claims import Account, Expected, account_in, nonce_of
from agent.oidc.id_token import claims_of
from agent.oidc.issuer import Issuer
from tests.oidc.provider import CLIENT, Provider, b64, provider

NONCE = nonce_of(b"v" * 32, b"certificate")
SUBJECT = "sub-1"
OTHER = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
SMALL = RSAKey.generate_key(1024, {"kid": "small"})
OKP = OKPKey.generate_key("Ed25519", {"kid": "okp"})
EC = ECKey.generate_key("P-384", {"kid": "ec"})

TWICE = b'{"alg":"none","alg":"RS256","kid":"first"}'


@pytest.fixture(scope="module")
def shared() -> Iterator[Provider]:
    with provider() as one:
        yield one


def now() -> int:
    return int(time.time())


def good(idp: Provider, **claims: Any) -> str:
    return idp.id_token(sub=SUBJECT, nonce=NONCE, **claims)


async def account(idp: Provider, token: str) -> Account:
    return await Issuer(idp.issuer, CLIENT).account(token, NONCE, time.time())


def unsigned(idp: Provider, algorithm: str, signature: str = "") -> str:
    claims = json.loads(_decoded(good(idp).split(".")[1]))
    return f"{b64({'alg': algorithm, 'kid': 'first'})}.{b64(claims)}.{signature}"


def _decoded(part: str) -> bytes:
    from base64 import urlsafe_b64decode

    return urlsafe_b64decode(part + "==")


def by_secret(idp: Provider, secret: bytes, algorithm: str = "HS256") -> str:
    """Sign with what everybody may read of the public key, as if it were a shared secret."""
    signed = f"{b64({'alg': algorithm, 'kid': 'first'})}.{good(idp).split('.')[1]}"
    # By hand: joserfc makes no such token.
    digest = hmac.digest(secret, signed.encode(), f"sha{algorithm[2:]}")
    return f"{signed}.{b64(digest)}"


def swapped(idp: Provider, **claims: Any) -> str:
    """Put other claims under a signature."""
    head, body, signature = good(idp).split(".")
    return f"{head}.{b64(json.loads(_decoded(body)) | claims)}.{signature}"


def by(key: Any, algorithm: str, idp: Provider, **header: Any) -> str:
    claims = json.loads(_decoded(good(idp).split(".")[1]))
    return jwt.encode({"alg": algorithm} | header, claims, key, algorithms=[algorithm])


def crit(idp: Provider) -> str:
    key = idp.keys[-1]
    head = b64({"alg": "RS256", "kid": key.kid, "crit": ["b64"], "b64": False})
    return f"{head}.{good(idp).split('.')[1]}.{good(idp).split('.')[2]}"


Make = Callable[[Provider], str]
HOSTILE: dict[str, Make] = {
    "nothing": lambda _: "",
    "no token": lambda _: "no token",
    "two parts": lambda p: ".".join(good(p).split(".")[:2]),
    "four parts": lambda p: good(p) + ".x",
    "an encrypted one": lambda p: good(p) + ".x.y",
    "spaces around": lambda p: f" {good(p)}\n",
    "a longer one": lambda p: good(p, filler="x" * 20_000),
    "signature cut": lambda p: good(p)[:-8],
    "signature empty": lambda p: good(p).rpartition(".")[0] + ".",
    "signature turned": lambda p: swapped(p)[:-10] + "A" * 10,
    "other claims under it": lambda p: swapped(p, sub="sub-2"),
    "alg none": lambda p: unsigned(p, "none"),
    "alg None": lambda p: unsigned(p, "None", "x"),
    "alg NONE": lambda p: unsigned(p, "NONE", "x"),
    "no alg": lambda p: f"{b64({'kid': 'first'})}.{b64({})}.x",
    "alg a number": lambda p: unsigned(p, 1),  # type: ignore[arg-type]
    "typ a list": lambda p: f"{b64({'alg': 'RS256', 'typ': ['JWT']})}.{b64({})}.x",
    "alg a list": lambda p: f"{b64({'alg': ['RS256']})}.{b64({})}.x",
    "HS256 by the PEM of the key": lambda p: by_secret(p, p.keys[-1].as_pem(private=False)),
    "HS256 by the DER of the key": lambda p: by_secret(p, p.keys[-1].as_der(private=False)),
    "HS256 by the modulus": lambda p: by_secret(p, p.jwks()["keys"][-1]["n"].encode()),
    "HS512 by the JWK": lambda p: by_secret(p, json.dumps(p.jwks()["keys"][-1]).encode(), "HS512"),
    "HS256 by the client's id": lambda p: by_secret(p, CLIENT.encode() * 4),
    "RS512, which is not listed": lambda p: by(p.keys[-1], "RS512", p, kid="first"),
    "RS256 by another key of that name": lambda p: by(OTHER, "RS256", p, kid="first"),
    "RS256 by another key without a name": lambda p: by(OTHER, "RS256", p),
    "ES384 by a key of its own": lambda p: by(EC, "ES384", p, kid="first"),
    "EdDSA by a key of its own": lambda p: by(OKP, "EdDSA", p, kid="first"),
    "a key in its header": lambda p: by(
        OTHER, "RS256", p, kid="first", jwk=OTHER.as_dict(private=False)
    ),
    "an address of keys in its header": lambda p: by(
        OTHER, "RS256", p, kid="first", jku="https://evil.example/jwks"
    ),
    "an address of a certificate": lambda p: by(
        OTHER, "RS256", p, kid="first", x5u="https://evil.example/x5u"
    ),
    "a kid that is a path": lambda p: p.signed(_claims(p), kid="../../dev/null"),
    "a kid that is SQL": lambda p: p.signed(_claims(p), kid="' OR 1=1 --"),
    "what has to be understood": crit,
    "an access token": lambda p: p.signed(_claims(p), typ="at+jwt"),
    "a logout token": lambda p: p.signed(_claims(p), typ="logout+jwt"),
    "a logout token without its type": lambda p: good(p, events={"http://schemas": {}}),
    "iss of another": lambda p: good(p, iss="https://evil.example"),
    "iss with a slash": lambda p: good(p, iss=f"{p.issuer}/"),
    "iss in capitals": lambda p: good(p, iss=p.issuer.upper()),
    "iss a list": lambda p: good(p, iss=[p.issuer]),
    "no iss": lambda p: good(p, iss=None),
    "aud of another": lambda p: p.id_token("another", sub=SUBJECT, nonce=NONCE),
    "aud with ours in it": lambda p: good(p, aud=f"{CLIENT}-two"),
    "aud of several": lambda p: good(p, aud=[CLIENT, "another"]),
    "aud a list of lists": lambda p: good(p, aud=[[CLIENT]]),
    "aud an object": lambda p: good(p, aud={CLIENT: 1}),
    "aud empty": lambda p: good(p, aud=[]),
    "no aud": lambda p: good(p, aud=None),
    "azp of another": lambda p: good(p, azp="another"),
    "azp of another among several": lambda p: good(p, aud=[CLIENT, "b"], azp="b"),
    "azp empty": lambda p: good(p, azp=""),
    "expired": lambda p: good(p, iat=now() - 500, exp=now() - 100),
    "expired long ago": lambda p: good(p, iat=1, exp=2),
    "no exp": lambda p: good(p, exp=None),
    "exp a text": lambda p: good(p, exp=str(now() + 300)),
    "exp true": lambda p: good(p, exp=True),
    "exp without end": lambda p: good(p, exp=float("inf")),
    "exp no number": lambda p: good(p, exp=float("nan")),
    "exp beyond floats": lambda p: good(p, exp=10**400),
    "exp before iat": lambda p: good(p, iat=now(), exp=now() - 1),
    "made in the future": lambda p: good(p, iat=now() + 600, exp=now() + 900),
    "made too long ago": lambda p: good(p, iat=now() - 3600, exp=now() + 3600),
    "no iat": lambda p: good(p, iat=None),
    "iat a list": lambda p: good(p, iat=[now()]),
    "not valid yet": lambda p: good(p, nbf=now() + 600),
    "nbf a text": lambda p: good(p, nbf="now"),
    "nonce of another sign-in": lambda p: good(p) and p.id_token(sub=SUBJECT, nonce="other"),
    "nonce empty": lambda p: p.id_token(sub=SUBJECT, nonce=""),
    "nonce a number": lambda p: p.id_token(sub=SUBJECT, nonce=1),
    "nonce for another core": lambda p: p.id_token(
        sub=SUBJECT, nonce=nonce_of(b"v" * 32, b"another certificate")
    ),
    "no sub": lambda p: p.id_token(nonce=NONCE),
    "sub empty": lambda p: p.id_token(sub="", nonce=NONCE),
    "sub a number": lambda p: p.id_token(sub=1, nonce=NONCE),
    "sub with a line end": lambda p: p.id_token(sub="sub-1\n", nonce=NONCE),
    "sub without end": lambda p: p.id_token(sub="s" * 300, nonce=NONCE),
    "claims a list": lambda p: _raw(p, b"[]"),
    "claims no JSON": lambda p: _raw(p, b"{"),
    "claims a depth": lambda p: _raw(p, b"[" * 6000),
    "claims no UTF-8": lambda p: _raw(p, b'{"sub": "\xff"}'),
    "header no JSON": lambda p: f"{b64(b'{')}.{b64({})}.x",
    "header a list": lambda p: f"{b64(b'[]')}.{b64({})}.x",
    "header a depth": lambda p: f"{b64(b'[' * 6000)}.{b64({})}.x",
    "header with alg twice": lambda p: f"{b64(TWICE)}.{good(p).partition('.')[2]}",
    "kid a number": lambda p: f"{b64({'alg': 'RS256', 'kid': 1})}.{good(p).partition('.')[2]}",
}


def _claims(idp: Provider) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_decoded(good(idp).split(".")[1]))
    return found


def _raw(idp: Provider, payload: bytes) -> str:
    return jws.serialize_compact({"alg": "RS256", "kid": "first"}, payload, idp.keys[-1])


def test_there_are_enough_kinds() -> None:
    assert len(HOSTILE) >= 80


@pytest.mark.parametrize("what", HOSTILE)
async def test_a_hostile_token_names_no_account(shared: Provider, what: str) -> None:
    token = HOSTILE[what](shared)
    with pytest.raises(NotAllowedError) as refusal:
        await account(shared, token)
    for part in filter(None, (token.strip(), *token.split("."))):
        assert len(part) < 4 or part not in str(refusal.value)


async def test_a_good_token_names_its_account(shared: Provider) -> None:
    found = await account(shared, good(shared, email="ana@example.com", email_verified=True))
    assert found == Account(issuer=shared.issuer, subject=SUBJECT, email="ana@example.com")
    for aud in ([CLIENT], CLIENT):
        assert (await account(shared, good(shared, aud=aud, azp=CLIENT))).subject == SUBJECT
    assert (await account(shared, good(shared, aud=[CLIENT, "b"], azp=CLIENT))).subject == SUBJECT
    without_nonce = shared.id_token(sub=SUBJECT)
    assert (await account(shared, without_nonce)).subject == SUBJECT


@pytest.mark.parametrize("verified", [False, None, "true", 1])
async def test_an_address_that_the_issuer_has_not_verified_is_none(
    shared: Provider, verified: object
) -> None:
    found = await account(shared, good(shared, email="ana@example.com", email_verified=verified))
    assert found.email == ""


@pytest.mark.parametrize(
    "key",
    [
        SMALL.as_dict(private=False),
        {**OTHER.as_dict(private=False), "use": "enc"},
        {**OTHER.as_dict(private=False), "key_ops": ["encrypt"]},
        {**OTHER.as_dict(private=False), "key_ops": "verify"},
        {**OTHER.as_dict(private=False), "alg": "PS256"},
        {**OTHER.as_dict(private=False), "kty": "oct", "k": "c2VjcmV0"},
        {**OTHER.as_dict(private=False), "kid": "other"},
        {**OTHER.as_dict(private=False), "n": 5},
        {},
    ],
)
def test_a_key_that_is_not_for_this_verifies_nothing(key: dict[str, Any]) -> None:
    signer = SMALL if key.get("kid") == "small" else OTHER
    token = jwt.encode({"alg": "RS256", "kid": signer.kid}, {"sub": "x"}, signer)
    with pytest.raises(NotAllowedError):
        claims_of(token, [key])


def test_each_listed_algorithm_verifies() -> None:
    ec = ECKey.generate_key("P-256", {"kid": "e"})
    for key, algorithm in ((OTHER, "RS256"), (OTHER, "PS256"), (ec, "ES256"), (EC, "ES384")):
        token = jwt.encode(
            {"alg": algorithm, "kid": key.kid}, {"sub": "x"}, key, algorithms=[algorithm]
        )
        assert claims_of(token, [key.as_dict(private=False)]) == {"sub": "x"}
    token = jwt.encode({"alg": "EdDSA", "kid": "okp"}, {"sub": "x"}, OKP, algorithms=["EdDSA"])
    assert claims_of(token, [OKP.as_dict(private=False)]) == {"sub": "x"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(["iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub", "email"])
EXPECTED = Expected(issuer="https://i", client_id="c", nonce="n", now_s=1000.0)


@given(changed=st.dictionaries(NAMES, JSON, min_size=1, max_size=3))
def test_whatever_claims_hold_they_are_refused_or_right(changed: dict[str, Any]) -> None:
    claims = {"iss": "https://i", "aud": "c", "sub": "s", "iat": 1000, "exp": 1300} | changed
    try:
        found = account_in(claims, EXPECTED)
    except NotAllowedError:
        return
    assert claims["iss"] == "https://i"
    assert claims["aud"] == "c" or "c" in claims["aud"]
    assert claims.get("nonce", "n") == "n"
    assert claims["exp"] > 1000 - 61 and abs(claims["iat"] - 1000) < 662
    assert found.subject == claims["sub"]
    assert found.email == ""


@given(text=st.text(alphabet="abcAB01-_.= \n{}", max_size=60) | st.text(max_size=30))
def test_whatever_text_comes_it_is_refused(text: str) -> None:
    with pytest.raises(NotAllowedError):
        claims_of(text, [OTHER.as_dict(private=False)])


@settings(max_examples=200)
@given(at=st.integers(0, 2000), to=st.sampled_from("abcXYZ019-_.~é"))
def test_one_changed_letter_refuses_a_token(at: int, to: str) -> None:
    token = jwt.encode({"alg": "RS256", "kid": "first"}, {"sub": "x"}, OTHER)
    at %= len(token)
    changed = token[:at] + to + token[at + 1 :]
    if changed == token:
        return
    try:
        claims = claims_of(changed, [OTHER.as_dict(private=False)])
    except NotAllowedError:
        return
    # The last letter of base64url holds bits that are not read.
    assert at == len(token) - 1
    assert claims == {"sub": "x"}


async def test_a_new_key_counts_at_once_and_a_forgotten_one_no_more(idp: Provider) -> None:
    clock = [0.0]
    issuer = Issuer(idp.issuer, CLIENT, monotonic_s=lambda: clock[0])
    old = good(idp)
    assert (await issuer.account(old, NONCE, time.time())).subject == SUBJECT
    clock[0] += 20
    idp.rotate(ec=True)
    assert (await issuer.account(good(idp), NONCE, time.time())).subject == SUBJECT
    with pytest.raises(NotAllowedError):
        await issuer.account(old, NONCE, time.time())


async def test_a_forgotten_key_counts_no_longer_than_keys_are_kept(idp: Provider) -> None:
    clock = [0.0]
    issuer = Issuer(idp.issuer, CLIENT, monotonic_s=lambda: clock[0])
    old = good(idp)
    await issuer.account(old, NONCE, time.time())
    idp.rotate()
    clock[0] += 301
    with pytest.raises(NotAllowedError):
        await issuer.account(old, NONCE, time.time())


async def test_strangers_do_not_make_the_core_ask_the_issuer_again_and_again(idp: Provider) -> None:
    issuer = Issuer(idp.issuer, CLIENT)
    odd = by(OTHER, "RS256", idp, kid="unknown")

    async def come() -> None:
        with pytest.raises(SwitchboardError):
            await issuer.account(odd, NONCE, time.time())

    await asyncio.gather(*(come() for _ in range(30)))
    assert idp.asked.count("/jwks") == 1


async def test_an_issuer_that_is_another_or_away_gives_no_account(idp: Provider) -> None:
    token = good(idp)
    idp.issuer, real = idp.issuer.replace("127.0.0.1", "localhost"), idp.issuer
    with pytest.raises(SwitchboardError, match="own address differs"):
        await Issuer(real, CLIENT).account(token, NONCE, time.time())
    with pytest.raises(SwitchboardError, match="cannot be reached"):
        await Issuer("http://127.0.0.1:9", CLIENT).account(token, NONCE, time.time())
    for address in (
        "http://login.example.com",
        "ftp://127.0.0.1",
        "https://u:p@x",
        "x",
        "https://",
    ):
        with pytest.raises(SwitchboardError):
            await Issuer(address, CLIENT).account(token, NONCE, time.time())
