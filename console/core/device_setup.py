"""Which devices a core of this process sees: the operator's phones, virtual ones, or none.

Not a fleet itself. Invariants: virtual phones hang on an adb server of our own, so that the
operator's is neither needed nor touched for them; nothing is started that nobody asked for.
"""

import asyncio
import hashlib
import platform
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import msgspec

from agent.config import Settings
from agent.devices.adb.client import ServerAddress
from agent.devices.adb.server import AdbServer
from agent.devices.adb.server import reach as reach_server
from agent.devices.frames.shared_segment import remove_abandoned
from agent.devices.pool.virtual_phones import PortRecord, VirtualPhones
from agent.devices.protocols import Device
from agent.errors import AdbError, DeviceLostError, UsageError
from agent.private_files import check_unshared
from agent.records import DeviceInfo, LiveFrame, ServerAway, on_host

if TYPE_CHECKING:
    from agent.devices.fleet.fleet import AdbFleet
    from agent.store.store import Store

MOST_PHONES = 64


class Devices(msgspec.Struct, frozen=True, kw_only=True):
    """Which devices a core is to see."""

    connected: bool = False  # Those of the operator's adb servers.
    own_server: bool = False  # Those of our own adb server, where virtual phones are.
    phones: int = 0  # Virtual phones to start before anything else.
    profile: str = ""  # What kind of phones those are; "" for what they were.
    wakes_jobs: bool = False  # Whether due jobs run there: only where somebody stays and watches.


NO_DEVICES = Devices()
VIRTUAL = Devices(own_server=True, phones=1)
CONNECTED = Devices(connected=True)
EVERYTHING = Devices(connected=True, own_server=True, wakes_jobs=True)


class Phones:
    """The virtual phones of this process, and the adb server they hang on.

    Args:
        settings: name the data directory in which both keep their files.
    """

    def __init__(self, settings: Settings) -> None:
        self.server = AdbServer(
            settings.data_dir / "adb",
            adb_setting=settings.adb.path,
            named=[ServerAddress.parse(text) for text in settings.adb.server],
        )
        self._data_dir = settings.data_dir
        self._folder = settings.data_dir / "phones"
        self._running: VirtualPhones | None = None
        self._may_stop_server = False
        """Whether it is ours to end, found running or not: the store's owner's is."""

    @property
    def serials(self) -> tuple[str, ...]:
        return () if self._running is None else self._running.serials

    async def start_server(self) -> ServerAddress:
        """Start our adb server; it stops with `close`. Raises AdbError."""
        check_unshared(self._data_dir)
        self._may_stop_server = True
        return await self.server.start()

    async def start(self, count: int, profile: str = "") -> tuple[str, ...]:
        """Start virtual phones, if none run yet; returns their serials. Raises AdbError."""
        if self._running is None:
            check_unshared(self._data_dir)
            running = VirtualPhones(self._folder, self.server, count=count, profile=profile)
            await running.start()
            self._running = running
        return self.serials

    async def revive(self, address: ServerAddress) -> None:
        """Bring our server and phones back after one of them died."""
        if self._running is not None:
            await self._running.revive(address)
        else:
            await self.server.revive(address)

    async def close(self) -> None:
        """End what was started here."""
        if self._running is not None:
            await self._running.stop()
        if self._may_stop_server or self.server.is_child:
            await self.server.stop()
        if self._may_stop_server:
            # Its start may have been broken off before it was known as ours.
            await self.server.end_leftover()


async def make_fleet(
    settings: Settings,
    devices: Devices,
    phones: Phones,
    *,
    is_owner: bool = False,
    host: str = "",
    may_keep: Callable[[], bool] = lambda: True,
) -> "AdbFleet | EmptyFleet":
    """Make the fleet of a core, with adb servers that answer.

    Args:
        is_owner: whether the data directory is this process's: then a server of ours that a killed
            one left, and that is not needed now, is ended.
        host: stands before the name of every phone, where cores of several hosts share a store.
        may_keep: see `agent.devices.fleet.device_lease.DeviceLeases`.

    Raises:
        AdbError: no adb server can be had.
    """
    addresses: list[ServerAddress] = []
    theirs: list[ServerAddress] = []
    if devices.connected:
        theirs = [ServerAddress.parse(text) for text in settings.adb.server]
        await _reach_any(theirs, settings, are_all=not devices.own_server)
        addresses += theirs
    if devices.own_server or devices.phones:
        addresses.append(await phones.start_server())
        if devices.phones:
            await phones.start(devices.phones, devices.profile)
    elif is_owner:
        await phones.server.end_leftover()
    others: tuple[ServerAddress, ...] = ()
    if devices.own_server and devices.connected:
        others = await _environment(settings)
        addresses += others
    if is_owner:
        await asyncio.to_thread(remove_abandoned)
    if not addresses:
        return EmptyFleet()

    async def revive(address: ServerAddress) -> None:
        if address in theirs:
            await reach_server(address, adb_setting=settings.adb.path)
        elif address not in others:
            await phones.revive(address)

    from agent.devices.fleet.fleet import AdbFleet
    from agent.devices.fleet.labels import Labels
    from agent.devices.passport.passport_file import PassportFolder
    from agent.devices.resources.resource_ledger import FOLDER, ResourceLedger
    from agent.devices.scrcpy.link import ScrcpySettings

    wanted = settings.scrcpy
    scrcpy = ScrcpySettings(wanted.server, wanted.video, wanted.control, wanted.max_fps)
    return AdbFleet(
        addresses,
        revive=revive,
        labels=Labels(settings.data_dir / "devices.json"),
        key=fleet_key(settings),
        scrcpy=scrcpy,
        resources=ResourceLedger(settings.data_dir / FOLDER),
        passports=PassportFolder.of(settings.data_dir),
        others=others,
        host=host,
        may_keep=may_keep,
        bells=[one.phone for one in settings.notices.channels.values() if one.phone],
    )


