"""Sessions drive a phone as its passport says, until its build changes."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.passport.passport import Choices, InputWay, Passport, TreeWay
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.protocols import Device, TextWay
from agent.records import Point
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost
from virtual_phone.userland.userland import Userland

SERVICE_FAILS = Choices(tree=TreeWay.DUMP, trees_failing=(TreeWay.SERVICE,))
SOCKET_FAILS = Choices(input=InputWay.SHELL, inputs_failing=(InputWay.CONTROL,))
INPUT_FAILS = Choices(input=InputWay.CONTROL, inputs_failing=(InputWay.SHELL,))
MIDDLE = Point(x=0.5, y=0.5)


@dataclass
class Bench:
    host: PhoneHost
    fleet: AdbFleet
    shelf: PassportFolder
    serial: str

    @property
    def userland(self) -> Userland:
        return self.host.served(self.serial).userland

    async def keep(self, choices: Choices, *, made_ms: int = 1, build: str = "") -> None:
        """Keep a passport of the phone as it is, or of another build."""
        client, listed = self.fleet.reach(self.serial)
        said = await client.shell(
            listed,
            "getprop ro.serialno; getprop ro.build.fingerprint",
            features=await client.features(listed),
            timeout_s=30,
        )
        phone, fingerprint = said.text.split()
        self.shelf.keep(
            Passport(
                serial=self.serial,
                phone=phone,
                fingerprint=build or fingerprint,
                made_ms=made_ms,
                choices=choices,
            )
        )

    def sockets(self) -> bool:
        """Return whether a scrcpy server listens, or has a connection, on the phone."""
        return any("scrcpy" in name for name in self.userland.sockets.names())


@pytest.fixture
async def bench(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[Bench]:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        shelf = PassportFolder.of(tmp_path)
        fleet = AdbFleet([adb_address], passports=shelf)
        await fleet.start()
        device = await fleet.wait_for(serial, timeout_s=30)
        await device.info()
        yield Bench(host, fleet, shelf, serial)
        await fleet.close()
        await client.disconnect(serial)


async def read_tree(device: Device, userland: Userland) -> bool:
    """Read a tree; return whether the service read it."""
    assert (await device.tree()).nodes
    return userland.automation is not None


async def test_a_service_that_failed_is_not_started_again(bench: Bench) -> None:
    async with bench.fleet.lease(bench.serial, "s") as device:
        assert await read_tree(device, bench.userland)
        await bench.fleet.device(bench.serial)
    await bench.keep(SERVICE_FAILS)
    async with bench.fleet.lease(bench.serial, "s") as device:
        await device.trees.close()  # type: ignore[attr-defined]
        assert not await read_tree(device, bench.userland)


async def test_a_passport_of_another_build_is_void(bench: Bench) -> None:
    await bench.keep(SERVICE_FAILS, build="maker/one:15/B/2:user/release-keys")
    async with bench.fleet.lease(bench.serial, "s") as device:
        assert await read_tree(device, bench.userland)


async def test_a_phone_that_comes_back_as_another_build_is_driven_as_usual(bench: Bench) -> None:
    await bench.keep(SERVICE_FAILS)
    async with bench.fleet.lease(bench.serial, "s") as device:
        assert not await read_tree(device, bench.userland)
    await bench.keep(SERVICE_FAILS, build="maker/one:15/B/2:user/release-keys")
    device = await bench.fleet.device(bench.serial)
    device.forget()  # type: ignore[attr-defined]
    await device.info()
    async with bench.fleet.lease(bench.serial, "s") as device:
        assert await read_tree(device, bench.userland)


async def test_when_dumps_fail_the_service_is_tried_after_all(bench: Bench) -> None:
    await bench.keep(SERVICE_FAILS)
    async with bench.fleet.lease(bench.serial, "s") as device:
        bench.host.fault(bench.serial, FaultKind.NULL_ROOT)
        with pytest.raises(Exception, match="null root"):
            await device.tree()
        bench.userland.faults.clear()
        assert await read_tree(device, bench.userland)


@pytest.mark.parametrize(
    ("choices", "by_socket"), [(Choices(), True), (SOCKET_FAILS, False), (INPUT_FAILS, True)]
)
async def test_touches_go_the_way_that_had_an_effect(
    bench: Bench, choices: Choices, by_socket: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.keep(choices)
    starts: list[str] = []
    before_shell = bench.userland.faults.before_shell

    async def noted(line: str) -> None:
        starts.append(line)
        await before_shell(line)

    monkeypatch.setattr(bench.userland.faults, "before_shell", noted)
    async with bench.fleet.lease(bench.serial, "s") as device:
        if choices == Choices():
            await device.set_clipboard("opens the socket")
        await device.tap(MIDDLE)
        tapped = any("input tap" in line for line in starts)
    assert tapped is not by_socket


@pytest.mark.parametrize(
    ("proven", "text", "first"),
    [
        ({}, "привет", TextWay.INPUT_METHOD),
        ({"Cyrillic": (TextWay.ACCESSIBILITY,)}, "привет", TextWay.ACCESSIBILITY),
        ({"Arabic": (TextWay.ACCESSIBILITY,)}, "привет", TextWay.INPUT_METHOD),
        ({"ASCII": (TextWay.KEYS,)}, "hello", TextWay.KEYS),
    ],
)
async def test_text_goes_the_way_that_typed_its_script(
    bench: Bench, proven: dict[str, tuple[TextWay, ...]], text: str, first: TextWay
) -> None:
    await bench.keep(Choices(text=proven))
    client, listed = bench.fleet.reach(bench.serial)
    await client.shell(
        listed,
        "am start -a android.settings.APP_SEARCH_SETTINGS",
        features=await client.features(listed),
        timeout_s=30,
    )
    async with bench.fleet.lease(bench.serial, "s") as device:
        typed = await device.type_text(text, timeout_s=30)
    assert (typed.way, typed.is_read_back) == (first, True)
