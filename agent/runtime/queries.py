"""What a core tells of what is stored: sessions, their histories, hits of a search, blobs.

The half of the façade that needs nothing but a store, so that a store that no core has open is
read in the same way. Invariant: looking changes nothing.
"""

from __future__ import annotations

from agent.protocol import Event
from agent.records import SearchHit, Session, Spending
from agent.store.store import Store


class Lookups:
    """Look things up in an open store; see the methods of the same names in `agent.core.Core`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def sessions(self, *, limit: int = 200, before: str = "") -> tuple[Session, ...]:
        """List sessions, newest first; only those older than the session `before`, if given."""
        return await self.store.sessions(limit=limit, before=before)

    async def session(self, session_id: str) -> Session:
        """Look a session up by its id or a unique prefix of it. Raises UsageError."""
        return await self.store.session(session_id)

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]:
        """Read a session's stored events in order. Raises UsageError for an unknown session."""
        found = await self.store.session(session_id)
        return await self.store.session_events(
            found.session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def search(self, query: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Find events by words, the newest first. Raises UsageError."""
        return await self.store.search(query, limit=limit)

    async def spending(self, *, since_ms: int) -> Spending:
        """Add up what the sessions used that began at or after a moment, by the day."""
        return await self.store.spendings.since(since_ms)

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply. Raises StoreError when it is gone."""
        return await self.store.read_blob(digest)
