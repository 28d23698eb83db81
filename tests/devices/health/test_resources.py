"""The ledger of resources, and what a core that was killed had taken on a phone."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.adb.server import AdbServer, ServerAddress
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.health.doctor import examine
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.pool.emulator_entries import EmulatorEntry
from agent.devices.pool.virtual_phones import VirtualPhones
from agent.devices.resources.processes import start_mark
from agent.devices.resources.report import describe
from agent.devices.resources.resource_ledger import FOLDER, Resource, ResourceKind, ResourceLedger
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.reclaim import reclaim_here
from agent.errors import DeviceError
from support.patience import until
from tests.devices.holding import PART, REVERSED
from tests.devices.owning import owned_core

BOUND_S = 60.0
OWN_KEYBOARD = "com.android.inputmethod.latin/.LatinIME"


# --- the ledger ----------


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


def leave(ledger: ResourceLedger, folder: Path, resource: Resource) -> None:
    """Make a record that of a process which has ended."""
    pid = dead_process()
    path = folder / f"{resource.resource_id}.json"
    left = msgspec.structs.replace(resource, pid=pid, start_mark="1")
    path.write_bytes(msgspec.json.encode(left))
    assert ledger.left(resource.serial)


def test_a_resource_is_written_down_before_it_is_taken_and_struck_out_after(tmp_path: Path) -> None:
    mine, other = ResourceLedger(tmp_path / "r"), ResourceLedger(tmp_path / "r")
    taken = mine.take(ResourceKind.DISPLAY, "0123abcd", serial="phone")
    assert other.out() == (taken,)
    assert other.left("phone") == ()
    assert describe(other) == (True, f"in use: display on phone (process {os.getpid()})")
    mine.settle(taken)
    mine.settle(taken)
    assert other.out() == ()
    assert describe(other) == (True, "nothing is out")


def test_what_a_process_that_ended_had_taken_is_left_on_its_phone_alone(tmp_path: Path) -> None:
    ledger = ResourceLedger(tmp_path)
    leave(ledger, tmp_path, ledger.take(ResourceKind.REVERSE, "localabstract:x", serial="phone"))
    assert len(ledger.left("phone")) == 1
    assert ledger.left("phone", ResourceKind.FILE) == ledger.left("another") == ledger.left() == ()
    ok, words = describe(ledger)
    assert not ok
    assert words == "left behind by a process that ended: reverse forward on phone"


@pytest.mark.parametrize("keeps_files", [True, False])
def test_what_could_not_be_given_back_is_left_though_its_process_lives(
    tmp_path: Path, keeps_files: bool
) -> None:
    ledger = ResourceLedger(tmp_path if keeps_files else None)
    taken = ledger.take(ResourceKind.FILE, PART, serial="phone")
    ledger.abandon(taken)
    assert [one.resource_id for one in ledger.left("phone")] == [taken.resource_id]
    ledger.settle(taken)
    assert ledger.out() == ()


def test_nothing_is_taken_where_it_cannot_be_written_down(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("in the way")
    with pytest.raises(DeviceError, match="nothing was taken"):
        ResourceLedger(tmp_path / "r").take(ResourceKind.FILE, PART)


@given(data=st.binary(max_size=300))
def test_a_file_that_is_no_record_is_no_resource(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("r")
    (folder / "1-00.json").write_bytes(data)
    assert ResourceLedger(folder).out() == ()


def test_a_record_under_another_name_is_no_resource(tmp_path: Path) -> None:
    ledger = ResourceLedger(tmp_path)
    taken = ledger.take(ResourceKind.FILE, PART)
    (tmp_path / f"{taken.resource_id}.json").rename(tmp_path / "copied.json")
    assert ledger.out() == ()


async def test_an_emulator_whose_pool_was_killed_is_ended_when_the_pool_is_opened_again(
    tmp_path: Path,
) -> None:
    ledger = ResourceLedger(tmp_path / "r")
    emulator = sleeper()
    taken = ledger.take(ResourceKind.EMULATOR, "an-avd")
    ledger.started(taken, emulator.pid)
    [written] = ledger.out()
    leave(ledger, tmp_path / "r", written)
    try:
        await reclaim_here(ledger)
        assert await asyncio.to_thread(emulator.wait, BOUND_S) is not None
        assert ledger.out() == ()
    finally:
        emulator.kill()


async def test_an_emulator_that_does_not_come_up_leaves_no_record(tmp_path: Path) -> None:
    ledger = ResourceLedger(tmp_path / "r")
    program = tmp_path / "emulator"
    program.write_text("#!/bin/sh\necho no AVD of that name\nexit 1\n")
    program.chmod(0o755)
    server = ServerAddress("127.0.0.1", 1)
    entry = EmulatorEntry(program, "none", port=5560, server=server, resources=ledger)
    with pytest.raises(DeviceError, match="no AVD of that name"):
        await entry.start()
    await entry.stop()
    assert ledger.out() == ()


async def test_a_process_that_only_has_the_number_of_an_emulator_is_left_alone(
    tmp_path: Path,
) -> None:
    ledger = ResourceLedger(tmp_path / "r")
    stranger = sleeper()
    try:
        taken = ledger.take(ResourceKind.EMULATOR, "an-avd")
        earlier = msgspec.structs.replace(taken, child_pid=stranger.pid, child_mark="1")
        leave(ledger, tmp_path / "r", earlier)
        await reclaim_here(ledger)
        assert ledger.out() == ()
        assert start_mark(stranger.pid), "it still runs"
    finally:
        stranger.kill()
        stranger.wait()


# --- a core that is killed ----------


class Phone:
    """A virtual phone that outlives cores, as one that is looked at from outside."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.client = AdbClient(server.address)
        self.serial = serial

    async def said(self, command: str) -> str:
        result = await self.client.shell(
            self.serial, command, features=frozenset(), timeout_s=BOUND_S
        )
        return result.text.strip()

    async def keyboard(self) -> str:
        return await self.said("settings get secure default_input_method")

    async def displays(self) -> int:
        return (await self.said("dumpsys display")).count("mDisplayId=")

    async def reversals(self) -> str:
        service = "reverse:list-forward"
        async with self.client.open(self.serial, service, timeout_s=BOUND_S) as stream:
            return (await stream.block()).decode()

    async def files(self) -> list[str]:
        listed = await self.said("ls -a /data/local/tmp")
        return [name for name in listed.split() if name.endswith(".part") or "input-method" in name]


