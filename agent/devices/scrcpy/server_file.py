"""Find the scrcpy server for a phone: built in, named by a setting, installed, or in a package.

No server is part of Switchboard. Not the starting (`session`). Invariants: a file's version is read
from the file itself; one that claims to be an official release has that release's checksum where it
is known; a file is pushed whole or not at all, under a name that holds its checksum.
"""

import asyncio
import hashlib
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agent.devices.scrcpy.arguments import BUILT_IN_PATH
from agent.devices.scrcpy.dialect import BUILT_IN, Dialect, dialect
from agent.devices.shell.file_placing import place_file
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError

HOW_TO_GET_ONE = (
    "Install scrcpy, or `pip install mysc-core` (Python 3.12 or newer), or name a server file in "
    "the setting scrcpy.server."
)
OFFICIAL_SHA256 = {"3.3.4": "8588238c9a5a00aa542906b6ec7e6d5541d9ffb9b5d0f6e1bc0e365e2303079e"}
"""Of the releases' `scrcpy-server` files, as `install_release.sh` of their tags names them."""

_FILE_LIMIT_BYTES = 16 << 20
_MANIFEST_LIMIT_BYTES = 1 << 20
_VERSION = re.compile(r"(?<![\d.])\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?![\d.])")
_FOLDER = "/data/local/tmp"


class NoServerError(DeviceError):
    """There is no scrcpy server for the phone; the remedy says how to get one."""


@dataclass(frozen=True, slots=True)
class PhoneServer:
    """A server that a phone can start: its ways, and its class path on the phone."""

    ways: Dialect
    path: str


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A server file on this machine."""

    ways: Dialect
    data: bytes
    sha256: str

    @property
    def remote_path(self) -> str:
        """Where the file lies on phones."""
        return f"{_FOLDER}/switchboard-scrcpy-{self.ways}-{self.sha256[:16]}.jar"


async def prepare_server(shell: PhoneShell, setting: str, *, timeout_s: float) -> PhoneServer:
    """Return a server that the phone can start now; push its file when it is not there yet.

    Args:
        setting: the path of a server file; empty: looked for.

    Raises:
        NoServerError: none was found, with how to get one.
        DeviceError: one was found and cannot be used, or the phone did not take it.
    """
    profile = await shell.profile(timeout_s=timeout_s)
    if profile.virtual and not setting:
        said = (await shell.run("getprop ro.virtual_phone.scrcpy", timeout_s)).text.strip()
        if said == "1":
            return PhoneServer(dialect(BUILT_IN), BUILT_IN_PATH)
    file = await asyncio.to_thread(find_server_file, setting)
    await place_file(shell, file.data, file.remote_path, timeout_s=timeout_s)
    return PhoneServer(file.ways, file.remote_path)


def find_server_file(setting: str = "") -> ServerFile:
    """Look for a server file: the setting, an installed scrcpy, the package mysc-core. Blocking.

    Raises NoServerError when there is none, DeviceError when the one named cannot be used.
    """
    if setting:
        return read_server_file(Path(setting).expanduser())
    for path in _installed():
        if path.is_file():
            return read_server_file(path)
    packaged = _packaged()
    if packaged is not None:
        return read_server_file(packaged, must_be_official=True)
    raise NoServerError("There is no scrcpy server on this machine.", HOW_TO_GET_ONE)


def read_server_file(path: Path, *, must_be_official: bool = False) -> ServerFile:
    """Read a server file and its version. Raises DeviceError when it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_LIMIT_BYTES + 1)
        if len(data) > _FILE_LIMIT_BYTES:
            raise ValueError("it is too large")
        with zipfile.ZipFile(path) as archive, archive.open("AndroidManifest.xml") as manifest:
            version = _manifest_version(manifest.read(_MANIFEST_LIMIT_BYTES))
    except (OSError, ValueError, KeyError, NotImplementedError, zipfile.BadZipFile) as error:
        raise DeviceError(
            f"{path} is not a scrcpy server: {error}.", "Correct the setting scrcpy.server."
        ) from error
    sha256 = hashlib.sha256(data).hexdigest()
    official = OFFICIAL_SHA256.get(version)
    if must_be_official and sha256 != official:
        raise DeviceError(
            f"{path} is not the official scrcpy server {version}: its checksum differs.",
            "Install the package again, or install scrcpy.",
        )
    return ServerFile(dialect(version), data, sha256)


def _manifest_version(manifest: bytes) -> str:
    """Read versionName from a binary manifest, whose strings are UTF-8 or UTF-16."""
    for text in (
        manifest.decode("utf-16-le", "replace"),
        manifest[1:].decode("utf-16-le", "replace"),
        manifest.decode("latin-1"),
    ):
        found = _VERSION.search(text)
        if found is not None:
            return found[0]
    raise ValueError("its manifest names no version")


def _installed() -> Iterator[Path]:
    """Yield where an installed scrcpy keeps its server, likeliest first."""
    named = os.environ.get("SCRCPY_SERVER_PATH")
    if named:
        yield Path(named)
    program = shutil.which("scrcpy")
    if program is None:
        return
    for folder in {Path(program).parent, Path(program).resolve().parent}:
        yield folder / "scrcpy-server"
        yield folder.parent / "share" / "scrcpy" / "scrcpy-server"


def _packaged() -> Path | None:
    """Return the file inside the mysc-core package, which is located and not imported."""
    spec = find_spec("mysc_core")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "libs" / "scrcpy-server"
    return path if path.is_file() else None
