"""Choose the model of a session: the offline pilot, or an endpoint that speaks OpenAI's protocol.

Not a client. Invariant: nothing is imported and no key is read until a session needs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.errors import ConfigError
from agent.models.model import Model
from agent.records import Session

if TYPE_CHECKING:
    from agent.config import Settings

PILOT = "pilot"


def model_for(session: Session, settings: Settings) -> Model:
    """Make the model of a session for one turn: its own choice, else the setting's."""
    return build_model(settings, session.model)


def build_model(
    settings: Settings, name: str = "", *, environ: Mapping[str, str] | None = None
) -> Model:
    """Make a model.

    Args:
        name: `pilot`, or a name that the endpoint knows; empty for the setting's.
        environ: where the key is looked up; the process's own environment when left out.

    Raises:
        ConfigError: the endpoint needs a key and there is none.
    """
    wanted = name or settings.model.name or PILOT
    if wanted == PILOT:
        from agent.models.pilot import Pilot

        return Pilot()
    from agent.models.openai import OpenAIModel

    env = os.environ if environ is None else environ
    variable = settings.model.api_key_env
    api_key = env.get(variable, "").strip()
    if not api_key and not settings.model.base_url:
        raise ConfigError(
            f"The model {wanted} needs a key, and the environment variable {variable} is empty.",
            f"Set {variable}, name another endpoint by model.base_url, or use the model {PILOT}.",
        )
    return OpenAIModel(
        wanted,
        base_url=settings.model.base_url,
        api_key=api_key,
        timeout_s=settings.model.timeout_s,
        vision=settings.model.vision,
    )
