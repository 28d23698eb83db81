"""Every device that the adb servers know, and who drives which.

Not a pool and not a scheduler; what servers say is taken in by
`agent.devices.fleet.device_registry`. Invariants: nothing is polled for; a device that was seen
stays known, as GONE while it is away; one driver per device, in this process and, by a mark on the
phone, in every other.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex

from msgspec.structs import replace

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.device_lease import DeviceLeases
from agent.devices.fleet.device_registry import DeviceRegistry, unavailable
from agent.devices.fleet.labels import Labels, checked
from agent.devices.fleet.server_watch import Revive, Watch
from agent.devices.health.admin import DeviceAdmin
from agent.devices.health.maintenance import Maintenance
from agent.devices.health.phone_checks import Health
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.protocols import Device
from agent.devices.resources.resource_ledger import ResourceLedger
from agent.devices.scrcpy.decoding.decode_process import DecodeProcess
from agent.devices.scrcpy.decoding.pictures import Decoding
from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceLostError, UsageError
from agent.records import DeviceInfo, LiveFrame, ServerAway, on_host


class AdbFleet:
    """Watch one or more adb servers and hand out their devices.

    Args:
        addresses: the servers. A serial that two of them list is the device of the first here, and
            serial@host:port that of the other.
        revive: called when a server does not come back, so that its owner may start it again.
        labels: what the operator calls devices; by default, nothing yet.
        key: tells this fleet's leases from every other's; its successor is to have the same.
        scrcpy: how devices use a scrcpy server, for video and for touches.
        decoding: what decodes their video, closed with the fleet; by default a process of its own.
        resources: where what is taken on phones is written down, and what a fleet that was killed
            left there is found; by default, in memory.
        passports: where what was found out about phones is kept; by default, nothing is known.
        others: those of the servers whose phones are another program's: to look at, not to drive.
        host: stands before the name of every phone, where cores of several hosts share a store.
        bells: the serials of phones that ring for a person: no agent ever sees them.
    """

    def __init__(
        self,
        addresses: Sequence[ServerAddress],
        *,
        revive: Revive | None = None,
        labels: Labels | None = None,
        key: str = "",
        scrcpy: ScrcpySettings | None = None,
        decoding: Decoding | None = None,
        resources: ResourceLedger | None = None,
        passports: PassportFolder | None = None,
        others: Collection[ServerAddress] = (),
        host: str = "",
        may_keep: Callable[[], bool] = lambda: True,
        bells: Collection[str] = (),
    ) -> None:
        if not addresses:
            raise UsageError("A fleet needs an adb server.", "Give the address of one.")
        self._clients = {address: AdbClient(address) for address in addresses}
        self._labels = labels or Labels()
        self._scrcpy = scrcpy or ScrcpySettings()
        self._decoding: Decoding = decoding or DecodeProcess()
        self._resources = resources or ResourceLedger()
        self._registry = DeviceRegistry(
            self._clients,
            self._labels,
            self._scrcpy,
            self._decoding,
            self._resources,
            passports,
            others,
            host,
            bells,
        )
        self._watch = Watch(self._clients, self._registry, revive)
        self._leases = DeviceLeases(self._registry, key or token_hex(8), may_keep)

    # --- life ----------

    async def start(self) -> None:
        """Watch the servers; returns when the first lists of devices are there.

        Raises AdbError when no server answers.
        """
        await self._watch.start()
        self._leases.watch_idle()

    async def close(self) -> None:
        """Stop watching; listeners and frame readers end, devices are left as they are."""
        await self._leases.close()
        await self._watch.close()
        await self._registry.close()
        await self._decoding.close()

    # --- looking ----------

    def devices(self) -> tuple[DeviceInfo, ...]:
        """List every device seen since the start, by serial; those away have state GONE."""
        return tuple(
            sorted((entry.info for entry in self._registry.entries), key=lambda i: i.serial)
        )

    def servers_away(self) -> tuple[ServerAway, ...]:
        """List the adb servers that do not answer now."""
        away = self._watch.unreachable
        return tuple(ServerAway(address=str(one), why=why) for one, why in away.items())

    @property
    def servers_changed(self) -> asyncio.Event:
        """Set when a server goes away or answers again; taken before looking, it misses none."""
        return self._watch.changed

    def changes(self) -> AsyncIterator[DeviceInfo]:
        """Follow devices from now on as they appear, change and go; ends with the fleet."""
        return self._registry.listen()

    def reach(self, serial: str) -> tuple[AdbClient, str]:
        """Return the client that reaches a device, and the serial its server lists it as.

        For what adb itself offers: files, installing, logs. Raises UsageError for one never seen,
        DeviceLostError where another answers in its place.
        """
        entry = self._registry.known(serial)
        if entry.is_doubted:
            raise unavailable(entry.info)
        return self._registry.client(entry), entry.place.serial

    async def maintenance(self, serial: str) -> Maintenance:
        """Return what examines and repairs a device that is online, and reads its log.

        Raises UsageError for a serial never seen, DeviceLostError with the remedy when away.
        """
        device = await self.device(serial)
        client, _ = self.reach(serial)
        extras = DeviceAdmin(client, device.serial, resources=self._resources)
        shell = PhoneShell(client, device.serial, resources=self._resources)
        link = ScrcpyLink(shell, ScrcpySettings(server=self._scrcpy.server))
        return Maintenance(Health(device, extras, link), extras)

    async def device(self, serial: str) -> Device:
        """Return a device that is online.

        Raises UsageError for a serial never seen, DeviceLostError with the remedy when away.
        """
        entry = self._registry.known(serial)
        if not entry.is_online:
            raise unavailable(entry.info)
        return entry.device

    async def wait_for(self, serial: str, *, timeout_s: float) -> Device:
        """Wait until a device is online, known or not yet; DeviceLostError when time runs out."""
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    changed = self._registry.changed
                    entry = self._registry.get(serial)
                    if entry is not None and entry.is_online:
                        return entry.device
                    await changed.wait()
        except TimeoutError:
            entry = self._registry.get(serial)
            if entry is not None:
                raise unavailable(entry.info) from None
            raise DeviceLostError(
                f"No device {serial} appeared within {timeout_s:g} s.",
                "Plug it in, or look for its serial with `switchboard devices`.",
            ) from None

    def label(self, serial: str, *, name: str, tags: Iterable[str], notes: str) -> DeviceInfo:
        """Keep what the operator calls a device.

        Raises UsageError for a serial never seen or what no label can be, StoreError.
        """
        entry = self._registry.known(serial)
        label = checked(name, tags, notes)
        label = replace(label, hardware_serial=entry.info.hardware_serial)
        self._labels.set(on_host(entry.serial), label)
        self._registry.set(entry, self._registry.labelled(entry.info))
        return entry.info

    def dismiss(self, serial: str, *, dismissed: bool) -> None:
        """Note that the operator has read what is wrong with a device, until its state changes.

        Raises UsageError for a serial never seen.
        """
        entry = self._registry.known(serial)
        self._registry.set(entry, replace(entry.info, dismissed=dismissed))

    # --- driving ----------

    @asynccontextmanager
    async def lease(self, serial: str, driver: str) -> AsyncIterator[Device]:
        """Drive a device alone for the length of the block; waiting drivers are served in order.

        Raises UsageError for a serial never seen, DeviceLostError when it is away, or driven by
        another process.
        """
        entry = self._registry.known(serial)
        entry.waiting += 1
        try:
            await entry.driving.acquire()
        finally:
            entry.waiting -= 1
        try:
            async with self._leases.hold(entry, driver):
                device = await self.device(serial)
                await entry.device.make_ready()
                try:
                    yield device
                finally:
                    await entry.device.release_input()
        finally:
            entry.driving.release()

    def hand(self, serial: str, driver: str) -> None:
        """Set who drives a device whose lease is held: its session, or the operator for a while."""
        entry = self._registry.known(serial)
        if entry.driving.locked():
            self._registry.set(entry, replace(entry.info, driver=driver))

    async def frames(
        self, serial: str, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncIterator[LiveFrame]:
        """Follow the newest picture, fitted into a box with its shape kept.

        Raises UsageError for a serial never seen. A device that is away gives frames that say so.
        """
        feed = self._registry.known(serial).feed
        reading = feed.read(width_px=width_px, height_px=height_px, max_hz=max_hz)
        try:
            async for frame in reading:
                yield frame
        finally:
            await reading.aclose()
