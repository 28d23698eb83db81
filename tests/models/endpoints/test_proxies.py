"""A proxy that the environment names: not on the way to this machine, and never a riddle."""

from pathlib import Path

import pytest

from agent.errors import ModelError
from agent.models.model import Message, MessageKind, ModelRequest, Role
from agent.models.openai import OpenAIModel
from agent.models.wires.failures import Failures
from agent.models.wires.transport import authorities, guarded
from tests.openai_server import Reply, openai_server

ASKED = ModelRequest(
    messages=(Message(role=Role.USER, kind=MessageKind.GOAL, text="well?"),), tools=()
)
# Discard's port on this machine: whoever took the proxy's way would get no answer.
DEAD_PROXY = "http://127.0.0.1:9"


@pytest.mark.parametrize("proxy", [DEAD_PROXY, "socks5://127.0.0.1:9", "ftp://127.0.0.1:9"])
async def test_no_proxy_stands_between_here_and_an_endpoint_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    async with openai_server([Reply(text="yes")]) as server:
        model = OpenAIModel("m", base_url=server.base_url, api_key="k")
        assert (await model.complete(ASKED)).text == "yes"
        await model.close()


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "ftp://127.0.0.1:9"])
async def test_a_proxy_that_cannot_be_used_is_named_and_asked_no_second_time(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    model = OpenAIModel("m", base_url="https://models.example/v1", api_key="k")
    with pytest.raises(ModelError, match="the proxy set in the environment") as caught:
        await model.complete(ASKED)
    assert not caught.value.retryable
    with pytest.raises(ModelError, match="the proxy set in the environment"):
        await model.known_models()


@pytest.mark.parametrize(
    ("host", "is_here"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("localhost", True),
        ("models.localhost.", True),
        ("localhost.example", False),
        ("10.0.0.1", False),
        ("models.example", False),
    ],
)
async def test_what_is_this_machine_goes_by_the_address(
    monkeypatch: pytest.MonkeyPatch, host: str, is_here: bool
) -> None:
    monkeypatch.setenv("all_proxy", DEAD_PROXY)
    url = f"https://{host}/v1"
    client = guarded(url, Failures("m", url, 1.0))
    assert client.trust_env is not is_here
    await client.aclose()


def test_authorities_are_read_once_and_again_where_the_environment_names_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    shared = authorities()
    assert authorities() is shared
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    assert authorities() is not shared
