"""What `virtual-phone snapshot` keeps comes back, whoever serves the phone, and no more."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from support.adb import RealAdb
from support.command import NAME, virtual_phone
from support.hand import new_phone
from virtual_phone.errors import PhoneError
from virtual_phone.state import checkpoint
from virtual_phone.state.checkpoint import Checkpoint, KeptFile


async def test_a_phone_that_is_served_goes_back_to_its_snapshot(
    serial: str, adb_server: RealAdb, tmp_path: Path
) -> None:
    await adb_server.connect(serial)
    kept = tmp_path / "kept"
    line = "settings put global bluetooth_on 1; echo kept >/sdcard/f; chmod 640 /sdcard/f"
    await adb_server("shell", line, serial=serial)
    said = await asyncio.to_thread(virtual_phone, "snapshot", NAME, str(kept))
    assert said.returncode == 0, said.stderr
    assert kept.stat().st_mode & 0o777 == 0o600
    line = "settings put global bluetooth_on 0; echo other >/sdcard/f; echo more >/sdcard/g"
    await adb_server("shell", line, serial=serial)
    said = await asyncio.to_thread(virtual_phone, "restore", NAME, str(kept))
    assert said.returncode == 0, said.stderr
    line = "settings get global bluetooth_on; cat /sdcard/f; ls /sdcard/g"
    seen = await adb_server("shell", line, serial=serial)
    assert seen.text == "1\nkept\n"
    said = await asyncio.to_thread(virtual_phone, "touch", NAME, "1", "2", "3")
    assert said.returncode == 2
    assert (await asyncio.to_thread(virtual_phone, "touch", NAME, "540", "1200")).returncode == 0
    await adb_server("disconnect", serial)


def test_a_phone_that_nobody_serves_goes_back_too(homes: Path, tmp_path: Path) -> None:
    phone = new_phone(homes / NAME)
    phone.settings.put("global", "bluetooth_on", "1")
    phone.save()
    phone.close()
    kept = str(tmp_path / "kept")
    assert virtual_phone("snapshot", NAME, kept).returncode == 0
    assert virtual_phone("reset", NAME).returncode == 0
    assert virtual_phone("restore", NAME, kept).returncode == 0
    assert new_phone(homes / NAME).settings.get("global", "bluetooth_on") == "1"


@pytest.mark.parametrize(
    "files",
    [
        (KeptFile("../outside", 0o100644, 0, b"x"),),
        (KeptFile("/outside", 0o100644, 0, b"x"),),
        (KeptFile("link", 0o120777, 0, b"/"), KeptFile("link/outside", 0o100644, 0, b"x")),
    ],
)
def test_a_snapshot_that_reaches_out_of_the_phone_is_refused(
    tmp_path: Path, files: tuple[KeptFile, ...]
) -> None:
    phone = new_phone(tmp_path / "phone")
    path = tmp_path / "hostile"
    checkpoint.write(Checkpoint(phone.snapshot(), files), path)
    with pytest.raises(PhoneError, match="outside"):
        checkpoint.read(path)


def test_what_is_no_snapshot_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    checkpoint.write(checkpoint.take(new_phone(tmp_path / "phone")), path)
    whole = path.read_bytes()
    for data in (b"", whole[:-20], os.urandom(100), msgspec.json.encode({"state": 1})):
        path.write_bytes(data)
        with pytest.raises(PhoneError, match="no snapshot"):
            checkpoint.read(path)
