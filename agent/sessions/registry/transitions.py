"""Which session state may follow which: the table of moves, and the guard that reads it.

Not the roll-up of a tree (`agent.sessions.rules.rollup`), and it changes nothing itself. Invariant:
no move of the table leaves a terminal state; only a resume does, which has a table of its own.
"""

from collections.abc import Mapping

from agent.errors import WrongStateError
from agent.records import Session, SessionState

_CREATED = SessionState.CREATED
_QUEUED = SessionState.QUEUED
_RUNNING = SessionState.RUNNING
_WAITING = SessionState.WAITING_FOR_USER
_COMPLETED = SessionState.COMPLETED
_FAILED = SessionState.FAILED
_CANCELLED = SessionState.CANCELLED
_TERMINAL = frozenset({_COMPLETED, _FAILED, _CANCELLED})

MOVES: Mapping[SessionState, frozenset[SessionState]] = {
    # A parent starts straight into RUNNING: its children do the queueing.
    _CREATED: frozenset({_QUEUED, _RUNNING, _WAITING}) | _TERMINAL,
    _QUEUED: frozenset({_RUNNING, _WAITING}) | _TERMINAL,
    _RUNNING: frozenset({_WAITING}) | _TERMINAL,
    # An idle session that is given a new turn waits for its device again.
    _WAITING: frozenset({_QUEUED, _RUNNING}) | _TERMINAL,
    _COMPLETED: frozenset(),
    _FAILED: frozenset(),
    _CANCELLED: frozenset(),
}
"""What may follow a state without an explicit resume (CONTRACTS 1.4)."""

RESUMES: Mapping[SessionState, frozenset[SessionState]] = {
    _COMPLETED: frozenset({_QUEUED, _RUNNING}),
    _FAILED: frozenset({_QUEUED, _RUNNING}),
    _CANCELLED: frozenset({_QUEUED, _RUNNING}),
}
"""Where an explicit resume may take a terminal session: QUEUED when it works itself, RUNNING when
it delegates."""


def may_move(before: SessionState, after: SessionState, *, resuming: bool = False) -> bool:
    """Return whether a session may go from one state to another; staying is no move.

    Args:
        resuming: it is being resumed from a terminal state.
    """
    if after in MOVES[before]:
        return True
    return resuming and after in RESUMES.get(before, frozenset())


def check_move(session: Session, after: SessionState, *, resuming: bool = False) -> None:
    """Refuse a move that the tables do not have; the arguments are those of `may_move`.

    Raises:
        WrongStateError: the session cannot go there; the remedy names the way out.
    """
    if may_move(session.state, after, resuming=resuming):
        return
    remedy = f"Resume session {session.session_id} first." if session.state.is_terminal else ""
    raise WrongStateError(
        f"Session {session.session_id} is {session.state} and cannot become {after}.", remedy
    )
