"""Choose the model of a session: the offline pilot, or an endpoint that speaks OpenAI's protocol.

Not a client. Invariant: nothing is imported and no key is read until a session needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.models.endpoint import Endpoint, endpoint_for
from agent.models.keys import Key, Source, find_key
from agent.models.login import FILE_NAME as LOGIN_FILE
from agent.models.login import TokenFile
from agent.models.model import Model
from agent.models.names import current_name
from agent.models.prices import FILE_NAME as PRICE_FILE
from agent.models.prices import load_prices, price_of
from agent.records import ReasoningEffort, Session

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.models.openai import OpenAIModel

PILOT = "pilot"
KEY_FILE = "keys.toml"


def model_for(session: Session, settings: Settings) -> Model:
    """Make the model of a session for one turn: its own choice, else the setting's."""
    return build_model(settings, session.model, effort=session.reasoning_effort)


def build_model(
    settings: Settings,
    name: str = "",
    *,
    effort: ReasoningEffort | None = None,
    environ: Mapping[str, str] | None = None,
) -> Model:
    """Make a model.

    Args:
        name: `pilot`, or a name that the endpoint knows; empty for the setting's.
        effort: how long it may reason; None: as it does of itself.
        environ: where the key is looked up; the process's own environment when left out.

    Raises:
        ConfigError: the endpoint needs a key and there is none; or a key file or price table cannot
            be used.
    """
    wanted = name or settings.model.name or PILOT
    if wanted == PILOT:
        from agent.models.pilot import Pilot

        return Pilot()
    return build_client(settings, wanted, effort=effort, environ=environ)


def build_client(
    settings: Settings,
    wanted: str,
    *,
    effort: ReasoningEffort | None = None,
    environ: Mapping[str, str] | None = None,
) -> OpenAIModel:
    """Make the client of an endpoint's model. Raises ConfigError, as `build_model` does."""
    from agent.models.openai import OpenAIModel

    env = os.environ if environ is None else environ
    asked, notice = current_name(wanted)
    endpoint = endpoint_of(settings, asked)
    asked = endpoint.deployment or asked
    login = TokenFile(login_file(settings))
    key = key_of(settings, endpoint, environ=env)
    is_signed_in = key.source is Source.NONE and login.read() is not None
    if key.source is Source.NONE and not is_signed_in and not settings.model.base_url:
        raise ConfigError(
            f"The model {asked} needs a key, and the environment variable "
            f"{settings.model.api_key_env} is empty.",
            f"Set {settings.model.api_key_env}, keep a key with `switchboard login --key`, name "
            f"another endpoint by model.base_url, or use the model {PILOT}.",
        )
    if env.get("OPENAI_BASE_URL") and env["OPENAI_BASE_URL"] == settings.model.base_url:
        inherited = f"Model calls go to {endpoint.base_url}, because OPENAI_BASE_URL says so."
        notice = f"{notice} {inherited}".strip()
    return OpenAIModel(
        asked,
        api_key=login.token if is_signed_in else key.value,
        timeout_s=settings.model.timeout_s,
        vision=settings.model.vision,
        endpoint=endpoint,
        price=price_of(asked, load_prices(price_file(settings))),
        notice=notice,
        max_output_tokens=settings.model.max_output_tokens,
        effort=effort or "",
    )


def endpoint_of(settings: Settings, name: str) -> Endpoint:
    """Say which endpoint a model is asked at."""
    return endpoint_for(settings.model.base_url, name, settings.model.wire)


def key_of(
    settings: Settings, endpoint: Endpoint, *, environ: Mapping[str, str] | None = None
) -> Key:
    """Find the key for an endpoint. Raises ConfigError."""
    return find_key(
        endpoint,
        variable=settings.model.api_key_env,
        file=key_file(settings),
        use_keyring=settings.model.keyring,
        environ=environ,
    )


def key_file(settings: Settings) -> Path:
    """Say where keys are kept: beside the settings file."""
    return settings.config_file.parent / KEY_FILE


def price_file(settings: Settings) -> Path:
    """Say where the operator's own prices are: beside the settings file."""
    return settings.config_file.parent / PRICE_FILE


def login_file(settings: Settings) -> Path:
    """Say where a login is kept: in the data directory."""
    return settings.data_dir / LOGIN_FILE
