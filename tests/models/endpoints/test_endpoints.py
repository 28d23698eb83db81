"""Addresses, names, prices and keys: what is asked, where, with which key, and what it costs."""

from pathlib import Path
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.models.catalog import load_prices, price_of
from agent.models.choice import build_client, build_model
from agent.models.endpoint import Endpoint, Provider, endpoint_for
from agent.models.keys import Source, find_key, keep_in_file, read_key_file
from agent.models.prices import Price, cost_usd
from agent.models.wires.strict import strict
from agent.records import Usage
from agent.settings import ModelSettings, Settings, Wire
from agent.tools.arguments import ClickElement, Wait, decode
from agent.tools.registry import schemas


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1"),
        ("https://x.openai.azure.com/", "https://x.openai.azure.com/openai/v1"),
        (
            "https://x.services.ai.azure.com/models/chat/completions?api-version=2024-05-01",
            "https://x.services.ai.azure.com/openai/v1",
        ),
        (
            "https://x.services.ai.azure.com/api/projects/p",
            "https://x.services.ai.azure.com/openai/v1",
        ),
        (
            "https://x.cognitiveservices.azure.com/openai/v1/",
            "https://x.cognitiveservices.azure.com/openai/v1",
        ),
    ],
)
def test_whatever_page_of_azure_was_copied_leads_to_its_openai_surface(
    url: str, expected: str
) -> None:
    endpoint = endpoint_for(url, "gpt-5")
    assert (endpoint.base_url, endpoint.provider) == (expected, Provider.AZURE)


def test_an_older_azure_address_names_the_model() -> None:
    url = "https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=1"
    assert endpoint_for(url, "gpt-5").deployment == "mine"


def test_an_unknown_address_stays_and_loses_only_the_method() -> None:
    endpoint = endpoint_for("http://127.0.0.1:8000/v1/chat/completions", "qwen3")
    assert (endpoint.base_url, endpoint.provider) == (
        "http://127.0.0.1:8000/v1",
        Provider.COMPATIBLE,
    )
    assert not endpoint.strict


def test_the_wire_is_chosen_by_the_model_unless_it_is_set() -> None:
    assert endpoint_for("", "gpt-5-codex").wire is Wire.RESPONSES
    assert endpoint_for("", "gpt-5-mini").wire is Wire.CHAT
    assert endpoint_for("", "gpt-5-codex", "chat").wire is Wire.CHAT
    assert endpoint_for("http://h/v1/responses", "m").wire is Wire.RESPONSES


def test_a_claude_without_an_address_is_asked_at_anthropic() -> None:
    assert endpoint_for("", "claude-sonnet-4-5").provider is Provider.ANTHROPIC


# --- prices ----------


def test_cached_tokens_cost_their_own_price() -> None:
    usage = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=100_000)
    price = Price(input=1.0, cached_input=0.1, output=10.0)
    assert cost_usd(usage, price) == pytest.approx(0.6 + 0.04 + 1.0)
    assert cost_usd(usage, Price(input=1.0, output=10.0)) == pytest.approx(2.0)


def test_a_dated_name_has_the_price_of_its_model_and_another_model_has_none() -> None:
    prices = load_prices()
    assert price_of("gpt-5-mini-2025-08-07", prices) == prices["gpt-5-mini"]
    assert price_of("gpt-5-miniature", prices) == prices["gpt-5"]
    assert price_of("llama-3", prices) is None


def test_the_operators_prices_come_first_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["gpt-5-mini"]\ninput = 9\noutput = 9\n')
    assert load_prices(own)["gpt-5-mini"].input == 9
    assert load_prices(own)["gpt-5"].input > 0
    for text in ('["m"]\ninput = "x"\n', '["m"]\ninput = -1\noutput = 1\n', "[["):
        own.write_text(text)
        with pytest.raises(ConfigError, match=r"prices\.toml"):
            load_prices(own)


# --- keys ----------

OPENAI = Endpoint(base_url="https://api.openai.com/v1", provider=Provider.OPENAI)
ANTHROPIC = Endpoint(base_url="https://api.anthropic.com/v1", provider=Provider.ANTHROPIC)


