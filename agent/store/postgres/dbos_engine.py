"""DBOS as the queue of a fleet's turns: the only importer of dbos and of SQLAlchemy.

A lease decides who may drive a phone. DBOS's rows say which turn waits or runs on which host; the
store has the facts, and rows can be lost. Invariants: one engine per process, as in DBOS; logs
never quote DBOS or the driver, since their messages contain SQL and addresses; a call never blocks
the loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import dbos
import psycopg
import sqlalchemy
from dbos import DBOS

from agent.errors import StoreError, WrongStateError

SCHEMA = "switchboard_turns"
"""The schema of DBOS's tables, beside the store's."""
POLL_S = 0.25
_POOL = 4
_VERSION = "1"
"""Not Switchboard's: what a turn did is in the store's log, and DBOS has none of its steps."""
_TURN = "turn"
_ACTIVE = ["ENQUEUED", "PENDING", "DELAYED"]
_LIBRARY = "dbos"
_SILENT_S = 60.0
_log = logging.getLogger(__name__)
_T = TypeVar("_T")

Turn = Callable[[str, str], Awaitable[None]]
"""Run a session on a phone, by their names."""


class Queued:
    """A session's newest requested turn."""

    def __init__(self, turn_id: str, queue: str, *, is_active: bool) -> None:
        self.turn_id = turn_id
        self.host = queue.removeprefix("host ")
        self.is_active = is_active


