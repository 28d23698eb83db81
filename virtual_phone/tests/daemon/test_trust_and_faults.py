"""Whom a phone trusts, and what goes wrong when it is told to."""

import asyncio
import re
from pathlib import Path

import pytest

from support.adb import RealAdb
from support.connected import Connected
from virtual_phone.adbd.gate import KeyGate, parse_public_key
from virtual_phone.errors import PhoneError
from virtual_phone.server.faults import FaultKind, Faults, parse_kind
from virtual_phone.server.serve import PhoneHost


async def test_a_computer_is_unauthorized_until_the_phone_says_yes(
    adb_server: RealAdb, tmp_path: Path
) -> None:
    async with PhoneHost(tmp_path, secure=True) as host:
        serial = host.serials[0]
        gate = host.served(serial).gate.gate
        assert isinstance(gate, KeyGate)
        connecting = asyncio.create_task(adb_server("connect", serial))
        async with asyncio.timeout(30):
            key = await gate.wait_asked()
        assert re.fullmatch(r"([0-9A-F]{2}:){15}[0-9A-F]{2}", key.fingerprint)
        assert f"{serial}\tunauthorized" in (await adb_server("devices")).text
        gate.answer(True)
        await connecting
        assert (await adb_server("wait-for-device", serial=serial)).status == 0
        assert (await adb_server("shell", "echo in", serial=serial)).text == "in\n"
        assert (tmp_path / "virtual-1" / "adb_keys").read_text().count("\n") == 1
        await adb_server("disconnect", serial)
        await adb_server.connect(serial)
        assert gate.pending is None
        await adb_server("disconnect", serial)


async def test_a_refused_computer_gets_no_shell(adb_server: RealAdb, tmp_path: Path) -> None:
    async with PhoneHost(tmp_path, secure=True) as host:
        serial = host.serials[0]
        gate = host.served(serial).gate.gate
        assert isinstance(gate, KeyGate)
        connecting = asyncio.create_task(adb_server("connect", serial))
        async with asyncio.timeout(30):
            await gate.wait_asked()
        gate.answer(False)
        await connecting
        said = await adb_server("shell", "echo in", serial=serial)
        assert said.status == 1 and b"unauthorized" in said.err
        await adb_server("disconnect", serial)


@pytest.mark.parametrize("data", [b"", b"!!!!", b"QUJD me", b"A" * 700, b"\xff\xfe\0"])
def test_what_is_no_key_is_refused(data: bytes) -> None:
    with pytest.raises(PhoneError):
        parse_public_key(data)


async def test_a_pulled_cable_is_seen_and_comes_back(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.DISCONNECT)
    said = await connected.shell("echo x")
    assert said.status == 1
    connected.userland.faults.end(FaultKind.DISCONNECT)
    await connected.adb("disconnect", connected.serial)
    await connected.adb.connect(connected.serial)
    assert (await connected.shell("echo back")).text == "back\n"


async def test_dump_faults_have_the_words_of_a_phone(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.DUMP_NOT_IDLE)
    said = await connected("exec-out", "uiautomator", "dump", "/dev/tty")
    assert said.text == "ERROR: could not get idle state.\n"
    connected.userland.faults.clear()
    connected.host.fault(connected.serial, FaultKind.NULL_ROOT)
    said = await connected("exec-out", "uiautomator", "dump", "/dev/tty")
    assert said.text == "ERROR: null root node returned by UiTestAutomationBridge.\n"
    connected.userland.faults.clear()


async def test_a_hung_dump_goes_on_when_the_fault_ends(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.HUNG_DUMP)
    dumping = asyncio.create_task(connected("exec-out", "uiautomator", "dump", "/dev/tty"))
    assert (await connected.shell("sleep 0.2; pidof uiautomator")).status == 0
    assert not dumping.done()
    connected.userland.faults.end(FaultKind.HUNG_DUMP)
    assert "</hierarchy>" in (await dumping).text


async def test_a_slow_shell_is_slow_and_no_slower(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.SLOW_SHELL, value=0.4)
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert (await connected.shell("echo x")).text == "x\n"
    assert 0.4 <= loop.time() - started < 20
    connected.userland.faults.clear()


async def test_low_storage_stops_writing(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.LOW_STORAGE)
    said = await connected.shell("echo x > /sdcard/f")
    assert said.err.decode() == (
        "/system/bin/sh: can't create /sdcard/f: No space left on device\n"
    )
    connected.userland.faults.end(FaultKind.LOW_STORAGE)
    assert (await connected.shell("echo x > /sdcard/f && cat /sdcard/f")).text == "x\n"


async def test_a_clock_jump_moves_the_phones_time(connected: Connected) -> None:
    before = int((await connected.shell("date +%s")).text)
    connected.host.fault(connected.serial, FaultKind.CLOCK_JUMP, value=86_400)
    assert int((await connected.shell("date +%s")).text) - before >= 86_400
    connected.userland.faults.clear()
    assert int((await connected.shell("date +%s")).text) - before < 3_600


async def test_a_timed_fault_ends_by_itself() -> None:
    faults = Faults()
    told: list[tuple[FaultKind, bool]] = []
    faults.listener = lambda kind, begun: told.append((kind, begun))
    faults.begin(FaultKind.HUNG_SHELL, duration_s=0.05)
    async with asyncio.timeout(30):
        await faults.hold(FaultKind.HUNG_SHELL)
    assert told == [(FaultKind.HUNG_SHELL, True), (FaultKind.HUNG_SHELL, False)]


def test_an_unknown_fault_names_the_known_ones() -> None:
    with pytest.raises(PhoneError, match="hung-dump"):
        parse_kind("gremlins")


@pytest.mark.parametrize("verb", ["tap 5 5", "swipe 5 5 9 9", "keyevent 4", "text a", "press"])
async def test_a_phone_that_refuses_injection_says_so_as_android_does(
    connected: Connected, verb: str
) -> None:
    """`ShellCommand.exec` and `InputManagerService`: kkevsekk1/AutoX #1216 shows both, exit 255."""
    connected.host.fault(connected.serial, FaultKind.REFUSED_INPUT)
    refused = await connected.shell(f"input {verb}")
    assert refused.status == 255
    assert b"Exception occurred while executing" in refused.err
    assert b"java.lang.SecurityException: Injecting" in refused.err
    connected.userland.faults.clear()
    assert (await connected.shell(f"input {verb}")).status == 0
