"""Which endpoint the token of a login is sent to."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config import Settings, load_settings
from agent.errors import ConfigError
from agent.models.choice import build_client
from agent.models.login import Issuer, Login, TokenFile, sign_in
from agent.models.login_origin import origin_of
from console.commands.checks import _model

MINE = "https://models.example.com/v1"
OTHERS = (
    "http://models.example.com/v1",
    "https://models.example.com:8443/v1",
    "https://models.example.com.evil.example/v1",
    "https://evil.example/models.example.com/v1",
    "https://models.example.com@evil.example/v1",
    "https://example.com/v1",
)


def settings(where: Path, base_url: str = "", name: str = "m") -> Settings:
    said = {"model.keyring": False, "model.base_url": base_url, "model.name": name}
    return load_settings(overrides=said, environ={"SWITCHBOARD_DATA_DIR": str(where)})


def keep(where: Path, origin: str, issuer: str = "https://login.example.com") -> TokenFile:
    file = TokenFile(where / "login.json")
    file.keep(
        Login(
            issuer=issuer,
            client_id="c",
            token_endpoint=f"{issuer}/token",
            access_token="the-token",
            origin=origin,
        )
    )
    return file


def client_of(chosen: Settings, **more: Any) -> Any:
    return build_client(chosen, chosen.model.name, environ={}, **more)


async def test_the_token_goes_to_the_endpoint_that_it_was_made_for(tmp_path: Path) -> None:
    keep(tmp_path, origin_of(MINE))
    for same in (MINE, "https://MODELS.example.com:443/other", f"{MINE}/chat/completions"):
        assert await client_of(settings(tmp_path, same))._api_key() == "the-token"
    # A session that was begun there takes it along, whatever the settings say now.
    elsewhere = settings(tmp_path, "http://127.0.0.1:9/v1")
    assert await client_of(elsewhere, recorded=MINE)._api_key() == "the-token"


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("origin", [origin_of(MINE), ""], ids=["a login", "an older login"])
def test_the_token_goes_to_no_other_endpoint(tmp_path: Path, other: str, origin: str) -> None:
    keep(tmp_path, origin)
    with pytest.raises(ConfigError, match=r"model\.base_url") as caught:
        client_of(settings(tmp_path, other))
    assert "switchboard login" in caught.value.remedy
    assert "the-token" not in str(caught.value)
    with pytest.raises(ConfigError):
        client_of(settings(tmp_path, MINE), recorded=other)
    found = _model(settings(tmp_path, other))
    assert not found.ok and "is not sent to" in found.detail


def test_a_server_of_this_machine_is_asked_without_the_token(tmp_path: Path) -> None:
    keep(tmp_path, origin_of(MINE))
    local = settings(tmp_path, "http://127.0.0.1:8000/v1")
    assert client_of(local)._api_key == ""


async def test_an_older_login_counts_for_its_providers_own_endpoint(tmp_path: Path) -> None:
    keep(tmp_path, "", issuer="https://auth.openai.com")
    own = settings(tmp_path, name="gpt-5-mini")
    assert await client_of(own)._api_key() == "the-token"
    for base_url, name in (("", "groq/m"), (MINE, "gpt-5-mini"), ("", "claude-sonnet-5-5")):
        with pytest.raises(ConfigError, match="does not say which endpoint"):
            client_of(settings(tmp_path, base_url, name))


def test_a_login_that_cannot_be_read_is_not_in_the_way_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "login.json").touch(mode=0o600)
    chosen = settings(tmp_path, MINE)
    client: Any = build_client(chosen, "m", environ={"OPENAI_API_KEY": "mine"})
    assert client._api_key == "mine"
    with pytest.raises(ConfigError, match="Sign in again"):
        client_of(chosen)


async def test_a_client_does_not_send_the_token_of_a_login_that_came_after(tmp_path: Path) -> None:
    keep(tmp_path, origin_of(MINE))
    client = client_of(settings(tmp_path, MINE))
    keep(tmp_path, "https://another.example")
    with pytest.raises(ConfigError, match="is not sent to"):
        await client._api_key()


async def test_nobody_signs_in_for_an_endpoint_without_encryption() -> None:
    shown: list[str] = []
    with pytest.raises(ConfigError, match="without encryption"):
        await sign_in(
            Issuer(
                issuer="https://i", authorization_endpoint="https://i", token_endpoint="https://i"
            ),
            client_id="c",
            endpoint="http://models.example.com/v1",
            scope="openid",
            port=0,
            open_browser=shown.append,
        )
    assert not shown


_HOSTS = st.sampled_from(["a.example", "b.example", "a.example.b.example", "[::1]", "127.0.0.1"])
_ADDRESSES = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "https"]),
    _HOSTS,
    st.sampled_from(["", ":80", ":443", ":8443"]),
    st.sampled_from(["", "/", "/v1", "/v1?x=https://a.example"]),
)


@given(_ADDRESSES, _ADDRESSES)
def test_an_endpoint_has_the_token_of_its_own_origin_alone(made: str, asked: str) -> None:
    login = Login(
        issuer="https://i",
        client_id="c",
        token_endpoint="",
        access_token="t",
        origin=origin_of(made),
    )

    def read(address: str) -> tuple[str, str, str]:
        scheme, _, rest = address.partition("://")
        host, colon, port = rest.split("/")[0].rpartition(":")
        if not colon or port.endswith("]"):
            host, port = rest.split("/")[0], {"http": "80", "https": "443"}[scheme]
        return scheme, host, port

    is_private = asked.startswith("https") or read(asked)[1] in {"[::1]", "127.0.0.1"}
    assert login.is_for(asked) == (read(made) == read(asked) and is_private)


@pytest.mark.parametrize(
    ("base_url", "name"),
    [("http://api.openai.com/v1", "gpt-5-mini"), ("http://mine.openai.azure.com", "m")],
)
def test_a_providers_key_is_not_sent_without_encryption(
    tmp_path: Path, base_url: str, name: str
) -> None:
    with pytest.raises(ConfigError, match="without encryption") as caught:
        build_client(settings(tmp_path, base_url), name, environ={"OPENAI_API_KEY": "sk-mine"})
    assert "https://" in caught.value.remedy
    assert "sk-mine" not in str(caught.value)
