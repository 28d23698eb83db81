"""Phones whose UI dump never ends: what waits for it is held for a bounded time, and says why."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.protocols import TREE_TIMEOUT_S
from agent.devices.trees.circuit_breaker import FAIR_S, FIRST_REST_S, LONGEST_REST_S, CircuitBreaker
from agent.errors import TreeUnavailableError
from agent.models.pilot import Pilot
from agent.protocol import Interrupt, ObservationRecorded, SessionCreate, StepStarted
from agent.records import SessionState
from agent.runtime.runtime import Runtime
from agent.settings import Settings
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tasks.regular import RegularTask
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

LOADED_S = 10.0  # What a loaded machine may add.


@dataclass
class Bench:
    """A virtual phone with a core on it."""

    host: PhoneHost
    fleet: AdbFleet
    core: Runtime
    store: SqliteStore
    serial: str

    def hang(self) -> None:
        self.host.fault(self.serial, FaultKind.HUNG_DUMP, value=0.0)

    def mend(self) -> None:
        self.host.served(self.serial).userland.faults.clear()


@pytest.fixture
async def bench(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[Bench]:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        await fleet.wait_for(serial, timeout_s=30)
        async with SqliteStore.open(tmp_path / "data") as store:
            core = await Runtime.spawn(
                Settings(data_dir=tmp_path / "data", config_file=tmp_path / "config.toml"),
                store=store,
                fleet=fleet,
                models=lambda _: Pilot(),
                task=RegularTask,
            )
            yield Bench(host, fleet, core, store, serial)
            await core.close()
        await client.disconnect(serial)


@pytest.mark.slow
async def test_a_hung_dump_is_waited_for_once_and_then_rests(bench: Bench) -> None:
    device = await bench.fleet.device(bench.serial)
    bench.hang()
    began = time.monotonic()
    with pytest.raises(TreeUnavailableError, match="did not finish within"):
        await device.tree()
    assert time.monotonic() - began < TREE_TIMEOUT_S + LOADED_S
    with pytest.raises(TreeUnavailableError, match="retrying in"):
        await device.tree()


@pytest.mark.slow
async def test_a_session_goes_on_without_the_tree_and_its_step_says_why(bench: Bench) -> None:
    bench.hang()
    op = SessionCreate(goal="turn on Bluetooth", serial=bench.serial)
    (session_id,) = {(await bench.core.request(op)).session_id}
    async with asyncio.timeout(60), bench.core.events(after=0) as events:
        async for event in events:
            if isinstance(event.msg, ObservationRecorded):
                seen = event.msg.observation
                break
    assert "uiautomator did not finish" in seen.tree_note
    assert seen.frame is not None
    await bench.core.request(Interrupt(session_id=session_id))


async def test_a_stop_does_not_wait_for_a_hung_dump(bench: Bench) -> None:
    bench.hang()
    op = SessionCreate(goal="turn on Bluetooth", serial=bench.serial)
    session_id = (await bench.core.request(op)).session_id
    async with asyncio.timeout(60), bench.core.events(after=0) as events:
        async for event in events:
            if isinstance(event.msg, StepStarted):
                break
    began = time.monotonic()
    await bench.core.request(Interrupt(session_id=session_id))
    assert time.monotonic() - began < TREE_TIMEOUT_S / 2
    assert (await bench.store.session(session_id)).state is SessionState.WAITING_FOR_USER


def test_a_rest_grows_with_each_failure_and_ends_with_a_success() -> None:
    now_s = 100.0
    rest = CircuitBreaker(lambda: now_s)
    assert rest.left_s == 0.0
    waited: list[float] = []
    for _ in range(10):
        rest.begin("it hung")
        waited.append(rest.left_s)
        now_s += rest.left_s
        assert rest.left_s == 0.0
    assert waited[:3] == [FIRST_REST_S, 2 * FIRST_REST_S, 4 * FIRST_REST_S]
    assert waited[-1] == LONGEST_REST_S
    rest.end()
    assert (rest.why, rest.left_s) == ("", 0.0)
    rest.begin("again")
    assert rest.left_s == FIRST_REST_S


async def test_a_dump_that_was_cut_short_by_an_impatient_caller_does_not_rest(bench: Bench) -> None:
    device = await bench.fleet.device(bench.serial)
    bench.hang()
    with pytest.raises(TreeUnavailableError, match="did not finish"):
        await device.tree(timeout_s=FAIR_S / 5)
    bench.mend()
    device_again = await bench.fleet.device(bench.serial)
    async with asyncio.timeout(30):
        while True:
            try:
                assert (await device_again.tree()).nodes
            except TreeUnavailableError as error:
                assert "retrying" not in error.message
            else:
                break
