"""What a parent's state is, given its children: the roll-up of a session tree, pure.

Not the one that applies it (`agent.sessions.tree`). Invariant: rolling up never takes a parent out
of a terminal state, and never takes a working parent back to CREATED or QUEUED.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.records import Session, SessionState
from agent.text import one_line

_WORKING = frozenset({SessionState.RUNNING, SessionState.WAITING_FOR_USER})
_NOT_YET = frozenset({SessionState.CREATED, SessionState.QUEUED})
_PART_LIMIT_CHARS = 400


def roll_up(states: Iterable[SessionState]) -> SessionState:
    """Give the state that children's states make together; first match wins (CONTRACTS 1.12)."""
    present = frozenset(states)
    if SessionState.WAITING_FOR_USER in present:
        return SessionState.WAITING_FOR_USER
    if SessionState.RUNNING in present or SessionState.QUEUED in present:
        return SessionState.RUNNING
    for settled in (SessionState.FAILED, SessionState.COMPLETED, SessionState.CANCELLED):
        if settled in present:
            return settled
    return SessionState.CREATED


def guarded(parent: SessionState, rolled: SessionState) -> SessionState:
    """Give the state a parent takes when its children roll up to `rolled` (CONTRACTS 1.4)."""
    if parent.is_terminal:
        return parent
    if parent in _WORKING and rolled in _NOT_YET:
        return parent
    return rolled


def counting(children: Iterable[Session], generation: int) -> tuple[Session, ...]:
    """Keep the children that count for a parent's continuation generation.

    A parent that is resumed takes a number above all its children's, and gives it to those it
    sends off again. A child that is resumed alone only rises, so it goes on counting.
    """
    return tuple(child for child in children if child.generation >= generation)


def summary(children: Sequence[Session]) -> str:
    """Say in a few lines what the children of a settled parent came to."""
    done = sum(child.state is SessionState.COMPLETED for child in children)
    lines = [f"{done} of {len(children)} parts done."]
    lines += [f"{_name(child)}: {_outcome(child)}" for child in children]
    return "\n".join(lines)


def _name(child: Session) -> str:
    where = child.target_package or child.serial
    title = one_line(child.title or child.goal, 80)
    return f"{title} ({where})" if where else title


def _outcome(child: Session) -> str:
    match child.state:
        case SessionState.COMPLETED:
            return one_line(child.latest_result or "done", _PART_LIMIT_CHARS)
        case SessionState.FAILED:
            return "failed: " + one_line(child.latest_error or "no reason given", _PART_LIMIT_CHARS)
        case SessionState.CANCELLED:
            return "cancelled"
        case _:
            return child.state.lower().replace("_", " ")
