"""Examine what the devices need: Python, adb, an adb server, devices, the data directory.

Nothing is started, written or repaired, and nothing is printed. Invariant: an examination always
ends with findings; what goes wrong in one is its detail and its remedy.
"""

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from agent.child_environment import child_environment
from agent.child_process import end_child
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.device_list import DeviceRow
from agent.devices.adb.newest_adb import what_it_lacks
from agent.devices.adb.same_serials import SameSerials
from agent.devices.adb.server import AdbServer, find_adb
from agent.devices.resources.report import describe
from agent.devices.resources.resource_ledger import FOLDER, ResourceLedger
from agent.errors import AdbError, DeviceError
from agent.private_files import remedy_for, why_shared
from agent.records import DeviceState
from agent.text import one_line

NEEDED_PYTHON = (3, 11)
LOW_SPACE_BYTES = 200 * 1024 * 1024
_ADB_TIMEOUT_S = 5.0


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was examined; the remedy is empty when it is fine."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


async def examine(
    data_dir: Path, addresses: Sequence[ServerAddress], *, adb_setting: str = ""
) -> tuple[Finding, ...]:
    """Examine everything in a few seconds, in the order in which it should be put right.

    Args:
        addresses: of the adb servers that are watched, all of them.
    """
    own = await AdbServer(data_dir / "adb", adb_setting=adb_setting).running_address()
    return (
        _examine_python(),
        await _examine_binary(adb_setting),
        *await _examine_servers(addresses, own),
        *_examine_own_server(own),
        await asyncio.to_thread(_examine_resources, data_dir / FOLDER),
        await asyncio.to_thread(_examine_directory, data_dir),
        await asyncio.to_thread(_examine_space, data_dir),
    )


def _examine_python() -> Finding:
    version = platform.python_version()
    needed = ".".join(map(str, NEEDED_PYTHON))
    ok = sys.version_info[:2] >= NEEDED_PYTHON
    return Finding(
        name="python",
        ok=ok,
        detail=f"Python {version} at {sys.executable}",
        remedy="" if ok else f"Install Python {needed} or newer.",
    )


async def _examine_binary(adb_setting: str) -> Finding:
    try:
        adb = await asyncio.to_thread(find_adb, adb_setting)
    except AdbError as error:
        return Finding(name="adb", ok=False, detail=error.message, remedy=error.remedy)
    remedy = "Install platform-tools made for this machine, or set adb.path."
    try:
        process = await asyncio.create_subprocess_exec(
            adb,
            "version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=child_environment(keeps_adb=True),
        )
    except OSError as error:
        detail = f"{adb} cannot be started: {error.strerror or error}"
        return Finding(name="adb", ok=False, detail=detail, remedy=remedy)
    try:
        async with asyncio.timeout(_ADB_TIMEOUT_S):
            said, _ = await process.communicate()
    except TimeoutError:
        await end_child(process)
        said = b"it did not answer"
    text = said.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if "ersion" in line]
    ok = process.returncode == 0 and bool(lines)
    lacks = what_it_lacks(said) if ok else ""
    return Finding(
        name="adb",
        ok=ok,
        detail=f"{one_line(', '.join(lines) or text, 160)} at {adb}{f'; {lacks}' if lacks else ''}",
        remedy="" if ok else remedy,
    )


async def _examine_servers(
    addresses: Sequence[ServerAddress], own: ServerAddress | None
) -> tuple[Finding, ...]:
    """Examine the servers side by side, then the phones of all of them and of our own server."""
    looks = await asyncio.gather(*(_examine_server(address) for address in addresses))
    servers = [
        server if len(looks) == 1 else replace(server, name=f"adb server {address}")
        for address, (server, _) in zip(addresses, looks, strict=True)
    ]
    devices = [device for _, found in looks for device in found]
    if own is not None:
        devices += (await _examine_server(own))[1]
    if not devices and any(server.ok for server in servers):
        devices = [
            Finding(
                name="devices",
                ok=False,
                detail="no phone is connected",
                remedy="Switch USB debugging on in the phone's developer options and plug it in, "
                "or try `switchboard demo`, which brings its own.",
            )
        ]
    return (*servers, *devices)


def _examine_own_server(address: ServerAddress | None) -> tuple[Finding, ...]:
    """Return who can reach our own adb server; nothing if it is not running."""
    if address is None:
        return ()
    if address.path:
        detail = "virtual phones: on a unix socket of this user's"
        return (Finding(name="own adb server", ok=True, detail=detail),)
    return (
        Finding(
            name="own adb server",
            ok=False,
            detail=f"{address}: every user of this computer can drive its phones through it",
            remedy="Install platform-tools 30 or newer, whose adb listens on unix sockets, then "
            "start again.",
        ),
    )


def _examine_resources(folder: Path) -> Finding:
    """Return what is taken on phones and this computer, and what a process that died left there."""
    try:
        ok, detail = describe(ResourceLedger(folder))
    except DeviceError as error:
        return Finding(name="resources", ok=False, detail=error.message, remedy=error.remedy)
    return Finding(
        name="resources",
        ok=ok,
        detail=detail,
        remedy="" if ok else "Connect the phone and start Switchboard: it gives them back then.",
    )


async def _examine_server(address: ServerAddress) -> tuple[Finding, list[Finding]]:
    client = AdbClient(address)
    try:
        version = await client.version()
        rows = SameSerials().named(await client.devices())
    except DeviceError as error:
        finding = Finding(name="adb server", ok=False, detail=error.message, remedy=error.remedy)
        return finding, []
    finding = Finding(name="adb server", ok=True, detail=f"protocol {version} at {address}")
    return finding, [_examine_device(row) for row in rows]


def _examine_device(row: DeviceRow) -> Finding:
    words = row.state.value if not row.said else f"{row.state.value} {row.said}"
    return Finding(
        name=f"device {row.serial}",
        ok=row.state is DeviceState.ONLINE,
        detail=f"{row.model} is {words}" if row.model else words,
        remedy=row.note,
    )


def _examine_directory(data_dir: Path) -> Finding:
    """Look whether the directory, or the one it would be made in, can be written."""
    if data_dir.exists() and not data_dir.is_dir():
        return Finding(
            name="data directory",
            ok=False,
            detail=f"{data_dir} is not a directory",
            remedy="Move it away, or set SWITCHBOARD_DATA_DIR to another place.",
        )
    nearest = _nearest(data_dir)
    why = why_shared(data_dir)
    if why:
        return Finding(
            name="data directory",
            ok=False,
            detail=f"{data_dir}: {why}",
            remedy=remedy_for(data_dir),
        )
    ok = os.access(nearest, os.W_OK | os.X_OK) and not _is_read_only(nearest)
    state = "can be written" if data_dir.exists() else "will be made when it is needed"
    return Finding(
        name="data directory",
        ok=ok,
        detail=f"{data_dir} {state}" if ok else f"{nearest} cannot be written",
        remedy="" if ok else "Correct its permissions, or set SWITCHBOARD_DATA_DIR.",
    )


def _examine_space(data_dir: Path) -> Finding:
    free = shutil.disk_usage(_nearest(data_dir)).free
    ok = free >= LOW_SPACE_BYTES
    return Finding(
        name="free space",
        ok=ok,
        detail=f"{free // (1024 * 1024)} MiB free for {data_dir}",
        remedy="" if ok else "Free some space, or set SWITCHBOARD_DATA_DIR to another disk.",
    )


def _nearest(path: Path) -> Path:
    return next(one for one in (path, *path.absolute().parents) if one.is_dir())


def _is_read_only(path: Path) -> bool:
    # Root may write anything but what is mounted read-only.
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
