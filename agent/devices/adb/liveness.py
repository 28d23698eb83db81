"""Notice what takes connections and answers nothing: an adb server, or a phone behind one.

Not discovery: a server tells of what it sees, and only what it cannot see is asked for. Invariants:
silence is noticed within two seconds, unless this machine is itself too busy for that to prove
anything: then it is asked once more, with more patience; an answer, however unkind, is not silence.
"""

import asyncio
from contextlib import suppress

from agent.devices.adb.client import AdbClient
from agent.devices.adb.host_load import HostLoad
from agent.errors import AdbError, DeviceError, DeviceTimeoutError

EVERY_S = 0.5
PATIENCE_S = 1.5
BUSY_PATIENCE_S = 6.0


async def until_server_is_silent(client: AdbClient) -> None:
    """Ask a server again and again. Raises AdbError once it answers no more."""
    while True:
        await asyncio.sleep(EVERY_S)
        await hear_server(client)


async def hear_server(client: AdbClient) -> None:
    """Have a server say a word. Raises AdbError when it is silent."""
    strain = HostLoad()
    try:
        await client.version(timeout_s=PATIENCE_S)
    except AdbError:
        if not strain.is_felt(PATIENCE_S):
            raise
        await client.version(timeout_s=BUSY_PATIENCE_S)


async def answers(client: AdbClient, serial: str) -> bool:
    """Ask a phone for a word; False when it gave none in time.

    A phone that is gone has answered in its way: its server tells that.
    """
    strain = HostLoad()
    if await _gives_a_word(client, serial, PATIENCE_S):
        return True
    return strain.is_felt(PATIENCE_S) and await _gives_a_word(client, serial, BUSY_PATIENCE_S)


async def _gives_a_word(client: AdbClient, serial: str, timeout_s: float) -> bool:
    with suppress(DeviceError):
        try:
            async with client.open(serial, "shell:echo", timeout_s=timeout_s) as stream:
                await stream.rest(limit=4096)
        except DeviceTimeoutError:
            return False
    return True
