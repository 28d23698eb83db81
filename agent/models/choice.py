"""Choose the model of a session: the offline pilot, or a client of an endpoint.

Not a client. Invariant: nothing is imported and no key is read until a session needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.models.catalog import PRICE_FILE, catalog, load_prices, own_prices, price_of
from agent.models.clients import Client, client_class
from agent.models.endpoint import Endpoint
from agent.models.keys import Key, Source, find_key, variables
from agent.models.login import FILE_NAME as LOGIN_FILE
from agent.models.login import Login, TokenFile
from agent.models.login_origin import not_made_for
from agent.models.model import ImageDetail, Model
from agent.models.prices import Price
from agent.models.session_endpoint import (
    bare,
    endpoint_at,
    endpoint_of,
    is_asked_there,
    recorded_address,
)
from agent.models.traits.notes import FILE_NAME as NOTES_FILE
from agent.models.traits.notes import EndpointNotes
from agent.records import ReasoningEffort, Session

if TYPE_CHECKING:
    from agent.config import Settings

PILOT = "pilot"
KEY_FILE = "keys.toml"


def model_for(session: Session, settings: Settings) -> Model:
    """Make the model of a session for one turn, at the endpoint that it was begun with.

    Raises:
        ConfigError: see `build_model`.
    """
    return build_model(
        settings, session.model, effort=session.reasoning_effort, recorded=session.endpoint
    )


def build_model(
    settings: Settings,
    name: str = "",
    *,
    effort: ReasoningEffort | None = None,
    recorded: str = "",
    environ: Mapping[str, str] | None = None,
) -> Model:
    """Make a model.

    Args:
        name: `pilot`, or a name that the endpoint knows; empty for the setting's.
        effort: how long it may reason; None: as it does by default.
        recorded: the address in the record of the session; empty: as the settings say.
        environ: where the key is looked up; the process's own environment when left out.

    Raises:
        ConfigError: the endpoint needs a key and has none, or the login is for another one; the
            recorded endpoint differs from that of the settings and must not be asked from here; or
            a key file or price table cannot be used.
    """
    wanted = name or settings.model.name or PILOT
    if wanted == PILOT:
        from agent.models.pilot import Pilot

        return Pilot()
    return build_client(settings, wanted, effort=effort, recorded=recorded, environ=environ)


def build_client(
    settings: Settings,
    wanted: str,
    *,
    effort: ReasoningEffort | None = None,
    recorded: str = "",
    environ: Mapping[str, str] | None = None,
) -> Client:
    """Make the client of an endpoint's model. Raises ConfigError, as `build_model` does."""
    env = os.environ if environ is None else environ
    current, notice = catalog().current(wanted)
    file = TokenFile(login_file(settings))
    is_elsewhere = bool(recorded) and not is_asked_there(recorded, settings, current)
    if is_elsewhere:
        endpoint = endpoint_at(recorded, current)
        # The variable that the settings name is for the endpoint of the settings.
        key = _key_of(settings, endpoint, "", env)
    else:
        endpoint = endpoint_of(settings, current)
        key = key_of(settings, endpoint, environ=env)
    # Who has a key needs no login, and one that cannot be read is not in the way.
    login = file.read() if key.source is Source.NONE else None
    is_unknown = key.source is Source.NONE and not endpoint.is_local
    said = ""
    if is_elsewhere:
        _check_elsewhere(settings, endpoint, recorded, env, key=key, login=login)
        said = f"Model calls go to {bare(endpoint.base_url)}, where this session started."
    elif is_unknown and login and not (login.is_for(endpoint.base_url) or endpoint.is_near):
        raise not_made_for(login.origin, login.issuer, endpoint.base_url)
    elif is_unknown and login is None and not settings.model.base_url:
        variable = variables(endpoint, settings.model.api_key_env)[0]
        raise ConfigError(
            f"The model {endpoint.model} needs a key, and the environment variable {variable} "
            "is empty.",
            f"Set {variable}, keep a key with `switchboard models setup`, name another "
            f"endpoint by model.base_url, or use the model {PILOT}.",
        )
    elif env.get("OPENAI_BASE_URL") and env["OPENAI_BASE_URL"] == settings.model.base_url:
        said = f"Model calls go to {bare(endpoint.base_url)}, because OPENAI_BASE_URL says so."
    notice = f"{notice} {said}".strip()
    facts = endpoint.facts
    signs_in = login is not None and login.is_for(endpoint.base_url)
    return client_class(endpoint.wire)(
        endpoint.model,
        api_key=partial(file.token, endpoint.base_url) if signs_in else key.value,
        timeout_s=settings.model.timeout_s,
        vision=settings.model.vision and facts.vision is not False,
        endpoint=endpoint,
        price=price_at(endpoint, own_prices(price_file(settings))),
        notice=notice,
        max_output_tokens=settings.model.max_output_tokens,
        effort=effort or "",
        image_detail=ImageDetail(settings.model.image_detail),
        constrained_calls=settings.model.constrained_calls,
        notes=notes_of(settings).at(bare(endpoint.base_url), endpoint.model),
    )


def _check_elsewhere(
    settings: Settings,
    endpoint: Endpoint,
    recorded: str,
    env: Mapping[str, str],
    *,
    key: Key,
    login: Login | None,
) -> None:
    """Refuse an endpoint that the settings do not name, if it is not to be asked from here.

    Args:
        key: one that is bound to its origin, if there is one.
        login: where there is no key; it is for the endpoint that it was made for.

    Raises:
        ConfigError: it is another computer's, or would be asked without a key it may need.
    """
    session_at = f"This session was started at {bare(recorded)}"
    here = recorded_address(settings, endpoint.model)
    again = f"resume it with --base-url {bare(recorded)}"
    if endpoint.is_local and settings.store.dsn:
        raise ConfigError(
            f"{session_at}, an address of one computer of the fleet; the settings here have "
            f"{here}.",
            f"On the computer that it means, {again}.",
        )
    if login is not None and login.is_for(endpoint.base_url):
        return
    withheld = bool(env.get(settings.model.api_key_env)) or login is not None
    if key.source is Source.NONE and not endpoint.is_near and (endpoint.key_variable or withheld):
        raise ConfigError(
            f"{session_at}, and the settings here have {here}, whose key is not sent elsewhere; "
            f"there is no key for {endpoint.key_name}.",
            f"Keep one in {KEY_FILE} beside the settings file, or {again}.",
        )


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
    return _key_of(settings, endpoint, settings.model.api_key_env, environ)


def _key_of(
    settings: Settings, endpoint: Endpoint, variable: str, environ: Mapping[str, str] | None
) -> Key:
    return find_key(
        endpoint,
        variable=variable,
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


def notes_of(settings: Settings) -> EndpointNotes:
    """Return what calls have taught about endpoints: it is kept in the data directory."""
    return EndpointNotes(settings.data_dir / NOTES_FILE)


def login_file(settings: Settings) -> Path:
    """Return where a login is kept: in the data directory."""
    return settings.data_dir / LOGIN_FILE
