"""A pool of phones: nobody shares one, nobody waits for ever, and a dead one is replaced."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer
from agent.devices.pool.allocation import (
    EntryState,
    PoolAllocation,
    PoolClosedError,
    PooledPhone,
    PoolEmptyError,
)
from agent.devices.pool.emulator_entries import EmulatorEntry, find_emulator
from agent.devices.pool.entries import PhoneAt, RealEntry
from agent.devices.pool.pool import PhonePool
from agent.devices.pool.pool_setup import make_pool
from agent.devices.pool.virtual_entries import VirtualEntry, VirtualFarm
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError, UsageError
from agent.settings import PoolSettings

BOUND_S = 30.0
NO_SERVER = ServerAddress("127.0.0.1", 1)


class PaperEntry:
    """A place with a phone of paper, which can be told to die."""

    def __init__(self, number: int, *tags: str) -> None:
        self.number = number
        self.tags = frozenset(tags)
        self.is_dead = False
        self.resets = 0
        self.life = 0
        self.stopped = False

    async def start(self) -> PhoneAt:
        return PhoneAt(f"paper-{self.number}-{self.life}", NO_SERVER)

    async def reset(self) -> None:
        await self.check()
        self.resets += 1

    async def check(self) -> None:
        if self.is_dead:
            raise DeviceError("It is dead.", "")

    async def replace(self) -> PhoneAt:
        self.is_dead = False
        self.life += 1
        return await self.start()

    async def stop(self) -> None:
        self.stopped = True


def until(claim: Callable[[], bool]) -> None:
    """Wait for a claim to become true."""
    deadline = time.monotonic() + BOUND_S
    while not claim():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.002)


@pytest.fixture
def entries() -> list[PaperEntry]:
    return [PaperEntry(number, "paper") for number in range(5)]


@pytest.fixture
def pool(entries: list[PaperEntry]) -> Iterator[PhonePool]:
    with PhonePool(entries, check_interval_s=0.05) as pool:
        yield pool


def test_contracts_7_pool_64_threads_and_5_devices_share_none(pool: PhonePool) -> None:
    holders: dict[str, int] = {}
    shared: list[str] = []
    guard = threading.Lock()

    def work(_: int) -> None:
        for _ in range(5):
            phone = pool.get(BOUND_S)
            with guard:
                holders[phone.serial] = holders.get(phone.serial, 0) + 1
                if holders[phone.serial] > 1:
                    shared.append(phone.serial)
            with guard:
                holders[phone.serial] -= 1
            pool.put(phone)

    with ThreadPoolExecutor(64) as workers:
        list(workers.map(work, range(64)))
    assert shared == []
    until(lambda: pool.stats().free == 5)
    stats = pool.stats()
    assert (stats.gets, stats.puts, stats.resets) == (320, 320, 320)


def test_contracts_7_pool_get_after_close_is_an_error(entries: list[PaperEntry]) -> None:
    pool = PhonePool(entries).open()
    pool.close()
    pool.close()
    with pytest.raises(PoolClosedError):
        pool.get()
    with pytest.raises(RuntimeError):
        pool.get(0.1)
    assert all(entry.stopped for entry in entries)


def test_contracts_7_pool_a_waiter_at_close_gets_an_error_and_never_hangs(
    entries: list[PaperEntry],
) -> None:
    pool = PhonePool(entries[:1]).open()
    pool.get()

    async def wait() -> None:
        await pool.get_async()

    with ThreadPoolExecutor(2) as workers:
        blocked = workers.submit(pool.get)
        awaiting = workers.submit(asyncio.run, wait())
        until(lambda: pool.stats().waiting == 2)
        pool.close()
        for waiter in (blocked, awaiting):
            with pytest.raises(PoolClosedError):
                waiter.result(BOUND_S)


def test_contracts_7_pool_a_double_put_is_an_error(pool: PhonePool) -> None:
    phone = pool.get()
    pool.put(phone)
    with pytest.raises(UsageError, match="Return each phone once"):
        pool.put(phone)
    until(lambda: pool.stats().free == 5)
    with pytest.raises(UsageError):
        pool.put(phone)
    with pytest.raises(UsageError):
        pool.put(PooledPhone("stranger", "", frozenset(), 99, 1))


def test_contracts_7_pool_a_dead_device_is_replaced(
    pool: PhonePool, entries: list[PaperEntry]
) -> None:
    phone = pool.get()
    entries[phone.entry].is_dead = True
    pool.put(phone)
    until(lambda: pool.stats().free == 5)
    assert pool.stats().replaced == 1
    assert entries[phone.entry].life == 1


def test_a_free_phone_that_dies_is_replaced_before_anybody_takes_it(
    pool: PhonePool, entries: list[PaperEntry]
) -> None:
    entries[3].is_dead = True
    until(lambda: entries[3].life == 1 and pool.stats().free == 5)
    serials = {pool.get().serial for _ in range(5)}
    assert "paper-3-1" in serials


def test_an_exhausted_pool_says_so_in_time(pool: PhonePool) -> None:
    for _ in range(5):
        pool.get()
    with pytest.raises(PoolEmptyError, match="No phone came free"):
        pool.get(0.01)
    with pytest.raises(queue.Empty):
        asyncio.run(pool.get_async(0.01))
    assert pool.stats().waiting == 0


def test_tags_choose_the_phone_and_nobody_waits_for_tags_that_no_phone_has() -> None:
    with PhonePool([PaperEntry(0, "small"), PaperEntry(1, "large", "fold")]) as pool:
        assert pool.get(tags=frozenset({"fold"})).serial.startswith("paper-1")
        with pytest.raises(PoolEmptyError, match="with large"):
            pool.get(0.01, tags=frozenset({"large"}))
        with pytest.raises(UsageError, match="tags watch"):
            pool.get(tags=frozenset({"watch"}))
        assert pool.get().serial.startswith("paper-0")


async def test_an_asynchronous_waiter_that_is_cancelled_leaves_its_phone_to_the_next(
    entries: list[PaperEntry],
) -> None:
    async with PhonePool(entries[:1]) as pool:
        phone = await pool.get_async()
        waiting = asyncio.create_task(pool.get_async())
        while not pool.stats().waiting:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        pool.put(phone)
        assert (await pool.get_async(BOUND_S)).serial == phone.serial


def test_a_block_puts_its_phone_back_when_it_fails(pool: PhonePool) -> None:
    with pytest.raises(ZeroDivisionError), pool.phone():
        _ = 1 / 0
    until(lambda: pool.stats().free == 5)


def test_two_pools_know_nothing_of_each_other(pool: PhonePool) -> None:
    with PhonePool([PaperEntry(0)]) as other:
        phone = other.get()
        with pytest.raises(UsageError):
            pool.put(phone)
        other.put(phone)


def test_a_phone_that_cannot_start_fails_the_opening_with_its_reason() -> None:
    entry = PaperEntry(0)
    entry.is_dead = True
    with pytest.raises(DeviceError, match="It is dead"):
        PhonePool([entry]).open()
    assert entry.stopped


class Book(RuleBasedStateMachine):
    """Any order of taking, putting and dying: each phone is with one taker at most."""

    def __init__(self) -> None:
        super().__init__()
        self.allocation = PoolAllocation([frozenset({"a"}), frozenset({"a", "b"}), frozenset()])
        self.taken: dict[int, PooledPhone] = {}
        for number in range(3):
            self.allocation.set_state(number, EntryState.FREE)

    @rule(tags=st.sampled_from([frozenset(), frozenset({"a"}), frozenset({"b"})]))
    def get(self, tags: frozenset[str]) -> None:
        free = self.allocation.free_serials()
        try:
            phone = self.allocation.get(tags, 0)
        except PoolEmptyError:
            assert self.allocation.stats().waiting == 0
            return
        assert phone.entry in free
        assert tags <= phone.tags
        assert phone.entry not in self.taken
        self.taken[phone.entry] = phone

    @precondition(lambda self: self.taken)
    @rule(data=st.data(), state=st.sampled_from([EntryState.FREE, EntryState.RESETTING]))
    def put(self, data: st.DataObject, state: EntryState) -> None:
        phone = self.taken.pop(data.draw(st.sampled_from(sorted(self.taken))))
        self.allocation.put(phone, state)
        with pytest.raises(UsageError):
            self.allocation.put(phone, state)

    @rule(number=st.integers(0, 2))
    def reset_done(self, number: int) -> None:
        if self.allocation.claim(number, lambda state: state is EntryState.RESETTING):
            self.allocation.set_state(number, EntryState.FREE)

    @invariant()
    def counts_agree(self) -> None:
        stats = self.allocation.stats()
        assert stats.taken == len(self.taken)
        assert stats.free + stats.taken + stats.resetting + stats.dead == stats.size


TestBook = Book.TestCase
TestBook.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


async def test_virtual_phones_are_reset_over_adb_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    server = AdbServer(tmp_path / "adb")
    await server.start()
    farm = VirtualFarm(tmp_path / "farm", server, count=2)
    try:
        async with PhonePool([VirtualEntry(farm, 0), VirtualEntry(farm, 1)]) as pool:
            phone = await pool.get_async(BOUND_S)
            other = await pool.get_async(BOUND_S)
            assert {phone.serial, other.serial} == {f"127.0.0.1:{p}" for p in _ports(phone, other)}
            shell = PhoneShell(AdbClient(ServerAddress.parse(phone.server)), phone.serial)
            await shell.checked("settings put system switchboard_trace 1; echo x > /sdcard/x", 10)
            pool.put(phone)
            again = await pool.get_async(BOUND_S)
            assert again.serial == phone.serial
            left = await shell.run("settings get system switchboard_trace; ls /sdcard/x", 10)
            assert left.text.startswith("null")
            assert left.exit_code != 0
            # Whoever put it back left it dark: the next taker finds its screen on, and can read it.
            await shell.checked("input keyevent 223", 10)
            pool.put(again)
            # So does one that is not reset, but only cleared, as a real phone is.
            cleared = RealEntry(ServerAddress.parse(again.server), other.serial)
            dark = PhoneShell(AdbClient(ServerAddress.parse(other.server)), other.serial)
            await dark.checked("input keyevent 223", 10)
            assert "mWakefulness=Awake" not in (await dark.run("dumpsys power", 10)).text
            await cleared.reset()
            assert "mWakefulness=Awake" in (await dark.run("dumpsys power", 10)).text
            again = await pool.get_async(BOUND_S)
            assert "mWakefulness=Awake" in (await shell.run("dumpsys power", 10)).text
            device = again.device()
            assert (await device.tree()).nodes
            await device.close()
            # adb loses sight of it and finds it again: the same phone comes back.
            await AdbClient(server.address).disconnect(again.serial)
            pool.put(again)
            back = await pool.get_async(BOUND_S)
            assert back.serial == again.serial
            assert pool.stats().replaced == 1
    finally:
        await server.stop()


def _ports(*phones: PooledPhone) -> list[str]:
    return [phone.serial.rpartition(":")[2] for phone in phones]


def test_a_real_phone_is_never_cleared_of_what_is_no_package() -> None:
    with pytest.raises(UsageError, match="not the name of a package"):
        RealEntry(NO_SERVER, "phone", packages=["com.a; rm -rf /"])


def test_an_emulator_is_found_where_the_sdk_keeps_it_or_its_absence_is_told(tmp_path: Path) -> None:
    program = tmp_path / "sdk" / "emulator" / "emulator"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_emulator({"ANDROID_SDK_ROOT": str(tmp_path / "sdk"), "PATH": ""}) == program
    program.chmod(0o644)
    with pytest.raises(UsageError, match="not on this computer"):
        find_emulator({"ANDROID_SDK_ROOT": str(tmp_path / "sdk"), "PATH": ""})


async def test_an_emulator_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "emulator"
    program.write_text('#!/bin/sh\necho "$@"\necho "PANIC: Cannot find AVD"\nexit 1\n')
    program.chmod(0o755)
    entry = EmulatorEntry(program, "pixel", port=5600, server=NO_SERVER)
    with pytest.raises(DeviceError, match="PANIC: Cannot find AVD"):
        await entry.start()
    with pytest.raises(UsageError):
        EmulatorEntry(program, "pixel", port=5601, server=NO_SERVER)


def test_the_settings_name_virtual_and_real_phones_of_one_pool(tmp_path: Path) -> None:
    wanted = PoolSettings(virtual=2, serials=("R58M",), apps=("com.example.shop",))
    pool = make_pool(wanted, tmp_path, own=AdbServer(tmp_path / "adb"), server=NO_SERVER)
    assert pool.stats().size == 3
    with pytest.raises(UsageError, match="needs phones"):
        make_pool(PoolSettings(), tmp_path, own=AdbServer(tmp_path / "adb"), server=NO_SERVER)
