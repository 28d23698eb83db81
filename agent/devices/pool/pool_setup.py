"""Make the entries of a pool from the settings: virtual phones, emulators and real phones together.

Invariant: nothing is started here; a pool that is opened starts them.
"""

from pathlib import Path

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.server import AdbServer
from agent.devices.pool.emulator_entries import FIRST_PORT, EmulatorEntry, find_emulator
from agent.devices.pool.entries import PoolEntry, RealEntry
from agent.devices.pool.pool import PhonePool
from agent.devices.pool.virtual_entries import VirtualEntry, VirtualFarm
from agent.devices.resources.resource_ledger import FOLDER, ResourceLedger
from agent.settings import PoolSettings

ENVIRONMENT = "environment"
"""The folder in a data directory of the phones that `switchboard env serve` has."""


def make_pool(
    wanted: PoolSettings, folder: Path, *, own: AdbServer, server: ServerAddress
) -> PhonePool:
    """Return a pool of all the phones that the settings name, not opened.

    Args:
        folder: where its virtual phones live, and where it is written down what runs.
        own: the adb server of the virtual phones, started.
        server: the operator's adb server, which knows emulators and real phones.

    Raises:
        UsageError: nothing is named, a package is none, or the emulator is not here.
    """
    packages = wanted.apps
    entries: list[PoolEntry] = []
    if wanted.virtual:
        farm = VirtualFarm(folder / "pool", own, count=wanted.virtual)
        entries += [VirtualEntry(farm, number) for number in range(wanted.virtual)]
    if wanted.avds:
        program = find_emulator()
        resources = ResourceLedger(folder / FOLDER)
        entries += [
            EmulatorEntry(
                program,
                avd,
                port=FIRST_PORT + 2 * number,
                server=server,
                packages=packages,
                resources=resources,
            )
            for number, avd in enumerate(wanted.avds)
        ]
    entries += [RealEntry(server, serial, packages=packages) for serial in wanted.serials]
    return PhonePool(entries)
