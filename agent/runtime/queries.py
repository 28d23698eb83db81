"""What a core tells of what is stored: sessions, their histories, hits of a search, blobs.

The half of the façade that needs nothing but a store, so that a store that no core has open is
read in the same way. Invariant: looking changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from agent import protocol
from agent.core import CoreBase
from agent.errors import WrongStateError
from agent.records import SearchHit, Session, Spending
from agent.runtime.handlers.answers import answerers_in, answers, check_complete
from agent.store.store import Store


@dataclass(frozen=True)
class _StoreAnswers:
    """The look-ups that the store alone answers."""

    store: Store

    @answers
    async def sessions(self, query: protocol.ListSessions) -> tuple[Session, ...]:
        return await self.store.sessions(
            limit=query.limit, before=query.before, wanted=query.wanted
        )

    @answers
    async def session(self, query: protocol.FindSession) -> Session:
        return await self.store.session(query.session_id)

    @answers
    async def search(self, query: protocol.SearchEvents) -> tuple[SearchHit, ...]:
        return await self.store.search(query.query, limit=query.limit, wanted=query.wanted)

    @answers
    async def spending(self, query: protocol.SumSpending) -> Spending:
        return await self.store.spendings.since(query.since_ms)


class StoredLookUps(CoreBase):
    """Look things up in an open store; see the methods of the same names in `agent.core.Core`.

    Args:
        store: open; what it holds is found.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._answerers = answerers_in((_StoreAnswers(store),))

    def answer_all(self, rooms: Iterable[object]) -> None:
        """Have the marked methods of a core's rooms answer too.

        Raises:
            TypeError: a look-up has two methods, or none.
        """
        self._answerers = answerers_in((_StoreAnswers(self.store), *rooms))
        check_complete(self._answerers)

    async def look_up(self, query: protocol.LookUp[protocol.Answer]) -> protocol.Answer:
        """Answer a look-up; see `Core.look_up`. Raises WrongStateError where only a core can."""
        answer = self._answerers.get(type(query))
        if answer is None:
            raise WrongStateError(
                f"Only a running core can answer {query.method}.", "Start one: switchboard"
            )
        found: protocol.Answer = await answer(query)
        return found

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[protocol.Event, ...]:
        """Read a session's stored events in order. Raises UsageError for an unknown session."""
        found = await self.store.session(session_id)
        return await self.store.session_events(
            found.session_id, after_seq=after_seq, before_seq=before_seq, limit=limit
        )

    async def blob(self, digest: str) -> bytes:
        """Read a frame, tree, prompt or reply. Raises StoreError when it is gone."""
        return await self.store.blobs.read(digest)
