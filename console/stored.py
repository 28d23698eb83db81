"""Read a store that no core has open, the way a core would be read.

Not a core: it repairs nothing and takes no ops. Invariant: reading changes nothing in the store.
"""

from __future__ import annotations

from typing import Protocol

from agent.core import Overview
from agent.protocol import Event
from agent.records import SearchHit, Session, SessionState
from agent.store.store import Store


class Records(Protocol):
    """The reading half of the Core protocol."""

    async def overview(self) -> Overview: ...

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]: ...

    async def session(self, session_id: str) -> Session: ...

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]: ...

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]: ...

    async def blob(self, digest: str) -> bytes: ...


_UNDER_WAY = frozenset({SessionState.QUEUED, SessionState.RUNNING})
LEFT_BEHIND = "stopped: its process died; resume goes on"
"""What is said of a session that claims to be at work while no core is."""


def is_left_behind(records: Records, session: Session) -> bool:
    """Tell whether a session claims to be at work in a store that no core has open."""
    return isinstance(records, StoredRecords) and session.state in _UNDER_WAY


class StoredRecords:
    """The reading half of a core over an open store; it sees no devices."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def overview(self) -> Overview:
        """Give the stored picture."""
        return Overview(
            event_id=await self._store.last_event_id(),
            sessions=await self._store.trees(),
            questions=await self._store.open_questions(),
            jobs=await self._store.jobs(),
        )

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]:
        """List sessions, newest first; only those older than the session `before`, if given."""
        return await self._store.sessions(limit=limit, before=before)

    async def session(self, session_id: str) -> Session:
        """Look a session up by its id or a unique prefix of it. Raises UsageError."""
        return await self._store.session(session_id)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events in order."""
        return await self._store.session_events(
            session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first. Raises UsageError."""
        return await self._store.search(query, limit=limit)

    async def blob(self, digest: str) -> bytes:
        """Read a blob. Raises StoreError when it is gone."""
        return await self._store.read_blob(digest)
