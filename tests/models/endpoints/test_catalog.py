"""Providers by name: where a model is asked, with whose key, and what is known of it."""

from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.errors import ConfigError
from agent.models.catalog import catalog, facts_of, load_prices, price_of
from agent.models.choice import build_client, price_at
from agent.models.clients import client_class
from agent.models.endpoint import endpoint_for
from agent.models.keys import Source, find_key, keep_in_file
from agent.models.openai.dialect import Dialect, plainer
from agent.models.windows import UNKNOWN_WINDOW, context_window
from agent.models.wires.call_ids import CallIds
from agent.settings import ModelSettings, Settings, Wire
from tests.models.asking import REQUEST
from tests.openai_server import Reply, openai_server

PRESETS = catalog().presets
NAMED = pytest.mark.parametrize("name", list(PRESETS))


def settings_at(tmp_path: Path, **model: object) -> Settings:
    return Settings(
        config_file=tmp_path / "config.toml",
        data_dir=tmp_path / "data",
        model=ModelSettings(keyring=False, **model),  # type: ignore[arg-type]
    )


def test_the_table_is_dated_and_holds_the_providers_that_people_use() -> None:
    assert date(2026, 11, 1) <= catalog().checked
    assert set(PRESETS) == {
        *("openai", "anthropic", "google", "openrouter", "groq", "mistral", "deepseek", "glm"),
        *("qwen", "kimi", "ollama", "lmstudio", "llamacpp", "vllm"),
    }


@NAMED
def test_every_row_can_be_used(name: str) -> None:
    preset = PRESETS[name]
    parts = urlsplit(preset.base_url)
    assert parts.scheme == ("http" if preset.local else "https")
    assert bool(preset.key) is not preset.local
    assert Wire(preset.wire)
    assert CallIds(preset.call_ids)
    plainer(Dialect(), preset.without)
    for model, facts in preset.models.items():
        assert facts.output <= facts.window or not facts.window, model
        assert facts.price is None or facts.price.lowest >= 0, model
    for gone in preset.retired:
        successor, notice = catalog().current(f"{name}/{gone}", date(2030, 1, 1))
        assert notice
        assert catalog().current(successor, date(2030, 1, 1)) == (successor, "")


@NAMED
def test_a_name_with_its_provider_is_asked_there_with_its_own_key(name: str) -> None:
    preset = PRESETS[name]
    endpoint = endpoint_for("", f"{name}/some/model-1")
    assert (endpoint.base_url, endpoint.model) == (preset.base_url, "some/model-1")
    assert endpoint.wire is Wire(preset.wire)
    assert endpoint.key_variable == preset.key


@NAMED
def test_one_providers_key_is_never_sent_to_another(name: str, tmp_path: Path) -> None:
    keys = {preset.key: f"key-of-{one}" for one, preset in PRESETS.items() if preset.key}
    file = tmp_path / "keys.toml"
    for preset in PRESETS.values():
        if not preset.local:
            keep_in_file(file, preset.host, f"key-of-{preset.name}")
    for endpoint in (endpoint_for("", f"{name}/m"), endpoint_for(PRESETS[name].base_url, "m")):
        for variable in keys:
            for environ in (keys, {v: k for v, k in keys.items() if v != PRESETS[name].key}):
                found = find_key(
                    endpoint, variable=variable, file=file, use_keyring=False, environ=environ
                )
                wanted = "" if PRESETS[name].local else f"key-of-{name}"
                assert found.value == wanted, (variable, found)


def test_a_key_variable_of_the_operators_own_counts_first(tmp_path: Path) -> None:
    found = find_key(
        endpoint_for("", "groq/m"),
        variable="MY_KEY",
        file=tmp_path / "keys.toml",
        use_keyring=False,
        environ={"MY_KEY": "mine", "GROQ_API_KEY": "groq"},
    )
    assert (found.value, found.source) == ("mine", Source.ENVIRONMENT)


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        *(("gpt-5-mini", "openai"), ("claude-opus-5-5", "anthropic"), ("gemini-x", "google")),
        *(("mistral-medium-latest", "mistral"), ("kimi-k3", "kimi"), ("glm-5.3", "glm")),
        *(("deepseek-flash", "deepseek"), ("something-else", "openai")),
    ],
)
def test_a_bare_name_goes_to_the_provider_that_it_begins_like(name: str, provider: str) -> None:
    assert endpoint_for("", name).base_url == PRESETS[provider].base_url


