"""Give back what processes that ended left on a phone or on this computer.

Not the input method, which `agent.devices.input.borrowed_keyboard` gives back by its note on the
phone. Invariants: only what a record names is touched, by a name that no other run has; giving back
what is gone already is fine; what cannot be given back stays written down.
"""

import asyncio
import logging
import re
from pathlib import PurePosixPath
from shlex import quote
from typing import assert_never

from agent.devices.adb.stream import ServiceClosedError
from agent.devices.resources.processes import end_process
from agent.devices.resources.resource_ledger import Resource, ResourceKind, ResourceLedger
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError

_TIMEOUT_S = 5.0
_END_TIMEOUT_S = 10.0
_SCID = re.compile(r"[0-9a-f]{8}")
_REMOTE = re.compile(r"localabstract:scrcpy(_[0-9a-f]{8})?")
_TEMPORARY_FOLDER = PurePosixPath("/data/local/tmp")
_log = logging.getLogger(__name__)


async def reclaim_on_phone(shell: PhoneShell) -> None:
    """Give back what is left on a phone that is online; what fails is tried at the next meeting."""
    try:
        left = await asyncio.to_thread(shell.resources.left, shell.serial)
        for resource in left:
            if resource.kind is not ResourceKind.INPUT_METHOD:
                await _give_back(shell, resource)
                shell.resources.settle(resource)
    except DeviceError as error:
        _log.warning("What was left on %s is not all given back: %s", shell.serial, error)


async def reclaim_here(ledger: ResourceLedger) -> None:
    """Give back what is left on this computer. Raises DeviceError: the ledger cannot be read."""
    for resource in await asyncio.to_thread(ledger.left):
        if resource.child_pid:
            await end_process(resource.child_pid, resource.child_mark, None, _END_TIMEOUT_S)
        ledger.settle(resource)


async def _give_back(shell: PhoneShell, resource: Resource) -> None:
    match resource.kind:
        case ResourceKind.SCRCPY_SERVER | ResourceKind.DISPLAY:
            # It ends with the stream that its shell stands in; one that did not is ended here. The
            # brackets keep the command from finding itself.
            if _SCID.fullmatch(resource.name):
                pattern = f"scid=[{resource.name[0]}]{resource.name[1:]}"
                await shell.run(f"pkill -f '{pattern}'", _TIMEOUT_S)
        case ResourceKind.REVERSE:
            if _REMOTE.fullmatch(resource.name):
                await take_reversal_back(shell, resource.name)
        case ResourceKind.FILE:
            path = PurePosixPath(resource.name)
            if path.parent == _TEMPORARY_FOLDER and path.name.startswith("switchboard-"):
                await shell.run(f"rm -f {quote(str(path))}", _TIMEOUT_S)
        case ResourceKind.UI_AUTOMATION:
            # It stands in a terminal of the process that ended, whose hang-up ends it; a service
            # that answers now is another program's.
            return
        case ResourceKind.INPUT_METHOD | ResourceKind.EMULATOR:
            return  # Given back by `keyboard` and `reclaim_here`.
        case _:
            assert_never(resource.kind)


async def take_reversal_back(shell: PhoneShell, remote: str) -> None:
    """Remove a reverse forward from a phone; one that is gone is fine. Raises DeviceError."""
    service = f"reverse:killforward:{remote}"
    try:
        async with shell.client.open(shell.serial, service, timeout_s=_TIMEOUT_S) as stream:
            await stream.exactly(4)
    except ServiceClosedError:
        # Android before 5 has none.
        return
