"""What being driven changes: turns that end settle nothing, and objectives are staged, pure.

It stores nothing. Invariant: whatever is put off because a session is held has its outcome in the
record (`Session.deferred`), so that letting go, or a crash, settles it as it would have been.
"""

from agent.protocol import EventMsg, SessionDeferred, SessionFlagsChanged, SessionStateChanged
from agent.records import SessionState
from agent.sessions.registry.live_session import LiveSession, Turn
from agent.sessions.rules.turn_outcome import Ending

STAGED = "its objective is staged: it starts once its planner is not driven"
STAYS = "the turn is over; the session stays live while it is driven"
LET_GO = "no longer driven"


def held_back(live: LiveSession, turn: Turn, ending: Ending) -> Ending:
    """Keep a session that is held live beyond the end of its turn (CONTRACTS A6)."""
    if not live.record.held or turn.background or not ending.state.is_terminal:
        return ending
    deferred = SessionDeferred(state=ending.state, reason=ending.reason)
    return Ending(
        (*ending.msgs, deferred), SessionState.WAITING_FOR_USER, STAYS, completed=ending.completed
    )


def staged(driver: str) -> tuple[EventMsg, ...]:
    """Return what makes a new child of a driven planner wait with its objective (CONTRACTS A6)."""
    return (
        SessionFlagsChanged(held=True, driver=driver, reason=STAGED),
        SessionDeferred(state=SessionState.QUEUED, reason=STAGED),
        SessionStateChanged(state=SessionState.WAITING_FOR_USER, reason=STAGED),
    )
