"""Who is attached to which session, and whose a draft is: the clients of one core, in memory.

Not what attaching does to a session (`agent.sessions.lifecycle.attaching`). Invariants: any number
of clients watch a session and at most one drives it; a client that has left is attached to nothing
and holds nothing; nothing of this outlives the core, for its clients do not either.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.core import ClientInfo
from agent.errors import WrongStateError
from agent.protocol import Event, SessionsDeleted, SessionStateChanged
from agent.records import SessionState


@dataclass
class _Attached:
    driver: ClientInfo | None = None
    watchers: dict[str, ClientInfo] = field(default_factory=dict)


class Clients:
    """The attachments and draft holds of one core."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Attached] = {}
        self._drafts: dict[str, str] = {}

    def on_commit(self, events: Iterable[Event]) -> None:
        """Let go of what is settled, and of drafts that are none any more."""
        for event in events:
            if isinstance(event.msg, SessionsDeleted):
                for session_id in event.msg.session_ids:
                    self._sessions.pop(session_id, None)
                    self._drafts.pop(session_id, None)
            if isinstance(event.msg, SessionStateChanged):
                if event.msg.state is not SessionState.CREATED:
                    self._drafts.pop(event.session_id, None)
                attached = self._sessions.get(event.session_id)
                if event.msg.state.is_terminal and attached is not None:
                    attached.driver = None

    # --- attachments ----------

    def attach(self, session_id: str, client: ClientInfo, *, drives: bool) -> ClientInfo | None:
        """Attach a client; who drives takes the place of who drove before and now watches.

        Returns:
            The driver that was replaced, if another client was it.
        """
        attached = self._sessions.setdefault(session_id, _Attached())
        before = attached.driver
        attached.watchers[client.client_id] = client
        if drives:
            attached.driver = client
            return before if before is not None and before != client else None
        if before == client:
            attached.driver = None
        return None

    def detach(self, session_id: str, client_id: str) -> None:
        """Detach a client; nothing when it was not attached."""
        attached = self._sessions.get(session_id)
        if attached is None:
            return
        attached.watchers.pop(client_id, None)
        if attached.driver is not None and attached.driver.client_id == client_id:
            attached.driver = None
        if not attached.watchers:
            del self._sessions[session_id]

    def sessions_of(self, client_id: str) -> tuple[str, ...]:
        """List the sessions that a client is attached to."""
        return tuple(s for s, attached in self._sessions.items() if client_id in attached.watchers)

    def driver_of(self, session_id: str) -> ClientInfo | None:
        attached = self._sessions.get(session_id)
        return None if attached is None else attached.driver

    def check_driver(self, session_id: str, by: ClientInfo | None) -> None:
        """Refuse what takes a session on, or changes what it goes on with, while another drives it.

        Args:
            by: who asks for it; None where the core does by itself.

        Raises:
            WrongStateError: another client drives it.
        """
        driver = self.driver_of(session_id)
        if driver is not None and by is not None and driver != by:
            raise WrongStateError(
                f"Session {session_id} is driven by {driver.name}.",
                f"Take over with: switchboard sessions attach {session_id}",
            )

    # --- draft holds ----------

    def hold_draft(self, session_id: str, client_id: str) -> None:
        """Keep a draft for as long as its client is there (CONTRACTS 1.8)."""
        self._drafts[session_id] = client_id

    def drop_hold(self, session_id: str) -> None:
        """Let a draft live on without its client."""
        self._drafts.pop(session_id, None)

    def drafts_of(self, client_id: str) -> tuple[str, ...]:
        """List the drafts that a client holds."""
        return tuple(draft for draft, holder in self._drafts.items() if holder == client_id)
