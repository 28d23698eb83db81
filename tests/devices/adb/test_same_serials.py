"""Phones of one serial on one server: told apart by their connection, with names that stay."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.device_list import DeviceRow, parse_rows
from agent.devices.adb.same_serials import SameSerials
from agent.devices.fleet.fleet import AdbFleet
from agent.errors import UsageError
from agent.records import DeviceState
from support.adb import free_pair
from tests.devices.conftest import block, scripted_server
from virtual_phone.server.serve import PhoneHost

SERIAL = "0123456789ABCDEF"
PATIENCE_S = 30.0


def row(port: str, number: int, state: str = "device") -> str:
    """Print a line as adb does: `append_transport` in adb/transport.cpp."""
    return f"{SERIAL:<22} {state} {port} product:p model:P device:d transport_id:{number}\n"


def named(names: SameSerials, *lines: str) -> dict[str, int]:
    return {one.serial: one.transport_id for one in names.named(parse_rows("".join(lines)))}


def test_two_phones_of_one_serial_have_names_by_their_ports() -> None:
    both = (row("usb:1-1", 1), row("usb:1-2.4", 2))
    assert named(SameSerials(), *both) == {f"{SERIAL}@usb-1-1": 1, f"{SERIAL}@usb-1-2.4": 2}
    assert named(SameSerials(), *both[::-1]) == {f"{SERIAL}@usb-1-1": 1, f"{SERIAL}@usb-1-2.4": 2}


def test_a_phone_that_is_there_keeps_its_name_when_another_of_its_serial_comes() -> None:
    names = SameSerials()
    assert named(names, row("usb:1-1", 1)) == {SERIAL: 1}
    second = f"{SERIAL}@usb-1-2"
    assert named(names, row("usb:1-2", 2), row("usb:1-1", 1)) == {second: 2, SERIAL: 1}
    assert named(names, row("usb:1-2", 2)) == {second: 2}
    assert named(names, row("usb:1-2", 2), row("usb:1-1", 7)) == {second: 2, SERIAL: 7}
    # Both started again, and adb lists them in another order.
    assert named(names, row("usb:1-1", 9), row("usb:1-2", 8)) == {second: 8, SERIAL: 9}


def test_a_phone_that_is_plugged_in_elsewhere_is_the_same_one_while_it_is_alone() -> None:
    names = SameSerials()
    assert named(names, row("usb:1-1", 1)) == {SERIAL: 1}
    assert named(names) == {}
    assert named(names, row("usb:3-1", 2)) == {SERIAL: 2}
    # Adb may list the old connection for a moment.
    assert named(names, row("usb:3-1", 2, "offline"), row("usb:1-1", 3)) == {SERIAL: 3}


def test_one_phone_that_is_listed_twice_is_one() -> None:
    for lines in (
        (row("usb:1-1", 1), row("usb:1-1", 2)),
        (row("", 1, "offline"), row("", 2)),
        (row("usb:1-1", 1), row("usb:1-1", 1)),
    ):
        assert len(named(SameSerials(), *lines)) == 1


@given(st.lists(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 4)), max_size=4)))
def test_whatever_is_listed_each_phone_has_one_name_and_each_name_one_phone(
    lists: list[list[tuple[str, int]]],
) -> None:
    names = SameSerials()
    for rows in lists:
        made = [
            DeviceRow(serial=s, state=DeviceState.ONLINE, transport_id=n, port=f"usb:1-{n}")
            for s, n in dict.fromkeys(rows)
        ]
        given_names = [one.serial for one in names.named(made)]
        assert len(set(given_names)) == len(made)


async def test_a_real_server_reaches_a_phone_by_the_number_of_its_connection(
    bare_adb: AdbClient, tmp_path: Path
) -> None:
    port = free_pair()
    async with PhoneHost(tmp_path / "phones", port=port):
        serial = f"127.0.0.1:{port}"
        await bare_adb.connect(serial)
        [listed] = [one for one in await bare_adb.devices() if one.serial == serial]
        assert listed.transport_id
        bare_adb.alias("by number", "of nobody", listed.transport_id)
        features = await bare_adb.features("by number")
        assert "shell_v2" in features
        said = await bare_adb.shell("by number", "echo hi", features=features, timeout_s=PATIENCE_S)
        assert said.text == "hi\n"


@asynccontextmanager
async def twins(adb: ServerAddress, serials: list[str]) -> AsyncIterator[ServerAddress]:
    """Stand before a real server and list its phones as two of one serial."""
    rows = "".join(row(f"usb:1-{at}", at) for at in range(1, len(serials) + 1))

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def handle(
        request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.startswith("host:track-devices"):
            writer.write(b"OKAY" + block(rows))
            await reader.read()
            return
        if SERIAL in request:
            writer.write(b"FAIL" + block("more than one device with serial " + SERIAL))
            return
        for at, serial in enumerate(serials, start=1):
            request = request.replace(f"transport-id:{at}:", f"serial:{serial}:")
            if request == f"host:transport-id:{at}":
                request = f"host:transport:{serial}"
        from_there, to_there = await asyncio.open_unix_connection(adb.path)
        to_there.write(block(request))
        await asyncio.gather(pipe(reader, to_there), pipe(from_there, writer))

    async with scripted_server(handle) as address:
        yield address


async def test_two_phones_of_one_serial_are_driven_each_by_its_own_name(
    adb_address: ServerAddress, bare_adb: AdbClient, tmp_path: Path
) -> None:
    port = free_pair()
    serials = [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]
    async with PhoneHost(tmp_path / "phones", count=2, port=port):
        for serial in serials:
            await bare_adb.connect(serial)
        async with twins(adb_address, serials) as address:
            fleet = AdbFleet([address], key="one")
            await fleet.start()
            try:
                first, second = (f"{SERIAL}@usb-1-1", f"{SERIAL}@usb-1-2")
                assert [one.serial for one in fleet.devices()] == [first, second]
                changes = fleet.changes()
                async with asyncio.timeout(PATIENCE_S):
                    while not all(one.android for one in fleet.devices()):
                        await anext(changes)
                assert {one.listed_as for one in fleet.devices()} == {SERIAL}
                assert {one.hardware_serial for one in fleet.devices()} == {""}
                async with fleet.lease(first, "s-1") as one, fleet.lease(second, "s-2") as other:
                    await one._shell.checked("settings put global twin first", PATIENCE_S)
                    await other._shell.checked("settings put global twin second", PATIENCE_S)
                    said = await one._shell.checked("settings get global twin", PATIENCE_S)
                    assert said.text.strip() == "first"
                with pytest.raises(UsageError, match="2 phones have the serial") as caught:
                    fleet.reach(SERIAL)
                assert first in caught.value.remedy
            finally:
                await fleet.close()
