"""What a parent's state is, given its children: the roll-up of a session tree, pure.

Not the one that applies it (`agent.sessions.tree.session_tree`). Invariant: rolling up never takes
a parent out of a terminal state, and never takes a working parent back to CREATED or QUEUED.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from agent.protocol import Event, ResultPublished
from agent.records import FieldSource, Session, SessionState
from agent.text import one_line

_WORKING = frozenset({SessionState.RUNNING, SessionState.WAITING_FOR_USER})
_NOT_YET = frozenset({SessionState.CREATED, SessionState.QUEUED})
_PART_LIMIT_CHARS = 400
_FACTS_LIMIT_CHARS = 2000


def rollup(states: Iterable[SessionState]) -> SessionState:
    """Return the state that children's states make together; first match wins (CONTRACTS 1.12)."""
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
    """Return the state a parent takes when its children roll up to `rolled` (CONTRACTS 1.4)."""
    if parent.is_terminal:
        return parent
    if parent in _WORKING and rolled in _NOT_YET:
        return parent
    return rolled


def is_part(parent: Session, child: Session) -> bool:
    """Return whether a child is part of its parent's present plan, not of one that was replaced."""
    return not parent.part_ids or child.session_id in parent.part_ids


def counting(children: Iterable[Session], parent: Session) -> tuple[Session, ...]:
    """Keep the children that count for a parent's plan and continuation generation.

    A parent that is resumed takes a number above all its children's, and gives it to those it
    sends off again. A child that is resumed alone only rises, so it goes on counting.
    """
    return tuple(
        child
        for child in children
        if child.generation >= parent.generation and is_part(parent, child)
    )


def summary(children: Sequence[Session]) -> str:
    """Return in a few lines what the children of a settled parent came to."""
    done = sum(child.state is SessionState.COMPLETED for child in children)
    lines = [f"{done} of {len(children)} parts done."]
    lines += [f"{part_name(child)}: {_outcome(child)}" for child in children]
    return "\n".join(lines)


def results(children: Sequence[Session]) -> str:
    """Return the children's results as one JSON list, in their order; empty without any."""
    if not any(child.result_json for child in children):
        return ""
    return f"[{', '.join(child.result_json or 'null' for child in children)}]"


def published(events: Sequence[Event]) -> tuple[FieldSource, ...]:
    """Return the sources of the newest result of a session."""
    found = (event.msg for event in reversed(events) if isinstance(event.msg, ResultPublished))
    newest = next(found, None)
    return () if newest is None else newest.sources


def sources_of_parts(
    children: Iterable[tuple[Session, Iterable[FieldSource]]],
) -> tuple[FieldSource, ...]:
    """Return where each value of `results` was read: in which child, by the place in the list."""
    return tuple(
        replace(
            source,
            path=f"$[{at}]{source.path.removeprefix('$')}",
            session_id=source.session_id or child.session_id,
        )
        for at, (child, read) in enumerate(children)
        for source in read
    )


def part_name(child: Session) -> str:
    where = child.target_package or child.serial
    title = one_line(child.title or child.goal, 80)
    return f"{title} ({where})" if where else title


def _outcome(child: Session) -> str:
    match child.state:
        case SessionState.COMPLETED:
            said = one_line(child.latest_result or "done", _PART_LIMIT_CHARS)
            return _with_facts(child, said if child.is_verified else f"{said} (unverified)")
        case SessionState.FAILED:
            why = one_line(child.latest_error or "no reason given", _PART_LIMIT_CHARS)
            return _with_facts(child, f"failed: {why}")
        case SessionState.CANCELLED:
            return "cancelled"
        case _:
            return child.state.lower().replace("_", " ")


def _with_facts(child: Session, said: str) -> str:
    """Add what a child asked to remember: what it read is a part of what it came to."""
    if not child.facts:
        return said
    facts = one_line("; ".join(child.facts), _FACTS_LIMIT_CHARS)
    return f"{said} It remembered: {facts}"
