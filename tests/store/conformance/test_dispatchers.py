"""What every dispatcher promises, over every store."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pytest

from agent import protocol
from agent.errors import FencedError, UsageError, WrongStateError
from agent.records import Session, SessionState
from agent.store.dispatch.dispatcher import Dispatcher
from agent.store.dispatch.gate import Gate
from agent.store.dispatch.local_dispatcher import LocalDispatcher
from agent.store.leases import Lease
from agent.store.store import EventDraft, Store
from tests.store.conformance.stores import Clock, Opener
from tests.store.conftest import step_draft

PATIENCE_S = 30.0
_MARKS = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]
PAIRS = (
    "sqlite-local",
    "memory-local",
    pytest.param("postgres-local", marks=_MARKS),
    pytest.param("postgres-dbos", marks=_MARKS),
)
RUNNING, COMPLETED = SessionState.RUNNING, SessionState.COMPLETED


class Runs:
    """A handler that says what it runs, and ends when the test says so."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.at_work: list[str] = []
        self.begun: list[str] = []
        self.most_at_once: dict[str, int] = {}
        self.leases: list[Lease] = []
        self.go = asyncio.Event()
        self.changed = asyncio.Event()

    async def __call__(self, session: Session, lease: Lease) -> None:
        self.begun.append(session.session_id)
        self.leases.append(lease)
        self.at_work.append(session.serial)
        self.most_at_once[session.serial] = max(
            self.most_at_once.get(session.serial, 0), self.at_work.count(session.serial)
        )
        self.changed.set()
        try:
            await self.go.wait()
            done = EventDraft(session.session_id, protocol.SessionStateChanged(state=COMPLETED))
            await self.store.append(done, under=lease)
        finally:
            self.at_work.remove(session.serial)
            self.changed.set()

    async def until(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not wanted():
                self.changed.clear()
                await self.changed.wait()


Maker: TypeAlias = Callable[..., Dispatcher]
"""Makes a dispatcher over a store; `lease_ms` says how long its leases last."""


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A store and a dispatcher that belong together."""
    store, _, dispatcher = str(request.param).partition("-")
    return store, dispatcher


@pytest.fixture
def kind(pair: tuple[str, str]) -> str:
    return pair[0]


@pytest.fixture
def dispatcher_over(pair: tuple[str, str], place: str) -> Maker:
    if pair[1] == "local":
        return LocalDispatcher
    pytest.importorskip("dbos", reason="the extra fleet is not installed")
    from agent.store.postgres.dbos_dispatcher import DbosDispatcher

    return lambda store, **how: DbosDispatcher(store, place, **how)


async def queued(store: Store, session_id: str, serial: str = "phone-1") -> None:
    session = Session(session_id=session_id, goal="g", created_ms=1, serial=serial)
    await store.append(
        EventDraft(session_id, protocol.SessionConfigured(session=session)),
        EventDraft(session_id, protocol.SessionStateChanged(state=SessionState.QUEUED)),
    )


async def completed(store: Store, *session_ids: str) -> None:
    """Wait until sessions are completed."""
    news = asyncio.Event()
    end = store.subscribe(lambda _: news.set())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                states = [(await store.session(one)).state for one in session_ids]
                if all(state is COMPLETED for state in states):
                    return
                await news.wait()
                news.clear()
    finally:
        end()


async def test_a_phone_runs_one_session_at_a_time_and_phones_run_side_by_side(
    store: Store, dispatcher_over: Maker
) -> None:
    runs, dispatcher = Runs(store), dispatcher_over(store)
    names = [f"s{number}" for number in range(6)]
    for number, name in enumerate(names):
        await queued(store, name, f"phone-{number % 2}")
    async with dispatcher.serve("host", runs):
        await runs.until(lambda: len(runs.at_work) == 2)
        runs.go.set()
        await completed(store, *names)
    assert runs.most_at_once == {"phone-0": 1, "phone-1": 1}
    assert sorted(runs.begun) == names


async def test_a_session_that_is_submitted_twice_is_run_once(
    store: Store, dispatcher_over: Maker
) -> None:
    runs, dispatcher = Runs(store), dispatcher_over(store)
    async with dispatcher.serve("host", runs):
        await queued(store, "s1")
        assert [await dispatcher.submit("s1") for _ in range(3)] == [True, False, False]
        await runs.until(lambda: bool(runs.begun))
        runs.go.set()
        await completed(store, "s1")
        assert runs.begun == ["s1"]
        with pytest.raises(WrongStateError):
            await dispatcher.submit("s1")
    with pytest.raises(UsageError):
        await dispatcher.submit("nobody")


async def test_what_a_dead_host_ran_is_run_again_and_its_late_writes_are_refused(
    opener: Opener, dispatcher_over: Maker
) -> None:
    async with opener() as store:
        runs = Runs(store)
        await queued(store, "s1")
        async with dispatcher_over(store).serve("host", runs):
            await runs.until(lambda: bool(runs.begun))
            await store.append(
                EventDraft("s1", protocol.SessionStateChanged(state=RUNNING)), under=runs.leases[0]
            )
    async with opener() as store:
        again = Runs(store)
        again.go.set()
        async with dispatcher_over(store).serve("host", again):
            await completed(store, "s1")
        assert again.begun == ["s1"]
        with pytest.raises(FencedError):
            await store.append(step_draft("s1", 9), under=runs.leases[0])


async def test_a_host_that_lost_its_lease_stops_and_stores_nothing_more(
    store: Store, clock: Clock, dispatcher_over: Maker
) -> None:
    dispatcher = dispatcher_over(store, lease_ms=150)
    runs = Runs(store)
    await queued(store, "s1")
    async with dispatcher.serve("host", runs):
        await runs.until(lambda: bool(runs.begun))
        clock.now_ms += 60_000
        other = await store.acquire_lease("phone-1", "another host", 60_000)
        assert other is not None
        await runs.until(lambda: not runs.at_work)
        runs.go.set()
    assert (await store.session("s1")).state is SessionState.QUEUED


async def test_a_cancelled_session_is_stopped_and_its_phone_is_free(
    store: Store, dispatcher_over: Maker
) -> None:
    runs, dispatcher = Runs(store), dispatcher_over(store)
    async with dispatcher.serve("host", runs):
        await queued(store, "s1")
        await queued(store, "s2")
        await dispatcher.submit("s1")
        await dispatcher.submit("s2")
        await runs.until(lambda: runs.begun == ["s1"])
        assert await dispatcher.cancel("s1")
        assert not await dispatcher.cancel("s1")
        await runs.until(lambda: runs.begun == ["s1", "s2"])
        runs.go.set()
        await completed(store, "s2")
    assert (await store.session("s1")).state is SessionState.QUEUED


async def test_a_host_that_drains_ends_what_it_runs_and_begins_nothing(
    store: Store, dispatcher_over: Maker
) -> None:
    gate = Gate()
    runs, dispatcher = Runs(store), dispatcher_over(store, gate=gate)
    async with dispatcher.serve("host", runs):
        await queued(store, "s1", "phone-1")
        await dispatcher.submit("s1")
        await runs.until(lambda: runs.begun == ["s1"])
        gate.set(is_open=False)
        await queued(store, "s2", "phone-2")
        await dispatcher.submit("s2")
        runs.go.set()
        await completed(store, "s1")
        await runs.until(lambda: not runs.at_work)
        assert runs.begun == ["s1"]
        gate.set(is_open=True)
        await completed(store, "s2")
