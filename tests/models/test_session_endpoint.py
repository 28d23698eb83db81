"""Where the model of a session is asked, and which key goes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config import Settings, load_settings
from agent.errors import ConfigError, UsageError
from agent.models.choice import build_client, build_model
from agent.models.keys import keep_in_file
from agent.models.model import Model
from agent.models.pilot import Pilot
from agent.models.session_endpoint import check_asked_there, is_asked_there, recorded_address
from agent.models.verifier_choice import verifying_for
from agent.records import Session

HERE = "https://here.example/v1"
THERE = "https://there.example/v1"
LOCAL = "http://127.0.0.1:8000/v1"
BASE_URLS = (
    "",
    HERE,
    LOCAL,
    "https://user:pass@Proxy.example:8443/v1/?token=secret#part",
    "https://api.anthropic.com",
    "https://api.openai.com/v1/responses",
    "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=1",
)
NAMES = ("gpt-5-mini", "claude-sonnet-5-5", "groq/llama", "ollama/qwen3:8b", "gpt-5-codex", "m")


def settings(where: Path | str = "/nowhere", **model: object) -> Settings:
    overrides = {f"model.{name}": value for name, value in model.items()}
    return load_settings(
        overrides={"model.keyring": False, **overrides},
        environ={"SWITCHBOARD_DATA_DIR": str(where)},
    )


def asked(model: Model) -> Any:
    return model


@given(st.sampled_from(BASE_URLS), st.sampled_from(NAMES), st.sampled_from(["auto", "responses"]))
def test_a_session_is_asked_at_the_endpoint_that_it_was_begun_with(
    base_url: str, name: str, wire: str
) -> None:
    begun = settings(base_url=base_url, wire=wire)
    recorded = recorded_address(begun, name)
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GROQ_API_KEY": "k"}
    keys["AZURE_OPENAI_API_KEY"] = "k"
    assert is_asked_there(recorded, begun, name)
    there = asked(build_client(begun, name, environ=keys))._endpoint
    same = asked(build_client(begun, name, recorded=recorded, environ=keys))._endpoint
    assert same == there
    assert not any(secret in recorded for secret in ("user", "pass", "secret", "part", "?", "@"))


@given(st.sampled_from(BASE_URLS), st.sampled_from(NAMES))
def test_another_processes_settings_lead_no_session_elsewhere(base_url: str, name: str) -> None:
    recorded = recorded_address(settings(base_url=base_url), name)
    other = settings(base_url="http://127.0.0.1:9/elsewhere")
    keys = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "k", "GROQ_API_KEY": "k"}
    keys |= {"AZURE_OPENAI_API_KEY": "k"}
    try:
        client = asked(build_client(other, name, recorded=recorded, environ=keys))
    except ConfigError as error:
        # OpenAI's needs a key, and there is none.
        assert "openai" in recorded
        assert "http://127.0.0.1:9/elsewhere" in str(error)
        return
    host = client._endpoint.host
    assert f"//{host}" in recorded


def test_the_key_that_the_settings_name_goes_to_no_other_endpoint() -> None:
    with pytest.raises(ConfigError) as caught:
        build_model(
            settings(base_url=HERE, api_key_env="MINE"),
            "m",
            recorded=THERE,
            environ={"MINE": "key-of-here"},
        )
    said = str(caught.value)
    assert HERE in said and THERE in said
    assert f"--base-url {THERE}" in said and "keys.toml" in said
    assert "key-of-here" not in said


def test_a_key_that_is_kept_for_the_host_goes_there(tmp_path: Path) -> None:
    keep_in_file(tmp_path / "keys.toml", "there.example", "key-of-there")
    model = asked(
        build_model(
            settings(tmp_path, base_url=HERE),
            "m",
            recorded=THERE,
            environ={"OPENAI_API_KEY": "key-of-here"},
        )
    )
    assert model._endpoint.base_url == THERE
    assert model._api_key == "key-of-there"
    assert THERE in model.notice


def test_a_server_of_this_machine_is_asked_without_a_key() -> None:
    model = asked(
        build_model(
            settings(base_url=HERE), "m", recorded=LOCAL, environ={"OPENAI_API_KEY": "key-of-here"}
        )
    )
    assert model._endpoint.base_url == LOCAL
    assert model._api_key == ""


def test_an_address_of_one_computer_is_not_asked_from_another_of_the_fleet() -> None:
    fleet = load_settings(
        overrides={"store.dsn": "postgresql://db/s", "model.base_url": HERE},
        environ={"SWITCHBOARD_DATA_DIR": "/nowhere"},
    )
    with pytest.raises(ConfigError, match="one computer"):
        build_model(fleet, "m", recorded=LOCAL, environ={})


def test_the_pilot_and_a_program_have_no_endpoint() -> None:
    assert recorded_address(settings(base_url=HERE), "pilot") == ""
    assert recorded_address(settings(base_url=HERE), "direct:codex") == ""


def test_a_client_may_expect_an_endpoint_and_choose_none() -> None:
    core = settings(base_url=HERE)
    check_asked_there("", core, "m")
    check_asked_there(f"{HERE}/", core, "m")
    check_asked_there(THERE, core, "m", recorded=THERE)
    with pytest.raises(UsageError) as caught:
        check_asked_there("https://user:word@there.example/v1", core, "m")
    assert HERE in str(caught.value) and THERE in str(caught.value)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize("name", ["m", "pilot"])
@pytest.mark.parametrize("address", ["http://[", "http://user:word@a\u2100b/v1"])
def test_what_a_client_names_that_is_no_address_is_refused(name: str, address: str) -> None:
    with pytest.raises(UsageError, match="endpoint is not an address") as caught:
        check_asked_there(address, settings(base_url=HERE), name)
    assert "word" not in str(caught.value)


def test_the_verifier_is_asked_where_the_session_is() -> None:
    session = Session(session_id="s", goal="g", created_ms=1, model="m", endpoint=LOCAL)
    core = settings(base_url=HERE, verifier="judge")
    found = verifying_for(Pilot(), core, session)
    assert asked(found.model)._endpoint.base_url == LOCAL


def test_an_address_that_is_none_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"model\.base_url"):
        recorded_address(settings(base_url="http://[::1/v1"), "m")
