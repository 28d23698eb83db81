"""The dispatcher of a fleet: turns in DBOS queues, one per host, fenced by leases.

The store has the facts: a session's state says whether it is to run, and a lost queue is refilled
from it. Invariants: those of `agent.store.dispatch.dispatcher` and
`agent.store.dispatch.fenced_run`; a host runs only its own queue; a turn that was moved to another
host's queue no longer runs here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.errors import StoreError, UsageError, WrongStateError
from agent.records import Session
from agent.store.dispatch.dispatcher import TO_RUN, Handler
from agent.store.dispatch.fenced_run import LEASE_MS, run_fenced
from agent.store.dispatch.gate import Gate
from agent.store.postgres.dbos_engine import Engine, running
from agent.store.store import Store

_LOOK_S = 1.0  # How long a run goes on that another host took back.
_log = logging.getLogger(__name__)


class DbosDispatcher:
    """Runs sessions in this process, and has other hosts run theirs.

    Args:
        store: where sessions and leases are.
        dsn: of the database that the queues are in; it is never told or logged.
        lease_ms: how long a phone stays taken when its host dies.
        gate: no run begins while it is closed; None: it is open.
    """

    def __init__(
        self, store: Store, dsn: str, *, lease_ms: int = LEASE_MS, gate: Gate | None = None
    ) -> None:
        self._gate = gate
        self._store = store
        self._dsn = dsn
        self._lease_ms = lease_ms
        self._host = ""
        self._handler: Handler | None = None
        self._engine: Engine | None = None
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._awaiting: dict[str, str] = {}

    async def submit(self, session_id: str, serial: str = "") -> bool:
        """Request a run of a session here; see `Dispatcher.submit`. Raises StoreError too."""
        if self._engine is not None:
            return await self.send(session_id, self._host, serial)
        session, serial = await self._checked(session_id, serial)
        known = session.session_id in self._awaiting
        self._awaiting.setdefault(session.session_id, serial)
        return not known

    async def send(self, session_id: str, host: str, serial: str = "") -> bool:
        """Ask for a session to be run on a host.

        Args:
            session_id: a session that is not settled.
            host: a host of the fleet; it begins when it serves.
            serial: its phone there; empty for the one in its record.

        Returns:
            False when it was asked for already, on whichever host.

        Raises:
            UsageError: there is no such session, or it has no phone.
            WrongStateError: it is settled, or this dispatcher does not serve.
            StoreError: the queue cannot be reached.
        """
        session, serial = await self._checked(session_id, serial)
        if self._engine is None:
            raise WrongStateError("This dispatcher does not serve.", "Send only while it serves.")
        return await self._engine.ask(session.session_id, serial, host)

    async def cancel(self, session_id: str) -> bool:
        """Stop running a session, or do not start; see `Dispatcher.cancel`. Raises StoreError too.

        A run on another host ends within a second or two; this waits for its lease.
        """
        was_awaited = self._awaiting.pop(session_id, None) is not None
        run = self._runs.get(session_id)
        if run is not None:
            run.cancel()
            await asyncio.wait({run})
        if self._engine is None:
            return was_awaited or run is not None
        host = await self._engine.withdraw(session_id)
        if host is not None and host != self._host:
            await self._ended_at(host, session_id)
        return host is not None or run is not None

    async def move(self, session_id: str, host: str, serial: str = "") -> None:
        """Move a session to another host, stopping its current run first. See `send`."""
        await self._checked(session_id, serial)
        await self.cancel(session_id)
        await self.send(session_id, host, serial)

    @asynccontextmanager
    async def serve(self, host: str, handler: Handler) -> AsyncIterator[None]:
        """Run requested sessions; see `Dispatcher.serve`. Raises StoreError too."""
        if self._handler is not None:
            raise WrongStateError(f"This dispatcher serves {self._host} already.")
        self._host, self._handler = host, handler
        try:
            async with running(self._dsn, host, self._turn) as engine:
                self._engine = engine
                looking = asyncio.create_task(self._look(engine), name="turns taken back")
                try:
                    await self._take_up(engine)
                    yield
                finally:
                    self._engine = self._handler = None
                    runs = {looking, *self._runs.values()}
                    for run in runs:
                        run.cancel()
                    await asyncio.wait(runs)
        finally:
            self._engine = self._handler = None

    async def _checked(self, session_id: str, serial: str) -> tuple[Session, str]:
        session = await self._store.session(session_id)
        serial = serial or session.serial
        if not serial:
            raise UsageError(f"Session {session.session_id} has no phone to run on.")
        if session.state.is_terminal:
            raise WrongStateError(f"Session {session.session_id} is {session.state}.")
        return session, serial

    async def _take_up(self, engine: Engine) -> None:
        """Request the sessions that the store says are to run and that no other host has queued."""
        asked, self._awaiting = self._awaiting, {}
        left = await self._store.sessions(limit=1 << 30, active_only=True)
        for session in reversed(left):
            serial = asked.get(session.session_id, "")
            if session.host not in ("", self._host):
                continue
            if not serial and (session.state not in TO_RUN or not session.serial):
                continue
            newest = await engine.newest(session.session_id)
            if serial or newest is None or newest.host == self._host:
                await engine.ask(session.session_id, serial or session.serial, self._host)

    async def _turn(self, session_id: str, serial: str) -> None:
        """Run a turn from DBOS on this host; returns when its handler has ended."""
        if (before := self._runs.get(session_id)) is not None:
            # A delivery that came twice: the row was put back while this run went on.
            await asyncio.wait({before})
        handler = self._handler
        if handler is None:
            return
        session = await self._store.session(session_id)
        if session.state.is_terminal:
            return
        name = f"session {session_id} on {serial}"
        run = asyncio.create_task(self._run(session, serial, handler), name=name)
        self._runs[session_id] = run
        try:
            await asyncio.wait({run})
        finally:
            run.cancel()
            if self._runs.get(session_id) is run:
                del self._runs[session_id]
        if not run.cancelled() and (error := run.exception()) is not None:
            _log.error("Session %s broke: %s", session_id, error, exc_info=error)

    async def _run(self, session: Session, serial: str, handler: Handler) -> None:
        if self._gate is not None:
            await self._gate.passed()
        await run_fenced(self._store, self._host, session, serial, handler, lease_ms=self._lease_ms)

    async def _ended_at(self, host: str, session_id: str) -> None:
        """Wait until another host has released the session's phone, or is dead."""
        serial = (await self._store.session(session_id)).serial
        while serial:
            lease = await self._store.lease(serial)
            if lease is None or lease.owner != host or lease.expires_ms == 0:
                return
            taken = await self._store.acquire_lease(serial, self._host, self._lease_ms)
            if taken is not None:
                # It ran out: taking it is what keeps the other from writing any more.
                await self._store.release_lease(taken)
                return
            await asyncio.sleep(_LOOK_S / 4)

    async def _look(self, engine: Engine) -> None:
        """Stop the runs that another host withdrew."""
        while True:
            await asyncio.sleep(_LOOK_S)
            runs = dict(self._runs)
            if not runs:
                continue
            try:
                taken = await engine.withdrawn(list(runs), self._host)
            except StoreError as error:
                _log.warning("%s", error)
                continue
            for session_id in taken:
                if self._runs.get(session_id) is runs[session_id]:
                    runs[session_id].cancel()
