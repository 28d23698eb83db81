"""Find uiautomator2's server on this computer and bring it to a phone.

Nothing is downloaded and no app is installed: the file is that of the PyPI package `uiautomator2`
(an optional extra of ours) or one the operator names. Invariant: what runs on a phone is, byte for
byte, what was found here, for its name on the phone carries its checksum.
"""

import asyncio
import hashlib
from importlib.util import find_spec
from pathlib import Path

from agent.devices.shell.file_placing import place_file
from agent.devices.shell.phone_shell import PhoneShell

_ON_PHONE = "/data/local/tmp/switchboard-u2-{digest}.jar"
_PUSH_TIMEOUT_S = 60.0
INSTALL = 'Install it with `pip install "switchboard-console[uiautomator2]"` for fast UI trees.'


def find_jar() -> Path | None:
    """Return the server file of an installed uiautomator2, without importing that package."""
    spec = find_spec("uiautomator2")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "assets" / "u2.jar"
        if path.is_file():
            return path
    return None


async def place_jar(shell: PhoneShell, jar: Path) -> str:
    """Put the file on the phone unless it is there; return its path there.

    Raises:
        OSError: the file cannot be read here.
        DeviceError: the phone does not take it.
    """
    data = await asyncio.to_thread(jar.read_bytes)
    digest = hashlib.sha256(data).hexdigest()
    path = _ON_PHONE.format(digest=digest[:16])
    await place_file(shell, data, path, timeout_s=_PUSH_TIMEOUT_S)
    return path
