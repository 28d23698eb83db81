"""Find the scrcpy server for a phone: built in, named by a setting, installed, or in a package.

No server is part of Switchboard. Not the starting (`session`). Invariants: a file's version is read
from the file itself; one that claims to be an official release has that release's checksum where it
is known; a found file that cannot be used is passed over for the next place and named, one that the
operator named is not; a file is pushed whole or not at all, under a name that holds its checksum.
"""

import asyncio
import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from agent.devices.scrcpy.arguments import BUILT_IN_PATH
from agent.devices.scrcpy.dialect import BUILT_IN, SPOKEN, Dialect, dialect
from agent.devices.scrcpy.manifest import version_name
from agent.devices.shell.file_placing import place_file
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from agent.text import one_line

HOW_TO_GET_ONE = (
    "Install scrcpy, or `pip install mysc-core` (Python 3.12 or newer), or name a server file in "
    "the setting scrcpy.server."
)
ANOTHER_ONE = (
    f"{SPOKEN} Update scrcpy, or `pip install mysc-core` (Python 3.12 or newer), or name another "
    "server file in the setting scrcpy.server."
)
OFFICIAL_SHA256 = {
    "3.3.4": "8588238c9a5a00aa542906b6ec7e6d5541d9ffb9b5d0f6e1bc0e365e2303079e",
    "4.1": "deacb991ed2509715160ffdc7907e47b4160eb30d1566217e9047fd5b8850cae",
    "5.0": "26cbc9ad0aced6c2282455bef4fb43462605c1f8758c74b4ab1dbf818c229daa",
    "5.0.1": "764eb6f79811d5211fe9df341120882ba9994c7a61b897d7bf3fb662e53bc536",
}
"""Of the releases' `scrcpy-server` files, as `install_release.sh` of their tags and Homebrew's
formula name them."""

_FILE_LIMIT_BYTES = 16 << 20
_MANIFEST_LIMIT_BYTES = 1 << 20
_FOLDER = "/data/local/tmp"


class NoServerError(DeviceError):
    """There is no scrcpy server for the phone; the remedy says how to get one."""


class UnusableServerError(DeviceError):
    """A server file cannot be used; the message names the file and what it is."""


@dataclass(frozen=True, slots=True)
class PhoneServer:
    """A server that a phone can start: its ways, and its class path on the phone."""

    ways: Dialect
    path: str
    cautions: tuple[str, ...] = ()
    """What may explain a failure: a version that is not known, files that were passed over."""


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A server file on this machine."""

    ways: Dialect
    data: bytes
    sha256: str
    passed_over: tuple[str, ...] = ()
    """Why files that were found before it are not used."""

    @property
    def remote_path(self) -> str:
        """Where the file lies on phones."""
        return f"{_FOLDER}/switchboard-scrcpy-{self.ways}-{self.sha256[:16]}.jar"


async def prepare_server(shell: PhoneShell, setting: str, *, timeout_s: float) -> PhoneServer:
    """Return a server that the phone can start now; push its file when it is not there yet.

    Args:
        setting: the path of a server file; empty: looked for.

    Raises:
        NoServerError: none was found that can be used, with how to get one.
        UnusableServerError: the one that the setting names cannot be used.
        DeviceError: the phone did not take it.
    """
    profile = await shell.profile(timeout_s=timeout_s)
    if profile.virtual and not setting:
        said = (await shell.run("getprop ro.virtual_phone.scrcpy", timeout_s)).text.strip()
        if said == "1":
            return PhoneServer(dialect(BUILT_IN), BUILT_IN_PATH)
    file = await asyncio.to_thread(find_server_file, setting)
    await place_file(shell, file.data, file.remote_path, timeout_s=timeout_s)
    cautions = (*file.passed_over, file.ways.caution)
    return PhoneServer(file.ways, file.remote_path, tuple(filter(None, cautions)))


def find_server_file(setting: str = "") -> ServerFile:
    """Look for a server file: the setting, an installed scrcpy, the package mysc-core. Blocking.

    Raises NoServerError when there is none to use, UnusableServerError when the setting names one
    that cannot be used.
    """
    if setting:
        return read_server_file(Path(setting).expanduser())
    passed_over: list[str] = []
    for path, must_be_official in _places():
        try:
            file = read_server_file(path, must_be_official=must_be_official)
        except UnusableServerError as error:
            passed_over.append(error.message)
        else:
            return replace(file, passed_over=tuple(passed_over))
    if passed_over:
        raise NoServerError(
            f"No scrcpy server on this machine can be used: {' '.join(passed_over)}", ANOTHER_ONE
        )
    raise NoServerError("There is no scrcpy server on this machine.", HOW_TO_GET_ONE)


def _places() -> Iterator[tuple[Path, bool]]:
    """Yield each server file there is, likeliest first, and whether it must be an official one."""
    for path in _installed():
        if path.is_file():
            yield path, False
    packaged = _packaged()
    if packaged is not None:
        yield packaged, True


def read_server_file(path: Path, *, must_be_official: bool = False) -> ServerFile:
    """Read a server file and its version. Raises UnusableServerError when it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_LIMIT_BYTES + 1)
        if len(data) > _FILE_LIMIT_BYTES:
            raise ValueError("it is too large")
        with zipfile.ZipFile(path) as archive, archive.open("AndroidManifest.xml") as manifest:
            version = version_name(manifest.read(_MANIFEST_LIMIT_BYTES))
    except (OSError, ValueError, KeyError, NotImplementedError, zipfile.BadZipFile) as error:
        raise UnusableServerError(
            f"{path} is not a scrcpy server: {error}.", ANOTHER_ONE
        ) from error
    sha256 = hashlib.sha256(data).hexdigest()
    official = OFFICIAL_SHA256.get(version)
    if must_be_official and official is None:
        raise UnusableServerError(
            f"{path} is scrcpy {one_line(version, 40)}, whose official checksum is not known here.",
            "Name the file in the setting scrcpy.server if you trust it, or install scrcpy.",
        )
    if must_be_official and sha256 != official:
        raise UnusableServerError(
            f"{path} is not the official scrcpy server {version}: its checksum differs.",
            "Install the package again, or install scrcpy.",
        )
    try:
        ways = dialect(version)
    except DeviceError as error:
        raise UnusableServerError(f"{path}: {error.message}", ANOTHER_ONE) from error
    return ServerFile(ways, data, sha256)


def _installed() -> Iterator[Path]:
    """Yield where an installed scrcpy keeps its server, likeliest first."""
    named = os.environ.get("SCRCPY_SERVER_PATH")
    if named:
        yield Path(named)
    for path in os.get_exec_path():
        program = shutil.which("scrcpy", path=path)
        if program is None:
            continue
        # A link in a folder of programs leads to where the server lies.
        for folder in dict.fromkeys((Path(program).parent, Path(program).resolve().parent)):
            yield folder / "scrcpy-server"
            yield folder.parent / "share" / "scrcpy" / "scrcpy-server"


def _packaged() -> Path | None:
    """Return the file inside the mysc-core package, which is located and not imported."""
    spec = find_spec("mysc_core")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "libs" / "scrcpy-server"
    return path if path.is_file() else None
