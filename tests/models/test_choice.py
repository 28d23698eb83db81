"""Which model a session gets."""

import pytest

from agent.config import Settings, load_settings
from agent.errors import ConfigError
from agent.models.choice import build_model
from agent.models.openai import OpenAIModel
from agent.models.pilot import Pilot


def settings(**model: object) -> Settings:
    overrides = {f"model.{name}": value for name, value in model.items()}
    return load_settings(overrides=overrides, environ={"SWITCHBOARD_DATA_DIR": "/nowhere"})


def test_without_endpoint_and_key_it_is_the_pilot() -> None:
    assert isinstance(build_model(settings(), environ={}), Pilot)


def test_a_session_may_choose_its_own_model() -> None:
    local = settings(base_url="http://127.0.0.1:9/v1")
    model = build_model(local, "some-model", environ={})
    assert isinstance(model, OpenAIModel)
    assert model.name == "some-model"
    assert isinstance(build_model(local, "pilot", environ={}), Pilot)


def test_openai_without_a_key_says_which_variable_to_set() -> None:
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        build_model(settings(api_key_env="MY_KEY"), "gpt-5-mini", environ={})
    assert "model.base_url" in caught.value.remedy
