"""A core on a stage: the real runtime and store, with a played task and a fleet that tests move."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from agent import protocol
from agent.loop.task_context import SessionTask, TaskContext
from agent.models.model import Model
from agent.models.verifying import Verifying
from agent.records import Session, SessionState
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.delegation import Delegation
from tests.fakes import FakeFleet, FakeModel, Part, PlayedTask

T = TypeVar("T")

PATIENCE_S = 30.0  # How long a test waits for what must come; only a failing test waits so long.


class Stage:
    """One data directory, and the cores that live on it one after the other."""

    def __init__(self, directory: Path, fleet: FakeFleet) -> None:
        self.directory = directory
        self.fleet = fleet
        self.parts: dict[str, Part] = {}
        self.now_ms: int | None = None
        # Sessions stay where a loss leaves them, for tests to see; recovery has tests of its own.
        self.settings = Settings(
            data_dir=directory,
            config_file=directory / "config.toml",
            recovery=RecoverySettings(auto_resume=False, retries=0),
        )
        self.make_model: Callable[[Session], Model] = lambda session: FakeModel(session.model)
        self.models: list[Model] = []
        self.plan: Callable[[Delegation], SessionTask] | None = None
        self.verifies = False  # Whether each session's model is its verifier, too.
        self.store: SqliteStore
        self.core: Runtime

    def clock(self) -> int:
        return time.time_ns() // 1_000_000 if self.now_ms is None else self.now_ms

    def set(self, **sections: dict[str, object]) -> None:
        """Change settings of the next core, by section."""
        for name, values in sections.items():
            section = msgspec.structs.replace(getattr(self.settings, name), **values)
            self.settings = msgspec.structs.replace(self.settings, **{name: section})

    @asynccontextmanager
    async def play(self) -> "AsyncIterator[Stage]":
        """Run a core for the length of the block; its turns in flight are left as a crash would."""
        async with SqliteStore.open(self.directory, clock_ms=self.clock) as self.store:
            self.core = await Runtime.spawn(
                self.settings,
                store=self.store,
                fleet=self.fleet,
                models=self._model,
                task=lambda: PlayedTask(self.parts),
                plan=self.plan,
                clock=self.clock,
                verifiers=self._verifying,
            )
            try:
                yield self
            finally:
                await self.core.close()

    def _model(self, session: Session) -> Model:
        model = self.make_model(session)
        self.models.append(model)
        return model

    def _verifying(self, model: Model, session: Session) -> Verifying:
        return Verifying(model=model, is_same=True) if self.verifies else Verifying()

    async def do(self, op: protocol.Op) -> protocol.Reply:
        async with asyncio.timeout(PATIENCE_S):
            return await self.core.request(op)

    async def create(
        self,
        goal: str,
        *objectives: str,
        serial: str = "",
        start: bool = True,
        needs: str = "",
        account: str = "",
    ) -> str:
        """Create a session, with a child for each objective; returns its id."""
        targets = tuple(protocol.Target(objective=objective) for objective in objectives)
        op = protocol.SessionCreate(
            goal=goal,
            targets=targets,
            serial=serial,
            start=start,
            phone_needs=needs,
            account=account,
        )
        return (await self.do(op)).session_id

    async def reach(self, session_id: str, *states: SessionState) -> Session:
        """Wait until a session is in one of the states."""

        async def there() -> Session | None:
            session = await self.store.session(session_id)
            return session if session.state in states else None

        session = await self.until(there, f"{session_id} to become {' or '.join(states)}")
        await self._told()
        return session

    async def idle(self, session_id: str) -> Session:
        """Wait until a session waits for the operator with no turn open."""

        async def there() -> Session | None:
            session = await self.store.session(session_id)
            waiting = session.state is SessionState.WAITING_FOR_USER and not session.turn_id
            return session if waiting else None

        session = await self.until(there, f"{session_id} to become idle")
        await self._told()
        return session

    async def _told(self) -> None:
        """Wait until the core has taken in what the store has: its rows run ahead of it."""
        await self.core.overview()

    async def until(self, found: Callable[[], Awaitable[T | None]], what: str) -> T:
        """Wait until something is found, looking again after every event."""
        try:
            async with asyncio.timeout(PATIENCE_S), self.core.events() as events:
                while True:
                    seen = await found()
                    if seen is not None:
                        return seen
                    await anext(events)
        except TimeoutError:
            raise AssertionError(f"waited in vain for {what}") from None

    async def msgs(self, session_id: str) -> list[object]:
        return [event.msg for event in await self.store.session_events(session_id)]

    async def all_events(self) -> tuple[protocol.Event, ...]:
        return await self.store.events(after=0, limit=100_000)


class Cue:
    """A place where a played task waits until the test lets it go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self.go.wait()

    async def there(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.reached.wait()


def of_type(msgs: list[object], kind: type[T]) -> list[T]:
    return [msg for msg in msgs if isinstance(msg, kind)]


def ends(msgs: list[object]) -> list[object]:
    return [msg for msg in msgs if isinstance(msg, protocol.TaskComplete | protocol.TurnAborted)]


def states(msgs: list[object]) -> list[SessionState]:
    return [msg.state for msg in of_type(msgs, protocol.SessionStateChanged)]


def waiting_at(cue: Cue, then: str = "done") -> Part:
    async def part(context: TaskContext) -> str:
        await cue.wait()
        return then

    return part
