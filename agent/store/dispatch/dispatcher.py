"""Define the Dispatcher protocol: run sessions on their phone's host, also after a crash.

The handler does the work. There is no separate queue: a session's stored state says whether it is
to run. Invariants of every implementation: at most one handler works per phone; its writes are
fenced by its lease, so a duplicate delivery is harmless; a session whose host died runs again, from
its stored events. The core's handler is `agent.sessions.turns.dispatcher_host`, which runs each
turn on a phone under its lease.
"""

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
        """Request a run of a session, whose state already says that it is to run.

        Args:
            session_id: a session that is not settled.
            serial: the phone to run it on; empty for the one in its record.

        Returns:
            False if it was requested already; the call then has no effect.

        Raises:
            UsageError: there is no such session, or it has no phone.
            WrongStateError: it is settled.
        """

    async def cancel(self, session_id: str) -> bool:
        """Stop running a session, or do not start; returns when its handler has ended.

        Returns:
            False if it was neither requested nor running.
        """

    def serve(self, host: str, handler: Handler) -> AbstractAsyncContextManager[None]:
        """Run requested sessions, first those left by this host's previous process, for the
        length of a `with` block. Sessions still running at its end will run again.
        """
