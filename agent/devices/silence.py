"""Notice what takes connections and answers nothing: an adb server, or a phone behind one.

Not discovery: a server tells of what it sees, and only what it cannot see is asked for. Invariant:
silence is noticed within two seconds; an answer, however unkind, is not silence.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from agent.devices.client import AdbClient
from agent.errors import DeviceError, DeviceTimeoutError

EVERY_S = 0.5
PATIENCE_S = 1.5


async def until_server_is_silent(client: AdbClient) -> None:
    """Ask a server again and again. Raises AdbError once it answers no more."""
    while True:
        await asyncio.sleep(EVERY_S)
        await client.version(timeout_s=PATIENCE_S)


async def answers(client: AdbClient, serial: str) -> bool:
    """Ask a phone for a word; False when it gave none in time.

    A phone that is gone has answered in its way: its server tells that.
    """
    with suppress(DeviceError):
        try:
            async with client.open(serial, "shell:echo", timeout_s=PATIENCE_S) as stream:
                await stream.rest(limit=4096)
        except DeviceTimeoutError:
            return False
    return True
