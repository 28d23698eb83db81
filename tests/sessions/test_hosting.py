"""Turns on phones run as the dispatcher says: one to a phone, fenced, and again after a crash.

The dispatcher's own promises are in `tests/store/conformance/`.
"""

import asyncio
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent import protocol
from agent.codex_bridge.session_object import held_by, session_object
from agent.errors import FencedError, RuntimeDiedError
from agent.loop.task_context import TaskContext, TurnEnd
from agent.records import Session, SessionState
from agent.runtime.runtime import Runtime
from agent.sessions.turns.dispatcher_host import DispatcherHost
from agent.store.dispatch.dispatcher import Handler
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.embedded.sqlite_store import SqliteStore
from agent.store.leases import Lease
from tests.fakes import PlayedTask
from tests.stage import PATIENCE_S, Cue, Stage, waiting_at

RUNNING, COMPLETED = SessionState.RUNNING, SessionState.COMPLETED


class Part:
    """A part that says when it is on, waits to be told something, and notes how that went."""

    def __init__(self) -> None:
        self.on = asyncio.Event()
        self.go = asyncio.Event()
        self.refused: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self.cut_short = asyncio.Event()

    async def __call__(self, context: TaskContext) -> TurnEnd | str:
        self.on.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cut_short.set()
            raise
        try:
            await context.emit(protocol.WarningEvent(message="still here"))
        except FencedError as error:
            self.refused.set_result(error)
            raise
        return "done"


@asynccontextmanager
async def renewing(stage: Stage, lease_ms: int) -> AsyncIterator[Runtime]:
    """Run a core whose leases are renewed three times in so many milliseconds."""
    async with SqliteStore.open(stage.directory, clock_ms=stage.clock) as stage.store:
        stage.core = await Runtime.spawn(
            stage.settings,
            store=stage.store,
            fleet=stage.fleet,
            models=stage._model,
            task=lambda: PlayedTask(stage.parts),
            dispatcher=LocalDispatcher(stage.store, lease_ms=lease_ms),
        )
        try:
            yield stage.core
        finally:
            await stage.core.close()


async def start_session(stage: Stage, part: Part) -> str:
    stage.parts["go"] = part
    session_id = await stage.create("go", serial="phone-1")
    async with asyncio.timeout(PATIENCE_S):
        await part.on.wait()
    await stage.reach(session_id, RUNNING)
    return session_id


async def overtake(stage: Stage) -> None:
    """Take the phone as another life of this host does that thinks this one dead."""
    assert await stage.store.acquire_lease("phone-1", platform.node(), 60_000) is not None


async def test_a_turn_on_a_phone_has_its_lease_and_gives_it_back(stage: Stage) -> None:
    async with stage.play():
        part = Part()
        session_id = await start_session(stage, part)
        held = await stage.store.lease("phone-1")
        assert held is not None and not held.is_free(stage.clock())
        part.go.set()
        await stage.reach(session_id, COMPLETED)
        async with asyncio.timeout(PATIENCE_S):
            while not (held := await stage.store.lease("phone-1")) or held.expires_ms:
                await asyncio.sleep(0)


async def test_a_session_that_lost_its_phone_stores_nothing_more(stage: Stage) -> None:
    async with stage.play():
        part = Part()
        session_id = await start_session(stage, part)
        await overtake(stage)
        before = await stage.store.session_events(session_id)
        part.go.set()
        async with asyncio.timeout(PATIENCE_S):
            error = await part.refused
            live = await stage.core._registry.get(session_id)
            while live.turn is not None:
                await asyncio.sleep(0)
        assert "taken over" in str(error)
        assert await stage.store.session_events(session_id) == before


async def test_a_lost_lease_stops_the_turn_before_it_does_anything(stage: Stage) -> None:
    async with renewing(stage, lease_ms=90):
        part = Part()
        session_id = await start_session(stage, part)
        before = await stage.store.session_events(session_id)
        await overtake(stage)
        async with asyncio.timeout(PATIENCE_S):
            await part.cut_short.wait()
            while stage.fleet.infos["phone-1"].driver:
                await asyncio.sleep(0)
        assert await stage.store.session_events(session_id) == before


async def test_a_session_that_lost_its_phone_is_stopped_and_resumed_by_the_operator(
    stage: Stage,
) -> None:
    async with stage.play():
        part = Part()
        session_id = await start_session(stage, part)
        await overtake(stage)
        part.go.set()
        async with asyncio.timeout(PATIENCE_S):
            await part.refused
        await stage.do(protocol.Interrupt(session_id=session_id))
        await stage.idle(session_id)
        again = Part()
        again.go.set()
        stage.parts["go"] = again
        await stage.do(protocol.SessionResume(session_id=session_id))
        await stage.reach(session_id, COMPLETED)


async def test_two_sessions_for_one_phone_take_it_in_turns_and_their_epochs_rise(
    stage: Stage,
) -> None:
    async with stage.play():
        part = Part()
        first_id = await start_session(stage, part)
        first = await stage.store.lease("phone-1")
        second_id = await stage.create("go", serial="phone-1")
        await stage.reach(second_id, SessionState.QUEUED)
        part.go.set()
        await stage.reach(first_id, COMPLETED)
        await stage.reach(second_id, COMPLETED)
        second = await stage.store.lease("phone-1")
        assert first is not None and second is not None
        assert second.epoch > first.epoch


