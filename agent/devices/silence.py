"""Notice what takes connections and answers nothing: an adb server, or a phone behind one.

Not discovery: a server tells of what it sees, and only what it cannot see is asked for. Invariants:
silence is noticed within two seconds, unless this machine is itself too busy for that to prove
anything; an answer, however unkind, is not silence.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from agent.devices.client import AdbClient
from agent.errors import DeviceError, DeviceTimeoutError

EVERY_S = 0.5
PATIENCE_S = 1.5
BUSY_PATIENCE_S = 6.0
_BUSY_LOAD_PER_CORE = 2.0
"""From here on the servers and virtual phones of this machine wait for a core, as we do."""


def patience_s() -> float:
    """Say how long an answer may take now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = load > _BUSY_LOAD_PER_CORE * (os.cpu_count() or 1)
    return BUSY_PATIENCE_S if busy else PATIENCE_S


async def until_server_is_silent(client: AdbClient) -> None:
    """Ask a server again and again. Raises AdbError once it answers no more."""
    while True:
        await asyncio.sleep(EVERY_S)
        await client.version(timeout_s=patience_s())


async def answers(client: AdbClient, serial: str) -> bool:
    """Ask a phone for a word; False when it gave none in time.

    A phone that is gone has answered in its way: its server tells that.
    """
    with suppress(DeviceError):
        try:
            async with client.open(serial, "shell:echo", timeout_s=patience_s()) as stream:
                await stream.rest(limit=4096)
        except DeviceTimeoutError:
            return False
    return True