@pytest.mark.timeout(240)
@pytest.mark.slow
async def test_what_a_killed_core_had_taken_on_a_phone_is_given_back_at_the_next_start(
    tmp_path: Path,
) -> None:
    server = AdbServer(tmp_path / "adb", on_port=True)
    phones = VirtualPhones(tmp_path / "phones", server)
    data = tmp_path / "data"
    try:
        [serial] = await phones.start()
        phone = Phone(server, serial)
        before = await phone.displays()
        core = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.devices.holding",
            str(data),
            str(server.address),
            serial,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert core.stdout is not None
            async with asyncio.timeout(BOUND_S):
                assert await core.stdout.readline() == b"ready\n"
            assert await phone.keyboard() != OWN_KEYBOARD
            assert await phone.displays() > before
            assert REVERSED in await phone.reversals()
            assert len(await phone.files()) == 2
            [finding] = [f for f in await examine(data, []) if f.name == "resources"]
            assert finding.ok and "display" in finding.detail
        finally:
            core.kill()
            await core.wait()
        [finding] = [f for f in await examine(data, []) if f.name == "resources"]
        assert not finding.ok
        for kind in ("display", "reverse forward", "input method", "file"):
            assert f"{kind} on {serial}" in finding.detail
        assert await phone.keyboard() != OWN_KEYBOARD, "it is not the phone that gives it back"

        ledger = ResourceLedger(data / FOLDER)
        async with owned_core(data, str(server.address)):
            await until(lambda: not any(one.is_left for one in ledger.out()))
            assert await phone.keyboard() == OWN_KEYBOARD
            assert REVERSED not in await phone.reversals()
            assert await phone.files() == []
            assert await phone.displays() == before
        assert ledger.out() == ()
    finally:
        await phones.stop()
        await server.stop()


async def test_a_keyboard_that_another_core_borrows_now_is_not_taken_from_it(
    tmp_path: Path,
) -> None:
    """The record of a dead core is older than the note that a living one wrote on the phone."""
    server = AdbServer(tmp_path / "adb")
    phones = VirtualPhones(tmp_path / "phones", server)
    try:
        [serial] = await phones.start()
        phone = Phone(server, serial)
        ledger = ResourceLedger(tmp_path / "r")
        dead = ledger.take(ResourceKind.INPUT_METHOD, OWN_KEYBOARD, serial=serial)
        leave(ledger, tmp_path / "r", dead)
        shell = PhoneShell(phone.client, serial)
        async with Keyboard(serial, shell.run).borrowed(BOUND_S) as method:
            assert method is not None
            late = AdbFleet([server.address], resources=ledger)
            await late.start()
            await until(lambda: not ledger.left(serial))
            await late.close()
            assert await phone.keyboard() == method.id
        assert await phone.keyboard() == OWN_KEYBOARD
    finally:
        await phones.stop()
        await server.stop()
