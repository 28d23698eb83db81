"""What tells that a phone booted or an app was updated, on a real adb server and as text."""

import re

from agent.devices.adb_device import AdbDevice
from agent.devices.facts.fact import Known, Unknown
from agent.devices.protocols import Device
from agent.devices.shell.versions import read_versions

BOOT = "0c9b3a40-2b0c-4f1a-9a51-2f1f6a1f3b11"


async def test_a_phone_says_which_boot_it_is_in_and_which_versions_its_apps_have(
    device: Device,
) -> None:
    assert isinstance(device, AdbDevice)
    seen = await device.versions()
    assert isinstance(seen.boot_id, Known)
    assert isinstance(seen.packages, Known)
    assert len(seen.boot_id.value) == 36
    assert seen.packages.value["com.android.settings"] > 0
    assert await device.versions() == seen


def test_what_is_not_there_is_unknown() -> None:
    nothing = read_versions("")
    assert isinstance(nothing.boot_id, Unknown)
    assert isinstance(nothing.packages, Unknown)
    old = read_versions(f"{BOOT}\r\npackage:com.example.old\r\n")
    assert isinstance(old.boot_id, Known)
    assert old.boot_id.value == BOOT
    assert isinstance(old.packages, Unknown)
    assert "Android 7" in old.packages.reason
    denied = "cat: /proc/sys/kernel/random/boot_id: Permission denied\npackage:a.b versionCode:7\n"
    assert isinstance(read_versions(denied).boot_id, Unknown)
    packages = read_versions(denied).packages
    assert isinstance(packages, Known)
    assert packages.value == {"a.b": 7}


async def test_a_phone_says_its_date_time_zone_and_language_in_one_line(device: AdbDevice) -> None:
    said = await device.local_time()
    assert re.fullmatch(r"\w+day \d{4}-\d\d-\d\d \d\d:\d\d \+0000, UTC, en-US", said)
