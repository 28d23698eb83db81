"""Where a session's app has to be, and what follows when it is elsewhere: the rules, pure.

Not the calls that move it (`agent.sessions.tree.app_targets`). Invariant: a completed child counts
as completed only where its required presentation is what was observed (CONTRACTS 1.5).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.records import (
    Session,
    SessionState,
    TargetAction,
    TargetPresentation,
    TargetResult,
    TargetRuntime,
)
from agent.sessions.rules.rollup import rollup

_AS_RUNTIME = {
    TargetPresentation.DETACHED_HIDDEN: TargetRuntime.DETACHED_HIDDEN,
    TargetPresentation.DETACHED_SHOWN: TargetRuntime.DETACHED_SHOWN,
}


@dataclass(frozen=True)
class Rolled:
    """What children make of their parent."""

    state: SessionState
    attach: tuple[str, ...] = ()
    """Children whose app has to be brought to the main display before they count as done."""
    mismatches: tuple[str, ...] = ()
    """What is wrong, a sentence for each child that is where it must not be."""


def agrees(required: TargetPresentation, actual: TargetPresentation) -> bool:
    return required in {TargetPresentation.AGENT_CHOICE, actual}


def shown_runtime(session: Session) -> TargetRuntime:
    """Return where a session's app is: as observed, else as the session's target says."""
    if session.target_runtime is not TargetRuntime.NONE or not session.target_package:
        return session.target_runtime
    if session.state in {SessionState.CREATED, SessionState.QUEUED} or session.state.is_terminal:
        return TargetRuntime.NONE
    return derived_runtime(session.presentation, detached=False, package=session.target_package)


def rollup_presented(children: Sequence[Session], unmovable: Collection[str] = ()) -> Rolled:
    """Roll up, and hold what is completed to its required presentation.

    An app that has to be attached and is detached can still be attached, so the parent runs on
    meanwhile; any other mismatch, and one that could not be mended, fails it.

    Args:
        unmovable: ids of children whose app could not be attached.
    """
    rolled = rollup(child.state for child in children)
    if rolled is not SessionState.COMPLETED:
        return Rolled(rolled)
    misplaced = [
        child
        for child in children
        if child.state is SessionState.COMPLETED
        and not agrees(child.required_presentation, child.presentation)
    ]
    attach = tuple(
        child.session_id
        for child in misplaced
        if child.required_presentation is TargetPresentation.ATTACHED
        and child.session_id not in unmovable
    )
    wrong = tuple(_mismatch(child) for child in misplaced if child.session_id not in attach)
    if wrong:
        return Rolled(SessionState.FAILED, mismatches=wrong)
    return Rolled(SessionState.RUNNING if attach else rolled, attach)


def derived_runtime(
    presentation: TargetPresentation, *, detached: bool, package: str
) -> TargetRuntime:
    """Return what a target is when its phone does not tell (CONTRACTS 1.6)."""
    if presentation in _AS_RUNTIME:
        return _AS_RUNTIME[presentation]
    if detached:
        return TargetRuntime.DETACHED_LAUNCHING
    return TargetRuntime.ATTACHED if package else TargetRuntime.NONE


def summary_line(action: TargetAction, result: TargetResult) -> str:
    """Return the outcome of a call in one line (CONTRACTS 1.6)."""
    display = result.display or "none"
    line = (
        f"Detached target {action.value} -> {result.status.value} "
        f"(runtime={result.runtime.value}, display={display})"
    )
    return f"{line}: {result.message}" if result.message else line


def _mismatch(child: Session) -> str:
    return (
        "Delegated session completed without the required final presentation; "
        f"{child.target_package or child.session_id}: required {child.required_presentation.value}"
        f", actual {child.presentation.value}"
    )
