"""Find uiautomator2's server on this computer and bring it to a phone.

Nothing is downloaded and no app is installed: the file is that of the PyPI package `uiautomator2`
(an optional extra of ours) or one the operator names. Invariant: what runs on a phone is, byte for
byte, what was found here, for its name on the phone carries its checksum.
"""

from __future__ import annotations

import asyncio
import hashlib
from importlib.util import find_spec
from pathlib import Path

from agent.devices import sync
from agent.devices.shell import PhoneShell

_ON_PHONE = "/data/local/tmp/switchboard-u2-{digest}.jar"
_PUSH_TIMEOUT_S = 60.0
INSTALL = 'Install it with `pip install "switchboard-console[uiautomator2]"` for fast UI trees.'


def find_jar() -> Path | None:
    """Give the server file of an installed uiautomator2, without importing that package."""
    spec = find_spec("uiautomator2")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "assets" / "u2.jar"
        if path.is_file():
            return path
    return None


async def place_jar(shell: PhoneShell, jar: Path) -> str:
    """Put the file on the phone unless it is there; give its path there.

    Raises:
        OSError: the file cannot be read here.
        DeviceError: the phone does not take it.
    """
    data = await asyncio.to_thread(jar.read_bytes)
    digest = hashlib.sha256(data).hexdigest()
    path = _ON_PHONE.format(digest=digest[:16])
    there = await sync.stat(shell.client, shell.serial, path)
    if there.exists and there.size_bytes == len(data):
        return path
    # A push that is cut off must not leave half a file under the name that is trusted.
    part = f"{path}.part"
    await sync.push(shell.client, shell.serial, data, part, timeout_s=_PUSH_TIMEOUT_S)
    await shell.checked(f"mv {part} {path}", 5.0)
    return path
