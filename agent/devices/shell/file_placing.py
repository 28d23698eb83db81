"""Put a file of ours on a phone, whole or not at all, under a name that holds its checksum."""

from agent.devices.adb import sync
from agent.devices.resources.resource_ledger import ResourceKind
from agent.devices.shell.phone_shell import PhoneShell

_MOVE_TIMEOUT_S = 10.0


async def place_file(shell: PhoneShell, data: bytes, path: str, *, timeout_s: float) -> None:
    """Put a file on the phone unless it is there. Raises DeviceError: the phone does not take it.

    It stays for the next run. A transfer that is cut off leaves nothing under the name, and what it
    leaves beside it is in the ledger.
    """
    there = await sync.stat(shell.client, shell.serial, path, timeout_s=timeout_s)
    if there.exists and there.size_bytes == len(data):
        return
    part = f"{path}.part"
    file = shell.resources.take(ResourceKind.FILE, part, serial=shell.serial)
    try:
        await sync.push(shell.client, shell.serial, data, part, timeout_s=timeout_s)
        await shell.checked(f"mv {part} {path}", _MOVE_TIMEOUT_S)
    except BaseException:
        shell.resources.abandon(file)
        raise
    shell.resources.settle(file)
