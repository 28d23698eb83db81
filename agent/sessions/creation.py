"""Turn a request for work into session records: check it, name what is wrong, fill in the rest.

It stores nothing. Invariant: what passes can start; a request with a fault in it creates nothing.
"""

from __future__ import annotations

from secrets import token_hex

from msgspec.structs import replace

from agent.errors import UsageError
from agent.protocol import SessionCreate, Target
from agent.records import AtLimit, Autonomy, Budget, ReasoningEffort, Session, SessionKind
from agent.safety.redaction import redact_secrets
from agent.sessions.answers import checked_text
from agent.sessions.assignment import Assignment
from agent.settings import Settings
from agent.text import one_line

TARGETS_LIMIT = 64
STEPS_LIMIT = 10_000
_TITLE_LIMIT_CHARS = 80


def planned_sessions(
    op: SessionCreate, *, settings: Settings, assignment: Assignment, now_ms: int, job_id: int = 0
) -> tuple[Session, ...]:
    """Make the records that a request asks for: the session itself, then its children.

    Raises:
        UsageError: an empty goal, an unknown serial, or another field that cannot be used.
    """
    # A draft may be started with its goal later (CONTRACTS 1.1).
    is_blank_draft = not op.start and not op.goal.strip() and not op.targets
    goal = "" if is_blank_draft else checked_text(op.goal, "The goal")
    if not 0 <= op.max_steps <= STEPS_LIMIT:
        raise UsageError(f"max_steps is {op.max_steps}.", f"Use 1 to {STEPS_LIMIT}, or 0.")
    if op.targets and (op.serial or op.target_package):
        raise UsageError(
            "A session with targets has no device or app of its own.",
            "Name the device and the app in each target.",
        )
    for serial in (op.serial, *(target.serial for target in op.targets)):
        if serial:
            assignment.check_known(serial)
    model = op.model or settings.model.name
    max_steps = op.max_steps or settings.run.max_steps
    top = Session(
        session_id=new_session_id(),
        goal=goal,
        created_ms=now_ms,
        kind=SessionKind.HOME if op.target_package else SessionKind.AGENT,
        title=one_line(redact_secrets(op.title) or goal, _TITLE_LIMIT_CHARS),
        serial=op.serial,
        target_package=op.target_package,
        model=model,
        reasoning_effort=op.reasoning_effort or _effort(settings),
        max_steps=max_steps,
        budget=_budget(op.budget or Budget(), settings),
        at_limit=op.at_limit or AtLimit(settings.run.at_limit),
        autonomy=op.autonomy or Autonomy(settings.safety.autonomy),
        dry_run=op.dry_run or settings.safety.dry_run,
        job_id=job_id,
        for_job=job_id,
    )
    children = (
        child_session(top, target, now_ms=now_ms) for target in _checked_targets(op.targets)
    )
    return (top, *children)


def child_session(parent: Session, target: Target, *, now_ms: int) -> Session:
    """Make the record of a genie child: its target, and for the rest what its parent has."""
    return Session(
        session_id=new_session_id(),
        goal=target.objective,
        created_ms=now_ms,
        kind=SessionKind.GENIE,
        parent_id=parent.session_id,
        title=one_line(target.objective, _TITLE_LIMIT_CHARS),
        serial=target.serial,
        target_package=target.package,
        required_presentation=target.presentation,
        model=parent.model,
        reasoning_effort=parent.reasoning_effort,
        max_steps=parent.max_steps,
        budget=parent.budget,
        at_limit=parent.at_limit,
        autonomy=parent.autonomy,
        dry_run=parent.dry_run,
        job_id=parent.job_id,
        generation=parent.generation,
    )


def _effort(settings: Settings) -> ReasoningEffort | None:
    wanted = settings.model.reasoning_effort
    return ReasoningEffort(wanted) if wanted else None


def _budget(asked: Budget, settings: Settings) -> Budget:
    run = settings.run
    return Budget(
        seconds=asked.seconds or run.max_seconds,
        tokens=asked.tokens or run.max_tokens,
        cost_usd=asked.cost_usd or run.max_cost_usd,
    )


def new_session_id() -> str:
    """Make an id that is unique, and easy to name by its first letters."""
    return token_hex(6)


def _checked_targets(targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """Check each target's objective, and drop those that say the same as one before."""
    if len(targets) > TARGETS_LIMIT:
        raise UsageError(f"There are {len(targets)} targets.", f"Use at most {TARGETS_LIMIT}.")
    checked = [
        replace(target, objective=checked_text(target.objective, f"The objective of target {at}"))
        for at, target in enumerate(targets, start=1)
    ]
    return tuple(dict.fromkeys(checked))
