"""The registry of every device seen: what the servers' lists mean for it, and who hears of it.

Not the watching of servers (`agent.devices.fleet.server_watch`) and not driving
(`agent.devices.fleet.fleet`). Invariants: a device that was seen stays known, as GONE while it is
away; a name stands for one device; one that comes back, on another server or another wireless port,
is the same device only if nothing speaks against it. What comes back at a host and port is online
only once it has said who it is: by then the port may be another phone's.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from weakref import WeakSet

from msgspec.structs import replace

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.device_list import DeviceRow, explain
from agent.devices.adb.discovery import hardware_serial
from agent.devices.adb.places import Place, is_address, is_wireless, name_for, transport_of
from agent.devices.adb.same_serials import SameSerials
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.device_entry import Changes, DeviceEntry, Newcomer
from agent.devices.fleet.device_lease_file import TTL_S
from agent.devices.fleet.labels import Labels
from agent.devices.fleet.naming import serial_of
from agent.devices.frames.feed import FrameFeed
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.protocols import Capture
from agent.devices.resources.resource_ledger import ResourceLedger
from agent.devices.scrcpy.decoding.pictures import Decoding
from agent.devices.scrcpy.link import ScrcpySettings
from agent.errors import DeviceError, DeviceLostError, UsageError
from agent.records import DeviceInfo, DeviceState, Transport, at_host, identifies, on_host
from agent.text import one_line

PROFILE_PAUSE_S = 1.0
PROFILE_ATTEMPTS = 120
"""A phone that boots is asked about for two minutes."""
_IDENTIFY_TIMEOUT_S = 3.0
_RECOGNISING = "The phone is asked whether it is the one that was here before."
_SURE_S = TTL_S - 2.0  # So long after it was looked after, a mark still keeps everybody else away.
ENVIRONMENTS = "elsewhere: environment"
"""Who drives the phones of an environment, as far as a core that looks at them knows."""
_COMING = frozenset(
    {DeviceState.ONLINE, DeviceState.OFFLINE, DeviceState.CONNECTING, DeviceState.AUTHORIZING}
)
"""States of a phone that may be online in a moment."""


class DeviceRegistry:
    """Every device seen since the start.

    Args:
        clients: the servers that are watched.
        labels: what the operator calls devices.
        scrcpy: how devices use a scrcpy server.
        decoding: what decodes their video.
        resources: where what is taken on them is written down.
        passports: where what was found out about them is kept.
        others: those of the servers whose phones are another program's.
        host: stands before every name, where cores of several hosts share a store.
        bells: the serials of phones that ring for a person: no agent ever sees them.
    """

    def __init__(
        self,
        clients: Mapping[ServerAddress, AdbClient],
        labels: Labels,
        scrcpy: ScrcpySettings,
        decoding: Decoding,
        resources: ResourceLedger,
        passports: PassportFolder | None = None,
        others: Collection[ServerAddress] = (),
        host: str = "",
        bells: Collection[str] = (),
    ) -> None:
        self._clients = clients
        self._bells = frozenset(bells)
        self._host = host
        self._others = frozenset(others)
        self._resources = resources
        self._passports = passports
        self._scrcpy = scrcpy
        self._decoding = decoding
        self._labels = labels
        self._entries: dict[str, DeviceEntry] = {}
        self._listeners: WeakSet[Changes] = WeakSet()
        self._changed = asyncio.Event()
        self._newcomers: dict[Place, Newcomer] = {}
        self._names = {address: SameSerials() for address in clients}

    @property
    def entries(self) -> Iterable[DeviceEntry]:
        """Every device, as it was seen first."""
        return tuple(self._entries.values())

    @property
    def changed(self) -> asyncio.Event:
        """Set at the next change; taken before looking, it misses none."""
        return self._changed

    def is_to_look_at(self, entry: DeviceEntry) -> bool:
        """Return whether a device is another program's, here to be looked at only."""
        return entry.place.address in self._others

    def client(self, entry: DeviceEntry) -> AdbClient:
        """Return the client of the server that lists a device."""
        return self._clients[entry.place.address]

    def get(self, name: str) -> DeviceEntry | None:
        """Find a device by its serial, by serial@host:port, or by what the operator calls it.

        Raises UsageError for a name that several devices have.
        """
        found = self._entries.get(name) or self._entries.get(at_host(self._host, name))
        if found is not None:
            return found
        listed = next((s for s in self._entries.values() if s.place.full_name == name), None)
        return listed or self._entries.get(serial_of(name, (s.info for s in self.entries)))

    def known(self, name: str) -> DeviceEntry:
        """Find a device. Raises UsageError for one never seen."""
        entry = self.get(name)
        if entry is None:
            known = ", ".join(sorted(self._entries)) or "none"
            raise UsageError(
                f"No device {one_line(name, 80)!r} is known.", f"Devices seen so far: {known}."
            )
        return entry

    def listen(self) -> Changes:
        """Follow changes from now on."""
        listener = Changes()
        self._listeners.add(listener)
        return listener

    async def close(self) -> None:
        """End everybody who listens or looks."""
        tasks = [task for s in self.entries for task in (s.asking, s.recognising) if task]
        tasks += [newcomer.task for newcomer in self._newcomers.values() if newcomer.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(entry.feed.close() for entry in self.entries))
        await asyncio.gather(*(entry.device.close() for entry in self.entries))
        for listener in list(self._listeners):
            listener.end()
        self._signal()

    # --- what servers say ----------

    def apply(self, address: ServerAddress, rows: Sequence[DeviceRow]) -> None:
        """Take in what a server lists now."""
        rows = [row for row in rows if row.serial not in self._bells]
        rows = self._names[address].named(rows)
        listed = {row.serial for row in rows}
        # Those that left first: what is plugged in elsewhere has left its place.
        for entry in self.entries:
            if entry.displaced:
                continue
            if entry.place.address == address and entry.place.serial not in listed:
                why = explain(DeviceState.GONE, entry.place.serial, is_virtual=entry.info.virtual)
                self.set_state(entry, DeviceState.GONE, why)
        for place in [p for p in self._newcomers if p.address == address]:
            if place.serial not in listed:
                self._newcomers.pop(place).cancel()
        for row in rows:
            self._apply_row(Place(address, row.serial), row)

    def lose_server(self, address: ServerAddress, error: DeviceError) -> None:
        """Take in that a server answers no more."""
        for entry in self.entries:
            if entry.place.address == address and entry.info.state is not DeviceState.GONE:
                entry.away_with_server = entry.is_online
                self.set_state(entry, DeviceState.GONE, str(error))

    def _apply_row(self, place: Place, row: DeviceRow) -> None:
        entry = self._at(place) or self._find_moved(place)
        if entry is None and self._may_be_known(place, row):
            newcomer = self._newcomers.get(place)
            if newcomer is None:
                newcomer = self._newcomers[place] = Newcomer(row)
                newcomer.task = asyncio.create_task(self._identify(place, newcomer))
            newcomer.see(row)
            return
        newcomer = self._newcomers.pop(place, None)
        if newcomer is not None:
            newcomer.cancel()
        self._see(entry or self._add(place, row), row)

    def _see(self, entry: DeviceEntry, row: DeviceRow) -> None:
        # The number of a connection is another after each time that the phone connects.
        number = row.transport_id if row.listed else 0
        self.client(entry).alias(entry.serial, row.listed or row.serial, number)
        entry.away_with_server = False
        returned = not entry.is_online
        new_connection = row.transport_id != entry.transport_id
        if entry.silent and not new_connection:
            return
        if row.state is DeviceState.ONLINE and (returned or new_connection):
            if entry.recognising is not None and not new_connection:
                return
            entry.transport_id = row.transport_id
            entry.silent = False
            if is_address(entry.place.serial) and identifies(entry.info.hardware_serial):
                self.set_state(entry, DeviceState.CONNECTING, _RECOGNISING)
                entry.recognising = asyncio.create_task(
                    self._recognise(entry, row), name=f"recognise {entry.serial}"
                )
                return
            self._connected(entry)
        self._list(entry, row)

    def _connected(self, entry: DeviceEntry) -> None:
        entry.device.forget()
        entry.feed.retry_video()
        if entry.asking is not None:
            entry.asking.cancel()
        entry.asking = asyncio.create_task(self._ask(entry), name=f"ask {entry.serial}")

    def _list(self, entry: DeviceEntry, row: DeviceRow) -> None:
        self.set(entry, replace(entry.info, product=row.product or entry.info.product))
        if row.state is not entry.info.state:
            self.set_state(entry, row.state, row.note)

    def _at(self, place: Place) -> DeviceEntry | None:
        there = (one for one in self._entries.values() if one.place == place and not one.displaced)
        return next(there, None)

    def _find_moved(self, place: Place) -> DeviceEntry | None:
        """Find the device that has left the place where it was listed under this serial."""
        entry = self._entries.get(at_host(self._host, place.serial))
        if entry is None or entry.info.state is not DeviceState.GONE:
            return None
        if not entry.place.may_move_to(place):
            return None
        self._move(entry, place)
        return entry

    def _move(self, entry: DeviceEntry, place: Place) -> None:
        client = self._clients[place.address]
        client.alias(entry.serial, place.serial)
        entry.place = place
        entry.displaced = False
        entry.device.move(client)
        shown = "" if place.serial == on_host(entry.serial) else place.serial
        self.set(entry, replace(entry.info, server=str(place.address), listed_as=shown))

    def _add(self, place: Place, row: DeviceRow) -> DeviceEntry:
        plain = name_for(place, {on_host(one) for one in self._entries})
        name = at_host(self._host, plain)
        client = self._clients[place.address]
        client.alias(name, place.serial)
        device = AdbDevice(
            client,
            name,
            on_action=lambda: self._entries[name].feed.wake(),
            may_act=lambda: _check_unfenced(self._entries[name]),
            scrcpy=self._scrcpy,
            decoding=self._decoding,
            keeps_shells=True,
            resources=self._resources,
            passports=self._passports,
        )

        async def capture(timeout_s: float) -> Capture:
            return await device.capture(timeout_s=timeout_s)

        info = DeviceInfo(
            serial=name,
            state=DeviceState.UNKNOWN,
            model=row.model,
            product=row.product,
            virtual=row.is_virtual,
            transport=Transport.VIRTUAL if row.is_virtual else transport_of(place.serial),
            server=str(place.address),
            listed_as="" if (row.listed or place.serial) == plain else row.listed or place.serial,
            driver=ENVIRONMENTS if place.address in self._others else "",
        )
        entry = DeviceEntry(
            info=self.labelled(info),
            device=device,
            feed=FrameFeed(
                name,
                capture,
                lambda: self._why_away(name),
                video=device.video(),
                is_secure=device.is_secure,
            ),
            place=place,
            # So that nothing done from here reaches it.
            taken_by=ENVIRONMENTS if place.address in self._others else "",
        )
        self._entries[name] = entry
        return entry

    # --- who they are ----------

    def _may_be_known(self, place: Place, row: DeviceRow) -> bool:
        """Whether a serial that is new may be a wireless phone on a new port."""
        return (
            row.state in _COMING
            and is_wireless(place.serial)
            and (place in self._newcomers or any(self._missing_wireless()))
        )

    def _missing_wireless(self) -> Iterable[DeviceEntry]:
        return (
            entry
            for entry in self._entries.values()
            if entry.info.state is DeviceState.GONE
            and is_wireless(entry.place.serial)
            and identifies(entry.info.hardware_serial)
        )

    async def _identify(self, place: Place, newcomer: Newcomer) -> None:
        """Ask a phone on a new port who it is, before it is taken for a new one."""
        says = ""
        # Whatever it does not tell in time is asked again, as of a device of its own.
        with suppress(DeviceError, TimeoutError):
            async with asyncio.timeout(_IDENTIFY_TIMEOUT_S):
                await newcomer.online.wait()
            says = await hardware_serial(
                self._clients[place.address], place.serial, timeout_s=_IDENTIFY_TIMEOUT_S
            )
        same = [s for s in self._missing_wireless() if says and s.info.hardware_serial == says]
        del self._newcomers[place]
        if len(same) == 1:
            self._move(same[0], place)
        self._see(same[0] if len(same) == 1 else self._add(place, newcomer.row), newcomer.row)

    async def _recognise(self, entry: DeviceEntry, row: DeviceRow) -> None:
        """Ask what came back at an address who it is, until it answers."""
        says: str | None = None
        while says is None:
            try:
                says = await hardware_serial(
                    self.client(entry), entry.place.serial, timeout_s=_IDENTIFY_TIMEOUT_S
                )
            except DeviceError:
                await asyncio.sleep(PROFILE_PAUSE_S)
        entry.recognising = None
        if says in ("", entry.info.hardware_serial):
            self._connected(entry)
            self._list(entry, row)
        else:
            self._displace(entry, row, says)

    def _displace(self, entry: DeviceEntry, row: DeviceRow, says: str) -> None:
        """Take in that another device, which says its serial, answers at the address of one."""
        place = entry.place
        entry.displaced = True
        note = f"Another phone ({says}) answers at {place.serial} now. Connect this one again."
        self.set_state(entry, DeviceState.GONE, note)
        same = [s for s in self._missing_wireless() if s.info.hardware_serial == says]
        if len(same) == 1:
            self._move(same[0], place)
        self._see(same[0] if len(same) == 1 else self._add(place, row), row)

    async def _ask(self, entry: DeviceEntry) -> None:
        """Learn what a device that came online is; again until it has started."""
        for _ in range(PROFILE_ATTEMPTS):
            try:
                known = await entry.device.info()
                says = await hardware_serial(
                    self.client(entry), entry.serial, timeout_s=_IDENTIFY_TIMEOUT_S
                )
            except DeviceError as error:
                known, says = replace(entry.info, note=str(error)), entry.info.hardware_serial
            if not entry.is_online:
                return
            seen = replace(
                entry.info,
                model=known.model or entry.info.model,
                android=known.android,
                width_px=known.width_px,
                height_px=known.height_px,
                virtual=known.virtual,
                transport=Transport.VIRTUAL if known.virtual else entry.info.transport,
                # What several phones have identifies none of them.
                hardware_serial="" if entry.shares_serial else says,
                note=known.note,
            )
            self.set(entry, self.labelled(seen))
            if not known.note:
                return
            await asyncio.sleep(PROFILE_PAUSE_S)
            entry.device.forget()

    def labelled(self, info: DeviceInfo) -> DeviceInfo:
        """Return a device with what the operator calls it."""
        label = self._labels.of(on_host(info.serial), info.hardware_serial)
        return replace(info, name=label.name, tags=label.tags, notes=label.notes)

    # --- state ----------

    def set_silent(self, entry: DeviceEntry, *, silent: bool) -> None:
        """Take in that a listed device answers nothing, or answers again."""
        if silent and entry.is_online:
            entry.silent = True
            self.set_state(
                entry,
                DeviceState.OFFLINE,
                "adb lists the phone, but it does not answer: wait, unplug it and plug it in "
                "again, or restart it.",
            )
        elif not silent and entry.silent:
            entry.silent = False
            if entry.info.state is DeviceState.OFFLINE:
                self.set_state(entry, DeviceState.ONLINE, "")

    def set_state(self, entry: DeviceEntry, state: DeviceState, note: str) -> None:
        """Change a device's state."""
        if entry.recognising is not None:
            entry.recognising.cancel()
            entry.recognising = None
        if state is DeviceState.GONE:
            entry.silent = False
        dismissed = entry.info.dismissed and state is entry.info.state
        self.set(entry, replace(entry.info, state=state, note=note, dismissed=dismissed))

    def set(self, entry: DeviceEntry, info: DeviceInfo) -> None:
        """Change what is known of a device, and tell everybody."""
        if info == entry.info:
            return
        state_changed = info.state is not entry.info.state
        entry.info = info
        for listener in list(self._listeners):
            listener.put(info)
        if state_changed:
            entry.feed.wake()
        self._signal()

    def _why_away(self, name: str) -> str:
        info = self._entries[name].info
        return "" if info.state is DeviceState.ONLINE else str(unavailable(info))

    def _signal(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _check_unfenced(entry: DeviceEntry) -> None:
    """Refuse to act on what is another's, or another phone. Raises DeviceLostError."""
    if entry.is_doubted:
        raise unavailable(entry.info)
    if entry.taken_by:
        raise DeviceLostError(
            f"{entry.serial} was taken over by {entry.taken_by}.",
            "Nothing was done. It can be driven again once it is released.",
        )
    stood_s = asyncio.get_running_loop().time() - entry.mark_looked_s
    if entry.mark_looked_s and stood_s > _SURE_S:
        raise DeviceLostError(
            f"{entry.serial} may have another owner by now: for {stood_s:.0f} s this computer "
            "stalled or was cut off from its fleet.",
            "Nothing was done. Its owner is checked before it is driven again.",
        )


def unavailable(info: DeviceInfo) -> DeviceLostError:
    """Make the error of a device that cannot be used now."""
    words = "gone" if info.state is DeviceState.GONE else info.state.value
    return DeviceLostError(f"The device {info.serial} is {words}.", info.note)
