"""Who runs a session, on which host, and again after a crash: the Dispatcher protocol.

Not the running, which is the handler's, and not a queue of its own: which sessions are to run is in
the store, as their state. Invariants that each keeps: at most one handler is at work for a phone;
what it stores is fenced by the lease it was given, so a delivery that comes twice does no harm; a
session whose host died is run again, from its stored events. The core is such a handler
(`agent.sessions.turns.dispatcher_host`): it runs each turn on a phone under the lease it is given.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from agent.records import Session, SessionState
from agent.store.leases import Lease

TO_RUN = frozenset({SessionState.QUEUED, SessionState.RUNNING})
"""The states of sessions that somebody should be running."""

Handler = Callable[[Session, Lease], Awaitable[None]]
"""Run a session to the end of its turn; what it appends goes `under` the lease.

It is cancelled when the lease is lost. The session's state tells when it is called again: in a
state of `TO_RUN` it is, after the next start.
"""


class Dispatcher(Protocol):
    """Runs sessions on the host that owns their phone."""

    async def submit(self, session_id: str, serial: str = "") -> bool:
        """Ask for a session to be run; that it is to be is stored, as its state.

        Args:
            session_id: a session that is not settled.
            serial: the phone to run it on; empty for the one in its record.

        Returns:
            False when it was asked for already; nothing then happens a second time.

        Raises:
            UsageError: there is no such session, or it has no phone.
            WrongStateError: it is settled.
        """

    async def cancel(self, session_id: str) -> bool:
        """Stop running a session, or do not begin; returns when its handler has ended.

        Returns:
            False when nothing of it was wanted or running.
        """

    def serve(self, host: str, handler: Handler) -> AbstractAsyncContextManager[None]:
        """Run what is asked for, and first what an earlier life of this host left, for the length
        of a `with` block. Sessions whose handlers are at work at its end are left to be run again.
        """
