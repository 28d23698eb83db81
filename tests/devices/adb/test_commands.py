"""`switchboard devices` in processes of its own, on a virtual phone behind a real adb server."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.fleet.fleet import AdbFleet
from tests.end_to_end import warm
from virtual_phone.server.serve import PhoneHost


@dataclass
class Shell:
    """Runs switchboard on a data directory and an adb server of the test's own."""

    server: ServerAddress
    serial: str
    folder: Path

    async def __call__(self, *words: str) -> tuple[int, str, str]:
        environment = {
            "SWITCHBOARD_DATA_DIR": str(self.folder),
            "SWITCHBOARD_ADB_SERVER": str(self.server),
            "HOME": str(self.folder),
            "PATH": "/usr/bin:/bin",
        }
        done = await asyncio.to_thread(warm.call, ["devices", *words], environment)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
async def shell(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[Shell]:
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        await fleet.wait_for(serial, timeout_s=30)
        await fleet.close()
        (tmp_path / "data").mkdir()
        yield Shell(adb_address, serial, tmp_path / "data")
        await client.disconnect(serial)


async def test_a_phone_is_named_examined_and_has_files_sent_and_fetched(
    shell: Shell, tmp_path: Path
) -> None:
    code, _, err = await shell("tag", shell.serial, "--name", "Left phone", "--tag", "bench")
    assert code == 0, err
    code, out, err = await shell("list", "--json")
    [info] = [one for one in json.loads(out)["data"] if one["serial"] == shell.serial]
    assert (info["name"], info["tags"], info["transport"]) == ("Left phone", ["bench"], "virtual")
    assert info["hardware_serial"] and info["server"] == str(shell.server)
    code, out, err = await shell("doctor", shell.serial, "--json")
    found = {one["name"]: one for one in json.loads(out)["data"]}
    assert {"shell", "battery", "storage", "lock", "keyboard", "capture", "tree"} <= set(found)
    assert found["tree"]["ok"] and found["capture"]["took_ms"] > 0, found
    there = tmp_path / "notes.txt"
    there.write_bytes(b"\0 data\n" * 100_000)
    code, _, err = await shell("push", shell.serial, str(there), "/data/local/tmp/")
    assert code == 0, err
    back = tmp_path / "back.txt"
    code, _, err = await shell("pull", shell.serial, "/data/local/tmp/notes.txt", str(back))
    assert code == 0, err
    assert back.read_bytes() == there.read_bytes()


async def test_a_phone_that_is_driven_elsewhere_is_not_driven_by_a_command(shell: Shell) -> None:
    fleet = AdbFleet([shell.server])
    await fleet.start()
    await fleet.wait_for(shell.serial, timeout_s=30)
    async with fleet.lease(shell.serial, "s-17"):
        code, _, err = await shell("rotate", shell.serial, "landscape")
        assert code == 1
        assert "is driven by s-17@" in err
    await fleet.close()
    code, _, err = await shell("rotate", shell.serial, "landscape")
    assert code == 0, err


async def test_what_is_asked_wrongly_is_told_with_the_remedy(shell: Shell) -> None:
    code, _, err = await shell("clear", shell.serial, "no package; rm -rf /")
    assert code == 2 and "is not the name of a package" in err
    code, _, err = await shell("wheel", "take", shell.serial)
    assert code == 2 and "No Switchboard is running" in err
    code, _, err = await shell("pair", "192.0.2.1:1", "12")
    assert code == 2 and "not a pairing code" in err
