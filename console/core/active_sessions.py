"""The sessions at work: what stopping, pausing and leaving are about.

Not the mark that a session bears, which says what a person should know first
(`widgets.base.status`). Invariant: whatever the core would interrupt is under way, so that no stop
is refused here.
"""

from agent.records import Session, SessionState
from agent.state.reducer import State, children_of

_AT_WORK = frozenset({SessionState.QUEUED, SessionState.RUNNING})


def is_under_way(session: Session) -> bool:
    """Return whether a session waits for its turn, is at work, or has a turn that asks."""
    return session.state in _AT_WORK or (bool(session.turn_id) and not session.state.is_terminal)


def is_tree_under_way(session: Session, state: State) -> bool:
    """Return whether a session or a child of it is: a parent whose child asks has no turn."""
    below = children_of(state.sessions).get(session.session_id, ())
    return is_under_way(session) or any(is_under_way(view.session) for view in below)
