"""Choose the model of a session: the offline pilot, or a client of an endpoint.

Not a client. Invariant: nothing is imported and no key is read until a session needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.models.catalog import (
    PRICE_FILE,
    catalog,
    load_prices,
    own_prices,
    price_of,
)
from agent.models.endpoint import Endpoint, endpoint_for
from agent.models.keys import Key, Source, find_key, variables
from agent.models.login import FILE_NAME as LOGIN_FILE
from agent.models.login import TokenFile
from agent.models.model import ImageDetail, Model
from agent.models.prices import Price
from agent.models.wires import Client, client_class
from agent.records import ReasoningEffort, Session

if TYPE_CHECKING:
    from agent.config import Settings

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
        effort: how long it may reason; None: as it does by default.
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
) -> Client:
    """Make the client of an endpoint's model. Raises ConfigError, as `build_model` does."""
    env = os.environ if environ is None else environ
    current, notice = catalog().current(wanted)
    endpoint = endpoint_of(settings, current)
    asked = endpoint.model
    login = TokenFile(login_file(settings))
    key = key_of(settings, endpoint, environ=env)
    is_signed_in = key.source is Source.NONE and login.read() is not None
    wants_key = not settings.model.base_url and not endpoint.is_local
    if key.source is Source.NONE and not is_signed_in and wants_key:
        variable = variables(endpoint, settings.model.api_key_env)[0]
        raise ConfigError(
            f"The model {asked} needs a key, and the environment variable {variable} is empty.",
            f"Set {variable}, keep a key with `switchboard models setup`, name another endpoint by "
            f"model.base_url, or use the model {PILOT}.",
        )
    if env.get("OPENAI_BASE_URL") and env["OPENAI_BASE_URL"] == settings.model.base_url:
        inherited = f"Model calls go to {endpoint.base_url}, because OPENAI_BASE_URL says so."
        notice = f"{notice} {inherited}".strip()
    facts = endpoint.facts
    return client_class(endpoint.wire)(
        asked,
        api_key=login.token if is_signed_in else key.value,
        timeout_s=settings.model.timeout_s,
        vision=settings.model.vision and facts.vision is not False,
        endpoint=endpoint,
        price=price_at(endpoint, own_prices(price_file(settings))),
        notice=notice,
        max_output_tokens=settings.model.max_output_tokens,
        effort=effort or "",
        image_detail=ImageDetail(settings.model.image_detail),
    )


def endpoint_of(settings: Settings, name: str) -> Endpoint:
    """Return which endpoint a model is asked at."""
    return endpoint_for(settings.model.base_url, name, settings.model.wire)


def price_at(endpoint: Endpoint, own: Mapping[str, Price]) -> Price | None:
    """Return what an endpoint's model costs: the operator's own price, then its provider's.

    Args:
        own: the operator's own prices, by model or by `provider/model`.
    """
    row = endpoint.row
    named = f"{row.name}/{endpoint.model}" if row else endpoint.model
    mine = price_of(named, own) or price_of(endpoint.model, own)
    if mine is not None:
        return mine
    if row is not None:
        return row.facts(endpoint.model).price
    return None if endpoint.is_local else price_of(endpoint.model, load_prices())


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
    """Return where keys are kept: beside the settings file."""
    return settings.config_file.parent / KEY_FILE


def price_file(settings: Settings) -> Path:
    """Return where the operator's own prices are: beside the settings file."""
    return settings.config_file.parent / PRICE_FILE


def login_file(settings: Settings) -> Path:
    """Return where a login is kept: in the data directory."""
    return settings.data_dir / LOGIN_FILE