class Engine:
    """Turns of sessions: a queue for each host, a partition for each phone; see `running`."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads

    async def ask(self, session_id: str, serial: str, host: str) -> bool:
        """Request a turn on a host; False if one is requested already. Raises StoreError."""
        return await self._call(partial(self._ask, session_id, serial, host))

    async def newest(self, session_id: str) -> Queued | None:
        """Look up the newest turn of a session. Raises StoreError."""
        return await self._call(partial(_newest, session_id))

    async def withdraw(self, session_id: str) -> str | None:
        """Withdraw a session's requested turn.

        Returns:
            The host that was to run it; None if none was requested.

        Raises:
            StoreError: the queue is not available.
        """
        return await self._call(partial(_withdraw, session_id))

    async def withdrawn(self, session_ids: list[str], host: str) -> list[str]:
        """List the sessions whose turns a host is no longer to run. Raises StoreError."""
        return await self._call(partial(_withdrawn, session_ids, host))

    def _ask(self, session_id: str, serial: str, host: str) -> bool:
        found = _turns(session_id)
        if found and found[0].is_active:
            return False
        number = _number(found[0].turn_id) + 1 if found else 1
        options: dbos.EnqueueOptions = {
            "workflow_name": _TURN,
            "queue_name": _queue(host),
            "workflow_id": f"{session_id}/{number}",
            "workflow_id_reuse_policy": "reject",
            "queue_partition_key": serial,
            "app_version": _VERSION,
        }
        try:
            DBOS.enqueue_workflow_with_options(options, session_id, serial)
        except dbos.error.DBOSWorkflowIDInUseError:
            # Somebody else asked in the same moment.
            return False
        if len(found) > 1:
            DBOS.delete_workflows([one.turn_id for one in found[1:]])
        return True

    async def _call(self, function: Callable[[], _T]) -> _T:
        # Not `to_thread`: what a turn calls would be taken for a part of its workflow.
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        except (dbos.error.DBOSException, sqlalchemy.exc.SQLAlchemyError, psycopg.Error) as error:
            raise StoreError(
                f"The queue of turns could not be asked ({type(error).__name__}).",
                "Check that PostgreSQL runs and can be reached.",
            ) from None


@asynccontextmanager
async def running(dsn: str, host: str, turn: Turn) -> AsyncIterator[Engine]:
    """Run the turns that are asked for on a host, for the length of a `with` block.

    Args:
        dsn: of the database; it is never told or logged.
        host: the name of this computer in the fleet, also across restarts: what its earlier life
            ran is run again.
        turn: called in the loop of the caller.

    Raises:
        StoreError: the database cannot be reached.
        WrongStateError: an engine runs in this process already.
    """
    _silence()
    loop = asyncio.get_running_loop()
    threads = ThreadPoolExecutor(3, thread_name_prefix="turns")
    engine = Engine(threads)
    try:
        await engine._call(partial(_launch, dsn, host, loop, turn))
        try:
            yield engine
        finally:
            await loop.run_in_executor(threads, partial(DBOS.destroy, destroy_registry=True))
    finally:
        threads.shutdown(wait=False)


def _launch(dsn: str, host: str, loop: asyncio.AbstractEventLoop, turn: Turn) -> None:
    """Start DBOS in a thread without a loop, so that it creates its own."""
    if dbos._dbos._dbos_global_instance is not None:
        raise WrongStateError("A dispatcher runs turns in this process already.")

    def connect() -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(dsn, application_name="switchboard turns", connect_timeout=5)
        except psycopg.Error:
            # What libpq says quotes the address. These words are what DBOS tries again after.
            raise psycopg.OperationalError("connection failed") from None

    pool = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=connect,
        pool_size=_POOL,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
    )
    DBOS(
        config={
            "name": "switchboard",
            "application_version": _VERSION,
            "executor_id": host,
            "system_database_engine": pool,
            "dbos_system_schema": SCHEMA,
            "use_listen_notify": False,
            "log_level": "WARNING",
        }
    )

    async def run(session_id: str, serial: str) -> None:
        await asyncio.wrap_future(_crossed(loop, partial(turn, session_id, serial)))

    DBOS.workflow(name=_TURN, max_recovery_attempts=None)(run)
    try:
        # With none to listen to before the launch, it would take up those of every host.
        DBOS.listen_queues([_queue(host)])
        DBOS.launch()
        DBOS.register_queue(
            _queue(host),
            partition_concurrency=1,
            polling_interval_sec=POLL_S,
            on_conflict="always_update",
        )
    except BaseException:
        DBOS.destroy(destroy_registry=True)
        raise


def _crossed(loop: asyncio.AbstractEventLoop, begin: Callable[[], Awaitable[None]]) -> Future[None]:
    """Run something in another loop, without this context, so that its calls are not workflow
    steps.
    """
    crossed: Future[None] = Future()

    async def run() -> None:
        try:
            await begin()
        except BaseException as error:
            if not crossed.done():
                crossed.set_exception(error)
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            if not crossed.done():
                crossed.set_result(None)

    def start() -> None:
        task = loop.create_task(run(), name="turn")
        _kept.add(task)
        task.add_done_callback(_kept.discard)

    loop.call_soon_threadsafe(start, context=contextvars.Context())
    return crossed


_kept: set[asyncio.Task[None]] = set()


def _queue(host: str) -> str:
    return f"host {host}"


def _number(turn_id: str) -> int:
    return int(turn_id.rpartition("/")[2])


def _turns(session_id: str) -> list[Queued]:
    """List a session's known turns, newest first."""
    rows = DBOS.list_workflows(
        workflow_id_prefix=f"{session_id}/", load_input=False, load_output=False
    )
    found = [
        Queued(row.workflow_id, row.queue_name or "", is_active=row.status in _ACTIVE)
        for row in rows
    ]
    return sorted(found, key=lambda one: _number(one.turn_id), reverse=True)


def _newest(session_id: str) -> Queued | None:
    return next(iter(_turns(session_id)), None)


def _withdraw(session_id: str) -> str | None:
    active = [one for one in _turns(session_id) if one.is_active]
    if not active:
        return None
    DBOS.cancel_workflows([one.turn_id for one in active])
    return active[0].host


def _withdrawn(session_ids: list[str], host: str) -> list[str]:
    found = ((one, _newest(one)) for one in session_ids)
    return [one for one, turn in found if turn and not (turn.is_active and turn.host == host)]


class _Plain(logging.Handler):
    """Log that DBOS logged something, and where, without its text, which contains SQL and
    addresses. Each place is logged once a minute, because they repeat while the server is away.
    """

    def __init__(self) -> None:
        super().__init__()
        self._next_s: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        place = f"{record.module}.{record.funcName}"
        if record.created < self._next_s.get(place, 0):
            return
        self._next_s[place] = record.created + _SILENT_S
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        _log.log(record.levelno, "The queue of turns: %s%s", place, f" ({error})" if error else "")


def _silence() -> None:
    """Remove the library's own terminal output, before it starts."""
    library = logging.getLogger(_LIBRARY)
    if not any(isinstance(one, _Plain) for one in library.handlers):
        library.handlers = [_Plain()]
        library.propagate = False
