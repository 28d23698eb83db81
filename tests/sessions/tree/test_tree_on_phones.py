"""A planned tree on three virtual phones: parallel, one asks, one phone goes and comes back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from agent import protocol
from agent.core import Overview
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.errors import WrongStateError
from agent.models.pilot import Pilot
from agent.records import DeviceState, Session, SessionKind, SessionState
from agent.runtime.runtime import Runtime
from agent.settings import RecoverySettings, Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.plan import PlanTask
from agent.tasks.regular import RegularTask

BOUND_S = 90.0
GOAL = (
    'on phone 1 turn on Bluetooth; on phone 2 send "I am late" to Anna; '
    "and on phone 3 turn on the dark mode"
)


class House:
    """Three virtual phones and a core on them."""

    def __init__(self, core: Runtime, phones: VirtualPhones) -> None:
        self.core = core
        self.phones = phones
        self.client = AdbClient(phones.server.address)
        self.events: list[protocol.Event] = []
        self.came = asyncio.Condition()
        self.approves = asyncio.Event()
        self.asked: asyncio.Queue[str] = asyncio.Queue()

    async def follow(self) -> None:
        async with self.core.events(after=0) as events:
            async for event in events:
                async with self.came:
                    self.events.append(event)
                    if isinstance(event.msg, protocol.RequestUserInput):
                        self.asked.put_nowait(event.msg.question.question_id)
                    self.came.notify_all()

    async def answer(self) -> None:
        """Approve whatever is asked, once the test lets it."""
        await self.approves.wait()
        while True:
            question_id = await self.asked.get()
            # One that was closed meanwhile is nobody's.
            with suppress(WrongStateError):
                await self.core.request(
                    protocol.UserInputAnswer(question_id=question_id, answer="Approve")
                )

    async def until(self, fits: Callable[[protocol.Event], bool], what: str) -> protocol.Event:
        def found() -> protocol.Event | None:
            return next((event for event in self.events if fits(event)), None)

        try:
            async with asyncio.timeout(BOUND_S), self.came:
                await self.came.wait_for(lambda: found() is not None)
        except TimeoutError:
            tail = [f"{e.session_id} {e.msg}"[:200] for e in self.events[-25:]]
            raise AssertionError(f"waited in vain for {what}:\n" + "\n".join(tail)) from None
        event = found()
        assert event is not None
        return event

    async def overview(self) -> Overview:
        return await self.core.overview()


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        server = AdbServer(folder / "adb")
        stack.push_async_callback(server.stop)
        phones = VirtualPhones(folder / "phones", server, count=3)
        stack.push_async_callback(phones.stop)
        await phones.start()
        store = await stack.enter_async_context(SqliteStore.open(folder / "data"))
        core = await Runtime.spawn(
            Settings(
                data_dir=folder / "data",
                config_file=folder / "config.toml",
                recovery=RecoverySettings(device_grace_s=60),
            ),
            store=store,
            fleet=AdbFleet([server.address]),
            models=lambda session: Pilot(),
            task=RegularTask,
            plan=PlanTask,
        )
        stack.push_async_callback(core.close)
        made = House(core, phones)
        tasks = {asyncio.create_task(made.follow()), asyncio.create_task(made.answer())}
        try:
            yield made
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_three_phones_work_at_once_one_asks_one_goes_and_returns_and_all_completes(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as at:
        reply = await at.core.request(protocol.SessionCreate(goal=GOAL))
        parent_id = reply.session_id
        await at.until(lambda e: isinstance(e.msg, protocol.RequestUserInput), "a question")
        children = await _children(at, parent_id)
        third = at.phones.serials[2]
        dark = next(child for child in children if child.serial == third)
        await at.until(
            lambda e: (
                e.session_id == dark.session_id and isinstance(e.msg, protocol.ToolCallFinished)
            ),
            "the third phone's first deed",
        )
        await at.client.disconnect(third)
        await at.until(
            lambda e: (
                isinstance(e.msg, protocol.DeviceChanged)
                and e.msg.device.serial == third
                and e.msg.device.state is not DeviceState.ONLINE
            ),
            "the third phone to go",
        )
        await at.phones.connect()
        at.approves.set()
        await at.until(lambda e: _settled(e, parent_id), "the parent to settle")
        parent = await at.core.session(parent_id)
        children = await _children(at, parent_id)
    assert parent.state is SessionState.COMPLETED, [parent, *children]
    assert {child.kind for child in children} == {SessionKind.GENIE}
    assert len({child.serial for child in children}) == 3
    assert _began_before_any_ended(at.events, {child.session_id for child in children})


async def _children(at: House, parent_id: str) -> tuple[Session, ...]:
    sessions = (await at.overview()).sessions
    return tuple(session for session in sessions if session.parent_id == parent_id)


def _settled(event: protocol.Event, session_id: str) -> bool:
    state = getattr(event.msg, "state", None)
    return event.session_id == session_id and isinstance(state, SessionState) and state.is_terminal


def _began_before_any_ended(events: list[protocol.Event], ids: set[str]) -> bool:
    began: set[str] = set()
    for event in events:
        if event.session_id in ids and isinstance(event.msg, protocol.TaskStarted):
            began.add(event.session_id)
        if event.session_id in ids and _settled(event, event.session_id):
            break
    return began == ids