async def _environment(settings: Settings) -> tuple[ServerAddress, ...]:
    """Return the adb server of an environment that is served from this data directory, to look at
    its phones; nothing is started.
    """
    from agent.devices.pool.pool_setup import ENVIRONMENT

    found = await AdbServer(settings.data_dir / ENVIRONMENT / "adb").running_address()
    return () if found is None else (found,)


def fleet_key(settings: Settings) -> str:
    """Name the owner of a data directory among all who may drive a phone.

    The same in its next life: what a killed owner marked as driven is then its successor's.
    """
    place = f"{platform.node()}:{settings.data_dir.absolute()}"
    return hashlib.sha256(place.encode()).hexdigest()[:16]


async def _reach_any(addresses: list[ServerAddress], settings: Settings, *, are_all: bool) -> None:
    """Have the operator's adb servers answer.

    Args:
        are_all: whether there are no others: then one of them has to answer.

    Raises:
        AdbError: none answers, and there are no others.
    """
    answers = await asyncio.gather(
        *(reach_server(address, adb_setting=settings.adb.path) for address in addresses),
        return_exceptions=True,
    )
    failures = [answer for answer in answers if isinstance(answer, BaseException)]
    # One of several that is down is watched for, as one that dies later is.
    is_none_left = are_all and len(failures) == len(answers)
    for failure in failures:
        if is_none_left or not isinstance(failure, AdbError):
            raise failure


async def devices_for(store: "Store", settings: Settings, session_id: str) -> Devices:
    """Return which devices it takes to go on with a session.

    Args:
        store: open.
        settings: name the data directory.
        session_id: of a session, or of a question of one.

    Raises:
        UsageError: there is no such session.
    """
    asked = {question.question_id: question for question in await store.open_questions()}
    if session_id.startswith("q-") and session_id not in asked:
        # A question that is not open any more: whoever looks it up says so.
        return NO_DEVICES
    wanted = asked[session_id].session_id if session_id in asked else session_id
    root = await store.session(wanted)
    tree = (root, *await store.children(root.session_id))
    on_phones = [s for s in tree if s.serial or len(tree) == 1]
    first_port = await asyncio.to_thread(_first_port, settings)
    places = [_place(on_host(session.serial), first_port) for session in on_phones]
    phones = max(places, default=0)
    return Devices(connected=0 in places, own_server=phones > 0, phones=phones)


def _place(serial: str, first_port: int) -> int:
    """Return which of our virtual phones a serial is, from 1; 0 when it is none."""
    host, _, port = serial.rpartition(":")
    if not first_port or host != "127.0.0.1" or not port.isdecimal():
        return 0
    place = int(port) - first_port + 1
    return place if 0 < place <= MOST_PHONES else 0


def _first_port(settings: Settings) -> int:
    try:
        data = (settings.data_dir / "phones" / "ports.json").read_bytes()
        return msgspec.json.decode(data, type=PortRecord).first_port
    except (OSError, msgspec.DecodeError):
        return 0


class EmptyFleet:
    """A fleet without devices, for work that needs none; implements `Fleet`."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._servers_changed = asyncio.Event()

    async def start(self) -> None:
        """Watch nothing."""

    async def close(self) -> None:
        """End whoever follows changes."""
        self._ended.set()

    def devices(self) -> tuple[DeviceInfo, ...]:
        return ()

    def servers_away(self) -> tuple[ServerAway, ...]:
        """None is missed."""
        return ()

    @property
    def servers_changed(self) -> asyncio.Event:
        return self._servers_changed

    async def changes(self) -> AsyncIterator[DeviceInfo]:
        """Wait for the end; nothing changes before."""
        await self._ended.wait()
        for info in self.devices():
            yield info

    async def device(self, serial: str) -> Device:
        """Refuse. Raises UsageError."""
        raise _unknown_device(serial)

    async def wait_for(self, serial: str, *, timeout_s: float) -> Device:
        """Refuse. Raises DeviceLostError."""
        raise DeviceLostError(
            f"Device {serial} is not connected here.", "Connect it and try again."
        )

    def lease(self, serial: str, driver: str) -> AbstractAsyncContextManager[Device]:
        """Refuse. Raises UsageError."""
        raise _unknown_device(serial)

    def hand(self, serial: str, driver: str) -> None:
        """Refuse. Raises UsageError."""
        raise _unknown_device(serial)

    def label(self, serial: str, *, name: str, tags: Iterable[str], notes: str) -> DeviceInfo:
        """Refuse. Raises UsageError."""
        raise _unknown_device(serial)

    def dismiss(self, serial: str, *, dismissed: bool) -> None:
        """Refuse. Raises UsageError."""
        raise _unknown_device(serial)

    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[LiveFrame]:
        """Refuse. Raises UsageError."""
        for frame in _no_frames(serial):
            yield frame


def _no_frames(serial: str) -> tuple[LiveFrame, ...]:
    raise _unknown_device(serial)


def _unknown_device(serial: str) -> UsageError:
    return UsageError(f"No device {serial!r} is known.", "This command does not use devices.")