def find(endpoint: Endpoint, file: Path, **environ: str) -> Any:
    return find_key(
        endpoint, variable="OPENAI_API_KEY", file=file, use_keyring=False, environ=environ
    )


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keep_in_file(file, "api.openai.com", "from-file")
    assert find(OPENAI, file, OPENAI_API_KEY="from-env").value == "from-env"
    found = find(OPENAI, file)
    assert (found.value, found.source) == ("from-file", Source.FILE)
    assert find(ANTHROPIC, file).source is Source.NONE


def test_one_providers_key_is_not_sent_to_another(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    assert find(ANTHROPIC, file, OPENAI_API_KEY="sk-openai").source is Source.NONE
    assert find(ANTHROPIC, file, ANTHROPIC_API_KEY="sk-ant").value == "sk-ant"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666])
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "keys.toml"
    keep_in_file(file, "api.openai.com", "very-secret")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(mode)
    with pytest.raises(ConfigError, match="can be read by others") as caught:
        find(OPENAI, file)
    assert "chmod 600" in caught.value.remedy
    assert "very-secret" not in str(caught.value)


def test_a_kept_key_is_taken_out_again(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keep_in_file(file, "a.example", 'quoted "key" \\')
    keep_in_file(file, "b.example", "other")
    assert read_key_file(file) == {"a.example": 'quoted "key" \\', "b.example": "other"}
    keep_in_file(file, "a.example", "")
    assert read_key_file(file) == {"b.example": "other"}


def test_a_key_that_would_end_its_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find(OPENAI, tmp_path / "none", OPENAI_API_KEY="good\r\nX-Evil: 1")
    assert "Evil" not in str(caught.value)


def test_a_key_does_not_show_itself(tmp_path: Path) -> None:
    found = find(OPENAI, tmp_path / "none", OPENAI_API_KEY="sk-shown")
    assert "sk-shown" not in repr(found)


def test_the_key_is_kept_in_the_keyring_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    from agent.models.keys import keep_in_keyring

    # Asked before there is a Drawer: a first look for a keyring chooses among all classes.
    before = keyring.get_keyring()

    class Drawer(KeyringBackend):
        priority = 1
        kept: dict[tuple[str, str], str] = {}  # noqa: RUF012

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    keyring.set_keyring(Drawer())
    try:
        keep_in_keyring("api.openai.com", "from-the-ring")
        found = find_key(OPENAI, variable="", file=tmp_path / "none", use_keyring=True, environ={})
        assert (found.value, found.source) == ("from-the-ring", Source.KEYRING)
    finally:
        keyring.set_keyring(before)


# --- the choice ----------


def settings(tmp_path: Path, **model: object) -> Settings:
    return Settings(
        data_dir=tmp_path,
        config_file=tmp_path / "config.toml",
        model=ModelSettings(keyring=False, **model),  # type: ignore[arg-type]
    )


def test_without_any_key_the_remedy_names_the_ways(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        build_model(settings(tmp_path, name="gpt-5-mini"), environ={})
    assert "OPENAI_API_KEY" in caught.value.remedy
    assert "pilot" in caught.value.remedy


def test_an_inherited_base_url_is_said(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    made = build_client(
        settings(tmp_path, name="m", base_url=url), "m", environ={"OPENAI_BASE_URL": url}
    )
    assert "OPENAI_BASE_URL" in made.notice
    own = build_client(settings(tmp_path, name="m", base_url=url), "m", environ={})
    assert own.notice == ""


# --- strict schemas ----------


def test_strict_schemas_close_every_object_and_require_every_property() -> None:
    def check(node: object) -> None:
        if isinstance(node, list):
            for item in node:
                check(item)
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert set(node["required"]) == set(node["properties"])
            assert "default" not in node
            for value in node.values():
                check(value)

    for tool in schemas():
        check(strict(tool.parameters))


def test_what_a_strict_endpoint_leaves_out_as_null_is_read() -> None:
    assert decode(ClickElement, '{"element": 3, "expected": null}').expected == ""
    assert decode(Wait, '{"seconds": null}').seconds == 2.0
