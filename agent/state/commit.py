"""What one commit of the store made: its events, and the session records folded from them.

Not the fold (`agent.state.session_fold`). Invariant: a record is the one after the commit's last
event of its session, so nobody in the same process has to fold those events into it again.
"""

from collections.abc import Iterable, Mapping

import msgspec

from agent.protocol import Event, SessionConfigured
from agent.records import Session
from agent.state.session_fold import fold_all


class Commit(msgspec.Struct, frozen=True):
    """Events that were stored together, in order."""

    events: tuple[Event, ...]
    sessions: Mapping[str, Session] = {}
    """By session id; empty where the events come from the store's past or another process."""
    is_elsewhere: bool = False
    """Whether another host of a fleet stored them, whose core sees to what follows from them."""

    def record_of(
        self, session_id: str, known: Session | None, run: Iterable[Event]
    ) -> Session | None:
        """Return a session's record after the commit, as folding would give it.

        Args:
            session_id: the session.
            known: its record before; None where it is not known.
            run: the commit's events of it.

        Returns:
            None where the record is not known and its first event is not among these.
        """
        run = tuple(run)
        folded = self.sessions.get(session_id)
        if folded is None:
            return fold_all(known, run)
        begins = known is not None or any(type(one.msg) is SessionConfigured for one in run)
        return folded if begins else None
