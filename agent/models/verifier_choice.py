"""Choose who verifies the claims of a model: another model, the rules of the pilot, or nobody.

Not the verifying (`agent.models.verifying`). Invariant: a model that cannot be asked is an error of
the setting that names it.
"""

from __future__ import annotations

from agent.config import Settings
from agent.models.choice import PILOT, build_model
from agent.models.model import Model
from agent.models.pilot.verifying import judged
from agent.models.verifying import OFF, SAME, Verifying


def verifying_for(model: Model, settings: Settings) -> Verifying:
    """Return who verifies the claims of a model.

    Raises:
        ConfigError: the setting names a model that cannot be asked.
    """
    wanted = settings.model.verifier.strip() or SAME
    if wanted == OFF:
        return Verifying()
    if wanted == PILOT or (wanted == SAME and model.name == PILOT):
        return Verifying(rules=judged)
    if wanted in {SAME, model.name}:
        return Verifying(model=model, is_same=True)
    return Verifying(model=build_model(settings, wanted))
