"""The core as the host that a dispatcher runs sessions on: a turn on a phone is one stay there.

Not the queue for phones, which is the dispatcher's, and not the choice of a free one
(`agent.sessions.registry.device_assignment`). Invariants: a session drives a phone only between the
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

TakeOn: TypeAlias = Callable[[Session], Awaitable[Turn | None]]
"""Begin the turn of a session that an earlier life of this host left; None when it has none."""


class _PhoneClaim:
    """One session's time on a phone, from either side: the dispatcher's call, the turn's wait."""

    def __init__(self) -> None:
        self.granted: asyncio.Future[Lease] = asyncio.get_running_loop().create_future()
        self.lost: Callable[[], None] | None = None
        """Set by the turn that stays."""
        self.clearing = False
        """The turn ends an earlier run of its session; that loses it nothing."""
        self.leaving = False
        self.over = asyncio.Event()


class Hosting:
    """The stays of one core.

    Args:
        dispatcher: says when a session may have its phone.
        host: names this core among those that share a store; its next life has the same name.
    """

    def __init__(self, dispatcher: Dispatcher, host: str) -> None:
        self._dispatcher = dispatcher
        self._host = host
        self._take_on: TakeOn | None = None
        self._stays: dict[str, _PhoneClaim] = {}

    def serve(self, take_on: TakeOn) -> AbstractAsyncContextManager[None]:
        """Run what is asked for, and first what an earlier life of this host left."""
        self._take_on = take_on
        return self._dispatcher.serve(self._host, self._run)

    @asynccontextmanager
    async def hold_phone(
        self, session_id: str, serial: str, lost: Callable[[], None]
    ) -> AsyncIterator[Lease]:
        """Wait for a phone and have it for the length of the block.

        Args:
            session_id: the session; one stay of it at a time.
            serial: the phone.
            lost: called when the lease is lost; the block has to be left then.

        Raises:
            UsageError: there is no such session.
            WrongStateError: the session is settled.
        """
        stay = await self._enter(session_id)
        called = stay.lost is None and stay.granted.done()
        if called and stay.granted.result().key != serial:
            # It was moved just as its old phone was given to it.
            await self._dispatcher.cancel(session_id)
            stay, called = await self._enter(session_id), False
        stay.lost = lost
        try:
            # Of one that is called already an earlier life was asked for.
            while not called and not await self._dispatcher.submit(session_id, serial):
                if stay.granted.done() and stay.granted.result().key == serial:
                    break  # What an earlier life asked for was called just now.
                # An earlier run of it is on its way out.
                await self._clear(session_id, stay)
            yield await stay.granted
        finally:
            stay.leaving = True
            try:
                await settled(self._dispatcher.cancel(session_id))
            finally:
                del self._stays[session_id]
                stay.over.set()

    async def _clear(self, session_id: str, stay: _PhoneClaim) -> None:
        """End an earlier run of a session, also where it was just given the phone."""
        stay.clearing = True
        try:
            await self._dispatcher.cancel(session_id)
        finally:
            stay.clearing = False
        if stay.granted.done():
            # That lease went with its run.
            stay.granted = asyncio.get_running_loop().create_future()

    async def _enter(self, session_id: str) -> _PhoneClaim:
        while (before := self._stays.get(session_id)) is not None and before.lost is not None:
            await before.over.wait()
        return self._stays.setdefault(session_id, _PhoneClaim())

    async def _run(self, session: Session, lease: Lease) -> None:
        """Let the session's turn have the phone until it leaves: the dispatcher's handler."""
        left_over = session.session_id not in self._stays
        stay = self._stays.setdefault(session.session_id, _PhoneClaim())
        if not stay.granted.done():
            stay.granted.set_result(lease)
        try:
            if left_over:
                await self._begin_again(session)
            if stay.lost is not None:
                await stay.over.wait()
        finally:
            if stay.lost is None and self._stays.get(session.session_id) is stay:
                del self._stays[session.session_id]
            elif stay.lost is not None and not stay.leaving and not stay.clearing:
                stay.lost()

    async def _begin_again(self, session: Session) -> None:
        """Have a turn begun that nobody here has begun, and see it end or stay."""
        turn = None if self._take_on is None else await self._take_on(session)
        if turn is not None:
            await turn.over.wait()
