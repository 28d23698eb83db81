"""Hold a phone for a turn, as the host that a dispatcher runs sessions on.

The dispatcher has the queue for each phone; `agent.sessions.registry.device_assignment` chooses a
free one. Invariants: a session drives a phone only between the
dispatcher's call and its return, so at most one does; what its turn stores goes under the lease of
that call; when the lease is lost the turn is told, and stores nothing more.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from agent.records import Session
from agent.sessions.registry.live_session import Turn
from agent.sessions.registry.supervisor import settled
from agent.store.dispatch.dispatcher import Dispatcher
from agent.store.leases import Lease

BeginPending: TypeAlias = Callable[[Session], Awaitable[Turn | None]]
"""Begin the turn of a session that an earlier life of this host left; None when it has none."""


class _PhoneClaim:
    """One session's time on a phone, from either side: the dispatcher's call, the turn's wait."""

    def __init__(self) -> None:
        self.granted: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self.lost: Callable[[], None] | None = None
        """Called when the lease is lost; set by the turn that holds the phone."""
        self.clearing = False
        """The turn ends an earlier run of its session; that loses it nothing."""
        self.leaving = False
        self.over = asyncio.Event()


class DispatcherHost:
    """The phones that the turns of one core hold, and wait for.

    Args:
        dispatcher: says when a session may have its phone.
        host: names this core among those that share a store; its next life has the same name.
    """

    def __init__(self, dispatcher: Dispatcher, host: str) -> None:
        self._dispatcher = dispatcher
        self._host = host
        self._begin_pending: BeginPending | None = None
        self._claims: dict[str, _PhoneClaim] = {}

    def serve(self, begin_pending: BeginPending) -> AbstractAsyncContextManager[None]:
        """Run what is asked for, and first what an earlier life of this host left."""
        self._begin_pending = begin_pending
        return self._dispatcher.serve(self._host, self._run)

    @asynccontextmanager
    async def hold_phone(
        self, session_id: str, serial: str, lost: Callable[[], None]
    ) -> AsyncIterator[Lease]:
        """Wait for a phone and hold it for the length of the block.

        Args:
            session_id: the session; it has one claim at a time.
            serial: the phone.
            lost: called when the lease is lost; the block has to be left then.

        Raises:
            UsageError: there is no such session.
            WrongStateError: the session is settled.
        """
        claim = await self._enter(session_id)
        called = claim.lost is None and claim.granted.done()
        if called and claim.granted.result().key != serial:
            # It was moved just as its old phone was given to it.
            await self._dispatcher.cancel(session_id)
            claim, called = await self._enter(session_id), False
        claim.lost = lost
        try:
            # Of one that is called already an earlier life was asked for.
            while not called and not await self._dispatcher.submit(session_id, serial):
                if claim.granted.done() and claim.granted.result().key == serial:
                    break  # What an earlier life asked for was called just now.
                # An earlier run of it is on its way out.
                await self._clear(session_id, claim)
            yield await claim.granted
        finally:
            claim.leaving = True
            try:
                await settled(self._dispatcher.cancel(session_id))
            finally:
                del self._claims[session_id]
                claim.over.set()

    async def _clear(self, session_id: str, claim: _PhoneClaim) -> None:
        """End an earlier run of a session, also where it was just given the phone."""
        claim.clearing = True
        try:
            await self._dispatcher.cancel(session_id)
        finally:
            claim.clearing = False
        if claim.granted.done():
            # That lease went with its run.
            claim.granted = asyncio.get_running_loop().create_future()

    async def _enter(self, session_id: str) -> _PhoneClaim:
        while (before := self._claims.get(session_id)) is not None and before.lost is not None:
            await before.over.wait()
        return self._claims.setdefault(session_id, _PhoneClaim())

    async def _run(self, session: Session, lease: Lease) -> None:
        """Let the session's turn have the phone until it leaves: the dispatcher's handler."""
        left_over = session.session_id not in self._claims
        claim = self._claims.setdefault(session.session_id, _PhoneClaim())
        if not claim.granted.done():
            claim.granted.set_result(lease)
        try:
            if left_over:
                await self._run_pending(session)
            if claim.lost is not None:
                await claim.over.wait()
        finally:
            if claim.lost is None and self._claims.get(session.session_id) is claim:
                del self._claims[session.session_id]
            elif claim.lost is not None and not claim.leaving and not claim.clearing:
                claim.lost()

    async def _run_pending(self, session: Session) -> None:
        """Begin the turn that an earlier life of this host left pending, and wait for its end."""
        turn = None if self._begin_pending is None else await self._begin_pending(session)
        if turn is not None:
            await turn.over.wait()
