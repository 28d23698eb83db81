"""Choose who verifies the claims of a model: another model, the rules of the pilot, or nobody.

Not the verifying (`agent.models.verifying`). Invariant: a model that cannot be asked is an error of
the setting that names it.
"""

from agent.config import Settings
from agent.models.choice import PILOT, build_model
from agent.models.model import Model
from agent.models.pilot.verifying import judged
from agent.models.session_endpoint import is_asked_there
from agent.models.verifying import OFF, SAME, Verifying
from agent.records import Session


def verifying_for(model: Model, settings: Settings, session: Session) -> Verifying:
    """Return who verifies the claims of a session's model: at the session's endpoint.

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
    # Where the session's own model is asked by the settings, a name may tell another provider.
    recorded = session.endpoint
    if recorded and is_asked_there(recorded, settings, session.model):
        recorded = ""
    return Verifying(model=build_model(settings, wanted, recorded=recorded))