def test_an_address_that_the_operator_set_comes_before_the_name() -> None:
    gateway = endpoint_for("https://gateway.example/v1", "anthropic/claude-opus-5-5")
    assert (gateway.base_url, gateway.model) == (
        "https://gateway.example/v1",
        "anthropic/claude-opus-5-5",
    )
    assert gateway.row is None
    router = endpoint_for("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5.5")
    assert (router.model, router.key_variable) == (
        "anthropic/claude-sonnet-5.5",
        "OPENROUTER_API_KEY",
    )
    moved = endpoint_for("http://127.0.0.1:9999/v1", "ollama/qwen3:8b")
    assert (moved.model, moved.preset, moved.key_variable) == ("qwen3:8b", "ollama", "")
    away = endpoint_for("https://gateway.example/v1", "ollama/qwen3:8b")
    assert away.model == "ollama/qwen3:8b"


async def test_what_a_provider_does_not_take_is_not_sent() -> None:
    async with openai_server(lambda _request: Reply(text="Yes.")) as server:
        known = endpoint_for("", "mistral/mistral-medium-latest")
        endpoint = replace(known, base_url=server.base_url, preset="mistral")
        model = client_class(endpoint.wire)(endpoint.model, endpoint=endpoint, api_key="k")
        await model.complete(REQUEST)
        await model.close()
    (sent,) = server.requests
    assert sent["model"] == "mistral-medium-latest"
    assert not sent.keys() & {"max_completion_tokens", "stream_options"}
    assert "max_tokens" in sent


async def test_a_model_that_takes_no_pictures_is_sent_none(tmp_path: Path) -> None:
    for name, sees in (("groq/openai/gpt-oss-120b", False), ("kimi/kimi-k2.6", True)):
        settings = settings_at(tmp_path, name=name)
        client = build_client(
            settings, name, environ={"GROQ_API_KEY": "k", "MOONSHOT_API_KEY": "k"}
        )
        assert client.sees is sees, name
        await client.close()


def test_a_missing_key_names_the_providers_own_variable(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, name="groq/llama-3.3-70b-versatile")
    with pytest.raises(ConfigError, match="GROQ_API_KEY") as caught:
        build_client(settings, settings.model.name, environ={"OPENAI_API_KEY": "k"})
    assert "models setup" in caught.value.remedy


async def test_a_local_server_needs_no_key(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, name="ollama/qwen3:8b")
    client = build_client(settings, settings.model.name, environ={})
    assert client.name == "qwen3:8b"
    await client.close()


# --- what is known of a model ----------


def test_a_withdrawn_name_moves_on_with_a_notice_and_one_that_ends_later_does_not() -> None:
    table = catalog()
    name, notice = table.current("gpt-4-vision-preview")
    assert name == "gpt-5.6-sol"
    assert "gpt-4-vision-preview" in notice
    assert table.current("anthropic/claude-2.1")[0] == "anthropic/claude-sonnet-5-5"
    assert table.current("gpt-5-mini", date(2026, 12, 10)) == ("gpt-5-mini", "")
    assert table.current("gpt-5-mini", date(2026, 12, 11))[0] == "gpt-6.1-terra"
    ending = table.ending("gpt-5-mini")
    assert ending is not None
    assert ending.on == date(2026, 12, 11)
    assert table.current("some-model") == ("some-model", "")


def test_a_price_is_the_operators_then_the_providers_and_else_not_known(tmp_path: Path) -> None:
    own = load_prices()
    assert price_at(endpoint_for("", "groq/llama-3.3-70b-versatile"), {}) == price_of(
        "groq/llama-3.3-70b-versatile", own
    )
    assert price_at(endpoint_for("", "openrouter/openai/gpt-5"), {}) is None
    assert price_at(endpoint_for("", "ollama/gpt-5"), {}) is None
    assert price_at(endpoint_for("http://127.0.0.1:7777/v1", "gpt-5"), {}) is None
    mine = {"groq/llama-3.3-70b-versatile": own["gpt-5"]}
    assert price_at(endpoint_for("", "groq/llama-3.3-70b-versatile"), mine) == own["gpt-5"]


def test_the_window_is_the_tables_by_any_name_of_the_model() -> None:
    assert context_window("claude-opus-5-5") == 1_000_000
    assert context_window("anthropic/claude-opus-5-5") == 1_000_000
    assert context_window("claude-opus-5-5-20260901") == 1_000_000
    assert context_window("groq/openai/gpt-oss-120b") == 131_072
    assert context_window("llama-3.3-70b-versatile") == 131_072
    assert context_window("gpt-5-mini-2025-08-07") == 400_000
    assert context_window("anything", 4096) == 4096
    assert context_window("a-model-that-nobody-made") == UNKNOWN_WINDOW


@given(name=st.text(max_size=40), base_url=st.text(max_size=40) | st.text("/:[]@h9", max_size=9))
def test_any_name_and_address_can_be_asked_about(name: str, base_url: str) -> None:
    table = catalog()
    table.current(name)
    table.at(base_url)
    facts = facts_of(name, base_url)
    assert facts.window >= 0
    assert context_window(name) > 0
