"""Several adb servers and one fleet: names, moves, silence, and wireless phones on new ports."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.places import Place, is_host_relative, is_wireless, transport_of
from agent.devices.adb.server import AdbServer
from agent.devices.fleet.fleet import AdbFleet
from agent.records import DeviceInfo, DeviceState, Transport
from tests.devices.conftest import block, scripted_server
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

PATIENCE_S = 30.0


async def until(fleet: AdbFleet, serial: str, holds: Callable[[DeviceInfo], bool]) -> DeviceInfo:
    """Wait until something is true of a device."""
    changes = fleet.changes()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for info in fleet.devices():
                if info.serial == serial and holds(info):
                    return info
            await anext(changes)


def online(info: DeviceInfo) -> bool:
    return info.state is DeviceState.ONLINE


class Listing:
    """A scripted adb server whose list of devices a test changes, and which can fall silent."""

    def __init__(self, rows: str) -> None:
        self.rows = rows
        self.mute = asyncio.Event()
        self._pushes: list[asyncio.Queue[str]] = []

    def push(self, rows: str) -> None:
        self.rows = rows
        for queue in self._pushes:
            queue.put_nowait(rows)

    async def handle(
        self, request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self.mute.is_set():
            await reader.read()
        elif request == "host:version":
            writer.write(b"OKAY" + block("0029"))
        elif request.startswith("host:track-devices"):
            queue: asyncio.Queue[str] = asyncio.Queue()
            self._pushes.append(queue)
            writer.write(b"OKAY" + block(self.rows))
            await writer.drain()
            while True:
                writer.write(block(await queue.get()))
                await writer.drain()
        else:
            writer.write(b"FAIL" + block("device not found"))


@asynccontextmanager
async def fleet_of(*listings: Listing) -> AsyncIterator[tuple[AdbFleet, tuple[ServerAddress, ...]]]:
    """Watch scripted servers, in order."""
    async with _served(list(listings)) as addresses:
        fleet = AdbFleet(addresses)
        await fleet.start()
        try:
            yield fleet, addresses
        finally:
            await fleet.close()


@asynccontextmanager
async def _served(listings: list[Listing]) -> AsyncIterator[tuple[ServerAddress, ...]]:
    if not listings:
        yield ()
        return
    async with scripted_server(listings[0].handle) as first, _served(listings[1:]) as others:
        yield (first, *others)


async def test_a_serial_of_two_servers_gets_two_names_and_the_first_server_the_plain_one() -> None:
    row = "SER1 device product:p model:{} transport_id:1\n"
    async with fleet_of(Listing(row.format("One")), Listing(row.format("Two"))) as (fleet, at):
        infos = {info.serial: info for info in fleet.devices()}
        assert set(infos) == {"SER1", f"SER1@{at[1]}"}
        assert (infos["SER1"].model, infos["SER1"].server) == ("One", str(at[0]))
        other = infos[f"SER1@{at[1]}"]
        assert (other.model, other.listed_as) == ("Two", "SER1")
        assert (await fleet.device(f"SER1@{at[0]}")).serial == "SER1"


async def test_a_phone_that_is_plugged_into_another_host_keeps_its_name() -> None:
    first, second = Listing("SER1 device transport_id:1\n"), Listing("")
    async with fleet_of(first, second) as (fleet, at):
        first.push("")
        await until(fleet, "SER1", lambda info: info.state is DeviceState.GONE)
        second.push("SER1 device transport_id:7\n")
        info = await until(fleet, "SER1", online)
        assert info.server == str(at[1])
        assert [info.serial for info in fleet.devices()] == ["SER1"]


@pytest.mark.slow
async def test_a_server_that_takes_connections_and_is_silent_is_noticed() -> None:
    listing = Listing("SER1 device transport_id:1\n")
    async with fleet_of(listing) as (fleet, _):
        listing.mute.set()
        gone = await until(fleet, "SER1", lambda info: info.state is DeviceState.GONE)
        assert "did not answer" in gone.note


async def test_one_server_that_is_down_does_not_keep_the_others_from_being_seen(
    nowhere: ServerAddress,
) -> None:
    listing = Listing("SER1 device transport_id:1\n")
    async with scripted_server(listing.handle) as address:
        fleet = AdbFleet([nowhere, address])
        await fleet.start()
        assert [info.serial for info in fleet.devices()] == ["SER1"]
        await fleet.close()


@pytest.mark.parametrize(
    ("serial", "transport", "wireless", "relative"),
    [
        ("R5CT1234", Transport.USB, False, False),
        ("emulator-5554", Transport.EMULATOR, False, True),
        ("127.0.0.1:6001", Transport.TCP, True, True),
        ("192.168.1.7:41234", Transport.TCP, True, False),
        ("adb-R5CT1234-AbCdEf._adb-tls-connect._tcp", Transport.TCP, True, False),
    ],
)
def test_a_serial_tells_how_its_device_is_reached(
    serial: str, transport: Transport, wireless: bool, relative: bool
) -> None:
    assert transport_of(serial) is transport
    assert is_wireless(serial) is wireless
    assert is_host_relative(serial) is relative


def test_an_emulator_of_one_host_is_never_that_of_another() -> None:
    here, there = ServerAddress("10.0.0.1"), ServerAddress("10.0.0.2")
    assert not Place(here, "emulator-5554").may_move_to(Place(there, "emulator-5554"))
    assert Place(here, "SER1").may_move_to(Place(there, "SER1"))


async def test_a_wireless_phone_on_a_new_port_is_the_same_device(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    client = AdbClient(adb_address)
    async with PhoneHost(tmp_path / "phones") as host:
        (old,) = host.serials
        await client.connect(old)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        known = await until(fleet, old, lambda info: bool(info.hardware_serial))
        fleet.label(old, name="Left phone", tags=["bench"], notes="")
    await client.disconnect(old)
    await until(fleet, old, lambda info: info.state is DeviceState.GONE)
    async with PhoneHost(tmp_path / "phones") as host:
        (new,) = host.serials
        assert new != old
        await client.connect(new)
        info = await until(fleet, old, online)
        assert (info.listed_as, info.hardware_serial) == (new, known.hardware_serial)
        assert info.name == "Left phone"
        assert (await (await fleet.device(old)).foreground()).package
        assert new not in {info.serial for info in fleet.devices()}
        await fleet.close()
        await client.disconnect(new)


async def test_a_phone_is_connected_again_by_the_successor_of_a_server_that_died(
    tmp_path: Path,
) -> None:
    own = AdbServer(tmp_path / "own", on_port=True)
    address = await own.start()
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        await AdbClient(address).connect(serial)
        fleet = AdbFleet([address], revive=own.revive)
        await fleet.start()
        await until(fleet, serial, online)
        await own.stop()
        gone = await until(fleet, serial, lambda info: info.state is DeviceState.GONE)
        assert "adb server" in gone.note
        # As a version fight ends: another adb has killed the server and started its own there.
        other = AdbServer(tmp_path / "other", on_port=True)
        other._choose_port = lambda known: asyncio.sleep(0, address.port)  # type: ignore[method-assign]
        await other.start()
        try:
            assert online(await until(fleet, serial, online))
        finally:
            await fleet.close()
            await other.stop()


@pytest.mark.slow
async def test_a_driven_phone_that_answers_nothing_is_offline_until_it_answers(
    adb_address: ServerAddress, tmp_path: Path
) -> None:
    client = AdbClient(adb_address)
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        await fleet.wait_for(serial, timeout_s=PATIENCE_S)
        async with fleet.lease(serial, "s-1"):
            host.fault(serial, FaultKind.HUNG_SHELL)
            silent = await until(fleet, serial, lambda i: i.state is DeviceState.OFFLINE)
            assert "it does not answer" in silent.note
            host.served(serial).userland.faults.clear()
            assert (await until(fleet, serial, online)).note == ""
        await fleet.close()
        await client.disconnect(serial)
