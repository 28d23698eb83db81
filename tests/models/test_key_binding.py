"""A key goes to the scheme, host and port that it is for, and an error says what to do."""

from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings, load_settings
from agent.errors import ConfigError
from agent.models.choice import build_client
from agent.models.endpoint import endpoint_for
from agent.models.keys import keep_in_file
from agent.models.login_origin import origin_of
from agent.models.loopback import is_near
from console.commands.checks import _model
from tests.models.login.test_login_origin import MINE, keep

AZURE = "https://mine.openai.azure.com"
LAN = "http://192.168.1.5:8000/v1"


def settings(where: Path, base_url: str, name: str = "m") -> Settings:
    said = {"model.keyring": False, "model.base_url": base_url, "model.name": name}
    return load_settings(overrides=said, environ={"SWITCHBOARD_DATA_DIR": str(where)})


def key_sent(where: Path, base_url: str, *, recorded: str = "", **environ: str) -> Any:
    chosen = settings(where, base_url)
    client: Any = build_client(chosen, "m", recorded=recorded, environ=environ)
    return client._api_key


def test_azures_key_goes_to_the_resource_that_its_own_variable_names(tmp_path: Path) -> None:
    keys = {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": f"{AZURE}/"}
    assert key_sent(tmp_path, AZURE, **keys) == "k"
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT") as caught:
        key_sent(tmp_path, "https://other.openai.azure.com", **keys)
    assert AZURE in caught.value.message and "https://other.openai" in caught.value.message
    assert "switchboard login --key" in caught.value.remedy
    # A key of its own is kept for it.
    keep_in_file(tmp_path / "keys.toml", "other.openai.azure.com", "own")
    assert key_sent(tmp_path, "https://other.openai.azure.com", **keys) == "own"


def test_azures_key_goes_to_no_resource_that_only_a_record_names(tmp_path: Path) -> None:
    assert key_sent(tmp_path, AZURE, AZURE_OPENAI_API_KEY="k") == "k"
    with pytest.raises(ConfigError, match="not sent elsewhere"):
        key_sent(tmp_path, MINE, recorded="https://x.openai.azure.com", AZURE_OPENAI_API_KEY="k")
    keys = {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}
    assert key_sent(tmp_path, MINE, recorded="https://x.openai.azure.com", **keys) == "k"


def test_a_providers_key_goes_to_no_other_port_of_its_host(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"https://api\.groq\.com:8443") as caught:
        key_sent(tmp_path, "https://api.groq.com:8443/v1", GROQ_API_KEY="k")
    assert "is for https://api.groq.com," in caught.value.message
    assert key_sent(tmp_path, "https://api.groq.com/openai/v1", GROQ_API_KEY="k") == "k"


@pytest.mark.parametrize(
    ("name", "base_url", "found"),
    [
        ("models.example", "https://models.example/v1", True),
        ("models.example", "https://models.example:443/v1", True),
        ("https://models.example:8443", "https://models.example:8443/v1", True),
        ("http://models.example:8000/v1", "http://models.example:8000/v1", True),
        ("https://models.example:8443", "https://models.example/v1", False),
        ("http://models.example:8000", "http://models.example:8001/v1", False),
        ("http://models.example:8000", "https://models.example:8000/v1", False),
        ("::1", "https://[::1]/v1", True),
    ],
)
def test_a_kept_key_is_for_one_origin(
    tmp_path: Path, name: str, base_url: str, found: bool
) -> None:
    keep_in_file(tmp_path / "keys.toml", name, "kept")
    assert key_sent(tmp_path, base_url) == ("kept" if found else "")


@pytest.mark.parametrize("base_url", [LAN, "https://192.168.1.5:8443/v1", "http://192.168.1.5/v1"])
def test_a_key_that_was_kept_by_host_alone_is_not_sent_by_guess(
    tmp_path: Path, base_url: str
) -> None:
    file = tmp_path / "keys.toml"
    keep_in_file(file, "192.168.1.5", "the-key")
    with pytest.raises(ConfigError, match=r"is for https://192\.168\.1\.5,") as caught:
        key_sent(tmp_path, base_url)
    origin = origin_of(base_url)
    assert f'"{origin}" = ""' in caught.value.remedy and "the-key" not in str(caught.value)
    # The remedy is one.
    file.write_text(f'"192.168.1.5" = "the-key"\n"{origin}" = ""\n')
    assert key_sent(tmp_path, base_url) == ""
    keep_in_file(file, endpoint_for(base_url, "m").key_name, "own")
    assert key_sent(tmp_path, base_url) == "own"
    assert key_sent(tmp_path, "https://192.168.1.5/v1") == "the-key"


@pytest.mark.parametrize(
    "base_url", [LAN, "http://gpu:8000/v1", "http://box.local/v1", "http://[fd00::2]:8000/v1"]
)
def test_a_server_of_the_network_needs_no_key_while_a_login_is_for_another(
    tmp_path: Path, base_url: str
) -> None:
    keep(tmp_path, origin_of(MINE))
    assert key_sent(tmp_path, base_url) == ""
    assert key_sent(tmp_path, MINE, recorded=base_url) == ""
    assert _model(settings(tmp_path, base_url)).ok


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost:1", True),
        ("http://10.0.0.3", True),
        ("http://169.254.1.1", True),
        ("http://nas.home.arpa", True),
        ("http://8.8.8.8", False),
        ("https://api.example.com", False),
        ("https://lan.example", False),
        ("", False),
    ],
)
def test_what_is_near_is_this_machine_or_its_network(address: str, near: bool) -> None:
    assert is_near(address) is near
