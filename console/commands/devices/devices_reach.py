"""Reach one phone from a command: see what is listed, and hold its lease to change it.

Not a core: nothing is stored. Invariants: no adb server of ours is started for it; a phone that a
session drives, in whatever process, is not driven from here.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from agent.config import Settings
from agent.errors import AdbError, UsageError
from agent.records import DeviceInfo, DeviceState
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.core.device_setup import Phones
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.devices.adb.client import AdbClient
    from agent.devices.fleet.fleet import AdbFleet
    from agent.devices.health.admin import DeviceAdmin
    from agent.devices.protocols import Device
    from agent.devices.resources.resource_ledger import ResourceLedger

WAIT_S = 5.0
DRIVER = "command"


@dataclass(frozen=True)
class Reached:
    """One phone that answers."""

    info: DeviceInfo
    device: Device
    client: AdbClient
    serial: str  # What its server lists it as.
    extras: DeviceAdmin
    fleet: AdbFleet
    resources: ResourceLedger


def run_with_phone(
    ctx: click.Context,
    serial: str,
    work: Callable[[Reached], Awaitable[ExitCode]],
    *,
    drives: bool = False,
) -> None:
    """Run a command's work on one phone, and end the command.

    Args:
        serial: the phone; empty takes the only one there is.
        drives: whether it changes what a session on the phone would see.
    """
    settings = settings_for(ctx)

    async def main(_stop: StopRequest) -> ExitCode:
        async with reached(settings, serial, drives=drives) as phone:
            return await work(phone)

    end(run_async(main))


@asynccontextmanager
async def reached(
    settings: Settings, serial: str, *, drives: bool, watches: bool = False
) -> AsyncIterator[Reached]:
    """Reach a phone for the block. Raises UsageError, AdbError, DeviceLostError.

    Args:
        drives: hold its lease.
        watches: whether live frames of it are looked at.
    """
    from agent.devices.adb.server import reach
    from agent.devices.fleet.fleet import AdbFleet
    from agent.devices.fleet.labels import Labels
    from agent.devices.fleet.naming import serial_of
    from agent.devices.health.admin import DeviceAdmin
    from agent.devices.resources.resource_ledger import FOLDER, ResourceLedger
    from agent.devices.scrcpy.link import ScrcpySettings

    addresses = []
    failure: AdbError | None = None
    from agent.devices.adb.address import ServerAddress

    for text in settings.adb.server:
        try:
            address = ServerAddress.parse(text)
            addresses.append(await reach(address, adb_setting=settings.adb.path))
        except AdbError as error:
            failure = error
    own = await Phones(settings).server.running_address()
    if own is not None and own not in addresses:
        addresses.append(own)
    if not addresses and failure is not None:
        raise failure
    # Nothing of a command needs a warm channel, which takes longer to make than it would save.
    resources = ResourceLedger(settings.data_dir / FOLDER)
    fleet = AdbFleet(
        addresses,
        labels=Labels(settings.data_dir / "devices.json"),
        scrcpy=ScrcpySettings(settings.scrcpy.server, video=watches, control=False),
        resources=resources,
    )
    await fleet.start()
    try:
        name = serial_of(serial, fleet.devices()) if serial else _only(fleet.devices())
        # The first lists are there: what is in none of them is no phone that is about to answer.
        fleet.reach(name)
        device = await fleet.wait_for(name, timeout_s=WAIT_S)
        client, listed = fleet.reach(device.serial)
        info = next(one for one in fleet.devices() if one.serial == device.serial)
        extras = DeviceAdmin(client, device.serial, resources=resources)
        phone = Reached(info, device, client, listed, extras, fleet, resources)
        if not drives:
            yield phone
            return
        async with fleet.lease(device.serial, DRIVER):
            yield phone
    finally:
        await fleet.close()


def _only(infos: tuple[DeviceInfo, ...]) -> str:
    online = [info.serial for info in infos if info.state is DeviceState.ONLINE]
    if len(online) == 1:
        return online[0]
    names = ", ".join(info.serial for info in infos) or "none; see `switchboard doctor`"
    raise UsageError("Name the phone.", f"Phones: {names}.")


class Progress:
    """Show on stderr how far a transfer is: on a terminal in place, else not at all."""

    def __init__(self, what: str, total_bytes: int) -> None:
        self._what = what
        self._total = total_bytes
        self._shown_percent = -1

    def __call__(self, done_bytes: int) -> None:
        percent = 100 if self._total <= 0 else min(100, done_bytes * 100 // self._total)
        if percent == self._shown_percent or not sys.stderr.isatty():
            return
        self._shown_percent = percent
        sys.stderr.write(f"\r{self._what} {percent} %{chr(10) if percent == 100 else ''}")
        sys.stderr.flush()


def done(text: str) -> ExitCode:
    """Complete a commitment."""
    say(text)
    return ExitCode.DONE
