"""A core that takes all that can be taken on a phone, and waits to be killed.

`python -m tests.devices.holding DATA_DIR ADB_SERVER SERIAL` prints `ready` once everything is out.
"""

import asyncio
import sys
from pathlib import Path

from agent.devices.adb import sync
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.resources.resource_ledger import FOLDER, ResourceKind, ResourceLedger
from agent.devices.scrcpy.tunnel import ReverseTunnel
from agent.devices.shell.phone_shell import PhoneShell
from tests.devices.owning import owned_core

REVERSED = "scrcpy_00c0ffee"
PART = "/data/local/tmp/switchboard-scrcpy-9.9-0123.jar.part"
BOUND_S = 60.0


async def hold(directory: Path, server: str, serial: str) -> None:
    """Take everything, and wait for ever."""
    async with owned_core(directory, server) as fleet:
        ledger = ResourceLedger(directory / FOLDER)
        client = AdbClient(ServerAddress.parse(server))
        shell = PhoneShell(client, serial, resources=ledger)
        await fleet.wait_for(serial, timeout_s=BOUND_S)
        async with fleet.lease(serial, "s-held") as device:
            await device.displays.open()
            await ReverseTunnel(shell).prepare(REVERSED)
            ledger.take(ResourceKind.FILE, PART, serial=serial)
            await sync.push(client, serial, b"half of it", PART)
            async with Keyboard(serial, shell.run, resources=ledger).borrowed(BOUND_S):
                print("ready", flush=True)
                await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(hold(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
