"""The embedded dispatcher: one host, this process, over any store.

A session starts as soon as its phone is free, in order of submission. Invariants: those of
`agent.store.dispatch.dispatcher` and `agent.store.dispatch.fenced_run`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.errors import UsageError, WrongStateError
from agent.records import Session
from agent.store.dispatch.dispatcher import TO_RUN, Handler
from agent.store.dispatch.fenced_run import LEASE_MS, run_fenced
from agent.store.dispatch.gate import Gate
from agent.store.store import Store


class LocalDispatcher:
    """Runs sessions in this process.

    Args:
        store: where sessions and leases are.
        lease_ms: how long a phone stays taken when its host dies.
        gate: no run starts while it is closed; None: always open.
    """

    def __init__(self, store: Store, *, lease_ms: int = LEASE_MS, gate: Gate | None = None) -> None:
        self._gate = gate
        self._store = store
        self._lease_ms = lease_ms
        self._host = ""
        self._handler: Handler | None = None
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._awaiting: dict[str, str] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def submit(self, session_id: str, serial: str = "") -> bool:
        """Request a run of a session; see `Dispatcher.submit`."""
        session = await self._store.session(session_id)
        serial = serial or session.serial
        if not serial:
            raise UsageError(f"Session {session.session_id} has no phone to run on.")
        if session.state.is_terminal:
            raise WrongStateError(f"Session {session.session_id} is {session.state}.")
        known = session.session_id in self._runs or session.session_id in self._awaiting
        if not known and self._handler is not None:
            self._begin(session, serial, self._handler)
        elif not known:
            # It is run once somebody serves.
            self._awaiting[session.session_id] = serial
        return not known

    async def cancel(self, session_id: str) -> bool:
        """Stop running a session, or do not start; see `Dispatcher.cancel`."""
        run = self._runs.get(session_id)
        if run is None:
            return self._awaiting.pop(session_id, None) is not None
        run.cancel()
        await asyncio.wait({run})
        return True

    @asynccontextmanager
    async def serve(self, host: str, handler: Handler) -> AsyncIterator[None]:
        """Run requested sessions; see `Dispatcher.serve`."""
        if self._handler is not None:
            raise WrongStateError(f"This dispatcher serves {self._host} already.")
        self._host, self._handler = host, handler
        asked, self._awaiting = self._awaiting, {}
        try:
            left = await self._store.sessions(limit=1 << 30, active_only=True)
            for session in reversed(left):
                serial = asked.get(session.session_id, "")
                if session.host not in ("", host):
                    continue
                if serial or (session.state in TO_RUN and session.serial):
                    self._begin(session, serial or session.serial, handler)
            yield
        finally:
            self._handler = None
            runs = set(self._runs.values())
            for run in runs:
                run.cancel()
            if runs:
                await asyncio.wait(runs)

    def _begin(self, session: Session, serial: str, handler: Handler) -> None:
        name = f"session {session.session_id} on {serial}"
        run = asyncio.create_task(self._run(session, serial, handler), name=name)
        self._runs[session.session_id] = run
        run.add_done_callback(lambda _: self._runs.pop(session.session_id, None))

    async def _run(self, session: Session, serial: str, handler: Handler) -> None:
        # A lock wakes those who wait in their order; the lease keeps other hosts away.
        turn = self._turns.setdefault(serial, asyncio.Lock())
        async with turn:
            if self._gate is not None:
                await self._gate.passed()
            await run_fenced(
                self._store, self._host, session, serial, handler, lease_ms=self._lease_ms
            )
