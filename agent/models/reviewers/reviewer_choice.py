"""Choose who reviews the acts of a session: a model, a program, or nobody.

Not the reviewing (`agent.loop.acting.act_reviews`). Invariant: a reviewer that cannot be asked is
an error of the setting that names it, before the work begins.
"""

from agent.config import Settings
from agent.errors import ConfigError
from agent.models.catalog import catalog, facts_of, longest
from agent.models.choice import PILOT, build_model
from agent.models.endpoint import Endpoint
from agent.models.endpoint_model import EndpointModel
from agent.models.model import Model
from agent.models.reviewers.program_reviewer import ProgramReviewer
from agent.models.reviewers.reviewer_results import ReviewerResults
from agent.models.reviewers.reviewing import MODEL, OFF, PROGRAM, SAME, Reviewing
from agent.models.session_endpoint import endpoint_at, endpoint_of, is_asked_there
from agent.records import ReasoningEffort, Session


def reviewing_for(model: Model, settings: Settings, session: Session) -> Reviewing:
    """Return who reviews the acts of a session's model.

    Args:
        model: the session's own. The pilot, a script or a connected program has no endpoint, so
            that by default nobody reviews its acts.

    Raises:
        ConfigError: the setting names a reviewer that cannot be asked.
    """
    wanted = settings.safety.reviewer.strip() or MODEL
    timeout_s = settings.safety.reviewer_timeout_s
    if wanted == OFF:
        return Reviewing()
    if wanted == PROGRAM:
        command = settings.safety.reviewer_command
        if not command:
            raise ConfigError(
                "safety.reviewer is program, and safety.reviewer_command is empty.",
                "Name the program and its arguments there.",
            )
        return Reviewing(model=ProgramReviewer(command, timeout_s=timeout_s), timeout_s=timeout_s)
    if wanted == MODEL and isinstance(model, EndpointModel):
        wanted = smaller(_endpoint(settings, session))
    if wanted in {MODEL, SAME, PILOT}:
        if wanted == PILOT or not isinstance(model, EndpointModel):
            return Reviewing()
        if off := _why_off(settings, model.name):
            return Reviewing(off=off)
        # It cannot answer faster than it does: it is waited for as for its other answers.
        timeout_s = max(timeout_s, settings.model.timeout_s)
        return Reviewing(model=model, timeout_s=timeout_s, is_same=True)
    if off := _why_off(settings, wanted):
        return Reviewing(off=off)
    # Where the session's own model is asked by the settings, a name may tell another provider.
    recorded = session.endpoint
    if recorded and is_asked_there(recorded, settings, session.model):
        recorded = ""
    # A question of a few lines: nobody waits for one that thinks long.
    effort = ReasoningEffort.LOW if facts_of(wanted).reasons else None
    reader = build_model(settings, wanted, effort=effort, recorded=recorded)
    return Reviewing(model=reader, timeout_s=timeout_s)


def _why_off(settings: Settings, name: str) -> str:
    """Return what the operator is told of a model that was switched off as a reviewer."""
    off = ReviewerResults(settings.data_dir).why_off(current_name(name))
    if not off:
        return ""
    return (
        f"{name} does not review: measured as a reviewer, {off}. Nobody reads the acts; they are "
        f"compared with your words by structure. Name another model in safety.reviewer, or "
        f"measure it again: switchboard models test {name} --as-reviewer."
    )


def current_name(name: str) -> str:
    """Return the name under which a model's results are kept: of a renamed one the newest, without
    its provider.
    """
    return catalog().current(name)[0].rpartition("/")[2]


def smaller(endpoint: Endpoint) -> str:
    """Return the fast and cheap model of a session's provider; `same` where none is known, or the
    session's is it.
    """
    row = endpoint.row
    if row is None or not row.small:
        return SAME
    asked, _ = catalog().current(row.small)
    return SAME if longest(endpoint.model, {row.small: None, asked: None}) else asked


def _endpoint(settings: Settings, session: Session) -> Endpoint:
    name, _ = catalog().current(session.model or settings.model.name)
    if session.endpoint and not is_asked_there(session.endpoint, settings, name):
        return endpoint_at(session.endpoint, name)
    return endpoint_of(settings, name)