async def test_what_a_dead_core_ran_the_next_runs_again_by_its_dispatcher(stage: Stage) -> None:
    stage.set(recovery={"auto_resume": True, "retries": 3})
    async with stage.play():
        session_id = await start_session(stage, Part())
    again = Part()
    again.go.set()
    stage.parts["go"] = again
    async with stage.play():
        await stage.reach(session_id, COMPLETED)
        events = await stage.store.session_events(session_id)
        aborted = [event for event in events if isinstance(event.msg, protocol.TurnAborted)]
        assert len(aborted) == 1
        # Nobody resumed it, and nothing says that somebody did.
        assert "by the operator" not in repr(events)


async def test_a_core_whose_store_has_a_newer_owner_dies_and_says_so(
    stage: Stage, tmp_path: Path
) -> None:
    async with SqliteStore.open(stage.directory) as store:
        core = await Runtime.spawn(
            stage.settings,
            store=store,
            fleet=stage.fleet,
            models=stage._model,
            task=lambda: PlayedTask(stage.parts),
        )
        # What a lock that does not hold, as on some network file systems, would let happen.
        (stage.directory / "lock").rename(tmp_path / "lock")
        async with SqliteStore.open(stage.directory):
            stage.core = core
            with pytest.raises((FencedError, RuntimeDiedError)):
                await stage.create("go", serial="phone-1")
            async with asyncio.timeout(PATIENCE_S):
                await core.wait_closed()
            with pytest.raises(RuntimeDiedError, match="newer owner"):
                await stage.create("go", serial="phone-1")


async def test_a_session_that_is_queued_says_who_has_its_phone(stage: Stage) -> None:
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        first = await stage.create("first", serial="phone-1")
        await cue.there()
        second = await stage.create("second", serial="phone-1")
        queued = await stage.reach(second, SessionState.QUEUED)
        devices = (await stage.core.overview()).devices
        told = session_object(queued, None, devices)
        [phone] = [info for info in devices if info.serial == "phone-1"]
        assert phone.driver
        assert told["heldBy"] == held_by(queued, devices) == phone.driver
        working = await stage.store.session(first)
        assert session_object(working, None, devices)["heldBy"] is None
        cue.go.set()
        await stage.reach(second, COMPLETED)


async def test_phones_in_use_are_those_that_somebody_drives_or_waits_for(stage: Stage) -> None:
    cue = Cue()
    stage.parts["first"] = waiting_at(cue)
    async with stage.play():
        assert await stage.core.look_up(protocol.ListPhonesInUse()) == ()
        first = await stage.create("first", serial="phone-1")
        await cue.there()
        second = await stage.create("second", serial="phone-1")
        await stage.reach(second, SessionState.QUEUED)
        [phone] = await stage.core.look_up(protocol.ListPhonesInUse())
        assert phone == protocol.PhoneInUse(
            serial="phone-1", driver=first, title="first", waiting=(second,), name=phone.name
        )
        cue.go.set()
        await stage.reach(second, COMPLETED)
        await stage.until(lambda: nobody_drives(stage), "the phone to be free")


async def nobody_drives(stage: Stage) -> bool | None:
    return await stage.core.look_up(protocol.ListPhonesInUse()) == () or None


class LeftOver:
    """A dispatcher with a run that an earlier life left: it is called just as it is cancelled.

    Args:
        session: whose run it is.
        steps: how many turns of the event loop the call has before it is cancelled.
    """

    def __init__(self, session: Session, steps: int) -> None:
        self._session = session
        self._steps = steps
        self._call: asyncio.Task[None] | None = None
        self._epoch = 0
        self._asked = 0
        self.handler: Handler | None = None

    def _give(self) -> asyncio.Task[None]:
        assert self.handler is not None, "somebody serves"
        self._epoch += 1
        lease = Lease(key="phone-1", owner="here", epoch=self._epoch, expires_ms=1)
        return asyncio.ensure_future(self.handler(self._session, lease))

    async def submit(self, session_id: str, serial: str = "") -> bool:
        self._asked += 1
        if self._asked > 1:
            self._call = self._give()
        return self._asked > 1

    async def cancel(self, session_id: str) -> bool:
        run = self._call or self._give()
        if self._call is None:
            for _ in range(self._steps):
                await asyncio.sleep(0)
        run.cancel()
        await asyncio.wait({run})
        return True

    @asynccontextmanager
    async def serve(self, host: str, handler: Handler) -> AsyncIterator[None]:
        self.handler = handler
        yield


@pytest.mark.parametrize("steps", range(4))
async def test_a_run_of_an_earlier_life_that_is_ended_as_it_gets_its_phone_loses_nothing(
    steps: int,
) -> None:
    lost: list[str] = []
    dispatcher = LeftOver(Session(session_id="s", goal="go", created_ms=1), steps)
    hosting = DispatcherHost(dispatcher, "here")

    async def nothing_to_begin(session: Session) -> None:
        return None

    async with (
        hosting.serve(nothing_to_begin),
        hosting.hold_phone("s", "phone-1", lambda: lost.append("lost")) as lease,
    ):
        assert lease.epoch == 2, "the lease of the run that was ended is not used"
        assert lost == []
    assert lost == []
